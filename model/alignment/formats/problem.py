"""What is wrong with a file, said so that its owner can mend it: which line, what stood there, what was needed.

A message is an English sentence that remembers its code and its values, so that the app can say it in another language.
"""

from collections.abc import Iterable
from typing import NamedTuple

# code -> sentence. {file} is told by the problem itself; here only where a sentence speaks of two files.
MESSAGES: dict[str, str] = {
    # files
    "no_such_file": "There is no readable file of this name ({reason}).",
    "how_many_files": "{given} files were given; give one file, or two whose lines belong together.",
    "two_of_one": "This is a {format} file, which holds both sides; give it alone ({given} files were given).",
    "one_of_two": "A {format} file holds one language; give the file of the other language as well.",
    "links_alone": "This is a file of links between words, not of sentences; the sentence pairs that it belongs to were needed.",
    "unknown_format": "{given!r} is no format of pairs; choose one of {choices}.",
    "not_text": "This is {kind}, not text; {advice}.",
    "empty_file": "The file is empty; a file of sentence pairs was needed.",
    "no_pairs": "No sentence pair was found, read as {format}.",
    "too_large": "The file has {given} bytes; the limit is {limit}. Split it, or use the command line, which has none.",
    "too_many_pairs": "The file holds more than {limit} pairs; the first {limit} are read. Split it, or use the command line.",
    "line_too_long": "The line has more than {limit} characters; a file with one sentence on each line was needed.",
    "more_problems": "{count} more problems like these were found and are not listed.",
    # encodings
    "unknown_encoding": "{given!r} is no encoding known here; choose one of {choices}.",
    "bad_bytes": "Byte {byte} of the line is {value}, which is not {encoding}; it is shown as \ufffd. Another encoding may fit.",
    "lone_surrogate": "Half of a surrogate pair stood in the text; it is shown as \ufffd.",
    # lines
    "unequal_counts": "{source_file} has {source} lines and {target_file} has {target}; line i of one must translate line i of "
    "the other. Add the missing lines (empty ones will do) or remove the surplus.",
    "surplus_blank": "{count} empty lines at the end of {longer} have no partner and are left out.",
    "empty_source": "The source side is empty.",
    "empty_target": "The target side is empty.",
    "both_empty": "Both sides are empty.",
    "no_bars": "The line has no ' ||| ' (with a space on both sides) between source and target; it is left out.",
    "many_bars": "The line has {given} parts between ' ||| '; source and target, and only links or numbers "
    "after them, were needed. It is left out.",
    # tables
    "few_cells": "The row has {given} cells; column {needed} was needed. It is left out.",
    "many_cells": "The row has {given} cells where {needed} were expected (is a text with {delimiter!r} not in quotation "
    "marks?). It is left out.",
    "more_cells": "The row has {given} cells where {needed} were expected; the surplus is kept as its note.",
    "links_cell": "{given!r} are no links (0-0 1-2); the pair is read without them.",
    "stray_quote": "A quotation mark is never closed; it is read as a character, and the row ends with the line.",
    "long_quote": "A cell in quotation marks runs over line ends, to line {last}; it is read as one cell.",
    "no_such_column": "{given!r} is no column; the table has {count}: {choices}.",
    "which_columns": "{given} columns were named; two are needed, the source first.",
    "other_languages": "The languages found are {found}; {needed} were asked for. The order of the file is kept.",
    "bad_dictionary": "The cell is no dictionary of texts ({{'en': '...', 'fr': '...'}}); it is left out.",
    # JSON
    "bad_json": "This is not JSON: {reason} (column {column}).",
    "too_deep": "The JSON is nested too deeply; a list of records was needed.",
    "no_record": "The record is {given}; an object with a source and a target text was needed. It is left out.",
    "no_record_at_all": "No object with a source and a target text was found; the first holds {given}.",
    "json_large": "The JSON has {given} bytes; the limit is {limit}. Write it as JSON Lines (one record a line), which has none.",
    "bad_byte_in_json": "Some bytes are not {encoding}; they are shown as \ufffd. Another encoding may fit.",
    "unequal_lists": "The lists are not equally long ({given}); text i of one must translate text i of the other.",
    "missing_key": "The record has no text under {needed!r} (it has {given}); it is left out.",
    # archives
    "bad_zip": "The zip archive cannot be read ({reason}).",
    "no_pair_in_zip": "No two files in the zip archive have names that differ in the last part only, as NAME.en-fr.en and "
    "NAME.en-fr.fr do; it holds {given}. Unpack it, and give the file or the two files that hold the pairs.",
    "several_in_zip": "The zip archive holds {given} pairs of files; these are read: {taken}; these are left out: {left}.",
    "zip_entries": "The zip archive has {given} entries; the limit is {limit}.",
    "zip_bomb": "Unpacked, {entry} would have {given} bytes, {ratio} times its packed size; the limit is {limit} times.",
    "zip_too_large": "Unpacked, the files have {given} bytes; the limit is {limit}.",
    "workbook": "This is a file of an office program; save the sheet of a workbook as CSV or Unicode text, the text of a "
    "document as plain text, and give that.",
    # pairs that a model cannot align
    "source_too_long": "The source has {given} tokens; {model} takes {limit}. Shorten it, or split the pair.",
    "target_too_long": "The target has {given} tokens; {model} takes {limit}. Shorten it, or split the pair.",
    # links
    "links_unknown": "{item} is no link in any known format; one of {formats} was needed.",
    "unreadable_links": "{items} cannot be read as links ({count} left out); {example} would be.",
    "links_header": "The first line of a table of links names its columns; pair, source and target were needed, not {given}.",
    "giza_block": "The pair has {given} lines; three were needed: '# Sentence pair', the target, and the source with its links.",
    "links_outside": "Pair {pair} has {sources} source words and {targets} target words; {links} leads outside "
    "({count} left out).",
    "links_fewer": "Links are given for {given} pairs, and there are {needed}; the last ones have none.",
    "links_more": "Links of {left} pairs more than the {pairs} that there are; they are left out.",
    "several_links": "{given} files of links were given; this one is read, {left} left out.",
    "links_skipped": "{count} of {total} sentences are not named in the file; they are read as having no links.",
    "links_far": "Sentence number {number} stands where {expected} was expected; its links are left out.",
    "links_sentences_from_zero": "Sentences are numbered from 0 in this file; 0 is read as the first pair.",
    "links_from_one": "Positions are read as counting from 1: none is 0, and {count} links would lead behind the last word "
    "if they counted from 0. Say base=0 if they do.",
    "links_perhaps_from_one": "No position is 0. They are read as counting from 0; say base=1 if they count from 1.",
    "links_perhaps_reversed": "{count} links lead outside their sentence, and only {swapped} would with source and target "
    "exchanged. Say reverse=True if the target stands first.",
    "links_to_nothing": "{count} links to no word (position 0) are left out.",
    # XML
    "xml_document_type": "document type / entities not allowed: delete the line <!DOCTYPE ...>, and write characters for "
    "entities.",
    "xml_root": "The outermost element is <{given}>; <{needed}> was needed.",
    "xml_encoding": "The file says it is in {encoding!r}, which is not known here; choose the encoding.",
    "xml_bytes": "Bytes that are not {encoding}: reading stops here, after {count} units. Choose another encoding.",
    "xml_cut": "The file ends before its elements are closed ({reason}); {count} units before that are read.",
    "xml_entity": "An entity that XML does not know ({reason}): reading stops here, after {count} units. Write the character "
    "itself.",
    "xml_character": "A character that XML forbids ({reason}): reading stops here, after {count} units. Remove it.",
    "xml_broken": "This is not well-formed XML ({reason}): reading stops here, after {count} units.",
    "xml_deep": "Elements are nested more than {limit} deep: reading stops here, after {count} units.",
    "xml_long_tag": "A tag or comment is longer than {limit} bytes: reading stops here, after {count} units.",
    "xml_large_unit": "The unit is larger than {limit} characters or 20,000 elements; it is left out.",
    "xml_written_character": "{character} cannot be written in XML; U+FFFD is written in its place.",
    "tmx_one_language": "Unit {unit} has text in one language only ({found}); it is left out.",
    "tmx_side_missing": "Unit {unit} has no text in {language} (it has {found}); it is left out.",
    "tmx_variants": "Unit {unit} has {number} texts in {language}; the first is read.",
    "tmx_stray_text": "Unit {unit} has text beside its <seg>, which is left out: {text}",
    "xliff_languages": "The file is from {found}; {needed} were asked for. Its units are left out.",
    "xliff_no_target": "Unit {unit} ({identity}) has no translation; it is left out.",
    "xliff_no_source": "Unit {unit} ({identity}) has a translation but no source; it is left out.",
    "xliff_empty": "Unit {unit} ({identity}) has no text; it is left out.",
    "xliff_code_point": "{given!r} is no code point that could be read; U+FFFD stands in its place.",
    # subtitles
    "srt_damaged": "No cue could be read here (number, times, text were needed): {text}",
    "srt_backwards": "The cue ends before it begins; it is left out.",
    "srt_alone": "The cue has no partner in the other file; it is left out: {text}",
    "srt_counts": "The files have {source} and {target} cues; matched by number, cues may not belong together. Match them by "
    "time.",
    "srt_at_once": "Too many cues are shown at the same time to match them by time; match them by number.",
    # writing
    "unwritten_format": "Pairs are not written as {given!r}; choose one of {choices}.",
    "bars_in_text": "Pair {pair} has '|||' in its text, which this format uses as its separator; write TSV or JSON instead.",
}

