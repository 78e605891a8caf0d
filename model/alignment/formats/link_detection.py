"""What a file of links is: its lines, and the format that most of the first ones are written in."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from model.alignment.formats import link_notations as notations
from model.alignment.formats import link_tables as tables
from model.alignment.formats.files import File
from model.alignment.formats.lines import numbered
from model.alignment.formats.link_notations import Found, Lines, Tell
from model.alignment.formats.problem import FormatError

READERS: Mapping[str, Callable[[Lines, Tell], Iterator[Found]]] = {
    "pharaoh": notations.read_pharaoh,
    "naacl": notations.read_naacl,
    "giza": notations.read_giza,
    "tsinghua": notations.read_tsinghua,
    "tsv": tables.read_table,
    "json": tables.read_json,
}
LINK_FORMATS = tuple(READERS)

SAMPLE = 50  # lines that are looked at

_LINK = re.compile(r"\d+[-p?]\d+|\d+:\d+/[\d.]+")  # Pharaoh, TsinghuaAligner
_ROW = re.compile(r"\d+[ \t]+\d+[ \t]+\d+(?:[ \t]+[SP])?(?:[ \t]+[\d.]+)?")  # NAACL


def detect(lines: Lines, name: str) -> str:
    """The format of a file; one of blank lines only is Pharaoh without links. FormatError if no line is of any format."""
    sample = list(islice(((number, line) for number, line in lines if line.strip()), SAMPLE))
    if not sample:
        return "pharaoh"
    first = sample[0][1].lstrip()
    if notations.is_giza(first):
        return "giza"
    if first[0] in "[{":
        return "json"
    if tables.is_header(first):
        return "tsv"
    counts = {name: _links(name, sample) for name in ("pharaoh", "tsinghua", "naacl", "giza")}
    best = max(counts, key=lambda name: counts[name])
    if not counts[best]:
        number, line = sample[0]
        formats = ", ".join(LINK_FORMATS)
        raise FormatError.of("links_unknown", number, item=notations.quoted([line.strip()]), formats=formats, file=name)
    return best


def holds_links(file: File) -> bool:
    """Whether a file is one of links and not of sentences, whatever it is called: most of its first lines are links."""
    try:
        sample = list(islice(((number, line.strip()) for number, line in text_lines(file) if line.strip()), SAMPLE))
    except FormatError:  # a line too long for either
        return False
    first = sample[0][1] if sample else ""
    if first[:1] in ("[", "{") or tables.is_header(first):
        return bool(_links("json" if first[0] in "[{" else "tsv", sample))
    return notations.is_giza(first) or 2 * sum(_is_of_links(line) for _, line in sample) > len(sample)


def _is_of_links(line: str) -> bool:
    """Whether a line holds links, or did so before it was damaged; a table that has a column of links begins with text."""
    found = [_LINK.fullmatch(item) is not None for item in line.split()]
    return bool(_ROW.fullmatch(line)) or (found[0] and 2 * sum(found) >= len(found))


def _links(name: str, sample: Iterable[tuple[int, str]]) -> int:
    return sum(len(found.items) for found in READERS[name](sample, silent))


def silent(line: int | None, code: str, /, **values: object) -> None:
    """Tells nothing: of a reading that only looks ahead."""


def text_lines(file: File) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers.

    UTF-16 where it says so itself, else UTF-8: links are ASCII, and of the words beside them none is used.
    """
    marked = file.start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return numbered(file, "utf-16" if marked else "utf-8", [])
