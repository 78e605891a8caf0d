"""The work of the Alignment studio: forced passes in threads of the server, one or two at once, the others in a queue.

A thread gives way to everybody else, takes a few pairs at a time, and looks in between whether it was cancelled or its visitor is
gone. It holds nothing but the study that it works on.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from app.session.shelf import shelf
from app.session.studio_pairs import flags_of
from app.session.studio_study import Study
from model.alignment import corpus
from model.alignment.corpus import Settings
from model.translator import Translator

NICENESS = 10
AWAY = 30.0  # seconds after which a session that is not connected is taken to be gone
FIRST, MOST = 4, 64  # pairs of the first slice, so that something is seen at once, and of the later ones
PAUSE = 0.002  # seconds between slices in which pages come first

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """A study to be aligned by these models; `reverse` where links are symmetrised."""

    owner: str
    study: Study
    atlas: Translator
    reverse: Translator | None = None
    cancelled: bool = False
    seen: float = 0.0  # when its session was last there


class Alignments:
    """All work of a server, at most `limit` at once; safe to be used by many threads."""

    def __init__(self, limit: int, is_here: Callable[[str], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self.is_here, self.clock = limit, is_here, clock
        self.lock = threading.RLock()
        self.queue: list[Job] = []
        self.running: list[Job] = []

    def submit(self, job: Job) -> None:
        """Begin as soon as there is room; what the session did before is cancelled."""
        with self.lock:
            self.cancel(job.owner)
            job.seen = self.clock()
            job.study.state = "waiting"
            self.queue.append(job)
            self._begin()

    def cancel(self, owner: str) -> None:
        """What is done stays; nothing more is begun."""
        with self.lock:
            for job in [job for job in self.queue if job.owner == owner]:
                self.queue.remove(job)
                job.study.state = "cancelled"
            for job in self.running:
                if job.owner == owner:
                    job.cancelled = True

    def place(self, study: Study) -> int:
        """The place of a study in the queue, from 1; 0 where it is in none."""
        with self.lock:
            self._drop_unwanted()
            return next((place for place, job in enumerate(self.queue, 1) if job.study is study), 0)

    def _drop_unwanted(self) -> None:
        for job in [job for job in self.queue if not self._is_wanted(job)]:
            self.queue.remove(job)
            job.study.state = "cancelled"  # a visitor who comes back can begin it again

    def _begin(self) -> None:
        self._drop_unwanted()
        while self.queue and len(self.running) < self.limit:
            job = self.queue.pop(0)
            self.running.append(job)
            threading.Thread(target=self._work, args=(job,), daemon=True, name="alignment").start()

    def _is_wanted(self, job: Job) -> bool:
        """Whether it was not cancelled, and its session is there or was a moment ago."""
        now = self.clock()
        for atlas in (job.atlas, job.reverse):
            if atlas is not None:
                shelf.touch(atlas.name)
        if self.is_here(job.owner):
            job.seen = now
        return not job.cancelled and now - job.seen <= AWAY

    def _work(self, job: Job) -> None:
        with suppress(OSError, AttributeError):  # where a thread has no priority of its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        study = job.study
        try:
            study.began, study.begun_with, study.state = time.monotonic(), study.done, "running"
            finished = work(job, lambda: self._is_wanted(job))
            study.state = "done" if finished else "cancelled"
        except Exception as error:  # told on the page; its traceback belongs in the log of the server
            logger.exception("alignment failed")
            study.state, study.reason = "failed", f"{type(error).__name__}: {error}"[:300]
        finally:
            study.changed()
            with self.lock:
                self.running.remove(job)
                self._begin()


class _LeftError(Exception):
    """Nobody waits for this any more."""


def work(job: Job, goes_on: Callable[[], bool]) -> bool:
    """Align the pairs of a study in slices, as long as `goes_on()`; whether it came to the end."""

    def between() -> None:
        if not goes_on():
            raise _LeftError

    try:
        _slices(job, between)
    except _LeftError:
        return False
    return True


def _slices(job: Job, between: Callable[[], None]) -> None:
    study, settings = job.study, job.study.settings
    begin, size = study.done, FIRST
    study.computed, study.computed_by, study.computed_with = settings, study.model, job.reverse.name if job.reverse else ""
    while begin < study.total:
        between()
        end = min(begin + size, study.total)
        _translate(job, range(begin, end), between)
        pairs = [(entry.source, entry.target) for entry in study.entries[begin:end]]
        forward = list(corpus.align(job.atlas, pairs, settings, job.reverse, window=MOST, between=between))
        backward = _backward(job, pairs, settings, between) if job.reverse else []
        study.take(list(_numbered(forward, begin)), list(_numbered(backward, begin)))
        begin, size = end, min(2 * size, MOST)
        time.sleep(PAUSE)


def _backward(
    job: Job, pairs: Sequence[tuple[str, str]], settings: Settings, between: Callable[[], None]
) -> list[corpus.Aligned]:
    """The other direction by itself, so that another way of joining the two needs no model."""
    assert job.reverse is not None
    alone = replace(settings, choice=None, symmetrize=None)
    return list(corpus.align(job.reverse, [(target, source) for source, target in pairs], alone, window=MOST, between=between))


def _numbered(aligned: Iterable[corpus.Aligned], begin: int) -> Iterator[corpus.Aligned]:
    return (replace(one, index=index) for index, one in enumerate(aligned, begin))


def _translate(job: Job, indices: range, between: Callable[[], None]) -> None:
    """Let the model write the targets of sources that came alone."""
    study = job.study
    missing = [index for index in indices if study.alone and not study.entries[index].target]
    written = corpus.translate_missing(job.atlas, [study.entries[index].source for index in missing], between=between)
    for index, pair in zip(missing, written, strict=True):
        study.entries[index] = replace(study.entries[index], target=pair.target)
        study.flags[index] = flags_of([study.entries[index]], study.model)[0]
        study.translated.add(index)
