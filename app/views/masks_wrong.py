"""Masks put on wrongly: four ways beside one another, rows without a key, number formats, and a decoder that sees ahead."""

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves
from app.components.curves import pack as pack_chart
from app.components.matrices import Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture
from app.views.masks_effect import axes
from app.views.rows import Named
from model.analysis import cheating, masking, painted
from model.analysis.masking import Filled
from model.trace import Trace

TEXTBOOK = 900.0
EXAMPLE = (1.0, 2.0, 3.0)
SHOWN = {"-inf": "\N{MINUS SIGN}∞", "-1e9": "\N{MINUS SIGN}1e9"}
WAYS = (*masking.MASKINGS, "flipped", "off")


def four_ways(selection: session.Selection, trace: Trace, place: session.Place, mask: str, row: Named) -> None:
    """One head's scores under one mask, put on in four ways; the mass that gets through, row by row; the textbook example."""
    html.prose("masks.ways_idea")
    own = painted.own_name(place.attention)
    length = len(trace.tokens("source" if place.attention.startswith("encoder") else "target"))
    if masking.chosen(mask, masking.preset(own, length)).all():
        html.prose("masks.ways_open")
    else:
        found = session.measured(masking.leaks_of, selection, place.path, place.head, mask, own)
        four_maps(selection, trace, place, mask, row, found)
    textbook()


def four_maps(
    selection: session.Selection,
    trace: Trace,
    place: session.Place,
    mask: str,
    row: Named,
    found: Mapping[str, masking.Leak],
) -> None:
    """The four maps, and the mass that gets through in each row."""
    own = painted.own_name(place.attention)
    tokens = trace.tokens("source" if place.attention.startswith("encoder") else "target")
    labels = [token.label for token in tokens]
    named, axis = axes(trace, place, row)
    allowed = masking.chosen(mask, masking.preset(own, len(labels)))
    shown = [
        Matrix(
            name, leak.weights, named, axis, text(f"masks.way_{name}"), role="weights", scale="unit",
            masked=~allowed if name == "minus_infinity" else None,
            path=f"{place.path}.weights" if name == "minus_infinity" and not mask else "",
        )
        for name, leak in found.items()
    ]  # fmt: skip
    scene = Scene("ways", text("masks.ways_title"), tuple(found), note=text("masks.ways_note"))
    message = pack([scene], shown, text=section("matrices"), caption=picture.caption(selection, trace), name="ways")
    matrices(message, key="masks_ways")
    columns = {
        text("masks.row"): "number",
        text("masks.reads"): "word strong",
        text("masks.sees"): "number",
        text("masks.leaked"): "number",
        text("masks.sum_after"): "number",
        text("masks.sum_renormalised"): "number",
        text("masks.sum_right"): "number",
    }
    seen = masking.seen(allowed)
    leaked, *sums = (
        found["zero_before"].forbidden,
        *(found[way].sums for way in ("zero_after", "zero_after_renormalised", "minus_infinity")),
    )
    rows = [
        (row, label, seen[row], share(float(leaked[row])), *(share(float(each[row])) for each in sums))
        for row, label in enumerate(labels)
    ]
    html.table(columns, rows, text("masks.ways_caption"))


def share(value: float) -> str:
    """A share; 0/0 where a row was divided by nothing."""
    return "0/0" if math.isnan(value) else html.number(value, 3)


@st.fragment
def textbook() -> None:
    """[1, 2, 900] with the third hidden, and any other third score."""
    session.begin_run()
    html.prose("masks.textbook")
    third = st.number_input(
        text("masks.third"),
        min_value=-1000.0,
        max_value=1000.0,
        value=TEXTBOOK,
        step=1.0,
        key="third",
        bind="query-params",
        width=240,
    )
    found = masking.of_row((1.0, 2.0, float(third)), (True, True, False))
    columns = {
        text("masks.way"): "rich",
        text("masks.weights"): "code",
        text("masks.forbidden"): "number",
        text("masks.sum"): "number",
    }
    rows = [
        (
            html.sentence(f"masks.way_{name}"),
            f"[{', '.join(share(weight) for weight in leak.weights[0].tolist())}]",
            share(float(leak.forbidden[0])),
            share(float(leak.sums[0])),
        )
        for name, leak in found.items()
    ]
    html.table(columns, rows, text("masks.textbook_caption", third=html.number(third, 0)))


