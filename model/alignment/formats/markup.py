"""XML that strangers upload, read piece by piece: no document type, no entities, nothing fetched, bounded memory.

`defusedxml` refuses declarations before anything could be expanded. What it does not bound is bounded here: the length of
one tag, the depth of nesting, the size of one unit of text.
"""

import codecs
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from model.alignment.formats.problem import FormatError, Message, Problem

CHUNK = 1 << 16  # bytes read at once
MOST_SILENT = 16  # chunks without any event: one tag longer than a megabyte
MOST_DEPTH = 100
MOST_CHARACTERS = 1_000_000  # of text in one unit
MOST_NODES = 20_000  # elements and attributes in one unit
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
# What a name means in files as they are: code pages by their larger successors; wide encodings, where no bytes are wide.
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_NOT_TEXT = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7"})
# expat's numbers of errors that have a message of their own
_CUT, _UNDEFINED_ENTITY, _BAD_CHARACTER = (3, 5, 6), (11,), (14,)


@dataclass(slots=True)
class Node:
    """An element: its name (bare where it is of the root's namespace), and its text and elements in order."""

    name: str
    attributes: dict[str, str]
    line: int
    parts: "list[Node | str]" = field(default_factory=list)

    def children(self, *names: str) -> "Iterator[Node]":
        """The elements right inside this one that have one of these names."""
        return (part for part in self.parts if isinstance(part, Node) and part.name in names)


def read(
    stream: BinaryIO, root: str, units: Collection[str], problems: list[Problem], encoding: str | None = None
) -> Iterator[Node]:
    """The elements of a file: those named in `units` with all they hold, those around them as they open and without it.

    Reading ends at the first place that is not well-formed; what came before has been given by then, and the place is
    added to `problems`. Raises FormatError at a document type or an entity, where the outermost element is not `root`,
    and where the encoding is unknown.
    """
    collector = _Collector(root, units, problems)
    parser = DefusedXMLParser(target=collector, forbid_dtd=True)
    collector.expat = parser.parser
    message = None
    try:
        for text in _texts(stream, encoding, collector):
            collector.silent += 1
            parser.feed(text)
            yield from collector.take()
            if collector.silent > MOST_SILENT:
                raise _StopError("xml_long_tag", limit=MOST_SILENT * CHUNK)
        parser.close()
    except DefusedXmlException:
        raise FormatError(Problem(collector.line, Message.of("xml_document_type"))) from None
    except ParseError as error:
        collector.last_line = error.position[0]
        message = _broken(error, collector)
    except _StopError as stop:
        message = Message.of(stop.code, count=collector.count, **stop.values)
    yield from collector.take()
    if message is not None:
        problems.append(Problem(collector.line, message))


class _StopError(Exception):
    """Reading ends here, for the reason that `code` names."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code, self.values = code, values


class _Collector:
    """What the parser calls: it builds the units and hands them over, and counts what could grow without end."""

    def __init__(self, root: str, units: Collection[str], problems: list[Problem]) -> None:
        self.root, self.units, self.problems = root, units, problems
        self.expat: Any = None
        self.silent = self.count = self.size = self.nodes = 0
        self.last_line: int | None = None
        self._namespace: str | None = None
        self._depth = 0
        self._open: list[Node] = []  # of the unit at work, from the outside in
        self._ready: list[Node] = []

    @property
    def line(self) -> int:
        return self.last_line or int(self.expat.CurrentLineNumber)

    def take(self) -> list[Node]:
        """The elements that became ready since the last call."""
        ready, self._ready = self._ready, []
        return ready

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.silent = 0
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise _StopError("xml_deep", limit=MOST_DEPTH)
        node = Node(self._local(tag), attributes, self.line)
        if not self._open and node.name not in self.units:
            self._ready.append(node)
            return
        self.nodes = self.nodes + 1 + len(attributes) if self._open else 1
        self.size = self.size if self._open else 0
        if self._open and self._fits:
            self._open[-1].parts.append(node)
        self._open.append(node)

    def end(self, tag: str) -> None:
        self.silent = 0
        self._depth -= 1
        if not self._open:
            return
        node = self._open.pop()
        if self._open:
            return
        if self._fits:
            self.count += 1
            self._ready.append(node)
        else:
            self.problems.append(Problem(node.line, Message.of("xml_large_unit", limit=MOST_CHARACTERS)))

    def data(self, text: str) -> None:
        self.silent = 0
        if self._open:
            self.size += len(text)
            if self._fits:
                self._open[-1].parts.append(text)

    def comment(self, text: str) -> None:
        self.silent = 0

    def pi(self, target: str, text: str) -> None:
        self.silent = 0

    @property
    def _fits(self) -> bool:
        return self.size <= MOST_CHARACTERS and self.nodes <= MOST_NODES

    def _local(self, tag: str) -> str:
        namespace, _, name = tag.rpartition("}")
        if self._namespace is None:
            if name != self.root:
                raise FormatError(Problem(self.line, Message.of("xml_root", given=name[:40], needed=self.root)))
            self._namespace = namespace
        return name if namespace == self._namespace else tag


def _broken(error: ParseError, collector: _Collector) -> Message:
    reason = re.sub(r": line \d+, column \d+$", "", str(error))
    for codes, code in ((_CUT, "xml_cut"), (_UNDEFINED_ENTITY, "xml_entity"), (_BAD_CHARACTER, "xml_character")):
        if error.code in codes:
            return Message.of(code, count=collector.count, reason=reason)
    return Message.of("xml_broken", count=collector.count, reason=reason)


def _texts(stream: BinaryIO, encoding: str | None, collector: _Collector) -> Iterator[str]:
    """The file's text in pieces. Decoded here, for expat itself knows few encodings."""
    chunk = stream.read(CHUNK)
    name = encoding or declared_encoding(chunk)
    decoder = codecs.getincrementaldecoder(name)("strict")
    line = 1
    while chunk:
        try:
            text = decoder.decode(chunk)
        except UnicodeError as error:
            before = error.object[: error.start].decode(name, "replace") if isinstance(error, UnicodeDecodeError) else ""
            yield before
            collector.last_line = line + before.count("\n")
            raise _StopError("xml_bytes", encoding=name) from None
        line += text.count("\n")
        yield text
        chunk = stream.read(CHUNK)
    try:
        decoder.decode(b"", final=True)
    except UnicodeError:
        raise _StopError("xml_bytes", encoding=name) from None


def declared_encoding(head: bytes) -> str:
    """The encoding of an XML file by its byte order mark, the shape of its first bytes, or its declaration; else UTF-8.

    Raises FormatError where a file declares an encoding that Python does not know.
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    match = _DECLARED.match(head)
    if match is None:
        return "utf-8"
    declared = match[1].decode("ascii")
    try:
        name = codecs.lookup(declared).name
        "a".encode(name)  # LookupError where the codec is not one of text
    except (LookupError, UnicodeError):
        name = "undefined"
    if name in _NOT_TEXT:
        raise FormatError(Problem(1, Message.of("xml_encoding", encoding=declared)))
    if name.startswith(("utf-16", "utf-32")):  # the declaration itself was read byte by byte: it is wrong
        return "utf-8"
    return _MEANT.get(name, name)
