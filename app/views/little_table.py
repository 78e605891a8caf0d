"""A small table whose cells are coloured by a share: a map of weights, tokens by their probability."""

from collections.abc import Mapping

from app.views import html
from model.analysis.findings import Cell, Picture

NOTHING = 0.005  # what two decimals show as 0.00 stands back


def table(picture: Picture, caption: str, names: Mapping[str, str]) -> str:
    """The picture as HTML; `names` are our own names of its rows, where they are not tokens."""
    head = "".join(f'<th scope="col">{html.literal(column)}</th>' for column in picture.columns)
    labels = (html.Ours(names[row]) if row in names else row for row in picture.rows)
    rows = zip(labels, picture.cells, strict=True)
    body = "".join(f'<tr><th scope="row">{html.literal(label)}</th>{"".join(map(_cell, cells))}</tr>' for label, cells in rows)
    told = html.literal(html.Ours(caption))
    return (
        f'<p class="atlas-little">{told}</p><div class="atlas-scroll" tabindex="0" role="region" aria-label="{told}">'
        f'<table class="atlas-table little"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cell(cell: Cell) -> str:
    written = html.number(cell.written) if isinstance(cell.written, float) else html.literal(cell.written)
    nothing = " class=nothing" if cell.share < NOTHING else ""
    return f'<td style="--share:{cell.share:.3f}"{nothing}>{written}</td>'
