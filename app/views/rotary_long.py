"""The base and long texts: wavelengths, position interpolation, NTK-style scaling of the base."""

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
    before, after = rotary.wavelengths(width), rotary.wavelengths(width, base, scaling, factor)
    html.prose(
        "rotary.long_count",
        length=html.Ours(f"{length:,}"),
        pairs=width // 2,
        before=rotary.turned_less_than_once(before, length),
        after=rotary.turned_less_than_once(after, length),
    )
    html.prose("rotary.long_large" if of == "large" else "rotary.long_this", kind="quiet")
    measured(selection, base, scaling, factor)


def trained_length(atlas: Atlas) -> int:
    """Positions that the model has certainly seen: a sentence of so many words has at least as many tokens."""
    return session.longest_words(atlas) or atlas.config.max_length


def chart(selection: session.Selection, width: int, length: int, base: float, scaling: Scaling, factor: float) -> None:
    """Wavelengths pair by pair on a logarithmic axis, with the trained length as a line."""
    before, after = rotary.wavelengths(width), rotary.wavelengths(width, base, scaling, factor)
    found = Chart(
        title=text("rotary.wavelengths"),
        x_name=text("rotary.pair"),
        y_name=text("rotary.wavelength_unit"),
        series=(
            Series(text("rotary.series_before"), before.tolist()),
            Series(text("rotary.series_after"), after.tolist()),
            Series(text("rotary.series_length", length=f"{length:,}"), [float(length)] * len(before)),
        ),
        labels=[str(pair) for pair in range(len(before))],
        logarithmic=True,
        path="model.position.frequencies",
    )
    caption = {"model": selection.model, "source": selection.text, "target": selection.target or ""}
    curves(pack(found, text=section("curves"), caption=caption, name="wavelengths"), key="rotary_wavelengths")


def measured(selection: session.Selection, base: float, scaling: Scaling, factor: float) -> None:
    """The loss of this sentence's translation in the rotary model, as trained and with the switches."""
    chosen = rotary_models.turning(selection)
    if chosen is None:
        rotary_models.missing(selection, rotary_models.ROTARY)
        return
    if base == rotary.BASE and scaling == "none":
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
