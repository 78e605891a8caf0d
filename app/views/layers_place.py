"""Which residual connection and which position the page looks at, and the controls that choose them."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app import session
from app.components.matrices import Axis
from app.text import text
from app.views import html
from model.analysis.residual import CROSS, Station, sublayers
from model.tokenizer import Token
from model.trace import Trace
from model.translator import Atlas

SIDES = {"encoder": "source", "decoder": "target"}


@dataclass(frozen=True)
class Spot:
    """A residual connection and a position of its sentence; all counted from 0."""

    station: Station
    token: int

    @property
    def stack(self) -> str:
        return self.station.stack

    @property
    def side(self) -> str:
        """The sentence that the stack runs along."""
        return SIDES[self.stack]

    @property
    def alone(self) -> bool:
        """Whether the stack is a decoder without anything to cross to: that of a language model."""
        return self.stack == "decoder" and CROSS not in self.station.sublayers

    @property
    def depth(self) -> int:
        """How many sublayers the stream has passed after this one."""
        return self.station.layer * len(self.station.sublayers) + self.station.place + 1


def spot(atlas: Atlas, trace: Trace) -> Spot:
    """Stack and layer are those that other pages look at; sublayer and position stand in the URL."""
    place = session.place(atlas)
    stack, _, attention = place.attention.partition(".")
    names = sublayers(trace, stack)
    asked = st.query_params.get("sublayer", attention)
    tokens = len(trace.tokens(SIDES[stack]))
    written = st.query_params.get("token", "")
    token = int(written) if written.isascii() and written.isdigit() and len(written) < 6 else tokens // 2
    return Spot(Station(stack, place.layer, names.index(asked if asked in names else attention), names), min(token, tokens - 1))


def choose(atlas: Atlas, trace: Trace, where: Spot) -> None:
    """Stack, layer, sublayer, position: each widget shows what the link says, and changes it."""
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}[where.stack]
    tokens = range(len(trace.tokens(where.side)))
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_spot"):
        stacks = tuple(dict.fromkeys(kind.partition(".")[0] for kind in session.attentions(atlas)))
        _choice(atlas, where, "stack", stacks, where.stack, [text(f"layers.stack_{stack}") for stack in stacks])
        _choice(atlas, where, "layer", range(layers), where.station.layer, [str(layer + 1) for layer in range(layers)])
        names = where.station.sublayers
        _choice(atlas, where, "sublayer", names, where.station.sublayer, [sublayer_name(name) for name in names])
        st.session_state["spot_token"] = where.token
        st.selectbox(
            text("layers.choose_token"),
            tokens,
            key="spot_token",
            format_func=lambda position: token_name(trace, where.side, position),
            on_change=lambda: _move(atlas, where, "token", st.session_state["spot_token"]),
        )


def _choice(atlas: Atlas, where: Spot, name: str, options: Sequence[object], chosen: object, labels: Sequence[str]) -> None:
    key = f"spot_{name}"
    st.session_state[key] = chosen
    st.segmented_control(
        text(f"layers.choose_{name}"),
        options,
        key=key,
        required=True,
        format_func=dict(zip(options, labels, strict=True)).__getitem__,
        on_change=lambda: _move(atlas, where, name, st.session_state[key]),
    )


def linked_choice(name: str, options: Sequence[str], labels: Sequence[str], first: str | None) -> str | None:
    """One of several under a name of its own in the URL, which holds the option and not its label, so in any language.

    `first` is what is chosen at first; None chooses nothing, and lets the visitor take a choice back.
    """
    asked = st.query_params.get(name)
    key = f"linked_{name}"
    st.session_state[key] = asked if asked in options else first

    def keep() -> None:
        chosen = st.session_state[key]
        if chosen is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = chosen

    chosen: str | None = st.segmented_control(
        text(f"layers.linked_{name}"),
        options,
        key=key,
        required=first is not None,
        format_func=dict(zip(options, labels, strict=True)).__getitem__,
        on_change=keep,
    )
    return chosen


def _move(atlas: Atlas, where: Spot, name: str, value: object) -> None:
    """Look elsewhere: a sublayer and a position are kept where the new place has them."""
    if value is None:
        return
    stack = str(value) if name == "stack" else where.stack
    layer = value if name == "layer" else where.station.layer
    sublayer = str(value) if name == "sublayer" else where.station.sublayer
    before = session.place(atlas)
    attention = before.attention if before.attention.startswith(stack) else session.ATTENTIONS[0 if stack == "encoder" else -1]
    session.look_at(session.checked_place(atlas, attention, layer, before.head))
    st.query_params["sublayer"] = sublayer
    st.query_params["token"] = str(value if name == "token" else where.token)
    if name != "token":
        st.query_params.pop("unit", None)


def token_name(trace: Trace, side: str, position: int) -> str:
    """A position with its token; of a decoder row the token that it reads and the one that it produces."""
    read = trace.tokens(side)[position].label
    if side == "source":
        return text("layers.position_source", position=position, read=read)
    return text("layers.position_target", position=position, read=read, produced=trace.produced[position].label)


def labels(tokens: Sequence[Token]) -> list[str]:
    """The labels of these tokens, in their order."""
    return [token.label for token in tokens]


def token_axis(trace: Trace, side: str) -> Axis:
    """The positions of a sentence, under the tokens that are read there."""
    return Axis(text(f"layers.axis_{side}"), labels(trace.tokens(side)), "source" if side == "source" else "target")


def sublayer_name(name: str) -> str:
    """What a sublayer is called in the language of the run."""
    return text(f"layers.sublayer_{name}")


def station_name(station: Station) -> str:
    """A residual connection as it is called on the screen: its layer, counted from 1, and its sublayer."""
    return text("layers.station", layer=station.layer + 1, sublayer=sublayer_name(station.sublayer))


def tell_where(trace: Trace, where: Spot) -> None:
    """Whose numbers these are: the path, the position, and under which label."""
    values: dict[str, object] = {
        "station": html.Ours(station_name(where.station)),
        "path": html.Ours(where.station.path),
        "position": where.token,
        "read": trace.tokens(where.side)[where.token].label,
    }
    if where.side == "target":
        values["produced"] = trace.produced[where.token].label
    html.prose(f"layers.where_{where.side}", kind="quiet", **values)
