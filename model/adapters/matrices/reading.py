"""Which of the known kinds a file is, and the traces in it."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from model.adapters.matrices import arrays, named, soft, tables
from model.adapters.matrices.checks import LARGEST, Made
from model.adapters.matrices.problem import MatrixError, Place, at, said
from model.alignment.formats import encodings
from model.alignment.formats.files import File
from model.alignment.formats.problem import FormatError, Message
from model.trace import Trace

MOST_PROBLEMS = 50  # sentences that could not be read, before the whole file is refused


@dataclass(frozen=True)
class Limits:
    """Bytes of a file, of what an NPZ unpacks to, and how many sentences are read."""

    bytes: int = 50_000_000
    unpacked: int = 110_000_000
    sentences: int = 1000


@dataclass(frozen=True)
class Doubt:
    """Something to know about what was read: of one sentence (its place in `traces`, from 0) or of the whole file.

    `left_out`: where in the file a sentence stands that could not be read; the message then says why.
    """

    message: Message
    sentence: int | None = None
    left_out: tuple[Place, int] | None = None


@dataclass(frozen=True)
class Matrices:
    """What a file holds: its format by an id, a trace for each sentence or pair, what is doubtful about them, its encoding.

    `numbers[i]` is which sentence of the file `traces[i]` is, from 0: of one that could not be read a doubt says why.
    """

    format: str
    traces: tuple[Trace, ...]
    doubts: tuple[Doubt, ...] = ()
    encoding: str = ""
    numbers: tuple[int, ...] = ()


def read(data: bytes, name: str = "", limits: Limits = Limits()) -> Matrices:
    """The matrices of a file by what stands in it; `name` is said in messages. Raises `MatrixError`."""
    try:
        return _read(data, limits)
    except MatrixError as error:
        error.file = name or "the file"
        raise


def _read(data: bytes, limits: Limits) -> Matrices:
    if len(data) > limits.bytes:
        raise MatrixError("too_large", given=len(data), limit=limits.bytes)
    if data.startswith(b"%PDF"):
        raise MatrixError("binary")
    if not data.strip(b" \t\r\n\0\xef\xbb\xbf\xff\xfe"):
        raise MatrixError("empty")
    if data.startswith(b"\x80"):
        raise MatrixError("pickle")
    if data.startswith(b"PK"):
        return _collected(named.read(arrays.unpacked(data, limits.unpacked)), limits)
    if data.startswith(b"\x93NUMPY"):
        found = named.stack(arrays.array(data, "array"), "array")
        return _collected(("npy", "entry", iter([(1, lambda: named.bare(found))])), limits)
    text, doubts, encoding = _decoded(data)
    found_: named.Found = _of_json(text) if text.lstrip()[:1] in ("{", "[") else _soft(text)
    made = _collected(found_, limits)
    return replace(made, doubts=(*doubts, *made.doubts), encoding=encoding)


def _soft(text: str) -> named.Found:
    if text.lstrip()[:9].casefold().startswith(("<html", "<!doctype", "<script")):
        raise MatrixError("web")
    if (rows := tables.cells(text)) is not None:
        return "table", "entry", iter([(1, lambda: tables.table(rows))])
    format_, sentences = soft.read(text)
    return format_, "line", sentences


def _decoded(data: bytes) -> tuple[str, list[Doubt], str]:
    """The text, whatever its encoding and line ends are, and whether that is sure."""
    file = File(io.BytesIO(data))
    try:
        found = encodings.detect(file)
    except FormatError:
        raise MatrixError("binary") from None
    decoded = encodings.decode(io.BytesIO(data), found.name)
    doubts = [] if found.sure else [Doubt(said("encoding", given=found.name.upper()))]
    if "\ufffd" in decoded and b"\xef\xbf\xbd" not in data:
        doubts.append(Doubt(said("bad_bytes", given=found.name.upper())))
    if any(ord(sign) < 9 for sign in decoded[:200]):
        raise MatrixError("binary")
    return decoded.replace("\r\n", "\n").replace("\r", "\n"), doubts, found.name


def _of_json(text: str) -> named.Found:
    """One value, or an object a line (JSON Lines)."""
    try:
        content = _value(text)
    except MatrixError:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith("{") for _, line in lines):
            raise
        return _lines(lines)
    return _json(content)


def _lines(lines: Sequence[tuple[int, str]]) -> named.Found:
    with at("line", lines[0][0]):
        format_ = named.read(_value(lines[0][1]))[0]
    return format_, "line", ((number, partial(_only_line, line)) for number, line in lines)


def _only_line(line: str) -> Made:
    return _only(_value(line))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise MatrixError("json", reason="it is nested too deeply") from None
    except ValueError as error:
        raise MatrixError("json", reason=arrays.first_line(error)) from None


def _json(content: Any) -> named.Found:
    if isinstance(content, dict):
        return named.read(content)
    if soft.are_links(content):
        return "nematus-json", "entry", iter([(1, lambda: soft.links(content))])
    if content and isinstance(content[0], dict):
        with at("entry", 1):
            format_ = named.read(content[0])[0]
        return format_, "entry", ((number, partial(_only, entry)) for number, entry in enumerate(content, start=1))
    return "json", "entry", iter([(1, lambda: named.bare(named.stack(content, "array")))])


def _only(entry: Any) -> Made:
    """The one sentence of an entry."""
    if not isinstance(entry, dict):
        raise MatrixError("entry", given=type(entry).__name__)
    sentences = [make for _, make in named.read(entry)[2]]
    if len(sentences) > 1:
        raise MatrixError("sentences", given=len(sentences), limit=1)
    return sentences[0]()


def _collected(found: named.Found, limits: Limits) -> Matrices:
    """All sentences. One that cannot be read is left out, and told, as long as others can be."""
    format_, kind, sentences = found
    made: dict[int, Made] = {}
    problems: list[MatrixError] = []
    weights = 0
    for index, (number, make) in enumerate(sentences):
        if index >= limits.sentences:
            raise MatrixError("sentences", given=index + 1 + sum(1 for _ in sentences), limit=limits.sentences)
        try:
            with at(kind, number):
                one = make()
        except MatrixError as error:
            problems.append(error)
            if len(problems) > MOST_PROBLEMS:
                raise problems[0] from None
            continue
        made[number - 1 if kind == "pair" else index] = one  # the studio's matrices say of which pair they are
        weights += sum(activation.tensor.numel() for activation in one.trace.values())
        if weights > 2 * LARGEST:  # and as many scores, where rows have no key
            raise MatrixError("weights", array=format_, given=weights, limit=LARGEST)
    if problems and not made:
        if kind == "entry" and len(problems) == 1:
            problems[0].place = None
        raise problems[0]
    doubts = [Doubt(problem.message, None, problem.place) for problem in problems]
    doubts += [Doubt(message, place) for place, one in enumerate(made.values()) for message in one.doubts]
    return Matrices(format_, tuple(one.trace for one in made.values()), tuple(doubts), "", tuple(made))