MOST = 1000  # of the problems that are kept one by one; a file of a million bad lines must not fill the memory


class Message(str):
    """An English sentence, with the `code` of its template in MESSAGES and the `values` put in."""

    code: str
    values: dict[str, object]

    def __new__(cls, sentence: str = "", code: str = "", values: dict[str, object] | None = None) -> "Message":
        message = super().__new__(cls, sentence)
        message.code, message.values = code, dict(values or {})
        return message

    @classmethod
    def of(cls, code: str, **values: object) -> "Message":
        """The sentence of `code` with `values` in its places; raises KeyError for a code or a value that is missing."""
        return cls(MESSAGES[code].format_map(values), code, values)


class Problem(NamedTuple):
    """What is wrong at a line of a file (from 1; None where no line can be named)."""

    line: int | None
    message: Message

    @property
    def file(self) -> str:
        """The name of the file, as it was given; empty if the problem is of no file."""
        return str(self.message.values.get("file", ""))

    def of_file(self, name: str) -> "Problem":
        """The same, of the file `name` unless it names one already."""
        if self.file or not name:
            return self
        return Problem(self.line, Message(str(self.message), self.message.code, {**self.message.values, "file": name}))

    @property
    def sentence(self) -> str:
        """File, line and message in one sentence, as a log wants it."""
        place = ", ".join([self.file] * bool(self.file) + [f"line {self.line}"] * (self.line is not None))
        return f"{place}: {self.message}" if place else str(self.message)


