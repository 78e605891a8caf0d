"""The base and long texts: wavelengths, position interpolation, NTK-style scaling of the base."""

from typing import Any

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, linked, rotary_models
from model.analysis import rotary, rotated
from model.analysis.rotary import Scaling
from model.translator import Atlas

BASES = {"500": 500.0, "10000": 10000.0, "500000": 500000.0}
SCALINGS: dict[str, Scaling] = {"none": "none", "interpolated": "interpolated", "ntk": "ntk"}
FACTORS = ("2", "4", "8")
LARGE = (128, 4096)  # head_dim and trained length of a large language model of 2023
OF = ("this", "large")


@st.fragment
def long_texts(selection: session.Selection, atlas: Atlas) -> None:
    """Choose a base and a scaling: the wavelength of every pair, and what the rotary model makes of it."""
    session.begin_run()
    html.prose("rotary.long_idea")
    with st.container(horizontal=True, vertical_alignment="bottom", key="rotary_long_choices"):
        of = _choice("wavelengths_of", OF, "this", {name: text(f"rotary.of_{name}") for name in OF})
        base = BASES[_choice("base", tuple(BASES), "10000", {name: f"{int(name):,}" for name in BASES})]
        scaling = SCALINGS[
            _choice("scaling", tuple(SCALINGS), "none", {name: text(f"rotary.scaling_{name}") for name in SCALINGS})
        ]
        factor = 1.0 if scaling == "none" else float(_choice("factor", FACTORS, "2", {name: f"×{name}" for name in FACTORS}))
    width, length = LARGE if of == "large" else (atlas.config.head_dim, trained_length(atlas))
    chart(selection, width, length, base, scaling, factor)
    counted: dict[str, Any] = {
        "length": html.Ours(f"{length:,}"),
        "pairs": width // 2,
        "before": rotary.turned_less_than_once(rotary.wavelengths(width), length),
    }
    if scaled(base, scaling):
        after = rotary.turned_less_than_once(rotary.wavelengths(width, base, scaling, factor), length)
        html.prose("rotary.long_count_chosen", **counted, after=after)
    else:
        html.prose("rotary.long_count", **counted)
    if of == "large":
        html.prose("rotary.long_large", kind="quiet")
    else:
        whose_length(selection, atlas, length)
    measured(selection, base, scaling, factor)


def whose_length(selection: session.Selection, atlas: Atlas, length: int) -> None:
    """What the length is that pairs are compared with, and what it leaves out."""
    if not session.longest_words(atlas):
        html.prose("rotary.long_unknown", kind="quiet", length=html.Ours(f"{length:,}"))
        return
    joined = "joined" in atlas.card.get("training", {})
    pieces = session.languages(selection.model)[0] != "zh"  # there they are characters
    html.prose(
        "rotary.long_this",
        kind="quiet",
        length=html.Ours(f"{length:,}"),
        pieces=html.Ours(text("rotary.long_pieces") if pieces else ""),
        joined=html.Ours(text("rotary.long_joined") if joined else ""),
    )


def scaled(base: float, scaling: Scaling) -> bool:
    """Whether anything differs from what the model learned."""
    return base != rotary.BASE or scaling != "none"


def trained_length(atlas: Atlas) -> int:
    """Positions that the model has certainly seen: a sentence of so many words has at least as many tokens."""
    return session.longest_words(atlas) or atlas.config.max_length


def chart(selection: session.Selection, width: int, length: int, base: float, scaling: Scaling, factor: float) -> None:
    """Wavelengths pair by pair on a logarithmic axis, before and after where they differ, and the trained length as a line."""
    lines = [Series(text("rotary.series_before"), rotary.wavelengths(width).tolist())]
    if scaled(base, scaling):
        lines.append(Series(text("rotary.series_after"), rotary.wavelengths(width, base, scaling, factor).tolist()))
    found = Chart(
        title=text("rotary.wavelengths"),
        x_name=text("rotary.pair"),
        y_name=text("rotary.wavelength_unit"),
        series=(*lines, Series(text("rotary.series_length", length=f"{length:,}"), [float(length)] * (width // 2))),
        labels=[str(pair) for pair in range(width // 2)],
        logarithmic=True,
        path="model.position.frequencies",
    )
    caption = {"model": selection.model, "source": selection.text, "target": selection.target or ""}
    curves(pack(found, text=section("curves"), caption=caption, name="wavelengths"), key="rotary_wavelengths")


def measured(selection: session.Selection, base: float, scaling: Scaling, factor: float) -> None:
    """The loss of this sentence's translation in the rotary model, as trained and with the switches."""
    chosen = rotary_models.turning(selection)
    if chosen is None:
        rotary_models.missing(rotary_models.ROTARY)
        return
    rotary_models.given(chosen, selection)
    if not scaled(base, scaling):
        html.prose("rotary.long_as_trained", kind="quiet", name=html.Ours(chosen.model))
        return
    before = session.measured(rotated.loss_in, chosen, rotary.BASE, "none", 1.0)
    after = session.measured(rotated.loss_in, chosen, base, scaling, factor)
    html.prose(
        "rotary.long_measured",
        name=html.Ours(chosen.model),
        before=html.Ours(html.number(before, 3)),
        after=html.Ours(html.number(after, 3)),
    )


def _choice(name: str, options: tuple[str, ...], default: str, names: dict[str, str]) -> str:
    linked.chosen(name, options, default)
    found = st.segmented_control(
        text(f"rotary.choose_{name}"), options, key=name, required=True, on_change=linked.remember(name, default),
        format_func=names.__getitem__,
    )  # fmt: skip
    return found or default
