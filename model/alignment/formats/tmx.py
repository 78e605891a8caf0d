"""Translation memories: TMX 1.4, read and written."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from model.alignment.formats import language_tags, markup, segments
from model.alignment.formats.markup import Node
from model.alignment.formats.pairs import Entry, Pair
from model.alignment.formats.problem import Message, Problem

Variant = tuple[str, str]  # language tag, text


def read_tmx(
    stream: BinaryIO, languages: tuple[str, str] | None, problems: list[Problem], encoding: str | None = None
) -> Iterator[Entry]:
    """The pairs of a translation memory, in order, each with the line where its unit begins.

    `languages` names source and target; without it they are the memory's source language and the first other language
    of the first unit that has two. Units without one of them are added to `problems`, as are variants passed over: where
    several texts of a unit are in a language, the exact tag is taken, else the first.
    """
    header = ""
    number = 0
    for node in markup.read(stream, "tmx", {"tu"}, problems, encoding):
        if node.name == "header":
            header = node.attributes.get("srclang", "")
        if node.name != "tu":
            continue
        number += 1
        variants = list(_variants(node, number, problems))
        languages = languages or _first_two(variants, node.attributes.get("srclang", header))
        entry = _entry(node, number, variants, languages, problems)
        if entry is not None:
            yield entry


def write_tmx(
    pairs: Iterable[Pair], file: BinaryIO, languages: tuple[str, str] = ("en", "fr"), problems: list[Problem] | None = None
) -> list[Problem]:
    """Write a translation memory, one unit a pair; what could not be written as it is is returned, and added to `problems`.

    XML has no way to write most control characters; each becomes U+FFFD and is reported with the number of its pair.
    """
    found = [] if problems is None else problems
    source, target = map(segments.attribute, languages)
    file.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        '<header creationtool="Attention Atlas" creationtoolversion="1" segtype="sentence" o-tmf="plain text" '
        f'adminlang="en" srclang={source} datatype="plaintext"/>\n<body>\n'.encode()
    )
    for number, pair in enumerate(pairs, start=1):
        sides = (
            f"<tuv xml:lang={language}><seg>{segments.markup(text, number, found)}</seg></tuv>"
            for language, text in ((source, pair[0]), (target, pair[1]))
        )
        file.write(f'<tu tuid="{number}">{"".join(sides)}</tu>\n'.encode())
    file.write(b"</body>\n</tmx>\n")
    return found


def _variants(unit: Node, number: int, problems: list[Problem]) -> Iterator[Variant]:
    for variant in unit.children("tuv"):
        language = variant.attributes.get(markup.LANGUAGE) or variant.attributes.get("lang", "")
        stray = segments.plain("".join(part for part in variant.parts if isinstance(part, str))).strip()
        segment = next(variant.children("seg"), None)
        if segment is None:  # some programs write the text without <seg>
            yield language, stray
            continue
        if stray:
            problems.append(Problem(variant.line, Message.of("tmx_stray_text", unit=number, text=stray[:60])))
        yield language, segments.text(segment, problems)


def _first_two(variants: list[Variant], header: str) -> tuple[str, str] | None:
    tags = [tag for tag, text in variants if tag and text.strip()]
    source = next((tag for tag in tags if language_tags.same(tag, header)), tags[0] if tags else "")
    target = next((tag for tag in tags if not language_tags.same(tag, source)), "")
    return (source, target) if target else None


def _entry(
    unit: Node, number: int, variants: list[Variant], languages: tuple[str, str] | None, problems: list[Problem]
) -> Entry | None:
    tags = [tag for tag, _ in variants]
    present = ", ".join(dict.fromkeys(tag[:20] for tag in tags if tag)) or "–"
    if languages is None:
        problems.append(Problem(unit.line, Message.of("tmx_one_language", unit=number, found=present)))
        return None
    sides = []
    for language in languages:
        found = [variants[index] for index in language_tags.matches(tags, language)]
        texts = list(dict.fromkeys(text for _, text in found if text.strip()))
        if not texts:
            problems.append(Problem(unit.line, Message.of("tmx_side_missing", unit=number, language=language, found=present)))
            return None
        if len(texts) > 1:
            values = {"unit": number, "language": language, "number": len(texts)}
            problems.append(Problem(unit.line, Message.of("tmx_variants", **values)))
        sides.append(texts[0])
    note = next((segments.text(child, problems) for child in unit.children("note")), "")
    return Entry(sides[0], sides[1], unit.line, note=note)
