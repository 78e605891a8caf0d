"""This machine measured, for all visitors together: one measurement at a time, in a process of its own, each kept once done."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from model.analysis.machine import KINDS, Timed, lengths
from model.config import ModelConfig

ROOT = Path(__file__).resolve().parents[2]
LEFT = 4.0  # seconds after which a visitor who no longer asks has gone
LONGEST = 120.0  # seconds that a measurement may take, however busy the machine is
MOST = 32  # shapes that are kept


@dataclass(frozen=True)
class Measuring:
    """Where a measurement stands: "idle", "waiting" (`ahead` of it), "running", "done" or "failed"; what was found so far."""

    state: str
    found: tuple[Timed, ...] = ()
    total: int = 0
    ahead: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return len(self.found) / self.total if self.total else 0.0


def layer_of(config: ModelConfig) -> ModelConfig:
    """The part of a configuration that a measurement of one layer depends on; the rest is the same for all."""
    return ModelConfig(
        source_vocab_size=1, target_vocab_size=1, positions="none", dropout=0.0,
        d_model=config.d_model, num_heads=config.num_heads, d_ff=config.d_ff, activation=config.activation, norm=config.norm,
        attention_bias=config.attention_bias,
    )  # fmt: skip


class Bench:
    """Runs one measurement after another; safe to be asked by many threads at once."""

    def __init__(self, command: Callable[[ModelConfig], list[str]]) -> None:
        self.command = command
        self.lock = threading.Lock()
        self.kept: dict[ModelConfig, Measuring] = {}
        self.asked: dict[ModelConfig, float] = {}  # in the order in which they came; when last asked
        self.running: ModelConfig | None = None

    def look(self, config: ModelConfig) -> Measuring:
        """What is known, without asking for anything."""
        with self.lock:
            return self.kept.get(layer_of(config), Measuring("idle"))

    def ask(self, config: ModelConfig) -> Measuring:
        """Measure this layer as soon as its turn has come. Asked again and again, as long as somebody waits for it."""
        layer, now = layer_of(config), time.monotonic()
        with self.lock:
            found = self.kept.get(layer)
            if found is not None and found.state in ("running", "done"):
                return found
            self.asked[layer] = now
            waiting = [one for one, last in self.asked.items() if now - last < LEFT]
            self.asked = {one: self.asked[one] for one in waiting}
            if self.running is None and waiting[0] == layer:
                return self._start(layer)
            return Measuring("waiting", ahead=waiting.index(layer) + (self.running is not None))

    def _start(self, layer: ModelConfig) -> Measuring:
        self.running = layer
        del self.asked[layer]
        for old in list(self.kept)[: max(0, len(self.kept) + 1 - MOST)]:
            del self.kept[old]
        self.kept[layer] = Measuring("running", total=len(KINDS) * len(lengths(layer)))
        threading.Thread(target=self._watch, args=(layer,), daemon=True).start()
        return self.kept[layer]

    def _watch(self, layer: ModelConfig) -> None:
        """Runs the process and tells how far it is; what it found is kept, whole or not."""
        found, total = list[Timed](), len(KINDS) * len(lengths(layer))
        try:
            for timed in self._lines(layer):
                found.append(timed)
                with self.lock:
                    self.kept[layer] = Measuring("running", tuple(found), total)
        except (OSError, ValueError, TypeError):  # no process, or not its lines
            found = found[: total - 1]
        finally:
            with self.lock:
                self.kept[layer] = Measuring("done" if len(found) == total else "failed", tuple(found), total)
                self.running = None

    def _lines(self, layer: ModelConfig) -> Iterator[Timed]:
        """What the process writes; it is ended if it takes too long."""
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        with subprocess.Popen(
            self.command(layer), cwd=ROOT, env=one_thread, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            timer = threading.Timer(LONGEST, process.kill)
            timer.daemon = True  # a server that stops does not wait for it
            timer.start()
            try:
                for line in process.stdout or ():
                    yield Timed(**json.loads(line))
            finally:
                timer.cancel()
                process.kill()


def own_process(layer: ModelConfig) -> list[str]:
    """The command that measures this layer."""
    return [sys.executable, "-m", "model.analysis.machine", json.dumps(layer.to_dict())]


@st.cache_resource(show_spinner=False)
def bench() -> Bench:
    """The one bench of this server."""
    return Bench(own_process)