class FormatError(ValueError):
    """A file that cannot be read at all."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.sentence)
        self.problem = problem

    @classmethod
    def of(cls, code: str, line: int | None = None, **values: object) -> "FormatError":
        """The error of a message; say `file=` wherever it is known."""
        return cls(Problem(line, Message.of(code, **values)))


class Problems(list[Problem]):
    """The problems of a file: at most MOST one by one, the others counted in a last one.

    Reading is lazy and may happen again: each reading notes its problems in `again()`, which adds only those that no
    reading before has found (the same file has the same problems in the same order).
    """

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        super().__init__(problems)
        self.found = 0
        self.last_line = 0  # the last line of the file with a problem

    def again(self, file: str = "") -> "Reading":
        """Where one reading from the beginning notes what it finds; `file` is told of problems that name none."""
        return Reading(self, file)

    def note(self, problem: Problem) -> None:
        """Add a problem that a reading has found and none before it has."""
        self.found += 1
        if self.found <= MOST:
            self.append(problem)
            return
        more = Problem(None, Message.of("more_problems", count=self.found - MOST, file=problem.file))
        if self[-1].message.code == "more_problems":
            self[-1] = more
        else:
            self.append(more)


class Reading(list[Problem]):
    """The problems of one reading: a list to append to that keeps none itself."""

    def __init__(self, problems: Problems, file: str = "") -> None:
        super().__init__()
        self.problems, self.file = problems, file
        self.place = 0

    def append(self, problem: Problem) -> None:
        problem = problem.of_file(self.file)
        self.place += 1
        self.problems.last_line = max(self.problems.last_line, problem.line or 0)
        if self.place > self.problems.found:
            self.problems.note(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.append(problem)

    def add(self, code: str, line: int | None = None, **values: object) -> None:
        """Note the problem of a message; say `file=` wherever it is known."""
        self.append(Problem(line, Message.of(code, **values)))


def add(problems: list[Problem], code: str, line: int | None = None, **values: object) -> None:
    """Note the problem of a message in any list of problems."""
    problems.append(Problem(line, Message.of(code, **values)))
