"""What each head does, measured over a few hundred sentences and shipped with the model, each score beside chance."""

from collections.abc import Sequence

import streamlit as st

from app import session
from app.charts.spreadsheet import comma_separated
from app.text import text
from app.views import heads_place, html, picture
from model.analysis import roles as analysis
from model.analysis.head_scores import SHARES
from model.analysis.roles import Measured, Role
from model.translator import Atlas, Opened

SCORES = (*SHARES, "entropy", "relative_entropy", "distance")


def badges(selection: session.Selection, atlas: Opened) -> list[dict[str, object]]:
    """The heads that carry a mark in the picture for what they do; guided heads have theirs already."""
    measured = current(selection)
    if measured is None:
        return []
    taken = {("decoder.cross_attention", entry["layer"], entry["head"]) for entry in picture.guided(atlas)}
    return [
        {"attention": attention, "layer": layer, "head": head, "mark": "•", "hint": html.joined([told(role) for role in found])}
        for attention in measured.scores
        for layer, head in places(measured, attention)
        if (found := named(measured, attention, layer, head)) and (attention, layer, head) not in taken
    ]


def named(measured: Measured, attention: str, layer: int, head: int) -> list[Role]:
    """What the head does; that it does nothing in particular (it is diffuse) is no mark."""
    return [role for role in measured.roles(attention, layer, head) if role.name != "diffuse"]


def current(selection: session.Selection) -> Measured | None:
    """The measures of this model, if they are of the weights that are loaded."""
    return (
        session.measured_model(analysis.shipped, selection.model)
        if session.measured_model(analysis.is_current, selection.model)
        else None
    )


def places(measured: Measured, attention: str) -> list[tuple[int, int]]:
    """Every layer and head of an attention."""
    heads = measured.scores[attention]["entropy"].heads
    return [(layer, head) for layer, row in enumerate(heads) for head in range(len(row))]


def told(role: Role) -> str:
    """A role with its score and its chance level."""
    name = text(f"heads_roles.role_{role.name}")
    return text("heads_roles.role", name=name, score=html.number(role.score), chance=html.number(role.chance))


@st.fragment
def roles(selection: session.Selection, atlas: Atlas) -> None:
    """The table of one attention at a time; the file holds all three."""
    session.begin_run()
    measured = current(selection)
    if measured is None:
        html.notice("info", "heads_roles.none", name=html.Ours(selection.model))
        return
    html.prose("heads_roles.idea", sentences=measured.sentences, file=html.Ours(measured.pairs))
    rule(measured)
    names = {attention: heads_place.attention_name(attention) for attention in reversed(tuple(measured.scores))}
    with st.container(horizontal=True, vertical_alignment="bottom", key="roles_row"):
        attention = heads_place.choice(text("attention_map.attention"), "roles", names)
        st.download_button(
            text("attention_map.csv"),
            data=lambda: spreadsheet(measured),
            file_name=f"{selection.model}-heads-roles.csv",
            mime="text/csv",
            on_click="ignore",
            key="roles_csv",
        )
    table(measured, attention)


def rule(measured: Measured) -> None:
    """When a head is said to do something, and what alignment is measured against."""
    html.prose(
        "heads_roles.rule",
        kind="quiet",
        least=html.number(analysis.LEAST),
        factor=f"{analysis.FACTOR:g}",
        diffuse=html.number(analysis.DIFFUSE),
    )
    if measured.reference:
        layer, head, row = measured.reference
        name = text("picture.mean_of_layer", layer=layer + 1) if head is None else heads_place.layer_head(layer, head)
        card = html.Ours(text("card.title", name=session.current().model))
        html.prose(f"heads_roles.reference_{row}", kind="quiet", head=html.Ours(name), card=card)


def table(measured: Measured, attention: str) -> None:
    scores = measured.scores[attention]
    names = [name for name in SCORES if name in scores]
    chance = ["", html.sentence("heads_roles.chance"), *(html.number(scores[name].chance) for name in names)]
    count = ["", html.sentence("heads_roles.rows"), *(f"{scores[name].rows:,}" for name in names)]
    html.table(
        {
            text("heads_roles.head"): "number strong",
            text("heads_roles.roles"): "rich",
            **{text(f"heads_roles.score_{name}"): "number" for name in names},
        },
        [chance, *(line(measured, attention, names, layer, head) for layer, head in places(measured, attention)), count],
        text("heads_roles.caption", attention=heads_place.attention_name(attention), sentences=measured.sentences),
    )
    html.prose("heads_roles.read", kind="quiet")


def line(measured: Measured, attention: str, names: Sequence[str], layer: int, head: int) -> list[object]:
    """One head: its roles (their scores stand in the columns, chance in the first row) and its scores."""
    found = [text(f"heads_roles.role_{role.name}") for role in measured.roles(attention, layer, head)]
    scores = measured.scores[attention]
    numbers = [beside(scores[name].heads[layer][head], limit(name, scores[name].chance)) for name in names]
    return [html.Ours(heads_place.layer_head(layer, head)), html.literal(html.Ours(html.joined(found) or "–")), *numbers]


def limit(name: str, chance: float) -> float | None:
    """What this score has to reach for a role; None if it makes none."""
    if name in SHARES:
        return max(analysis.LEAST, analysis.FACTOR * chance)
    return analysis.DIFFUSE if name == "relative_entropy" else None


def beside(value: float, least: float | None) -> str:
    """A score with two decimals, or as many as it takes to see on which side of the limit it is."""
    digits = 2
    while least is not None and digits < 6 and (round(value, digits) >= round(least, digits)) != (value >= least):
        digits += 1
    return html.number(value, digits)


def spreadsheet(measured: Measured) -> bytes:
    """Every score of every head; layers and heads count from 0, as in paths."""
    rows: list[tuple[object, ...]] = []
    for attention, scores in measured.scores.items():
        for name, score in scores.items():
            rows += [
                (attention, layer, head, name, score.heads[layer][head], score.chance, score.rows)
                for layer, head in places(measured, attention)
            ]
    return comma_separated(("attention", "layer", "head", "score", "value", "chance", "rows"), rows)
