"""PE(p + k) = M_k PE(p): one rotation a pair for all positions at once; and what is left of it behind W_Q and W_K."""

from dataclasses import dataclass

import streamlit as st

from app import session
from app.charts import positions as equations
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture
from app.views.positions_products import compared, tokens
from app.views.positions_table import Table, number, wanted
from model.analysis import position_parts, positions
from model.trace import Trace
from model.translator import Atlas

OFFSET, PAIR, POSITION = 3, 4, 2
FARTHEST = 128
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Shift:
    """By how much, and whose numbers are shown: a pair at a position."""

    offset: int
    pair: int
    position: int


def limits(table: Table) -> dict[str, tuple[int, int, int]]:
    """Of each of the three numbers the least, the greatest and the first value, by its name in the URL."""
    pairs, last = table.d_model // 2, table.length - 1
    return {
        "pe_k": (-FARTHEST, FARTHEST, OFFSET),
        "pe_pair": (0, pairs - 1, min(PAIR, pairs - 1)),
        "pe_p": (0, last, min(POSITION, last)),
    }


def asked(table: Table) -> Shift:
    """What the visitor chose."""
    return Shift(*(wanted(name, *within) for name, within in limits(table).items()))


def shift(selection: session.Selection, trace: Trace, table: Table) -> None:
    """Choose k: the matrix, one block with its numbers, all positions at once, and the error in float64."""
    html.prose("positions.shift_idea")
    labels = {"pe_k": "positions.choose_k", "pe_pair": "positions.choose_pair", "pe_p": "positions.choose_p"}
    with st.container(horizontal=True, key="choose_shift"):
        chosen = [number(name, text(labels[name]), *within) for name, within in limits(table).items()]
    offset, pair, position = chosen
    found = positions.shift(table.length, table.d_model, offset, table.base)
    turn = positions.turn(found, position, pair, table.base)
    written = html.number(offset, 0)
    st.latex(equations.block(pair, turn.angle, turn.block))
    st.latex(equations.turned(turn.block, turn.before, turn.after, position, offset))
    html.prose(
        "positions.block_read", kind="quiet", pair=pair, sine=2 * pair, cosine=2 * pair + 1, p=position, k=html.Ours(written)
    )
    columns, width = Axis(text("positions.position")), Axis(text("positions.dimension"))
    parts = [
        Matrix("matrix", found.matrix, width, width, f"M_{written}", top=1.0, role="weights"),
        Matrix("table", found.table.T, width, columns, "PE(p)", top=1.0),
        Matrix("moved", found.moved.T, width, columns, moved_name(offset), top=1.0),
    ]
    note = text("positions.shift_note")
    scene = Scene("shift", "", ("matrix", "×", "table", "=", "moved"), "turn", note=note, cell=(2 * pair, position))
    message = pack([scene], parts, text=section("matrices"), caption=picture.caption(selection, trace), name="shift")
    matrices(message, key="positions_shift")
    html.prose(
        "positions.shift_error",
        error=html.Ours(html.small(found.error)),
        orthogonality=html.Ours(html.small(found.orthogonality)),
        length=table.length,
        width=table.d_model,
        k=html.Ours(written),
    )
    if table.layout == "halves":
        html.prose("positions.shift_layout", kind="quiet")


def moved_name(offset: int) -> str:
    """PE(p + 3), PE(p − 5)."""
    return f"PE(p {'+' if offset >= 0 else MINUS} {abs(offset)})"


@st.fragment
def projected(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The scores of the first layer from positions alone, and taken apart into words and positions."""
    session.begin_run()
    html.prose("positions.projected_idea")
    head = choose_head(atlas)
    found = session.measured(position_parts.score_parts, selection, head)
    rows, columns = tokens(trace, "positions.query"), tokens(trace, "positions.key")

    def made(name: str, values: object, path: str = "") -> Matrix:
        return Matrix(name, values, rows, columns, text(f"positions.part_{name}"), role="scores", top=top[name], path=path)  # type: ignore[arg-type]

    names = ("words", "word_position", "position_word", "positions", "scores")
    top: dict[str, float | None] = {**dict.fromkeys(names, found.top), "projected": None}
    parts = [
        Matrix("alone", positions.products(len(trace.source), atlas.config.d_model), rows, columns,
               text("positions.products_alone"), scale="range"),
        made("projected", found.positions),
        *(made(name, getattr(found, name), f"{position_parts.PATH}.scores" if name == "scores" else "") for name in names),
    ]  # fmt: skip
    scenes = [
        Scene("beside", text("positions.scene_beside"), ("alone", "projected"), note=text("positions.scene_beside_note")),
        Scene("parts", text("positions.scene_parts"), ("words", "+", "word_position", "+", "position_word", "+", "positions",
              "=", "scores"), "sum", note=text("positions.scene_parts_note", error=html.small(found.error))),
    ]  # fmt: skip
    message = pack(scenes, parts, text=section("matrices"), caption=picture.caption(selection, trace), name="projected")
    matrices(message, key="positions_projected")
    alone = session.measured(position_parts.products_by_offset, selection)["alone"]
    measured = session.measured(position_parts.scores_by_offset, selection, head)
    compared(
        {
            text("positions.row_alone"): alone,
            text("positions.row_projected"): measured["positions"],
            text("positions.part_scores"): measured["scores"],
        },
        text("positions.projected_caption", head=head + 1),
    )
    html.prose("positions.projected_read")


def choose_head(atlas: Atlas) -> int:
    """A head of the encoder's first layer, counted from 0."""
    heads = [str(head) for head in range(atlas.config.num_heads)]
    linked.chosen("pe_head", heads, "0")
    chosen = st.segmented_control(
        text("positions.choose_head"),
        heads,
        key="pe_head",
        required=True,
        format_func=lambda head: str(int(head) + 1),
        on_change=linked.remember("pe_head", "0"),
    )
    return int(chosen or 0)
