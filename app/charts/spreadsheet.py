"""The numbers of a table as CSV."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def plain(value: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it (as OWASP advises); a number stays one."""
    text = isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value)
    return f"'{value}" if text else value


def comma_separated(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """UTF-8 with a mark at its beginning, by which spreadsheets know it; numbers in full, text never a formula."""
    written = io.StringIO(newline="")
    csv.writer(written).writerows([plain(value) for value in row] for row in [columns, *rows])
    return written.getvalue().encode("utf-8-sig")
