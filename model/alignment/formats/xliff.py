"""Translation files: XLIFF 1.2 and 2, read and written."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from model.alignment.formats import language_tags, markup, segments
from model.alignment.formats.markup import Node
from model.alignment.formats.pairs import Entry, Pair
from model.alignment.formats.problem import Problem, add

Version = Literal["1.2", "2.0"]
Sides = tuple[Node | None, Node | None]


@dataclass
class _File:
    """The languages that the elements around the units name, and whether the pairs are to be turned round; None: not wanted."""

    source: str = ""
    target: str = ""
    turned: bool | None = False

    def open(self, node: Node) -> bool:
        """Take in an element around the units; whether it names languages."""
        if node.name == "xliff":
            self.source, self.target = node.attributes.get("srcLang", ""), node.attributes.get("trgLang", "")
            return bool(self.source)
        if node.name == "file" and "source-language" in node.attributes:
            self.source, self.target = node.attributes["source-language"], node.attributes.get("target-language", "")
            return True
        return False

    def turn(self, wanted: tuple[str, str] | None) -> None:
        """Set the direction by the languages that are wanted; a language that is not named fits any."""

        def fits(found: str, language: str) -> bool:
            return not found or language_tags.same(found, language)

        if wanted is None or (fits(self.source, wanted[0]) and fits(self.target, wanted[1])):
            self.turned = False
        else:
            self.turned = True if fits(self.source, wanted[1]) and fits(self.target, wanted[0]) else None


def read_xliff(
    stream: BinaryIO,
    languages: tuple[str, str] | None,
    problems: list[Problem],
    encoding: str | None = None,
    *,
    alone: bool = False,
) -> Iterator[Entry]:
    """The pairs of a translation file, in order, each with the line where its unit begins.

    One pair a segment where units are segmented (XLIFF 2; `mrk mtype="seg"` in XLIFF 1.2), else one a unit. Suggestions
    (`alt-trans`, `mtc:matches`) are no part of the text. `languages` turns the pairs round where the file says so; files
    in other languages, and segments without a translation, are added to `problems`; with `alone`, these segments are given
    with an empty target, for files that are still to be translated.
    """
    file = _File()
    number = 0
    for node in markup.read(stream, "xliff", {"trans-unit", "unit"}, problems, encoding):
        if node.name not in ("trans-unit", "unit"):
            if file.open(node):
                file.turn(languages)
                if file.turned is None and languages:
                    found, needed = f"{file.source}, {file.target}", ", ".join(languages)
                    add(problems, "xliff_languages", node.line, found=found[:40], needed=needed)
            continue
        number += 1
        if file.turned is None:
            continue
        note = next((segments.text(child, problems) for child in _notes(node)), "")
        for source, target in _sides(node):
            texts = [segments.text(side, problems) if side else "" for side in (source, target)]
            line = source.line if source else node.line
            if alone and not file.turned and texts[0].strip() and not texts[1].strip():
                yield Entry(texts[0], "", line, note=note)
                continue
            if not all(text.strip() for text in texts):
                code = "xliff_no_source" if texts[1].strip() else "xliff_no_target" if texts[0].strip() else "xliff_empty"
                add(problems, code, line, unit=number, identity=node.attributes.get("id", "")[:60])
                continue
            first, second = reversed(texts) if file.turned else texts
            yield Entry(first, second, line, note=note)


def write_xliff(
    pairs: Iterable[Pair],
    file: BinaryIO,
    languages: tuple[str, str] = ("en", "fr"),
    problems: list[Problem] | None = None,
    version: Version = "1.2",
) -> list[Problem]:
    """Write a translation file, one unit a pair; what could not be written as it is is returned, and added to `problems`.

    XLIFF 2 has an element for control characters; in XLIFF 1.2 each becomes U+FFFD and is reported with its pair.
    """
    found = [] if problems is None else problems
    source, target = map(segments.attribute, languages)
    head, unit, tail = _LAYOUTS[version]
    file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{head.format(source=source, target=target)}\n'.encode())
    for number, pair in enumerate(pairs, start=1):
        texts = [segments.markup(text, number, found, points=version == "2.0") for text in pair[:2]]
        file.write((unit.format(number, *texts) + "\n").encode())
    file.write(f"{tail}\n".encode())
    return found


_LAYOUTS = {
    "1.2": (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
        '<file original="pairs" source-language={source} target-language={target} datatype="plaintext"><body>',
        '<trans-unit id="{}" xml:space="preserve"><source>{}</source><target>{}</target></trans-unit>',
        "</body></file>\n</xliff>",
    ),
    "2.0": (
        '<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang={source} trgLang={target}>\n<file id="f1">',
        '<unit id="{}" xml:space="preserve"><segment><source>{}</source><target>{}</target></segment></unit>',
        "</file>\n</xliff>",
    ),
}


def _sides(unit: Node) -> Iterator[Sides]:
    """Source and target of each segment of a unit."""
    if unit.name == "unit":
        for segment in unit.children("segment"):
            yield next(segment.children("source"), None), next(segment.children("target"), None)
        return
    source, target = next(unit.children("source"), None), next(unit.children("target"), None)
    parts = [dict(_marked(side)) for side in (next(unit.children("seg-source"), None), target) if side]
    if len(parts) == 2 and parts[0] and parts[1]:
        yield from ((part, parts[1].get(name)) for name, part in parts[0].items())
        yield from ((None, part) for name, part in parts[1].items() if name not in parts[0])
    else:
        yield source, target


def _marked(side: Node) -> Iterator[tuple[str, Node]]:
    """The segments that are marked in a text of XLIFF 1.2, by their number."""
    for part in side.parts:
        if isinstance(part, Node):
            if part.name == "mrk" and part.attributes.get("mtype") == "seg":
                yield part.attributes.get("mid", ""), part
            else:
                yield from _marked(part)


def _notes(unit: Node) -> Iterator[Node]:
    yield from unit.children("note")
    for notes in unit.children("notes"):
        yield from notes.children("note")
