"""What a run has for the browser arrives: in order, all of it, and before the next run begins."""

import asyncio
import gc
import threading
import time
import weakref
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.session_manager import SessionClientDisconnectedError

from app.session import outbox


class OnlyALoop(AppSession):
    """A session of which nothing is there but the loop that sends its messages, and what happened there."""

    id = "only"

    def __init__(self) -> None:
        self._event_loop = asyncio.get_running_loop()
        self.arrived: list[str] = []
        self.over = asyncio.Event()
        self._browser_queue = ForwardMsgQueue()
        self._settle_pending = False
        self.failed: list[str] = []

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


class Browser(SimpleNamespace):
    """What sends to a browser, and what that one received; it goes after so many messages."""

    def __init__(self, stays: int = 10_000) -> None:
        super().__init__(received=[], stays=stays, gone=False, client=object())

    def _send_message(self, about: object, message: ForwardMsg) -> None:
        if len(self.received) == self.stays:
            raise SessionClientDisconnectedError
        self.received.append(message.hash)

    def disconnect_session(self, id: str, client: object) -> None:
        self.gone = (id, client) == ("only", self.client)


def visit(browser: Browser, monkeypatch: pytest.MonkeyPatch, *events: tuple[ScriptRunnerEvent, str]) -> OnlyALoop:
    """Let these happen to a session with this browser."""
    found = cast(tuple[Runtime, Any], (browser, browser))
    monkeypatch.setattr(outbox, "connected", lambda _: None if browser.gone else found)

    async def happen() -> OnlyALoop:
        visited = OnlyALoop()
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failed.append(str(context["exception"])))
        for kind, word in events:
            visited._on_scriptrunner_event(None, kind, forward_msg=ForwardMsg(hash=word))
        await asyncio.wait_for(visited.over.wait(), 30)
        while not (browser.gone or (visited._browser_queue.is_empty() and not visited.__dict__["_atlas_outbox"].messages)):
            await asyncio.sleep(0.001)
        return visited

    failed: list[str] = []
    visited = asyncio.run(happen())
    visited.failed = failed
    return visited


DRAWN, BEGUN, OVER = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, ScriptRunnerEvent.SCRIPT_STARTED, ScriptRunnerEvent.SHUTDOWN


def test_when_a_run_begins_what_the_one_before_it_drew_is_on_its_way_and_stays_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    waiting: list[bool] = []
    happened = OnlyALoop._handle_scriptrunner_event_on_event_loop

    def noted(self: OnlyALoop, *event: Any, **about: Any) -> None:
        if event[1] is BEGUN:
            waiting.append(not self._browser_queue.is_empty())
        happened(self, *event, **about)

    monkeypatch.setattr(OnlyALoop, "_handle_scriptrunner_event_on_event_loop", noted)
    drawn = [str(number) for number in range(3 * outbox.TOGETHER)]
    visit(browser, monkeypatch, *((DRAWN, word) for word in drawn), (BEGUN, "begun"), (DRAWN, "more"), (OVER, "over"))
    assert browser.received == [*drawn, "begun", "more", "over"]
    assert waiting == [False]


def test_who_comes_back_is_sent_nothing_of_the_run_in_which_they_went(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Browser(), Browser()
    there: list[Browser] = [first]
    monkeypatch.setattr(outbox, "connected", lambda _: (there[0], there[0]) if there else None)

    async def happen() -> None:
        visited = OnlyALoop()

        async def happens(*events: tuple[ScriptRunnerEvent, str]) -> None:
            for kind, word in events:
                visited._on_scriptrunner_event(None, kind, forward_msg=ForwardMsg(hash=word))
            await asyncio.sleep(2 * outbox.HOLD)

        await happens((BEGUN, "begun"), (DRAWN, "seen"))
        there.clear()
        await happens((DRAWN, "unseen"), (DRAWN, "unseen too"))
        there.append(second)
        await happens((BEGUN, "begun again"), (DRAWN, "seen again"))

    asyncio.run(happen())
    assert first.received == ["begun", "seen"]
    assert second.received == ["begun again", "seen again"]


def test_a_message_that_cannot_be_sent_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    class Choosy(Browser):
        def _send_message(self, about: object, message: ForwardMsg) -> None:
            if message.hash == "1":
                raise ValueError("no bytes")
            super()._send_message(about, message)

    browser = Choosy()
    assert visit(browser, monkeypatch, *((DRAWN, str(number)) for number in range(3)), (OVER, "over")).failed == ["no bytes"]
    assert browser.received == ["0", "2", "over"]


def test_a_session_that_is_let_go_goes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    gc.disable()
    try:
        let_go = weakref.ref(visit(browser, monkeypatch, (DRAWN, "0"), (OVER, "over")))
        assert let_go() is None
    finally:
        gc.enable()


def test_a_browser_that_goes_in_between_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(stays=2)
    visited = visit(browser, monkeypatch, *((DRAWN, str(number)) for number in range(5)), (BEGUN, "begun"), (OVER, "over"))
    assert browser.received == ["0", "1"]
    assert browser.gone
    assert visited.arrived == ["0", "1", "2", "3", "4", "begun", "over"]
    assert not visited.failed


def test_what_a_session_says_by_itself_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    monkeypatch.setattr(outbox, "connected", lambda _: (browser, browser))

    async def happen() -> None:
        visited = OnlyALoop()
        visited._on_scriptrunner_event(None, OVER, forward_msg=ForwardMsg(hash="run"))
        await visited.over.wait()
        visited._enqueue_forward_msg(ForwardMsg(hash="by itself"))
        await asyncio.sleep(0)
        threading.Thread(target=visited._enqueue_forward_msg, args=[ForwardMsg(hash="by another thread")]).start()
        while len(browser.received) < 3:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(happen(), 30))
    assert browser.received == ["run", "by itself", "by another thread"]


def test_nobody_is_there_where_no_server_runs() -> None:
    assert outbox.connected(cast(AppSession, SimpleNamespace(id="only"))) is None
