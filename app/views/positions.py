"""Positions: the sinusoidal table, its waves and products, the shift as a rotation, and what the model makes of it."""

import streamlit as st

from app import session
from app.charts import positions as equations
from app.charts.archive import packed
from app.charts.formulas import aligned
from app.text import text
from app.views import anatomy, html, pages, picture, positions_effect, positions_shift, positions_table, toy_variants
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.positions_products import show as show_products
from app.views.positions_shift import Shift
from app.views.positions_table import Table
from model.analysis import position_parts, positions
from model.config import paper_base
from model.embedding import InputEmbedding
from model.position import shift_matrix, sinusoidal
from model.trace import Trace
from model.translator import Atlas

POSITION = 2  # whose cells stand in the formulas


STILL = (  # of the sentence and the model alone, whatever table is asked for
    "positions.projected_title", "positions.add_title", "toy_variants.title_positions", "page.shapes", "page.what_if",
)  # fmt: skip


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    table = positions_table.asked(atlas, trace)
    sums = position_parts.reads_the_sum(atlas.config)
    return Anatomy(
        "positions",
        lambda: stage(selection, atlas, trace, table),
        export=Export(
            f"{selection.model}-positions.npz", lambda: saved(selection, atlas, trace, table), note="positions.export_note"
        )
        if table
        else None,
        sections=(
            *([Section("positions.curves_title", lambda: positions_table.waves(selection, trace, table))] if table else []),
            Section("positions.products_title", lambda: show_products(selection, atlas, trace, table)),
            *([Section("positions.shift_title", lambda: positions_shift.shift(selection, trace, table))] if table else []),
            *([Section("positions.projected_title", lambda: positions_shift.projected(selection, atlas, trace))] if sums else []),
            Section("positions.add_title", lambda: positions_effect.add(selection, atlas, trace)),
            Section("toy_variants.title_positions", lambda: toy_variants.draw("positions")),
        ),
        formulas=formulas(table, positions_shift.asked(table)) if table else (),
        shapes=sizes(atlas, trace),
        what_if=lambda: positions_effect.what_if(selection, trace),
        code=(sinusoidal, shift_matrix, InputEmbedding),
        still=STILL,
    )


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, table: Table | None) -> None:
    """Whose table it is, the table, and its measured bounds."""
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    if atlas.config.positions != "sinusoidal":
        html.notice("info", "positions.no_table", name=html.Ours(selection.model))
        to_rotary(selection)
    with st.container(key="stage"):
        positions_table.choose()
        if table:
            positions_table.heatmap(selection, trace, table)
            positions_table.tell_bounds(table)


def saved(selection: session.Selection, atlas: Atlas, trace: Trace, table: Table) -> bytes:
    """The NPZ of this page: the table and its wavelengths, and the dot products of the sentence in the model's own width."""
    arrays = {"table": table.values(), "wavelengths": positions.wavelengths(table.d_model, table.base)}
    arrays["products.alone"] = positions.products(len(position_parts.sentence(trace)), atlas.config.d_model)
    if "source.position" in trace:
        arrays["products.words"] = session.measured(position_parts.products_with_words, selection)
    return packed({name: values.numpy() for name, values in arrays.items()}, trace, picture.caption(selection, trace))


def to_rotary(selection: session.Selection) -> None:
    """A link to the page of rotary positions."""
    if "rotary" in anatomy.ORDER:
        st.page_link(
            pages.page("rotary"),
            label=text("rotary.title"),
            icon=":material/arrow_forward:",
            query_params={**selection.parameters(), **session.presented()},
        )


# ----- beneath the picture


def formulas(table: Table, at: Shift) -> list[Formula]:
    """Two cells of the table, the turn of the chosen pair, and the dot product at the chosen distance, in numbers."""
    found = positions.turn(
        positions.shift(at.position + 1, table.d_model, at.offset, table.base), at.position, at.pair, table.base
    )
    distance = abs(at.offset)
    along = positions.by_distance(distance + 1, table.d_model, table.base)
    where = (r"2i", r"2i+1") if table.layout == "interleaved" else (r"i", r"i + \tfrac{d}{2}")
    return [
        Formula(
            rf"PE(p, {where[0]}) = \sin\left(\frac{{p}}{{B^{{2i/d}}}}\right), \qquad "
            rf"PE(p, {where[1]}) = \cos\left(\frac{{p}}{{B^{{2i/d}}}}\right), \qquad w_i = B^{{-2i/d}}",
            aligned(*(cell_in_numbers(table, dimension) for dimension in dict.fromkeys(positions_table.dimensions(table)))),
            "positions.formula_cell",
            {"p": POSITION, "base": html.Ours(f"{table.base:g}"), "width": table.d_model},
        ),
        Formula(
            r"PE(p + k) = M_k\, PE(p), \qquad M_k = \mathrm{diag}\left(R_0, R_1, \ldots\right), \qquad "
            r"R_i = \begin{bmatrix} \cos k w_i & \sin k w_i \\ -\sin k w_i & \cos k w_i \end{bmatrix}",
            equations.turned(found.block, found.before, found.after, at.position, at.offset),
            "positions.formula_shift",
            {"p": at.position, "k": html.Ours(html.number(at.offset, 0)), "pair": at.pair},
        ),
        Formula(
            r"\sin (p + k) w_i = \sin p\,w_i \cos k\,w_i + \cos p\,w_i \sin k\,w_i, \qquad "
            r"\cos (p + k) w_i = \cos p\,w_i \cos k\,w_i - \sin p\,w_i \sin k\,w_i",
            equations.added(found.block, found.before, found.after),
            "positions.formula_why",
            {"p": at.position, "k": html.Ours(html.number(at.offset, 0)), "pair": at.pair},
        ),
        Formula(
            r"PE(p) \cdot PE(q) = \sum_{i=0}^{d/2-1} \cos\left((p - q)\, w_i\right)",
            equations.product(distance, float(along[-1]), table.d_model, positions.squared_length(table.d_model)),
            "positions.formula_product",
            {"k": distance},
        ),
    ]


def cell_in_numbers(table: Table, dimension: int) -> str:
    """A cell of the table at the position of the formula."""
    found = positions.cell(POSITION, dimension, table.d_model, table.base, table.layout)
    return equations.cell(POSITION, dimension, found.wave, found.pair, table.d_model, table.base, found.angle, found.value)


def sizes(atlas: Atlas, trace: Trace) -> list[Shape]:
    """The table, the matrix of a shift and the products, in this model and in the paper's."""
    ours, base, length = atlas.config, paper_base(), len(position_parts.sentence(trace))
    name = "L_s" if trace.source else "L_t"
    return [
        Shape("positions.shape_table", f"[{name}, d_model]", (length, ours.d_model), (length, base.d_model)),
        Shape("positions.shape_waves", "[d_model / 2]", (ours.d_model // 2,), (base.d_model // 2,)),
        Shape("positions.shape_shift", "[d_model, d_model]", (ours.d_model, ours.d_model), (base.d_model, base.d_model)),
        Shape("positions.shape_products", f"[{name}, {name}]", (length, length), (length, length)),
    ]


open_page("positions", described, needed=("positions",))
