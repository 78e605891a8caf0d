"""What becomes of an edit: how far it travels, which words move, what the model writes with it."""

import streamlit as st

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture, rows
from model.analysis import edited
from model.analysis.cells import CellEdit
from model.analysis.edited import Recomputed, Travelled
from model.analysis.residual import sublayers
from model.trace import Trace

ROWS = 16  # of the table of rows; above, only those whose word changed


def outcome(found: Recomputed) -> None:
    """The change in one sentence."""
    html.prose(
        "attention_edit.outcome",
        before=html.number(found.log_probability_before),
        after=html.number(found.log_probability_after),
        changed=found.words_changed,
        rows=len(found.rows),
    )


def travelled(selection: session.Selection, trace: Trace, place: session.Place, found: Recomputed) -> None:
    """How far the change came: the residual stream after each sublayer, position by position."""
    html.heading("attention_edit.travelled")
    stacks = {"encoder": found.encoder, "decoder": found.decoder}
    if not place.attention.startswith("encoder") or not found.encoder:
        del stacks["encoder"]  # nothing in the decoder can reach it
    html.table(
        {
            text("attention_edit.after"): "word",
            text("attention_edit.relative"): "number",
            text("attention_edit.reached"): "number",
        },
        [
            (html.Ours(_sublayer(trace, stack, at, long=True)), f"{html.number(entry.percent)} %", entry.reached)
            for stack, entries in stacks.items()
            for at, entry in enumerate(entries)
        ],
        text("attention_edit.travelled_caption"),
    )
    shown = [_stream(trace, stack, entries) for stack, entries in stacks.items()]
    scenes = [
        Scene(
            stack,
            text(f"attention_edit.scene_{stack}"),
            (stack,),
            note=text("attention_edit.travelled_note"),
            cell=edited.most_changed(entries),
        )
        for stack, entries in stacks.items()
    ]
    caption = picture.caption(selection, trace)
    matrices(pack(scenes, shown, text=section("matrices"), caption=caption, name="travelled"), key="attention_edit_travelled")


def _stream(trace: Trace, stack: str, entries: tuple[Travelled, ...]) -> Matrix:
    sentence = "source" if stack == "encoder" else "target"
    tokens = rows.asking(trace, sentence, rows.named())
    return Matrix(
        stack,
        edited.positions(entries),
        Axis(text("attention_edit.sublayer"), [_sublayer(trace, stack, at, long=False) for at in range(len(entries))]),
        rows.axis(text(f"attention.axis_{sentence}"), sentence, tokens),
        "‖Δx‖",
        path=f"{stack}.layers.*.residual.*",
    )


def _sublayer(trace: Trace, stack: str, at: int, *, long: bool) -> str:
    """The sublayer in the order of the stack, counted from 1."""
    parts = sublayers(trace, stack)
    layer, part = divmod(at, len(parts))
    name = text(f"attention_edit.part_{parts[part]}")
    return text(f"attention_edit.after_{stack if long else 'short'}", layer=layer + 1, part=name)


def words(trace: Trace, found: Recomputed) -> None:
    """The next-token distribution of one row, and the likeliest word of every row."""
    html.heading("attention_edit.words")

    names = [
        text("attention_edit.row_option", row=row, reads=read.label, produces=produced.label)
        for row, (read, produced) in enumerate(zip(trace.target, trace.produced, strict=True))
    ]
    row = linked.number("edit_row", range(len(found.rows)), found.most_moved)
    st.selectbox(
        text("attention_edit.of_row"),
        range(len(found.rows)),
        format_func=names.__getitem__,
        key="edit_row",
        on_change=linked.remember("edit_row", found.most_moved),
    )
    chosen = found.rows[row]
    html.table(
        {
            text("attention_edit.next_token"): "word",
            text("attention_edit.before"): "number",
            text("attention_edit.now"): "number",
        },
        [(each.label, html.number(each.before, 4), html.number(each.after, 4)) for each in chosen.candidates],
        text("attention_edit.candidates_caption", row=row, moved=html.number(chosen.moved, 4)),
    )
    listed = [at for at, each in enumerate(found.rows) if each.moved > 0]
    short = len(listed) <= ROWS
    if not short:
        listed = [at for at in listed if found.rows[at].first_before != found.rows[at].first_after]
    html.table(
        {
            text("attention_edit.row"): "number",
            text("attention_edit.reads"): "word",
            text("attention_edit.first_before"): "word",
            text("attention_edit.first_now"): "word",
            text("attention_edit.moved"): "number",
        },
        [
            (at, trace.target[at].label, each.first_before, each.first_after, html.number(each.moved, 4))
            for at, each in ((at, found.rows[at]) for at in listed)
        ],
        text("attention_edit.rows_caption" if short else "attention_edit.rows_caption_changed", count=len(listed)),
    )
    html.prose("attention_edit.forced_note", kind="quiet")


def free(selection: session.Selection, place: session.Place, cells: tuple[CellEdit, ...], renormalise: bool) -> None:
    """What the edited model writes when it is left to itself."""
    stack = "encoder" if place.attention.startswith("encoder") else "decoder"
    html.prose(f"attention_edit.free_{stack}", kind="quiet")
    at = (place.attention, place.layer, place.head, cells, renormalise)
    if linked.asked(text("attention_edit.free"), "edit_free", selection.model, selection.text, *at):
        written = session.measured(edited.written, selection, *at)
        own = session.wrote(selection.model, selection.text)
        nothing = text("translate.nothing")
        html.prose("attention_edit.written", written=written or nothing, own=own or nothing)
