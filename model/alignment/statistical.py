"""Statistical word aligners, learned on the spot, to stand beside attention. All of them are optional.

The library `thot` (package sil-thot, LGPL-3) brings fast_align, an HMM, IBM model 1 and eflomal's model; the program
`eflomal-align` (GPL-3) is used where it is on PATH, and never imported. Either runs in a process of its own, which can be
stopped at any moment. Without them: `pip install -r requirements-align.txt`.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.alignment import pharaoh
from model.alignment.symmetrize import symmetrize

LIBRARY_MODELS = ("eflomal", "hmm", "fast_align", "ibm1")
PROGRAM = "eflomal-align"
MODELS = (*LIBRARY_MODELS, PROGRAM)
INSTALL = "pip install -r requirements-align.txt"
LITTLE = 5_000
"""Pairs below which a statistical aligner has little to learn from: most words occur once or twice."""

_WORKER = Path(__file__).with_name("thot_worker.py")
_POLL = 0.05  # seconds between two looks at whether to stop

Words = Sequence[str]


class StatisticalError(RuntimeError):
    """The aligner is not installed, or it failed; the message says what to do."""


class StoppedError(Exception):
    """The caller asked to stop."""


@dataclass(frozen=True)
class Learned:
    """Links of each pair in both directions, written source first, and how many pairs they were learned from.

    Forward, each target word has at most one source word; reverse, each source word has at most one target word.
    """

    model: str
    forward: list[pharaoh.Links]
    reverse: list[pharaoh.Links]
    pairs: int

    @property
    def little(self) -> bool:
        """Whether so few pairs were there that the links say little about the method."""
        return self.pairs < LITTLE

    def flipped(self) -> "Learned":
        """The same links for the opposite direction of translation: what was reverse is forward."""
        forward, reverse = ([frozenset((j, i) for i, j in links) for links in side] for side in (self.reverse, self.forward))
        return Learned(self.model, forward, reverse, self.pairs)

    def symmetrized(self, method: str) -> list[pharaoh.Links]:
        return [frozenset(symmetrize(one, other, method)) for one, other in zip(self.forward, self.reverse, strict=True)]


def available() -> tuple[str, ...]:
    """The models that can be trained here, the best first; empty where nothing is installed."""
    library = LIBRARY_MODELS if importlib.util.find_spec("thot") is not None else ()
    return (*library, PROGRAM) if shutil.which(PROGRAM) else library


def align(
    pairs: Iterable[tuple[Words, Words]],
    model: str = "eflomal",
    *,
    training: Iterable[tuple[Words, Words]] = (),
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    program: str | None = None,
) -> Learned:
    """Learn from `training` and from `pairs` themselves, and link the words of `pairs`; letter case is left out.

    `progress` is told the share that is done, `stop` is asked twenty times a second. `program`: where eflomal-align is, if not
    on PATH. Raises StatisticalError for what is not installed or fails, StoppedError when asked to.
    """
    if model not in MODELS:
        raise ValueError(f"model={model!r} is unknown; choose one of {', '.join(MODELS)}")
    if model not in available() and not (model == PROGRAM and program):
        raise StatisticalError(f"the aligner {model} is not installed; {_remedy(model)}")
    more, asked = list(training), list(pairs)
    with tempfile.TemporaryDirectory(prefix="aligner-") as name:
        folder = Path(name)
        if model == PROGRAM:
            command = _write_sides(folder, [*more, *asked], program or PROGRAM)
        else:
            _write_pairs(folder / "pairs", [*more, *asked])
            command = [sys.executable, "-P", str(_WORKER), model, name, str(len(asked))]
        if more or asked:
            _run(command, folder, progress, stop)
            forward, reverse = (_read(folder / direction)[-len(asked) :] if asked else [] for direction in ("forward", "reverse"))
        else:
            forward, reverse = [], []
    return Learned(model, forward, reverse, len(more) + len(asked))


def _remedy(model: str) -> str:
    if model == PROGRAM:
        return f"put the program {PROGRAM} on PATH (package eflomal), or run `{INSTALL}` and choose another model"
    return f"run `{INSTALL}`"


def _write_pairs(path: Path, pairs: Iterable[tuple[Words, Words]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps([[word.lower() for word in side] for side in pair]) + "\n")


def _write_sides(folder: Path, pairs: Sequence[tuple[Words, Words]], program: str) -> list[str]:
    """The two files that eflomal reads, and its command; white space inside a word becomes `_`."""
    paths = {name: folder / name for name in ("source", "target", "forward", "reverse")}
    for side, name in enumerate(("source", "target")):
        lines = (" ".join(re.sub(r"\s", "_", word).lower() for word in pair[side]) for pair in pairs)
        paths[name].write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = zip(("-s", "-t", "-f", "-r"), map(str, paths.values()), strict=True)
    return [program, "--model", "3", *(part for option in options for part in option)]


def _run(command: Sequence[str], folder: Path, progress: Callable[[float], None] | None, stop: Callable[[], bool] | None) -> None:
    with (folder / "told").open("w+b") as told, (folder / "errors").open("w+b") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=told, stderr=errors)
        try:
            while process.poll() is None:
                if stop is not None and stop():
                    raise StoppedError
                if progress is not None and (share := _share(folder / "told")) is not None:
                    progress(share)
                time.sleep(_POLL)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode:
            errors.seek(0)
            last = errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise StatisticalError(f"the aligner {command[0]} failed with exit code {process.returncode}: {last}")
    if progress is not None:
        progress(1.0)


def _share(path: Path) -> float | None:
    """The last whole line "done total" that the worker wrote."""
    lines = re.findall(r"^(\d+) (\d+)\n", path.read_text("utf-8", "replace"), re.MULTILINE)
    return int(lines[-1][0]) / int(lines[-1][1]) if lines else None


def _read(path: Path) -> list[pharaoh.Links]:
    return [pharaoh.parse(line)[1] for line in path.read_text("ascii").split("\n")[:-1]]
