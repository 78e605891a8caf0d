"""Weights beside what they carry, rollout through the layers, and how far either agrees with what the model needs."""

import streamlit as st
import torch
from torch import Tensor

from app import session
from app.charts.spreadsheet import comma_separated
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import heads_place, heads_roles, html, picture
from model.analysis import agreement, norms, rollout
from model.analysis.agreement import Agreement, Comparison
from model.analysis.head_scores import stacked
from model.trace import Trace
from model.translator import Atlas, LanguageModel


def beyond(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    html.prose("heads_norms.idea")
    carried(selection, atlas, trace)
    if isinstance(atlas, LanguageModel):
        html.prose("heads_norms.agree_none", kind="quiet")
    else:
        agreeing(selection, trace)


# ----- norms and rollout


@st.fragment
def carried(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    session.begin_run()
    opened = st.expander(text("heads_norms.open"), key="norms", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        place = heads_place.choose(atlas, "norms")
        made = [*of_head(selection, trace, place), *of_rollout(selection, trace)]
        message = pack(
            [scene for scene, _ in made],
            [matrix for _, drawn in made for matrix in drawn],
            text=section("matrices"),
            caption=picture.caption(selection, trace),
            name="norms",
        )
        matrices(message, key="norms_matrices")
        html.prose(heads_place.convention(place), kind="quiet")
        html.prose("heads_norms.read", kind="quiet")


Made = list[tuple[Scene, list[Matrix]]]


def of_head(selection: session.Selection, trace: Trace, place: session.Place) -> Made:
    """alpha, ||f(x)|| and ||alpha f(x)|| of one head; then all heads of the layer together."""
    spans = trace[f"{place.path}.weights"].spans
    rows, keys = heads_place.rows(trace, spans["query"]), heads_place.columns(trace, spans["key"])
    weights = trace[f"{place.path}.weights"].tensor[0]
    hidden = torch.isneginf(trace[f"{place.path}.masked"].tensor[0, place.head])
    lengths = session.measured(norms.lengths, selection, place.path)[place.head][None]
    added = session.measured(norms.added, selection, place.path)[place.head]
    layer = session.measured(norms.of_layer, selection, place.path)
    name = heads_place.layer_head(place.layer, place.head)
    head = [
        Matrix("weights", weights[place.head], rows, keys, "α", "weights", "unit", hidden, path=f"{place.path}.weights"),
        Matrix("lengths", lengths, Axis("", [""]), keys, "‖f(x)‖", "value", "unit"),
        Matrix("added", added, rows, keys, "‖α f(x)‖", "value", "unit", hidden),
    ]
    together = [
        Matrix("mean", weights.mean(dim=0), rows, keys, text("heads_norms.mean"), "weights", "unit", hidden),
        Matrix("layer", layer, rows, keys, "‖Σ α f(x)‖", "value", "unit", hidden),
    ]
    return [
        (scene("head", ["weights", "|", "lengths", "→", "added"], name), head),
        (scene("layer", ["mean", "→", "layer"], text("attention_map.layer_number", layer=place.layer + 1)), together),
    ]


def of_rollout(selection: session.Selection, trace: Trace) -> Made:
    """Each encoder layer's mean over heads and their rollout; the decoder's rollout to target and source.

    Of a language model the same of its one stack.
    """
    source, target = heads_place.rows(trace, "source"), heads_place.rows(trace, "target")
    read, looked = heads_place.columns(trace, "target"), heads_place.columns(trace, "source")
    if not trace.source:
        layers, hidden = stacked(trace, "decoder.self_attention")
        return [_through("decoder_alone", layers.mean(dim=1), target, read, hidden=~hidden)]
    layers = stacked(trace, "encoder.self_attention")[0].mean(dim=1)
    own, through = rollout.decoder(trace)
    decoder = [
        Matrix("own", own, target, read, text("heads_norms.from_target"), "weights", "unit"),
        Matrix("through", through, target, looked, text("heads_norms.from_source"), "weights", "unit"),
    ]
    return [
        _through("encoder", layers, source, looked),
        (scene("decoder", ["own", "|", "through"]), decoder),
    ]


def _through(name: str, layers: Tensor, rows: Axis, columns: Axis, *, hidden: Tensor | None = None) -> tuple[Scene, list[Matrix]]:
    """The mean over heads of each layer of a stack, and their rollout."""
    drawn = [
        Matrix(f"{name}_{at}", each, rows, columns, text("attention_map.layer_number", layer=at + 1), "weights", "unit", hidden)
        for at, each in enumerate(layers)
    ]
    last = Matrix("rollout", rollout.rollout(layers), rows, columns, text("heads_norms.rollout"), "weights", "unit", hidden)
    parts = [item for layer in range(len(layers)) for item in ("|", f"{name}_{layer}")][1:]
    return scene(name, [*parts, "→", "rollout"]), [*drawn, last]


def scene(name: str, items: list[str], where: str = "") -> Scene:
    return Scene(name, text(f"heads_norms.scene_{name}", where=where), items, "same", text(f"heads_norms.note_{name}"))


# ----- agreement with the prediction difference


@st.fragment
def agreeing(selection: session.Selection, trace: Trace) -> None:
    """Each source token taken away: a masked pass each, so only when the visitor asks."""
    session.begin_run()
    opened = st.expander(text("heads_norms.agree"), key="agreement", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        html.prose("heads_norms.agree_idea")
        with st.spinner(text("heads_norms.measuring")):
            found = session.measured(agreement.of_trace, selection)
        difference(selection, trace, found)
        measured = heads_roles.current(selection)
        over = dict(measured.agreement) if measured else {}
        table(found, over, measured.sentences if measured else 0)
        html.prose("heads_norms.rank", kind="quiet")
        st.download_button(
            text("attention_map.csv"),
            data=lambda: spreadsheet(found.agreements, over),
            file_name=f"{selection.model}-agreement.csv",
            mime="text/csv",
            on_click="ignore",
            key="agreement_csv",
        )
        conclude(found, over, measured.sentences if measured else 0)


def difference(selection: session.Selection, trace: Trace, found: Comparison) -> None:
    """Each map beside the prediction difference."""
    rows, columns = heads_place.rows(trace, "target"), heads_place.columns(trace, "source")
    names = [name for name in found.maps if name != "diagonal"]
    drawn = [
        *(Matrix(name, found.maps[name], rows, columns, text(f"heads_norms.map_{name}"), "weights", "unit") for name in names),
        Matrix("difference", found.difference, rows, columns, text("heads_norms.difference")),
    ]
    scenes = [
        Scene(name, text(f"heads_norms.map_{name}"), [name, "|", "difference"], "same", text("heads_norms.note_difference"))
        for name in names
    ]
    message = pack(scenes, drawn, text=section("matrices"), caption=picture.caption(selection, trace), name="agreement")
    matrices(message, key="agreement_matrices")


def table(found: Comparison, over: dict[str, Agreement], sentences: int) -> None:
    columns = {text("heads_norms.map"): "rich"}
    columns |= {text("heads_norms.correlation"): "number", text("heads_norms.first"): "number"}
    if over:
        columns |= {text("heads_norms.correlation_many", sentences=sentences): "number"}
        columns |= {text("heads_norms.first_many", sentences=sentences): "number"}
    rows = []
    for name, here in found.agreements.items():
        numbers = [here.correlation, here.first, *([over[name].correlation, over[name].first] if name in over else [])]
        rows.append([html.sentence(f"heads_norms.map_{name}"), *(html.Ours(html.number(number)) for number in numbers)])
    any_here = next(iter(found.agreements.values()))
    chance = [0.0, any_here.chance, *([0.0, next(iter(over.values())).chance] if over else [])]
    rows.append([html.sentence("heads_norms.chance"), *(html.Ours(html.number(number)) for number in chance)])
    html.table(columns, rows, text("heads_norms.caption"))


def conclude(found: Comparison, over: dict[str, Agreement], sentences: int) -> None:
    """What the numbers say of attention as an explanation."""
    here = found.agreements["weights"]
    html.prose(
        "heads_norms.conclude",
        correlation=html.number(here.correlation),
        first=html.number(here.first),
        norms=html.number(found.agreements["norms"].correlation),
        rollout=html.number(found.agreements["rollout"].correlation),
    )
    if over:
        many = over["weights"]
        html.prose(
            "heads_norms.conclude_many",
            sentences=sentences,
            correlation=html.number(many.correlation),
            first=html.number(many.first),
            diagonal=html.number(over["diagonal"].correlation),
            diagonal_first=html.number(over["diagonal"].first),
        )
    html.prose("heads_norms.moral")


def spreadsheet(here: dict[str, Agreement], over: dict[str, Agreement]) -> bytes:
    rows = [
        (where, name, value.correlation, value.first, value.chance, value.rows)
        for where, members in (("sentence", here), ("many", over))
        for name, value in members.items()
    ]
    return comma_separated(("measured_on", "map", "correlation", "first", "chance", "rows"), rows)
