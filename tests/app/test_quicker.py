"""What is done with less work than Streamlit does it comes to the same; a choice draws anew what follows it."""

import asyncio
import threading
import time
from copy import deepcopy
from typing import Any

from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.testing.v1 import AppTest

from app import session


def test_a_box_is_empty_where_the_session_holds_nothing_under_its_key() -> None:
    def page() -> None:
        import streamlit as st

        from app import session

        assert session
        st.session_state.setdefault("kept", None)
        st.session_state.setdefault("held", 7)
        st.number_input("kept", value=3, key="kept")
        st.number_input("held", value=3, key="held")
        st.number_input("fresh", value=3, key="fresh")
        st.text(f"{sorted(st.session_state)} {len(st.session_state)}")

    app = AppTest.from_function(page).run()
    assert [box.value for box in app.number_input] == [None, 7, 3]
    assert app.text[0].value == "['fresh', 'held', 'kept'] 3"
    assert not app.exception


def test_a_copied_container_stands_among_copies_of_those_around_it() -> None:
    outer = DeltaGenerator(block_type="vertical")
    inner = DeltaGenerator(parent=outer, block_type="horizontal")
    first, second = deepcopy((outer, inner))
    assert second._parent is first is not outer
    assert list(second._ancestor_block_types) == ["horizontal", "vertical"]
    assert session


class OnlyALoop(AppSession):
    """A session of which nothing is there but the loop that sends its messages, and what arrived there."""

    def __init__(self) -> None:
        self._event_loop = asyncio.get_running_loop()
        self.arrived: list[str] = []
        self.over = asyncio.Event()
        self._browser_queue = ForwardMsgQueue()

    def __del__(self) -> None:
        pass

    def _handle_scriptrunner_event_on_event_loop(self, *event: Any, **about: Any) -> None:
        said = about["forward_msg"].hash
        if said == "wrong":
            raise ValueError("no message")
        self.arrived.append(said)
        self._browser_queue.enqueue(ForwardMsg(hash=said))
        if event[1] is ScriptRunnerEvent.SHUTDOWN:
            self.over.set()


def test_messages_of_a_run_arrive_in_their_order_and_one_that_fails_stops_no_other() -> None:
    failed: list[str] = []
    said = [*(str(number) for number in range(300)), "wrong", "last but one"]

    async def receive() -> list[str]:
        session = OnlyALoop()
        session._event_loop.set_exception_handler(lambda _, context: failed.append(str(context["exception"])))

        def run() -> None:
            for number, word in enumerate(said):
                session._on_scriptrunner_event(None, ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, forward_msg=ForwardMsg(hash=word))
                if number == 100:
                    time.sleep(0.03)  # longer than messages are held back
            session._on_scriptrunner_event(None, ScriptRunnerEvent.SHUTDOWN, forward_msg=ForwardMsg(hash="last"))

        thread = threading.Thread(target=run)
        thread.start()
        await session.over.wait()
        thread.join()
        return session.arrived

    assert asyncio.run(receive()) == [*(word for word in said if word != "wrong"), "last"]
    assert failed == ["no message"]


def test_a_run_begins_when_what_the_one_before_it_drew_is_sent() -> None:
    async def receive() -> tuple[list[str], list[str]]:
        session = OnlyALoop()
        kinds = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS
        for kind, word in zip((*kinds, ScriptRunnerEvent.SCRIPT_STARTED), ("drawn", "finished", "begun"), strict=True):
            session._on_scriptrunner_event(None, kind, forward_msg=ForwardMsg(hash=word))
        await asyncio.sleep(0.005)
        before = [*session.arrived]
        session._browser_queue.flush()
        while len(session.arrived) < 3:
            await asyncio.sleep(0.001)
        return before, session.arrived

    assert asyncio.run(receive()) == (["drawn", "finished"], ["drawn", "finished", "begun"])


def test_the_theme_is_told_to_every_run() -> None:
    first, second = CustomThemeConfig(), CustomThemeConfig()
    for message in (first, second):
        app_session._populate_theme_msg(message)
        app_session._populate_theme_msg(message.dark, "theme.dark")
        app_session._populate_theme_msg(message.light, "theme.light")
    assert first == second
    assert first.body_font
    assert first.dark.text_color != first.light.text_color
