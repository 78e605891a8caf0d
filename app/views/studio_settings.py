"""Where the links of the whole study come from: layer, head, row, measure, threshold, both directions joined."""

from dataclasses import replace
from typing import Any

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked
from model.alignment import joint
from model.alignment.corpus import JOINT, WAYS, Settings
from model.alignment.extract import ROWS, Choice

MEAN, ALONE = "mean", "alone"
LOWEST, HIGHEST, USUAL = 0.01, 0.9, 0.2  # of a threshold


def show(study: session.Study) -> None:
    """Draw the box, folded: what is chosen is said in its title."""
    title = text("studio.settings", choice=choice_name(study.settings.choice), rule=rule_name(study))
    with st.expander(title):
        html.prose("studio.settings_idea", kind="quiet")
        _source(study)
        with st.container(horizontal=True, key="studio_choice", vertical_alignment="bottom"):
            _widgets(study)
        if session.is_foreign(study.model):
            html.prose("studio.of_others", kind="quiet", model=html.Ours(study.model))
        if study.reverse is None:
            html.prose("studio.no_reverse", kind="quiet", model=html.Ours(study.model))
        else:
            html.prose("studio.joint_idea", kind="quiet", above=joint.ABOVE, mutual=joint.MUTUAL)


def choice_name(choice: Choice | None) -> str:
    """A choice as the page calls it, layers and heads from 1."""
    if choice is None:
        return ""
    key = "studio.choice_mean" if choice.head is None else "studio.choice_head"
    return text(key, layer=choice.layer + 1, head=(choice.head or 0) + 1, row=text(f"studio.row_{choice.row}"))


def rule_name(study: session.Study) -> str:
    """How links are taken from that head, as the page says it."""
    settings = study.settings
    if settings.symmetrize == JOINT:
        return text("studio.joint_with", model=study.reverse)
    rule = text("studio.rule_argmax") if settings.threshold is None else text("studio.rule_above", threshold=settings.threshold)
    if settings.symmetrize is None:
        return rule
    return text("studio.rule_joined", rule=rule, method=settings.symmetrize, model=study.reverse)


def _source(study: session.Study) -> None:
    """Who chose the head and the threshold that are used unless the visitor chooses."""
    choice, reason = session.default_head(study.model)
    html.prose(f"studio.default_{reason}", kind="quiet", model=html.Ours(study.model), choice=html.Ours(choice_name(choice)))
    threshold = session.usual(study.model, Settings(choice)).threshold
    if threshold is not None:
        html.prose("studio.default_threshold", kind="quiet", threshold=threshold)


def _widgets(study: session.Study) -> None:
    layers, heads = session.shape_of(study.model)
    settings, choice = study.settings, _choice(study)

    def choose(**changes: Any) -> None:  # of the study as it is then: it may have another model by now
        session.choose(choice=replace(_choice(study), **changes))

    numbers = [str(head) for head in range(heads)]
    _select("layer", list(range(layers)), choice.layer, lambda value: choose(layer=value), lambda value: str(value + 1))
    head = MEAN if choice.head is None else str(choice.head)
    _select(
        "head",
        [*numbers, MEAN],
        head,
        lambda value: choose(head=None if value == MEAN else int(value)),
        lambda value: text("studio.mean") if value == MEAN else str(int(value) + 1),
    )
    _select("row", list(ROWS), choice.row, lambda value: choose(row=value), lambda value: text(f"studio.row_{value}"))
    _select(
        "measure",
        list(session.measures_of(study.model)),
        settings.measure,
        lambda value: session.choose(measure=value),
        lambda value: text(f"studio.measure_{value}"),
    )
    if settings.symmetrize != JOINT:  # which has a rule of its own
        _threshold(study)
    if study.reverse is not None:
        _select(
            "symmetrize",
            [ALONE, *reversed(WAYS)],
            settings.symmetrize or ALONE,
            lambda value: session.choose(symmetrize=None if value == ALONE else value),
            lambda value: _way(value, study.reverse),
            width=280,
        )


def _choice(study: session.Study) -> Choice:
    return study.settings.choice or session.default_head(study.model)[0]


def _way(value: str, reverse: str | None) -> str:
    match value:
        case "alone":
            return text("studio.one_direction")
        case "joint":
            return text("studio.joint_with", model=reverse)
        case method:
            return text("studio.joined", method=method, model=reverse)


def _threshold(study: session.Study) -> None:
    settings = study.settings

    def switched() -> None:
        session.put_settings(replace(study.settings, threshold=USUAL if st.session_state["studio_threshold_on"] else None))

    st.session_state["studio_threshold_on"] = settings.threshold is not None
    st.toggle(text("studio.threshold_on"), key="studio_threshold_on", on_change=switched, help=text("studio.threshold_help"))
    if settings.threshold is not None:
        st.session_state["studio_threshold"] = settings.threshold
        st.number_input(
            text("studio.threshold"),
            LOWEST,
            HIGHEST,
            step=0.05,
            key="studio_threshold",
            on_change=lambda: session.put_settings(replace(study.settings, threshold=st.session_state["studio_threshold"])),
            width=140,
        )


def _select(name: str, options: list[Any], value: Any, take: Any, shown: Any, width: int = 150) -> None:
    key = f"studio_{name}"
    linked.show(key, value)
    st.selectbox(
        text(f"studio.ask_{name}"),
        options,
        key=key,
        format_func=shown,
        on_change=linked.fresh(key, lambda: take(st.session_state[key])),
        width=width,
    )
