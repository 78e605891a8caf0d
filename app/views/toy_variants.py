"""The toy trained once more with one thing changed: loss, alignment, and loss over the length, also beyond what was learned."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.components.curves.payload import Mark
from app.text import section, text
from app.views import html
from model.checkpoint import CheckpointError
from model.practice import variants
from model.practice.variants import Variant, Variants

TOY = "toy"
COMPARED = {
    "heads": {"toy": "heads_4", "heads-1": "heads_1"},
    "positions": {"positions-none": "positions_none", "toy": "positions_sinusoidal", "positions-rotary": "positions_rotary"},
    "norm": {"toy": "norm_post", "norm-pre": "norm_pre"},
}


@st.fragment
def draw(kind: str) -> None:
    """One comparison of `COMPARED`, opened when a visitor asks for it."""
    session.begin_run()
    html.prose(f"toy_variants.idea_{kind}")
    with st.expander(text("toy_variants.open"), on_change="rerun", key=f"toy_{kind}", bind="query-params") as opened:
        if opened.open:
            _compared(kind)


def _compared(kind: str) -> None:
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
