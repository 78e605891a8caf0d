"""What the runs of a session have for the browser, on its way to the loop that sends it.

Streamlit hands every message of a run to the loop by itself, wakes a second task for it, and lets the loop turn once between two
messages: of a page of a hundred messages some three hundred calls of the system, and at each of these the loop lets go of
Python's lock and waits for it while somebody computes. Here a run's messages are handed over a few times, and sent as they come.
"""

import asyncio
import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from streamlit import runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionClient, SessionClientDisconnectedError

HOLD = 0.01  # seconds for which messages of a run that goes on are held back
MORE_FOLLOWS = (ScriptRunnerEvent.SCRIPT_STARTED, ScriptRunnerEvent.ENQUEUE_FORWARD_MSG)
TOGETHER = 100  # messages that are sent before the loop turns: a connection has room for some hundred that are not written yet


class Outbox:
    """The events of the runs of one session in their order, and the messages that come of them.

    When a run begins, what the one before it drew is no longer in the queue of the session: else Streamlit tells the browser of
    that one that it was cut short, and what it took away from the page stays there.
    """

    def __init__(self, session: AppSession) -> None:
        self.session = weakref.ref(session)  # which goes, with what its visitor brought, when Streamlit lets go of it
        self.loop, self.lock = session._event_loop, threading.Lock()
        self.events: deque[tuple[ScriptRunnerEvent, Callable[[], None]]] = deque()
        self.messages: deque[ForwardMsg] = deque()  # that left the queue of the session and are not sent yet
        self.client: SessionClient | None = None  # to whom the last ones were sent
        self.taking = False

    def put(self, kind: ScriptRunnerEvent, event: Callable[[], None]) -> None:
        """An event of a run, mostly from its thread: what follows at once waits a little for more."""
        with self.lock:
            self.events.append((kind, event))
            first = len(self.events) == 1
        if kind not in MORE_FOLLOWS:
            self._soon(self.take)
        elif first:
            self._soon(lambda: self.loop.call_later(HOLD, self.take))

    def something_new(self) -> None:
        """The session has a message to send, from whichever thread; those of events are sent with them."""
        if not (self.taking and self._on_loop()):
            self._soon(self.take)

    def take(self) -> None:
        """On the loop: let all that wait happen, and send what comes of it; of very much the rest when the loop has turned."""
        session = self.session()
        if session is None:
            return
        self.taking = True
        try:
            while self.events:
                kind, event = self.events.popleft()
                if kind is ScriptRunnerEvent.SCRIPT_STARTED:
                    self._collect(session)
                self._tried(event)
            if found := self._collect(session):
                self._send(session, *found)
        finally:
            self.taking = False

    def _collect(self, session: AppSession) -> tuple[Runtime, ActiveSessionInfo] | None:
        """Take what the session has for somebody who is there; for nobody it stays in its queue.

        To whoever comes back nothing is sent of a run in which they went: its beginning is lost.
        """
        found = connected(session)
        client = found[1].client if found else None
        if client is not self.client:
            self.messages.clear()
            if self.client is not None and client is not None:
                session._clear_queue()
            self.client = client or self.client
        if found:
            self.messages.extend(session.flush_browser_queue())
        return found

    def _send(self, session: AppSession, server: Runtime, about: ActiveSessionInfo) -> None:
        for _ in range(min(TOGETHER, len(self.messages))):
            try:
                server._send_message(about, self.messages.popleft())
            except SessionClientDisconnectedError:
                self.messages.clear()
                server.disconnect_session(session.id, client=about.client)
                return
            except Exception as error:
                self._failed("message unsent", error)
        if self.messages:
            self._soon(self.take)
        else:
            session.on_flushed_messages_sent()

    def _tried(self, event: Callable[[], None]) -> None:
        try:
            event()
        except Exception as error:
            self._failed("event failed", error)

    def _failed(self, what: str, error: Exception) -> None:
        self.loop.call_exception_handler({"message": what, "exception": error})

    def _soon(self, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            (self.loop.call_soon if self._on_loop() else self.loop.call_soon_threadsafe)(work)

    def _on_loop(self) -> bool:
        return asyncio._get_running_loop() is self.loop


def connected(session: AppSession) -> tuple[Runtime, ActiveSessionInfo] | None:
    """What sends, and to whom; None where nobody is there."""
    server = runtime.get_instance() if runtime.exists() else None
    about = server and server._session_mgr.get_active_session_info(session.id)
    return (server, about) if server and about else None


def _happened(self: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, *about: Any, **of_it: Any) -> None:
    """An event of a run, mostly from its thread, is for the loop."""
    outbox: Outbox | None = self.__dict__.get("_atlas_outbox")
    if outbox is None:
        outbox = self.__dict__.setdefault("_atlas_outbox", Outbox(self))
        self._message_enqueued_callback = outbox.something_new
    outbox.put(event, partial(self._handle_scriptrunner_event_on_event_loop, sender, event, *about, **of_it))


def send_together() -> None:
    """Let every session of this process send so."""
    AppSession._on_scriptrunner_event = _happened  # type: ignore[method-assign]
