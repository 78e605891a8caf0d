"""Whose run goes on: Python does one thing at a time, and thirty visitors share it.

Threads that compute beside each other take as long as all of them together, each, and fight for Python's lock on the way. So
choices in parts of pages, which take some 20 ms, come one after another and go before pages; pages, which take some 100, come one
after another and give way at every message while such a choice is worked on. Nobody waits for long: whoever has waited for so
long as is said here goes on with the others beside.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import ScriptRunner

YOUNG = 0.15  # seconds for which a part goes before pages and other parts: one that takes longer is no quick choice
PATIENCE = 2.0  # seconds that a run waits for its turn; a page again as long, all in all, for parts that go first


class Turns:
    """The order of the runs of one server. All methods may be called by any thread."""

    def __init__(self, young: float = YOUNG, patience: float = PATIENCE) -> None:
        self.young, self.patience = young, patience
        self._one_page, self._one_part = One(), One()
        self._parts: dict[int, float] = {}  # when each thread that draws a part began
        self._changed = threading.Condition()
        self._mine = _Mine()

    @contextmanager
    def part(self) -> Iterator[None]:
        """A part of a page is drawn: alone among parts, if its turn comes in time."""
        with self._run(self._one_part, patience=0.0):
            self._begins()
            try:
                yield
            finally:
                self._ends()

    @contextmanager
    def page(self) -> Iterator[None]:
        """A whole page is drawn: alone among pages, if its turn comes in time."""
        with self._run(self._one_page, self.patience):
            yield

    def give_way(self) -> None:
        """Let others go first where the order wants it: a page lets parts, a part that takes long lets other parts.

        After `elsewhere` the run takes its turn again.
        """
        if self._mine.again:
            self._take(first=True)
            if self._mine.one is self._one_part:
                self._begins()
        began = self._parts.get(threading.get_ident())
        if began is not None:
            if time.monotonic() - began > self.young:
                self._let_go()
            return
        patience = self._mine.patience
        if not self._parts or patience <= 0:
            return
        began = time.monotonic()
        with self._changed:
            while (left := began + patience - time.monotonic()) > 0 and (youngest := self._youngest()) > 0:
                self._changed.wait(min(left, youngest))
        self._mine.patience = patience - (time.monotonic() - began)

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """What this thread waits for is done by others: the next run may begin.

        This one takes its turn again when it has something to draw. Before that it may hold the lock of a cache at which the
        next run waits.
        """
        had = self._let_go()
        self._ends()
        try:
            yield
        finally:
            self._mine.again = had or self._mine.again

    @contextmanager
    def _run(self, one: "One", patience: float) -> Iterator[None]:
        """A run that takes its turn among those of its kind, and has so much patience with others."""
        self._mine.one, self._mine.patience = one, patience
        self._take()
        try:
            yield
        finally:
            self._mine.patience, self._mine.again = 0.0, False
            self._let_go()

    def _take(self, *, first: bool = False) -> None:
        self._mine.turn, self._mine.again = self._mine.one.acquire(self.patience, first=first), False

    def _begins(self) -> None:
        """This thread draws a part, from now on for pages."""
        with self._changed:
            self._parts[threading.get_ident()] = time.monotonic()

    def _ends(self) -> None:
        with self._changed:
            self._parts.pop(threading.get_ident(), None)
            self._changed.notify_all()

    def _youngest(self) -> float:
        """Seconds for which some part still goes first."""
        return max(self._parts.values(), default=-self.young) + self.young - time.monotonic()

    def _let_go(self) -> bool:
        had = self._mine.turn
        if had:
            self._mine.turn = False
            self._mine.one.release()
        return had


class One:
    """A turn that one thread has at a time, handed on in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lock, self._held = threading.Lock(), False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float, *, first: bool = False) -> bool:
        """Wait for it so many seconds, `first` before all who wait already; false where it did not come in time."""
        mine = threading.Event()
        with self._lock:
            if not self._held:
                self._held = True
                return True
            (self._waiting.appendleft if first else self._waiting.append)(mine)
        if mine.wait(timeout):
            return True
        with self._lock:
            if mine.is_set():
                return True
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Hand it on."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


class _Mine(threading.local):
    """What a thread that draws has: whose turn it takes, whether it has it or takes it again, its patience with parts."""

    one: One
    turn = again = False
    patience = 0.0


turns = Turns()
_run, _enqueue = ScriptRunner._run_script, ScriptRunner._enqueue_forward_msg


def _in_turn(self: ScriptRunner, rerun_data: Any) -> None:
    with turns.part() if rerun_data.fragment_id_queue else turns.page():
        _run(self, rerun_data)


def _giving_way(self: ScriptRunner, msg: ForwardMsg) -> None:
    turns.give_way()
    _enqueue(self, msg)


def take_turns() -> None:
    """Let all runs of this process follow that order."""
    ScriptRunner._run_script = _in_turn  # type: ignore[method-assign]
    ScriptRunner._enqueue_forward_msg = _giving_way  # type: ignore[method-assign]
