"""What was measured in the shipped models before anyone came: read from a file, as long as it still holds.

`python -m benchmarks.measured` writes the file. An entry holds while the weights of its models have the digests that it was made
with, the models do the same with a sentence, and the source of its function and of what that imports is the same, but for the
models' own code. Whoever trains a model anew, or changes a formula, has it computed again
(docs/decisions/0024-what-is-dear-is-computed-beside-the-pages.md).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from app.session.loading import ROOT, folder_of, load
from app.session.origin import weights_digest
from app.session.sentences import first_example
from model import checkpoint, plain

FILE = ROOT / "assets" / "measured" / "models.json"
NOTHING = object()
"""There is no entry. (What was measured may be None.)"""


PROBE = 1e-3  # by which log-probabilities of a probe may differ: another processor rounds otherwise


@dataclass(frozen=True)
class Probe:
    """What a model does with a sentence: what it writes, and how sure it is of each token."""

    source: str
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    def like(self, other: "Probe") -> bool:
        pairs = zip(self.log_probabilities, other.log_probabilities, strict=False)
        return (self.source, self.ids) == (other.source, other.ids) and all(abs(one - two) < PROBE for one, two in pairs)


@dataclass(frozen=True)
class Entry:
    """What a function found in the models with these weights; `code` is the digest of its source."""

    weights: Mapping[str, str]
    code: str
    found: str  # as `plain` wrote it


Key = tuple[str, str, str]  # function, the model that it was given, its arguments as `plain` wrote them


def found(function: str, name: str, arguments: Sequence[Any]) -> Any:
    """What the function of this dotted name finds in a model, if that was written down and still holds; else `NOTHING`."""
    entry = _entries(FILE).get(key(function, name, arguments))
    return plain.read(entry.found) if entry is not None and _holds(function, entry) else NOTHING


def line(function: str, names: Sequence[str], arguments: Sequence[Any], value: Any) -> str:
    """An entry of the file: what a function found in the first of these models (with the others beside it)."""
    weights = {name: weights_digest(name) for name in names}
    return line_of(key(function, names[0], arguments), Entry(weights, code_digest(_module(function)), plain.write(value)))


def line_of(at: Key, entry: Entry) -> str:
    """The same of what was read from the file."""
    function, _, arguments = at
    written = {"function": function, "weights": entry.weights, "code": entry.code, "arguments": arguments, "found": entry.found}
    return json.dumps(written, ensure_ascii=False)


def line_of_probe(name: str) -> str:
    """The line that holds the probe of a model, of the first of our own sentences."""
    source = first_example(name)
    return json.dumps({"model": name, **asdict(_probed(name, source, weights_digest(name)))}, ensure_ascii=False)


def stale() -> list[str]:
    """The functions of entries that no longer hold, each once."""
    return sorted({function for (function, *_), entry in _entries(FILE).items() if not _holds(function, entry)})


def holding() -> dict[Key, str]:
    """The lines of the entries that hold."""
    return {at: line_of(at, entry) for at, entry in _entries(FILE).items() if _holds(at[0], entry)}


def forget() -> None:
    """The file has changed."""
    _read.cache_clear()


def _holds(function: str, entry: Entry) -> bool:
    return entry.code == code_digest(_module(function)) and all(
        folder_of(name) == checkpoint.SHIPPED / name and weights_digest(name) == digest and _does_the_same(name)
        for name, digest in entry.weights.items()
    )


def _does_the_same(name: str) -> bool:
    probe = _read(FILE)[1].get(name)
    return probe is not None and _probed(name, probe.source, weights_digest(name)).like(probe)


@lru_cache(maxsize=16)
def _probed(name: str, source: str, _weights: str) -> Probe:
    found = load(name).trace(source)
    return Probe(source, tuple(token.id for token in found.produced), found.log_probabilities)


def _module(function: str) -> str:
    return function.rpartition(".")[0]


def key(function: str, name: str, arguments: Sequence[Any]) -> Key:
    """What tells an entry from others."""
    try:
        return function, name, plain.write(tuple(arguments))
    except TypeError:  # a path, say: nothing like it was written down
        return function, name, ""


def _entries(file: Path) -> dict[Key, Entry]:
    return _read(file)[0]


@lru_cache(maxsize=1)
def _read(file: Path) -> tuple[dict[Key, Entry], dict[str, Probe]]:
    """The entries, and the probes of the models."""
    lines = [json.loads(one) for one in file.read_text("utf-8").split("\n") if one] if file.exists() else []
    entries = {
        (one["function"], next(iter(one["weights"])), one["arguments"]): Entry(one["weights"], one["code"], one["found"])
        for one in lines
        if "function" in one
    }
    probes = {
        one["model"]: Probe(one["source"], tuple(one["ids"]), tuple(one["log_probabilities"])) for one in lines if "model" in one
    }
    return entries, probes


# ----- the source of a function


_IMPORT = re.compile(r"^[ \t]*(?:from (model[\w.]*) import (\([^)]*\)|[^\n]*)|import (model[\w.]*))", re.MULTILINE)


@cache
def code_digest(module: str) -> str:
    """SHA-256 of the source of a module and of all that it imports of `model`, directly or not, but for the models' own."""
    digest = hashlib.sha256()
    for file in sorted(sources(module)):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


OWN = frozenset(
    {
        "__init__", "config", "tokenizer", "trace", "attention_mask", "position", "embedding", "attention", "layers",
        "transformer", "sampling", "decoding", "beam_search", "checkpoint", "translator", "plain",
    }
)  # fmt: skip
"""The files of the models themselves: what they do is looked at, not how it is written."""


def sources(module: str) -> set[Path]:
    """The files of a module and of all that it imports of `model`, but for `OWN`."""
    reached: set[Path] = set()
    waiting = [module]
    while waiting:
        file = _file(waiting.pop())
        if file is not None and file not in reached and not (file.parent == ROOT / "model" and file.stem in OWN):
            reached.add(file)
            waiting += _imported(file)
    return reached


@cache
def _imported(file: Path) -> tuple[str, ...]:
    """What a file imports of `model`; of `from model.a import b` both `model.a` and `model.a.b`, whichever are modules."""

    def names() -> Iterator[str]:
        for base, parts, whole in _IMPORT.findall(file.read_text("utf-8")):
            yield base or whole
            yield from (f"{base}.{part}" for part in re.findall(r"\w+", re.sub(r" as \w+", "", parts)))

    return tuple(dict.fromkeys(names()))


def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)
