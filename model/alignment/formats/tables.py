"""Tables: TSV, CSV and Anki exports."""

from collections.abc import Iterator

from model.alignment.formats import lines
from model.alignment.formats.files import File
from model.alignment.formats.pairs import Entry, one_line
from model.alignment.formats.parallel import missing
from model.alignment.formats.problem import Problem, add


def tsv(file: File, encoding: str, columns: tuple[int, int], header: bool, problems: list[Problem]) -> Iterator[Entry]:
    """The rows of a table with tabs; quotation marks are characters."""
    source, target = columns
    blank: list[int] = []
    for number, line in lines.numbered(file, encoding, problems):
        cells = line.split("\t")
        if header and number == 1:
            continue
        if not line.strip():
            blank.append(number)
        elif len(cells) <= max(columns):
            add(problems, "few_cells", number, file=file.name, given=len(cells), needed=max(columns) + 1)
        elif not (cells[source].strip() and cells[target].strip()):
            add(problems, missing(cells[source], cells[target]), number, file=file.name)
        else:
            yield from (Entry("", "", empty) for empty in blank)
            blank = []
            note = " · ".join(cell for index, cell in enumerate(cells) if index not in columns and cell.strip())
            yield Entry(one_line(cells[source]), one_line(cells[target]), number, note=note)
