"""Dot products between positions, alone and with the words of the sentence, and how they run with the distance."""

from collections.abc import Mapping

from app import session
from app.components.curves import Chart, Series
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, picture
from app.views.positions_table import LABELLED, Table, draw, side_of
from model.analysis import position_parts, positions
from model.analysis.positions import Offsets
from model.trace import Trace
from model.translator import Atlas

WIDTHS = (64, 256, 512)
DISTANCES = 128


def tokens(trace: Trace, name: str) -> Axis:
    """The sentence along one side of a square matrix."""
    read = position_parts.sentence(trace)
    labels = [token.label for token in read] if len(read) <= LABELLED else None
    return Axis(text(name), labels, side_of(trace) if labels else "plain")


def show(selection: session.Selection, atlas: Atlas, trace: Trace, table: Table | None) -> None:
    """The matrices, what the offset decides in them, and the curves by distance."""
    html.prose("positions.products_idea")
    width, length = atlas.config.d_model, len(position_parts.sentence(trace))
    rows, columns = tokens(trace, "positions.position"), tokens(trace, "positions.other")
    found = [Matrix("alone", positions.products(length, width), rows, columns, text("positions.products_alone"), scale="range")]
    added = "source.position" in trace
    if added:
        words = session.measured(position_parts.products_with_words, selection)
        found.append(Matrix("words", words, rows, columns, text("positions.products_words"), scale="range"))
    scene = Scene(
        "products",
        "",
        [matrix.id for matrix in found],
        note=text("positions.products_note" if added else "positions.products_note_alone"),
    )
    message = pack([scene], found, text=section("matrices"), caption=picture.caption(selection, trace), name="products")
    matrices(message, key="positions_products")
    measured = session.measured(position_parts.products_by_offset, selection)
    compared({text(f"positions.row_{name}"): each for name, each in measured.items()}, text("positions.products_caption"), True)
    if added:
        along(selection, trace, measured["words"])
    falling(selection, trace, table)


def compared(found: Mapping[str, Offsets], caption: str, mirrored: bool = False) -> None:
    """How far each matrix is from a function of the offset: by how much cells of one offset differ."""
    columns = {
        text("positions.of"): "word strong",
        text("positions.spread"): "number",
        text("positions.share"): "number",
        **({text("positions.asymmetry"): "number"} if mirrored else {}),
    }
    rows = [
        (
            html.Ours(name),
            html.small(each.spread),
            html.small(each.share),
            *([html.small(each.asymmetry)] if mirrored else []),
        )
        for name, each in found.items()
    ]
    html.table(columns, rows, caption)
    html.prose("positions.offsets_read", kind="quiet")


def along(selection: session.Selection, trace: Trace, found: Offsets) -> None:
    """The products with words, gathered by offset: not one value an offset, but a band."""
    lines = [
        Series(text("positions.greatest"), found.greatest),
        Series(text("positions.mean"), found.mean),
        Series(text("positions.least"), found.least),
    ]
    chart = Chart(
        text("positions.band"),
        text("positions.offset"),
        text("positions.product"),
        lines,
        [html.number(offset, 0) for offset in found.offsets],
        places=found.offsets,
        marked=len(found.offsets) // 2,
    )
    draw(selection, trace, chart, "pe_band")


def falling(selection: session.Selection, trace: Trace, table: Table | None) -> None:
    """The same for every position: the product falls with the distance, and rises again."""
    html.prose("positions.distance_idea")
    base = table.base if table else 10000.0
    widths = sorted({*WIDTHS, *((table.d_model,) if table else ())})
    lines = [
        Series(text("positions.of_width", width=width), positions.cosines(DISTANCES, width, base).tolist()) for width in widths
    ]
    chart = Chart(
        text("positions.distance"),
        text("positions.distance_axis"),
        text("positions.cosine"),
        lines,
        [str(distance) for distance in range(DISTANCES)],
    )
    draw(selection, trace, chart, "pe_distance")
    rises = {width: positions.first_rise(width, base) for width in widths}
    html.table(
        {"d_model": "number", text("positions.first_rise"): "number", text("positions.before"): "number",
         text("positions.after"): "number", "‖PE‖²": "number"},
        [(width, *rise(width, base, at), html.Ours(f"{positions.squared_length(width):g}")) for width, at in rises.items()],
        text("positions.rise_caption", base=f"{base:g}"),
    )  # fmt: skip
    html.prose("positions.distance_read", kind="quiet")


def rise(width: int, base: float, at: int | None) -> tuple[object, str, str]:
    """The first rise: its distance, and the products right before it and there."""
    if at is None:
        return html.Ours("—"), "—", "—"
    along = positions.by_distance(at + 1, width, base)
    return at, html.number(float(along[-2]), 4), html.number(float(along[-1]), 4)