@st.fragment
def formats() -> None:
    """A row of three scores, all or one of them hidden, by every value that stands for hidden and in every number format."""
    session.begin_run()
    html.prose("masks.formats_idea")
    hidden = {"all": (False, False, False), "one": (True, True, False)}
    names = {name: text(f"masks.hidden_{name}") for name in hidden}
    which = st.segmented_control(
        text("masks.hidden"), list(hidden), default="all", format_func=names.__getitem__, key="hidden", bind="query-params",
        required=True,
    )  # fmt: skip
    allowed = hidden[which or "all"]
    found = (*masking.models_own(EXAMPLE, allowed), *masking.filled(EXAMPLE, allowed))
    ways = dict.fromkeys((entry.value, entry.way) for entry in found)
    rows = [
        (
            html.sentence(f"masks.fill_{way}", value=html.Ours(SHOWN.get(value, value))),
            *(outcome(entry) for entry in found if (entry.value, entry.way) == (value, way)),
        )
        for value, way in ways
    ]
    html.table({text("masks.hidden_by"): "rich", **dict.fromkeys(masking.DTYPES, "rich")}, rows, text("masks.formats_caption"))
    for error in dict.fromkeys(entry.error for entry in found if entry.error):
        html.prose("masks.raises_with", kind="quiet", error=error)
    html.prose("masks.formats_read")


def outcome(entry: Filled) -> str:
    """What became of the row, and its weights."""
    word = html.sentence(f"masks.outcome_{entry.outcome}")
    numbers = ", ".join("NaN" if math.isnan(weight) else html.number(weight) for weight in entry.weights)
    return f"{word}<br><code>[{numbers}]</code>" if numbers else word


# ----- the mask off


@st.fragment
def what_if(selection: session.Selection, trace: Trace) -> None:
    """The decoder's mask put on wrongly or taken off, in every layer: the loss of the same target, what would be written; and a
    decoder that learned without a mask."""
    session.begin_run()
    html.prose("masks.what_if_idea")
    if linked.asked(text("masks.measure"), "masks_measure", selection.model, selection.text, selection.target, selection.beam):
        damages(selection, trace)
    html.heading("masks.cheat_title")
    html.prose("masks.cheat_idea", symbols=cheating.SYMBOLS, half=cheating.HALF, steps=cheating.STEPS,
               chance=html.number(cheating.CHANCE, 2))  # fmt: skip
    if st.button(text("masks.cheat_train"), key="masks_cheat"):
        st.session_state["masks_trained"] = True
    if st.session_state.get("masks_trained"):
        cheat(selection, trace)


def damages(selection: session.Selection, trace: Trace) -> None:
    """One line a way to mask: loss, leak of the future, and the translation written under it."""
    rows = []
    for way in WAYS:
        found = session.measured(painted.damage, selection, way)
        written = session.measured(painted.damaged_text, selection, way)
        rows.append(
            (html.sentence(f"masks.way_{way}"), share(found.loss), share(found.future), written.text or text("translate.nothing"))
        )
    columns = {
        text("masks.way"): "rich",
        text("masks.loss"): "number",
        text("masks.future"): "number",
        text("masks.writes"): "word",
    }
    html.table(columns, rows, text("masks.what_if_caption", tokens=len(trace.produced)))
    right, off = (session.measured(painted.damage, selection, way) for way in (WAYS[0], "off"))
    worse = "masks.off_worse" if off.loss > right.loss else "masks.off_better"
    html.prose(worse, right=html.number(right.loss, 2), off=html.number(off.loss, 2))


def cheat(selection: session.Selection, trace: Trace) -> None:
    """Two tiny decoders, trained now: their losses, and what they write when nothing lies ahead."""
    with st.spinner(text("masks.cheat_training")):
        masked, ahead = session.measured_model(cheating.beside, session.models()[0])  # one for all models
    kinds = (("masked", masked), ("ahead", ahead))
    series = [
        Series(text(f"masks.cheat_{name}_{half}"), getattr(found, f"{half}_losses"))
        for name, found in kinds
        for half in ("first", "second")
    ]
    steps = [str(step) for step in range(1, len(masked.first_losses) + 1)]
    drawing = Chart(
        text("masks.cheat_chart"),
        text("masks.cheat_step"),
        text("masks.cheat_loss"),
        series,
        steps,
        path="model.analysis.cheating",
    )
    curves(
        pack_chart(drawing, text=section("curves"), caption=picture.caption(selection, trace), name="cheat"),
        key="masks_cheat_chart",
    )
    columns = {
        text("masks.cheat_kind"): "rich",
        text("masks.cheat_first"): "number",
        text("masks.cheat_second"): "number",
        text("masks.cheat_right"): "number",
        text("masks.cheat_given"): "code",
        text("masks.cheat_written"): "code",
    }
    rows = [
        (html.sentence(f"masks.cheat_{name}"), html.number(found.first, 3), html.number(found.second, 3), f"{found.right:.0%}",
         symbols(found.given), symbols(found.written))
        for name, found in kinds
    ]  # fmt: skip
    html.table(columns, rows, text("masks.cheat_caption", count=cheating.EXAMINED))
    html.prose("masks.cheat_read", chance=html.number(cheating.CHANCE, 2), by_chance=f"{cheating.BY_CHANCE:.0%}")


def symbols(ids: Sequence[int]) -> str:
    """Symbols as letters, the end as a stop."""
    return " ".join("∎" if id_ == cheating.END else chr(ord("A") + id_) for id_ in ids)
