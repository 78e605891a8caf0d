"""What is done with less work than Streamlit does it comes to the same; a choice draws anew what follows it."""

import asyncio
import threading
from copy import deepcopy

from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
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
    """A session of which nothing is there but the loop that sends its messages."""

    def __init__(self) -> None:
        self._event_loop = asyncio.get_running_loop()

    def __del__(self) -> None:
        pass


def test_messages_of_a_run_arrive_in_their_order_and_one_that_fails_stops_no_other() -> None:
    arrived: list[int] = []
    failed: list[str] = []

    async def receive() -> None:
        of_session = OnlyALoop()
        of_session._event_loop.set_exception_handler(lambda _, context: failed.append(str(context["exception"])))
        done = asyncio.Event()

        def put(number: int) -> None:
            of_session._call_soon_on_event_loop(lambda: arrived.append(number) if number != 150 else int("no number"))

        def run() -> None:
            for number in range(300):
                put(number)
            of_session._call_soon_on_event_loop(done.set)

        thread = threading.Thread(target=run)
        thread.start()
        await done.wait()
        thread.join()

    asyncio.run(receive())
    assert arrived == [number for number in range(300) if number != 150]
    assert ["no number" in one for one in failed] == [True]


def test_the_theme_is_told_to_every_run() -> None:
    first, second = CustomThemeConfig(), CustomThemeConfig()
    for message in (first, second):
        app_session._populate_theme_msg(message)
        app_session._populate_theme_msg(message.dark, "theme.dark")
        app_session._populate_theme_msg(message.light, "theme.light")
    assert first == second
    assert first.body_font
    assert first.dark.text_color != first.light.text_color
