"""What a page, or a part of one, asks of a model, and what is said where a model has it not.

Models of this app have all of it. Models of others (`model.adapters`) compute with our attention and are built of other modules
beside it; an encoder alone writes nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from app import session
from app.text import text
from app.views import html, pages
from model.adapters.hugging_face.attention import Recorder
from model.analysis.agreement import prediction_difference
from model.analysis.norms import added
from model.analysis.rollout import rollout
from model.attention import MultiHeadAttention
from model.translator import LanguageModel, Opened, Reader

Need = Literal["modules", "writing", "positions", "rotation", "training", "counts", "pair", "measures"]
"""Embeddings, projections, norms and sums as modules of ours; a decoder; a table of sinusoids; our way to turn queries and keys;
training by us; counts by our formulas; a counterpart of the other family; what was measured beforehand and shipped."""

CODE: dict[object, Callable[..., Any]] = {MultiHeadAttention.forward: Recorder.attend}
"""What computes a model of others, in place of code of ours."""

NOT_THEIRS = (MultiHeadAttention.split, MultiHeadAttention.merge, prediction_difference, added, rollout)

SHOWING = ("translate", "heads", "masks", "decoding")  # pages that show models of others


def missing(atlas: Opened, needs: Sequence[Need]) -> Need | None:
    """The first of these that the model has not; None if it has all."""
    return next((need for need in needs if (isinstance(atlas, Reader) if need == "writing" else not atlas.ours)), None)


def code_of(atlas: Opened, parts: Sequence[Callable[..., Any] | type]) -> tuple[Callable[..., Any] | type, ...]:
    """The source that computed what one sees of this model."""
    return tuple(parts) if atlas.ours else tuple(CODE.get(part, part) for part in parts if part not in NOT_THEIRS)


def instead_of_page(atlas: Opened, need: Need, what: str = "missing.page") -> None:
    """Why this page has no picture of the model, a model that has one, and pages that show this one."""
    _say(atlas, need, what)
    other = stand_in(atlas, need)
    if other:
        st.button(
            text("missing.way", other=other),
            icon=":material/visibility:",
            key="stand_in",
            on_click=partial(session.select, model=other),
        )
    with st.container(horizontal=True, vertical_alignment="center", key="shown_on"):
        html.prose("missing.shown_on", kind="quiet", name=html.Ours(atlas.name))
        for page in SHOWING:
            if page != "decoding" or not isinstance(atlas, Reader):
                query = {**session.current().parameters(), **session.presented()}
                st.page_link(pages.page(page), label=text(f"{page}.title"), query_params=query)


def instead_of_part(atlas: Opened, need: Need) -> None:
    """Why a part of a page says nothing of the model."""
    _say(atlas, need, "missing.part")


def stand_in(atlas: Opened, need: Need) -> str:
    """A model of this app that has it, of the same family if there is one; empty if no model is here."""
    ours = [name for name in session.models() if not session.is_foreign(name)]
    if need == "rotation":
        wanted = ["en-fr-rotary"]
    elif isinstance(atlas, LanguageModel):
        wanted = [name for name in ours if session.writes_on(name)]
    else:
        wanted = ["en-fr"]
    return next((name for name in (*wanted, *ours) if name in ours), "")


def _say(atlas: Opened, need: Need, what: str) -> None:
    html.notice(
        "info",
        f"missing.need_{_sentence(atlas, need)}",
        what=html.Ours(text(what)),
        name=html.Ours(atlas.name),
        architecture=html.Ours(str(atlas.card.get("architecture", ""))),
        other=html.Ours(stand_in(atlas, need)),
    )


def _sentence(atlas: Opened, need: Need) -> str:
    """What is said; of positions it depends on what the model has in their place."""
    positions = str(atlas.config.positions)
    if need == "positions":
        return f"positions_{positions}"
    if need == "rotation":
        return "rotation_turned" if positions == "rotary" else "rotation_none"
    return need
