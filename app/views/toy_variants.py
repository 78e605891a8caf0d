"""The toy trained once more with one thing changed: loss, alignment, loss over the length, and the best head on one sentence."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.components.curves.payload import Mark
from app.components.matrices import Axis, Matrix, Scene, matrices
from app.components.matrices import pack as pack_matrices
from app.text import section, text
from app.views import html, rows
from app.views.picture import Head
from model.alignment.extract import Choice
from model.checkpoint import CheckpointError
from model.practice import variants
from model.practice.order import Order
from model.practice.run import shown_pair
from model.practice.variants import BestHead, Variant, Variants
from model.trace import Trace
from model.training.tasks import written_pair

TOY = "toy"
COMPARED = {
    "heads": {"toy": "heads_4", "heads-1": "heads_1"},
    "positions": {"positions-none": "positions_none", "toy": "positions_sinusoidal", "positions-rotary": "positions_rotary"},
    "norm": {"toy": "norm_post", "norm-pre": "norm_pre"},
}


@st.fragment
def draw(kind: str) -> None:
    """One comparison of `COMPARED`, opened when a visitor asks for it."""
    selection = session.begin_run()
    html.prose(f"toy_variants.idea_{kind}")
    with st.expander(text("toy_variants.open"), on_change="rerun", key=f"toy_{kind}", bind="query-params") as opened:
        if opened.open:
            _compared(kind, selection.text)


def _compared(kind: str, sentence: str) -> None:
    try:
        found = variants.read(session.folder_of(TOY) / variants.FILE)
    except CheckpointError:
        html.notice("info", "toy_variants.missing")
        return
    names = {name: text(f"toy_variants.named_{label}") for name, label in COMPARED[kind].items() if name in found.variants}
    html.table(
        {
            text("toy_variants.variant"): "word name",
            text("toy_variants.loss"): "number",
            text("toy_variants.range"): "number",
            text("toy_variants.exact"): "number",
            text("toy_variants.alignment"): "number",
            text("toy_variants.loss_longer"): "number",
            text("toy_variants.exact_longer"): "number",
        },
        [_row(html.Ours(label), found.variants[name]) for name, label in names.items()],
        text("toy_variants.caption", pairs=found.pairs, seeds=found.seeds, longest=found.trained_to),
    )
    curves(
        pack(
            _chart(names, found),
            text=section("curves"),
            caption={"model": TOY, "source": text("toy_variants.held_out"), "target": text("toy_variants.loss")},
            name=f"toy_{kind}",
        ),
        key=f"toy_{kind}_curves",
    )
    html.prose(f"toy_variants.read_{kind}")
    html.prose("toy_variants.beyond", kind="quiet", longest=found.trained_to)
    maps(kind, names, sentence)


def _row(label: str, variant: Variant) -> tuple[str, ...]:
    least, most = variant.losses
    return (
        label,
        html.number(variant.loss, 4),
        f"{html.number(least, 4)}–{html.number(most, 4)}",
        f"{variant.exact:.1%}",
        f"{variant.alignment:.1%}",
        html.number(variant.loss_longer, 3),
        f"{variant.exact_longer:.1%}",
    )


def _chart(names: dict[str, str], found: Variants) -> Chart:
    lengths = [length for length, _ in next(iter(found.variants.values())).by_length]
    return Chart(
        title=text("toy_variants.by_length"),
        x_name=text("toy_variants.words"),
        y_name=text("toy_variants.loss"),
        series=[Series(label, [loss for _, loss in found.variants[name].by_length]) for name, label in names.items()],
        labels=[str(length) for length in lengths],
        places=lengths,
        logarithmic=True,
        marks=(Mark(found.trained_to, text("toy_variants.longest")),),
    )


# ----- the best head of each, on one sentence


def maps(kind: str, names: dict[str, str], sentence: str) -> None:
    """Side by side where the best head of each looks, on the visitor's sentence if it is one of the toy language."""
    own = written_pair(TOY, sentence)
    pair = own or shown_pair(Order(task=TOY))
    try:
        found = session.measured_model(variants.best_heads, TOY, session.folder_of(TOY), tuple(names), pair)
    except CheckpointError:
        html.notice("info", "toy_variants.maps_missing")
        return
    html.prose("toy_variants.maps_idea")
    message = pack_matrices(
        [Scene("maps", text("toy_variants.maps_title"), list(found), note=text("toy_variants.maps_note"))],
        _matrices(found, names, session.trace(TOY, pair.source, pair.target)),
        text=section("matrices"),
        caption={"model": TOY, "source": pair.source, "target": pair.target},
        name=f"toy_{kind}",
    )
    matrices(message, key=f"toy_{kind}_maps")
    html.table(
        {
            text("toy_variants.variant"): "word name",
            text("toy_variants.head"): "word name",
            text("toy_variants.partners"): "number",
            text("toy_variants.loss_pair"): "number",
            text("toy_variants.written"): "word name",
        },
        [_found(html.Ours(names[name]), head) for name, head in found.items()],
        text("toy_variants.maps_caption", target=pair.target),
    )
    if not own:
        html.prose("toy_variants.maps_other", kind="quiet", example=session.first_example(TOY))


def _matrices(found: dict[str, BestHead], names: dict[str, str], trace: Trace) -> list[Matrix]:
    def axes(choice: Choice) -> tuple[Axis, Axis]:
        asking = rows.asking(trace, "target", choice.row)
        return rows.axis(text("attention.axis_target"), "target", asking), rows.axis(
            text("attention.axis_source"), "source", trace.source
        )

    return [
        Matrix(
            name, head.weights, *axes(head.choice), names[name], role="weights", scale="unit", path=_head(head).path + ".weights"
        )
        for name, head in found.items()
    ]


def _head(found: BestHead) -> Head:
    return Head(found.choice.layer, found.choice.head)


def _found(label: str, head: BestHead) -> tuple[str, ...]:
    return (
        label,
        html.Ours(_head(head).name),
        html.Ours(text("toy_variants.of", right=head.right, linked=head.linked)),
        html.number(head.loss, 4),
        head.written,
    )
