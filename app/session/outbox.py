"""What the runs of a session have for the browser, on its way to the loop that sends it.

Streamlit hands every message of a run to the loop by itself, wakes a second task for it, and lets the loop turn once between two
messages: of a page of a hundred messages some three hundred calls of the system, and at each of these the loop lets go of
Python's lock and waits for it while somebody computes. Here a run's messages are handed over a few times, and sent as they come.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from streamlit import runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionClientDisconnectedError

HOLD = 0.01  # seconds for which messages of a run that goes on are held back
MORE_FOLLOWS = (ScriptRunnerEvent.SCRIPT_STARTED, ScriptRunnerEvent.ENQUEUE_FORWARD_MSG)
TOGETHER = 100  # messages that are sent before the loop turns: a connection has room for some hundred that are not written yet


class Outbox:
    """The events of the runs of one session in their order, and the messages that come of them.

    A run begins when what the one before it drew has been sent: else Streamlit tells the browser of that one that it was cut
    short, and what it took away from the page stays there.
    """

    def __init__(self, session: AppSession) -> None:
        self.session, self.loop, self.lock = session, session._event_loop, threading.Lock()
        self.events: deque[tuple[ScriptRunnerEvent, Callable[[], None]]] = deque()
        self.messages: deque[ForwardMsg] = deque()  # that left the queue of the session and are not sent yet
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
        """On the loop: let all that wait happen, and send what comes of it."""
        self.taking = True
        try:
            while self.events:
                kind, event = self.events[0]
                if kind is ScriptRunnerEvent.SCRIPT_STARTED and not self._sent():
                    break
                self.events.popleft()
                try:
                    event()
                except Exception as error:
                    self.loop.call_exception_handler({"message": "event failed", "exception": error})
            if not self._sent():
                self.loop.call_soon(self.take)
        finally:
            self.taking = False

    def _sent(self) -> bool:
        """Send what the session has for somebody who is there; false: some of it, more when the loop has turned."""
        found = _connected(self.session)
        if found is None:
            self.messages.clear()
            return True  # to a connection that is lost nothing is sent; the queue is kept for one that comes back
        server, about = found
        self.messages.extend(self.session.flush_browser_queue())
        try:
            for _ in range(min(TOGETHER, len(self.messages))):
                server._send_message(about, self.messages.popleft())
        except SessionClientDisconnectedError:
            self.messages.clear()
            server.disconnect_session(self.session.id, client=about.client)
        if not self.messages:
            self.session.on_flushed_messages_sent()
        return not self.messages

    def _soon(self, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            (self.loop.call_soon if self._on_loop() else self.loop.call_soon_threadsafe)(work)

    def _on_loop(self) -> bool:
        return asyncio._get_running_loop() is self.loop


def _connected(session: AppSession) -> tuple[Runtime, ActiveSessionInfo] | None:
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
