"""The numbers of a table as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence


def comma_separated(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """UTF-8 with a mark at its beginning, by which spreadsheets know it; numbers in full."""
    written = io.StringIO(newline="")
    csv.writer(written).writerows([columns, *rows])
    return written.getvalue().encode("utf-8-sig")
