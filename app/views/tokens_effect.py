"""Tokens and embeddings: how long the vectors are, and the model without the factor sqrt(d_model) or without positions."""

from collections.abc import Sequence

import streamlit as st

from app import session
from app.components.bars import Series, bars, pack
from app.text import section, text
from app.views import html, later, linked, picture, token_cards
from model.analysis import embeddings
from model.analysis.vocabulary import Side
from model.trace import Trace
from model.translator import Atlas, LanguageModel, Opened, Reader

SIDES: tuple[Side, ...] = ("source", "target")
VARIANTS = {"factor": embeddings.without_factor, "position": embeddings.without_position}


def sides_of(atlas: Opened) -> tuple[Side, ...]:
    """The sentences that the model reads: a language model has no source of its own, an encoder alone no target."""
    if isinstance(atlas, Reader):
        return SIDES[:1]
    return SIDES[1:] if isinstance(atlas, LanguageModel) else SIDES


def adds(atlas: Atlas) -> bool:
    """Whether this model adds positions to its embeddings."""
    return atlas.config.positions == "sinusoidal"


def norms(selection: session.Selection, trace: Trace, side: Side) -> None:
    """Lengths of both parts of the sum for every token, and of the row without the factor."""
    found = session.measured(embeddings.norms, selection, side)
    html.prose("tokens.norms_idea" if found.position else "tokens.norms_plain_idea")
    series = [Series("scaled", text("tokens.norm_scaled"), found.scaled)]
    if found.position is not None:
        series.append(Series("position", text("tokens.norm_position"), found.position, "second"))
    series.append(Series("row", text("tokens.norm_row"), found.looked_up, "outlined"))
    compared(selection, trace, side, series, "tokens.norms_caption")
    html.prose("tokens.norms_read", count=len(trace.tokens(side)), found=found.found_again)


def compared(selection: session.Selection, trace: Trace, side: Side, series: Sequence[Series], title: str) -> None:
    """Numbers of every token of a side as bars."""
    message = pack(
        [token.label for token in trace.tokens(side)],
        series,
        title=text(title),
        name=text("tokens.token"),
        text=section("bars"),
        caption=picture.caption(selection, trace),
        role=side,
    )
    bars(message, key=title.replace(".", "_"))


@st.fragment
def what_if(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The model without the factor, or without positions: what is left at the input, and what it does to the translation."""
    session.begin_run()
    kinds = [kind for kind in VARIANTS if kind == "factor" or adds(atlas)]
    linked.chosen("without", kinds, None)
    variant = st.segmented_control(
        text("tokens.what_if"),
        kinds,
        key="without",
        on_change=linked.remember("without", None),
        format_func={name: text(f"tokens.what_if_{name}") for name in VARIANTS}.__getitem__,
        label_visibility="collapsed",
    )
    if variant not in kinds:
        html.prose("tokens.what_if_choose")
        return
    if variant == "factor":
        without_factor(selection, atlas, trace)
    else:
        html.prose("tokens.what_if_position_idea")
    damage(selection, trace, variant)


def without_factor(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """What the factor is for, at the input of the encoder, or of the one stack that a language model has."""
    side = sides_of(atlas)[0]
    fresh = session.measured_model(embeddings.untrained, selection.model, side)
    found = session.measured(embeddings.norms, selection, side)
    drawn: dict[str, object] = {
        "row": html.Ours(html.number(fresh.row)),
        "scaled": html.Ours(html.number(fresh.scaled)),
        "width": atlas.config.d_model,
    }
    if adds(atlas):
        html.prose("tokens.what_if_factor_idea", kind="", **drawn, position=html.Ours(html.number(fresh.position)))
    else:
        html.prose("tokens.what_if_factor_plain", kind="", **drawn)
    html.prose(
        "tokens.what_if_factor_input",
        count=len(trace.tokens(side)),
        found=found.found_again,
        found_unscaled=found.found_again_unscaled,
    )
    cosines = [
        Series("with", text("tokens.word_left"), found.word),
        Series("without", text("tokens.word_left_unscaled"), found.word_unscaled, "outlined"),
    ]
    compared(selection, trace, side, cosines, "tokens.words_left")


def damage(selection: session.Selection, trace: Trace, variant: str) -> None:
    """The same translation through the altered model, and what the altered model would write itself."""
    asked = (VARIANTS[variant], selection)
    later.drawn(lambda: damaged(selection, trace, session.measured(*asked)), asked)


def damaged(selection: session.Selection, trace: Trace, found: embeddings.Damage) -> None:
    """Token by token, and what is written freely."""
    html.prose("tokens.what_if_before", kind="quiet", score=html.Ours(html.number(sum(trace.log_probabilities))))
    st.html(token_cards.probable(trace.produced, trace.log_probabilities, "tokens.what_if_before_name"))
    html.prose("tokens.what_if_after", kind="quiet", score=html.Ours(html.number(sum(found.log_probabilities))))
    st.html(token_cards.probable(trace.produced, found.log_probabilities, "tokens.what_if_after_name"))
    own = session.wrote(selection.model, selection.text)  # greedy, as the altered model writes
    nothing = html.Ours(text("translate.nothing"))
    html.prose("tokens.what_if_written", written=found.written or nothing, own=own or nothing)
    if found.stopped == "limit":
        html.prose("tokens.what_if_limit", kind="quiet")
    html.prose("tokens.what_if_trained", kind="quiet")
