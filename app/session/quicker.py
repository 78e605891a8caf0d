"""What Streamlit does for every element, widget, fragment and run: the same, with less work.

A box of numbers, a text box, a list ask whether the session holds nothing under one key, and Streamlit makes the values of all
widgets of the page for that. A fragment notes where it stands, and Streamlit copies the containers around each of these once
more. Counted in calls of functions, both were a third of a run of the page of costs, with its twenty boxes, and a tenth of a run
of other pages. A look into a cache reads the signature of the cached function anew for every argument; a run that begins reads
the whole theme from the configuration anew, some hundred options; and each message of a run wakes the loop that sends it twice,
which then contends with the run for Python's lock: that was as much work as the run.
"""

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache, partial
from typing import Any

from streamlit import config, type_util
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.state import SafeSessionState


class _Looked(Mapping[str, Any]):
    """The state of a session by the keys of the app, of which a value is made when somebody asks for it."""

    def __init__(self, session: SafeSessionState) -> None:
        self._session = session

    def __getitem__(self, key: str) -> Any:
        with self._session._lock:
            return self._session._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def __repr__(self) -> str:
        return repr(self._whole())

    def _whole(self) -> dict[str, Any]:
        with self._session._lock:
            return self._session._state.filtered_state


def _copied(self: DeltaGenerator, memo: dict[int, Any]) -> DeltaGenerator:
    """A container with those around it, each copied once."""
    copy = DeltaGenerator(
        root_container=self._root_container,
        cursor=deepcopy(self._cursor, memo),
        parent=deepcopy(self._parent, memo),
        block_type=self._block_type,
    )
    copy._form_data = deepcopy(self._form_data, memo)
    copy._creating_fragment_id = self._creating_fragment_id
    return copy


class _Waiting:
    """Events of the runs of one session, in their order, until its loop takes them: all that wait at once, not one by one.

    A run begins when what the one before it drew has been sent: else Streamlit tells the browser of that one that it was cut
    short, and what it took away from the page stays there.
    """

    def __init__(self, session: AppSession) -> None:
        self.session, self.loop, self.lock = session, session._event_loop, threading.Lock()
        self.events: deque[tuple[ScriptRunnerEvent, Callable[[], None]]] = deque()
        self.since = 0.0  # when a run began to wait for what is unsent

    def put(self, kind: ScriptRunnerEvent, event: Callable[[], None]) -> None:
        with self.lock:
            self.events.append((kind, event))
            first = len(self.events) == 1
        if kind not in MORE_FOLLOWS:
            self._soon(self.take)
        elif first:
            self._soon(lambda: self.loop.call_later(HOLD, self.take))

    def _soon(self, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            self.loop.call_soon_threadsafe(work)

    def take(self) -> None:
        while self.events:
            kind, event = self.events[0]
            if kind is ScriptRunnerEvent.SCRIPT_STARTED and self._unsent():
                self.loop.call_later(LOOK, self.take)
                return
            self.events.popleft()
            try:
                event()
            except Exception as error:
                self.loop.call_exception_handler({"message": "event failed", "exception": error})

    def _unsent(self) -> bool:
        """Whether something is still to be sent, to somebody who is there."""
        self.since = self.since or time.monotonic()
        if self.session._browser_queue.is_empty() or time.monotonic() - self.since > AWAY:
            self.since = 0.0
            return False
        return True


HOLD = 0.01  # seconds for which messages of a run that goes on are held back
LOOK = 0.002  # seconds between looks at what is still to be sent
AWAY = 2.0  # seconds after which it is not waited for: to somebody whose connection is lost nothing is sent
MORE_FOLLOWS = (ScriptRunnerEvent.SCRIPT_STARTED, ScriptRunnerEvent.ENQUEUE_FORWARD_MSG)


def _happened(self: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, *about: Any, **of_it: Any) -> None:
    """An event of a run, mostly from its thread, is for the loop."""
    waiting: _Waiting | None = self.__dict__.get("_atlas_waiting")
    if waiting is None:
        waiting = self.__dict__.setdefault("_atlas_waiting", _Waiting(self))
    waiting.put(event, partial(self._handle_scriptrunner_event_on_event_loop, sender, event, *about, **of_it))


def _something_to_send(self: Runtime) -> None:
    """Wake the loop that sends, unless it is awake."""
    found = self._get_async_objs()
    if found.need_send_data.is_set():
        return
    if asyncio._get_running_loop() is found.eventloop:
        found.need_send_data.set()
    else:
        found.eventloop.call_soon_threadsafe(found.need_send_data.set)


def _theme_once(populate: Callable[[CustomThemeConfig, str], None]) -> Callable[..., None]:
    """A theme read from the configuration once; a configuration that is read again is another object."""
    made: dict[tuple[int, str], CustomThemeConfig] = {}

    def populated(message: CustomThemeConfig, section: str = "theme") -> None:
        key = (id(config._config_options), section)
        if key not in made:
            theme = CustomThemeConfig()
            populate(theme, section)
            made[key] = theme  # whole: another run may look for it meanwhile
        if made[key].ByteSize():
            message.MergeFrom(made[key])

    return populated


def _read_without_lock(get_option: Callable[[str], Any]) -> Callable[[str], Any]:
    """An option read without the lock of the configuration, which every message of every run asks for.

    Whoever holds it and loses Python's lock makes all others wait for both. A configuration that is read again is another
    dictionary, so that one that is there is whole.
    """

    def read(key: str) -> Any:
        option = (config._config_options or {}).get(key)
        return get_option(key) if option is None else option.value

    return read


def quicken() -> None:
    """Put all of it into Streamlit, for this process."""
    SafeSessionState.filtered_state = property(_Looked)  # type: ignore[assignment,method-assign]
    DeltaGenerator.__deepcopy__ = _copied  # type: ignore[method-assign,assignment]
    AppSession._on_scriptrunner_event = _happened  # type: ignore[method-assign]
    Runtime._enqueued_some_message = _something_to_send  # type: ignore[method-assign]
    config.get_option = _read_without_lock(config.get_option)
    type_util.get_func_parameters = lru_cache(maxsize=1024)(type_util.get_func_parameters)
    app_session._populate_theme_msg = _theme_once(app_session._populate_theme_msg)
