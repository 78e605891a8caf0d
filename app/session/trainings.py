"""Trainings on the spot: each in a low-priority process of its own, a few at once for the whole server, the others in a queue.

A training belongs to a session and ends with it. What it left can be resumed, opened as a model of this session, or taken away.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from app.session.loading import ROOT
from model.practice.__main__ import STOP
from model.practice.order import Order
from model.practice.progress import read
from model.practice.run import RESULT

State = Literal["waiting", "running", "stopping", "stopped", "done", "failed"]
ALIVE = ("running", "stopping")

NICENESS = 10
AWAY = 30.0  # seconds after which a session that is not connected is taken to be gone
PATIENCE = 20.0  # seconds that a process is given to stop by itself
BEAT = 0.5  # seconds between looks at the processes


class Process(Protocol):
    """What is needed of a process that trains."""

    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


@dataclass(frozen=True)
class Training:
    """What a visitor may know of their training. `place` counts from 1 in the queue; `reason` says why it failed."""

    order: Order
    folder: Path
    state: State
    place: int = 0
    reason: str = ""

    @property
    def result(self) -> Path | None:
        """The folder of the model that it has come to, if it has come to one."""
        folder = self.folder / RESULT
        return folder if self.state not in ALIVE and (folder / "model.safetensors").exists() else None


@dataclass
class _Job:
    training: Training
    process: Process | None = None
    since: float = 0.0  # when it was told to stop


class Trainings:
    """All trainings of a server; safe to be used by many threads at once."""

    def __init__(
        self,
        limit: int,
        start: Callable[[Order, Path], Process],
        is_here: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit, self.start, self.is_here, self.clock = limit, start, is_here, clock
        self.lock = threading.RLock()
        self.jobs: dict[str, _Job] = {}
        self.seen: dict[str, float] = {}  # when each session was last there
        self.homes: dict[str, Path] = {}
        self.queue: list[str] = []
        self.folder = Path(tempfile.mkdtemp(prefix="attention-atlas-"))
        self.closed = False

    def look(self, owner: str) -> Training | None:
        """The training of a session, if it has one."""
        with self.lock:
            self.tick()
            return self._told(owner)

    def submit(self, owner: str, order: Order) -> None:
        """Train this as soon as there is room; what this session trained before is given up. Nothing where the server stops."""
        with self.lock:
            if self.closed:
                return
            self.forget(owner)
            folder = self.home(owner) / f"run-{secrets.token_hex(4)}"
            folder.mkdir()
            self.jobs[owner] = _Job(Training(order, folder, "waiting"))
            self._queue(owner)

    def home(self, owner: str) -> Path:
        """The folder of a session, in which its runs and its models lie; it goes when the session is gone."""
        with self.lock:
            self.seen.setdefault(owner, self.clock())
            folder = self.homes.setdefault(owner, self.folder / secrets.token_hex(8))
            folder.mkdir(exist_ok=True)
            return folder

    def resume(self, owner: str) -> None:
        """Go on with what was stopped, at the end of the queue; what never began, begins."""
        with self.lock:
            job = self.jobs.get(owner)
            if job and not self.closed and job.training.state in ("stopped", "failed"):
                self._set(job, "waiting")
                self._queue(owner)

    def stop(self, owner: str) -> None:
        """Ask it to stop: it saves where it stands."""
        with self.lock:
            job = self.jobs.get(owner)
            if job is None:
                return
            if job.training.state == "waiting":
                self.queue.remove(owner)
                self._set(job, "stopped")
            elif job.training.state == "running":
                (job.training.folder / STOP).touch()
                job.since = self.clock()
                self._set(job, "stopping")

    def forget(self, owner: str) -> None:
        """End it at once, and remove all that it wrote."""
        with self.lock:
            job = self.jobs.pop(owner, None)
            if job is None:
                return
            if owner in self.queue:
                self.queue.remove(owner)
            if job.process is not None:
                job.process.kill()
                job.process.wait()
            shutil.rmtree(job.training.folder, ignore_errors=True)

    def tick(self) -> None:
        """See who is gone, what has ended, and what may begin."""
        with self.lock:
            now = self.clock()
            for owner in list(self.seen):
                if self.is_here(owner):
                    self.seen[owner] = now
                elif now - self.seen[owner] > AWAY:
                    self._leave(owner)
            for job in self.jobs.values():
                if job.process is not None:
                    self._watch(job, now)
            while self.queue and sum(job.process is not None for job in self.jobs.values()) < self.limit:
                self._begin(self.jobs[self.queue.pop(0)])

    def close(self) -> None:
        """The server stops: nothing goes on, nothing stays."""
        with self.lock:
            self.closed = True
            for owner in list(self.seen):
                self._leave(owner)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _leave(self, owner: str) -> None:
        self.forget(owner)
        del self.seen[owner]
        shutil.rmtree(self.homes.pop(owner), ignore_errors=True)

    def _queue(self, owner: str) -> None:
        self.queue.append(owner)
        self.tick()

    def _begin(self, job: _Job) -> None:
        (job.training.folder / STOP).unlink(missing_ok=True)
        try:
            job.process = self.start(job.training.order, job.training.folder)
        except OSError as error:
            self._set(job, "failed", error.strerror or "")
        else:
            self._set(job, "running")

    def _watch(self, job: _Job, now: float) -> None:
        assert job.process is not None
        code = job.process.poll()
        if code is None:
            if job.training.state == "stopping" and now - job.since > PATIENCE:
                job.process.kill()
            return
        job.process = None
        if code == 0:
            found = read(job.training.folder)
            self._set(job, "done" if found is not None and found.step >= job.training.order.steps else "stopped")
        else:
            self._set(job, "stopped" if job.training.state == "stopping" else "failed", reason(code, job.training.folder))

    def _set(self, job: _Job, state: State, why: str = "") -> None:
        job.training = replace(job.training, state=state, reason=why)

    def _told(self, owner: str) -> Training | None:
        job = self.jobs.get(owner)
        if job is None:
            return None
        return replace(job.training, place=self.queue.index(owner) + 1 if owner in self.queue else 0)


ERRORS = "errors.txt"


def in_own_process(order: Order, folder: Path) -> Process:
    """Start the training that `python -m model.practice` is, one thread, giving way to everybody else."""
    command = [
        sys.executable, "-m", "model.practice", "--output", str(folder), "--quiet",
        "--niceness", str(NICENESS), "--parent", str(os.getpid()), *order.words(),
    ]  # fmt: skip
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with (folder / ERRORS).open("wb") as errors:
        return subprocess.Popen(
            command, cwd=ROOT, env=one_thread, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )


def reason(code: int, folder: Path) -> str:
    """Why a process failed: the signal that killed it, or the last line that it wrote."""
    if code < 0:
        return signal.Signals(-code).name if -code in set(signal.Signals) else str(code)
    try:
        lines = (folder / ERRORS).read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        lines = []
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), str(code))


def watch(trainings: Trainings) -> None:
    """Look after them as long as the server runs, whether anybody looks or not."""
    while not trainings.closed:
        time.sleep(BEAT)
        trainings.tick()
