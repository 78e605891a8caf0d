"""A small table whose cells are coloured by a share: a map of weights, tokens by their probability."""

from app.text import text
from app.views import html
from model.analysis.findings import Cell, Picture

NOTHING = 0.005  # what two decimals show as 0.00 stands back


def table(picture: Picture, name: str) -> str:
    """The picture as HTML. `<name>.picture` is its caption, `<name>.<row>` names a row where sentences of the page do."""
    head = "".join(f'<th scope="col">{html.literal(column)}</th>' for column in picture.columns)
    rows = zip(picture.rows, picture.cells, strict=True)
    body = "".join(f"<tr>{_label(picture, row, name)}{''.join(map(_cell, cells))}</tr>" for row, cells in rows)
    caption = html.literal(html.Ours(text(f"{name}.picture")))
    return (
        f'<p class="atlas-little">{caption}</p><div class="atlas-scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="atlas-table little"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _label(picture: Picture, row: str, name: str) -> str:
    return f'<th scope="row">{html.sentence(f"{name}.{row}") if picture.named else html.literal(row)}</th>'


def _cell(cell: Cell) -> str:
    written = html.number(cell.written) if isinstance(cell.written, float) else html.literal(cell.written)
    nothing = " class=nothing" if cell.share < NOTHING else ""
    return f'<td style="--share:{cell.share:.3f}"{nothing}>{written}</td>'
