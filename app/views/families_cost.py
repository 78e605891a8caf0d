"""What both families cost for lengths that the visitor chooses."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked
from app.views.families_pair import Pair
from model.analysis import families
from model.config import ModelConfig, paper_base

LONGEST = 8192
UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@st.fragment
def cost_of_both(found: Pair) -> None:
    """Parameters, operations and bytes of four shapes: the two that are loaded, the paper's base and its decoder-only equal."""
    session.begin_run()
    one, _ = found.traces
    html.prose("families.cost_idea")
    with st.container(horizontal=True, vertical_alignment="bottom", key="families_lengths"):
        source = _length("source_length", len(one.source))
        target = _length("target_length", len(one.target))
    equal = families.of_equal_size(paper_base())
    shapes = {
        found.translator.name: found.translator.config,
        found.writer.name: found.writer.config,
        text("families.cost_base"): paper_base(),
        text("families.cost_equal"): equal,
    }
    html.table(
        {
            text("families.cost_model"): "word",
            text("families.cost_layers"): "code",
            text("families.cost_parameters"): "number",
            text("families.cost_once"): "number",
            text("families.cost_token"): "number",
            text("families.cost_whole"): "number",
            text("families.cost_weights"): "number",
            text("families.cost_cache"): "number",
        },
        [_row(name, config, source, target) for name, config in shapes.items()],
        text("families.cost_title"),
        titled=True,
    )
    html.prose("families.cost_note", kind="quiet", layers=equal.decoder_layers, source=source, target=target)
    html.bullets([html.sentence(f"families.cost_formula_{name}") for name in ("token_both", "token_alone", "weights", "cache")])
    html.prose("families.cost_reading")


def _length(key: str, default: int) -> int:
    linked.number(key, range(1, LONGEST + 1), min(LONGEST, default))
    return int(
        st.number_input(
            text(f"families.cost_{key}"), min_value=1, max_value=LONGEST, key=key,
            on_change=linked.remember(key, min(LONGEST, default)),
        )
    )  # fmt: skip


def _row(name: str, config: ModelConfig, source: int, target: int) -> tuple[object, ...]:
    found = families.costs(config, source, target)
    layers = f"{config.encoder_layers} + {config.decoder_layers}"
    numbers = (found.parameters, found.once, found.token, found.whole, found.weights, found.cache)
    return (html.Ours(name), layers, *(html.Ours(large(number)) for number in numbers))


def large(value: int) -> str:
    """A large number with three digits and its unit: 63.0 M."""
    for size, unit in UNITS:
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 999.5 * size else f"{value / size:,.0f} {unit}"
    return str(value)
