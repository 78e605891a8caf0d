"""Processes that compute beside the pages (`model.apart`): what is dear holds up nobody but whoever asked for it.

Two for the whole server, each started when something is asked of it and ended when nobody asks any more. Where one fails, the
page computes for itself.
"""

import itertools
import logging
import os
import queue
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import NamedTuple

import streamlit as st

from app.session.loading import ROOT, folder_of
from app.session.turns import turns
from model import checkpoint, plain
from model.apart import FIRST, FUNCTIONS, Answer, Pace, Request

logger = logging.getLogger(__name__)

IDLE = 300.0  # seconds without a question after which the process ends, and gives its memory back
LONGEST = 60.0  # seconds that one answer may take
MOST = 256  # answers that are kept
HELLO = ""  # is answered when the process has begun
WAITING = 32  # questions that may wait: beyond them pages compute for themselves


class _Question(NamedTuple):
    """One that waits; the number keeps those of one rank in their order, and is no other's."""

    later: bool  # after all that are `FIRST`
    number: int
    written: str
    future: "Future[Answer]"


class Apart:
    """Questions answered one after another by a process; safe to be asked by many threads.

    A process takes seconds to begin: one that is not `patient` answers nothing until it has.
    """

    def __init__(self, command: Sequence[str], *, patient: bool = True) -> None:
        self.command, self.patient, self.ready = tuple(command), patient, False
        self.lock = threading.Lock()
        self.kept: OrderedDict[str, Future[Answer]] = OrderedDict()
        self.questions: queue.PriorityQueue[_Question] = queue.PriorityQueue()
        self.numbers = itertools.count()
        self.thread: threading.Thread | None = None
        self.process: subprocess.Popen[str] | None = None

    def ask(self, request: Request) -> "Future[Answer] | None":
        """The answer, now or later; the same one for the same question. None where too many wait."""
        question = plain.write(request)
        with self.lock:
            if (known := self.kept.get(question)) is not None:
                self.kept.move_to_end(question)
                return known
            if self.questions.qsize() >= WAITING:
                return None
            future: Future[Answer] = Future()
            if self.patient or self.ready:
                self.kept[question] = future
                while len(self.kept) > MOST:
                    self.kept.popitem(last=False)
                self._put(_Question(request.function != FIRST, next(self.numbers), question, future))
                return future
            if self.thread is None:
                self._put(_Question(False, next(self.numbers), HELLO, future))
            return None

    def _put(self, question: "_Question") -> None:
        self.questions.put(question)
        if self.thread is None:
            self.thread = threading.Thread(target=self._work, daemon=True, name="apart")
            self.thread.start()

    def _work(self) -> None:
        while True:
            try:
                _, _, question, future = self.questions.get(timeout=IDLE)
            except queue.Empty:
                with self.lock:
                    if self.questions.empty():
                        self._end()
                        self.thread = None
                        return
                continue
            try:
                answer = self._answered(question)
                if answer.error:
                    raise RuntimeError(answer.error)
                future.set_result(answer)
                self.ready = True
            except Exception as error:
                if not isinstance(error, RuntimeError):
                    self._end()
                future.set_exception(error)  # and is kept: whoever waits for it computes, and does not ask again and again

    def _answered(self, question: str) -> Answer:
        process = self.process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(LONGEST, process.kill)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(f"{question}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise EOFError(f"the process {' '.join(self.command[1:])} has ended")
        answer: Answer = plain.read(line)
        return answer

    def _start(self) -> "subprocess.Popen[str]":
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, env=one_thread, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        return self.process

    def _end(self) -> None:
        process, self.process, self.ready = self.process, None, False
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


NICENESS: Mapping[Pace, int] = {"quick": 0, "long": 5}  # somebody's page waits for the one; trainings have 10


@st.cache_resource(show_spinner=False)
def _apart(pace: Pace) -> Apart:
    """The two of this server: a sentence does not wait behind what takes seconds."""
    return Apart((sys.executable, "-m", "model.apart", str(NICENESS[pace])), patient=pace == "long")


_allowed = threading.Event()


def allow() -> None:
    """From now on the process is asked. (A server says so; in a test or a script all is computed in place.)"""
    _allowed.set()


def computes(function: str, name: str) -> bool:
    """Whether the process beside computes this: a function of its list in a shipped model."""
    return function in FUNCTIONS and _allowed.is_set() and folder_of(name) == checkpoint.SHIPPED / name


def ask(request: Request) -> "Future[Answer] | None":
    """The answer, now or later; None where too many wait already."""
    return _apart(FUNCTIONS[request.function]).ask(request)


def answer_of(asked: "Future[Answer]", function: str) -> Answer | None:
    """The answer, waited for; None where there is none, which the log tells: then it is computed in place."""
    try:
        with turns.elsewhere():
            return asked.result()
    except Exception:
        logger.warning("%s is computed by the page itself: the process beside failed", function, exc_info=True)
        return None
