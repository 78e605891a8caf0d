"""Rotary beside sinusoidal and none: attention maps of the same sentence, and the loss as texts grow longer."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
from torch import Tensor

from app import session
from app.components.curves import Chart, Series, curves
from app.components.curves import pack as pack_curves
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, later, picture, rotary_models
from model.analysis import lengths, rotated
from model.trace import Trace

MODELS = (rotary_models.ROTARY, rotary_models.SINUSOIDAL)
VARIANTS = {
    rotary_models.ROTARY: ("right", "nowhere", "interpolated", "ntk"),
    rotary_models.SINUSOIDAL: ("right", "nowhere"),
}


def beside(selection: session.Selection, place: session.Place) -> None:
    """Both comparisons, each behind its own opener, since other models have to run."""
    html.prose("rotary.beside_idea")
    maps(selection, place)
    by_length(selection)


@dataclass(frozen=True)
class Map:
    """The map of one head of the encoder, as trained and without positions."""

    name: str
    trace: Trace
    place: session.Place
    weights: Tensor
    without: Tensor


@st.fragment
def maps(selection: session.Selection, place: session.Place) -> None:
    """Encoder self-attention of both models on the sentence."""
    session.begin_run()
    opened = st.expander(text("rotary.maps_open"), key="maps", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        read = {name: rotary_models.on(selection, name) for name in MODELS}
        for name in MODELS:
            if read[name] is None:
                rotary_models.missing(name)
        if found := [chosen for chosen in read.values() if chosen]:
            rotary_models.given(found[0], selection)
            _draw(selection, [_map(chosen, place) for chosen in found])
            html.prose("rotary.maps_read", kind="quiet")
            html.prose("rotary.untrained_without", kind="quiet")


def _map(chosen: session.Selection, place: session.Place) -> Map:
    atlas = session.load(chosen.model)
    where = session.checked_place(atlas, "encoder.self_attention", place.layer, place.head)
    trace = session.trace(chosen.model, chosen.text, chosen.target, chosen.beam)
    weights = trace[f"{where.path}.weights"].tensor[0, where.head]
    return Map(chosen.model, trace, where, weights, session.measured(rotated.maps_without, chosen)[where.layer][where.head])


def _draw(selection: session.Selection, found: list[Map]) -> None:
    """A scene for each model, and the models side by side where they read the same pieces."""
    shown, scenes = [], []
    for made in found:
        axis = Axis(text("rotary.token"), [token.label for token in made.trace.source], "source")
        path = f"{made.place.path}.weights"
        name = html.Ours(made.name)
        drawn = partial(Matrix, rows=axis, columns=axis, role="weights", scale="unit")
        shown += [
            drawn(f"{made.name}.right", made.weights, title=text("rotary.map_right", name=name), path=path),
            drawn(f"{made.name}.nowhere", made.without, title=text("rotary.map_nowhere", name=name)),
        ]
        place = text("picture.layer_head", layer=made.place.layer + 1, head=made.place.head + 1)
        scenes.append(
            Scene(
                made.name, text("rotary.scene_model", name=name), (f"{made.name}.right", "→", f"{made.name}.nowhere"),
                note=text("rotary.scene_model_note", place=place),
            )
        )  # fmt: skip
    if len(found) == 2 and len(found[0].trace.source) == len(found[1].trace.source):
        items = (f"{found[0].name}.right", "·", f"{found[1].name}.right")
        scenes.insert(0, Scene("both", text("rotary.scene_both"), items, note=text("rotary.scene_both_note")))
    caption = picture.caption(selection, found[0].trace)
    matrices(pack(scenes, shown, text=section("matrices"), caption=caption, name="map"), key="rotary_maps")


@st.fragment
def by_length(selection: session.Selection) -> None:
    """The loss of the shipped example sentences, alone and joined."""
    session.begin_run()
    opened = st.expander(text("rotary.lengths_open"), key="lengths", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        pairs = session.example_pairs(rotary_models.SINUSOIDAL)
        here = session.loaded([name for name in MODELS if name in session.models()])
        for name in MODELS:
            if name not in here:
                html.notice("info", "rotary.missing", name=html.Ours(name))
        if not here or not pairs:
            return
        asked = [(lengths.loss_by_length, name, pairs, variant) for name in here for variant in VARIANTS[name]]
        later.drawn(lambda: losses(tuple(here), pairs), *asked)


def losses(here: tuple[str, ...], pairs: tuple[tuple[str, str], ...]) -> None:
    """A curve for each model and variant."""
    found = {
        (name, variant): session.measured_model(lengths.loss_by_length, name, pairs, variant)
        for name in here
        for variant in VARIANTS[name]
    }
    first = next(iter(found.values()))
    chart = Chart(
        title=text("rotary.lengths_title"),
        x_name=text("rotary.lengths_x"),
        y_name=text("rotary.loss"),
        series=[
            Series(text(f"rotary.series_{variant}", name=name), [at.loss for at in made])
            for (name, variant), made in found.items()
        ],
        labels=[text("rotary.lengths_label", sentences=at.sentences, tokens=f"{at.tokens:.0f}") for at in first],
        path="model.analysis.lengths.loss_by_length",
    )
    caption = {"model": ", ".join(here), "source": text("rotary.lengths_source", count=len(pairs)), "target": ""}
    curves(pack_curves(chart, text=section("curves"), caption=caption, name="lengths"), key="rotary_lengths")
    html.prose("rotary.lengths_read", count=len(pairs))
    html.prose("rotary.untrained_without", kind="quiet")
