"""The text of a segment in TMX or XLIFF: what a reader sees, without the codes of the document it came from.

TMX 1.4b, section "Content markup"; XLIFF 1.2, section 2.4; XLIFF 2.1, section 4.7.
"""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from model.alignment.formats.markup import Node
from model.alignment.formats.pairs import one_line
from model.alignment.formats.problem import Message, Problem

# Elements that hold native code, not text. `sub` inside them is text of its own (a footnote, the title of a link).
_CODES = frozenset({"bpt", "ept", "ph", "it", "ut", "x", "bx", "ex", "sc", "ec", "sm", "em"})
_LINE_BREAKS = frozenset({"lb", "xlf:lb", "x-br", "br"})
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REPLACEMENT = "\ufffd"


def text(node: Node, problems: list[Problem]) -> str:
    """The text of a segment: codes dropped with what they hold, every other element's text kept.

    A flow inside a code is set apart by spaces, a code for a line break is a space, a line break in the file (with the
    indentation around it) as well.
    """
    return plain("".join(_pieces(node, problems)))


def plain(string: str) -> str:
    """The text of an element in one line and in NFC."""
    return one_line(_folded(string))


def _folded(string: str) -> str:
    """Line breaks, with the spaces around them, become one space; at either end nothing."""
    if "\n" not in string and "\r" not in string:
        return string
    first, *middle, last = re.split(r"[\r\n]+", string)
    parts = (first.rstrip(" \t"), *(part.strip(" \t") for part in middle), last.lstrip(" \t"))
    return " ".join(part for part in parts if part)


def markup(string: str, line: int, problems: list[Problem], *, points: bool = False) -> str:
    """`string` as content of an element.

    A character that XML forbids is written as an element `cp` where the format has it (`points`), else as U+FFFD and
    reported with `line`.
    """

    def substitute(match: re.Match[str]) -> str:
        code = ord(match[0])
        if points and not 0xD800 <= code <= 0xDFFF:
            return f'<cp hex="{code:04X}"/>'
        problems.append(Problem(line, Message.of("xml_written_character", character=f"U+{code:04X}")))
        return REPLACEMENT

    return _FORBIDDEN.sub(substitute, escape(string, {"\r": "&#13;"}))


def attribute(value: str) -> str:
    """`value` as an attribute, quoted."""
    return quoteattr(_FORBIDDEN.sub(REPLACEMENT, value))


def _pieces(node: Node, problems: list[Problem]) -> Iterable[str]:
    for part in node.parts:
        if isinstance(part, str):
            yield part
        elif part.name in _CODES:
            yield from _flows(part, problems)
        elif part.name == "cp":
            yield _point(part, problems)
        else:
            yield from _pieces(part, problems)


def _flows(code: Node, problems: list[Problem]) -> Iterable[str]:
    if _LINE_BREAKS & {code.attributes.get(name, "") for name in ("ctype", "type", "subType")}:
        yield "\n"
    for flow in code.children("sub"):
        yield " "
        yield from _pieces(flow, problems)
        yield " "


def _point(node: Node, problems: list[Problem]) -> str:
    value = node.attributes.get("hex", "")
    if re.fullmatch(r"[0-9A-Fa-f]{1,6}", value):
        code = int(value, 16)
        if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            return chr(code)
    problems.append(Problem(node.line, Message.of("xliff_code_point", given=value[:20])))
    return REPLACEMENT
