"""Which residual connection and which position the page looks at, and the controls that choose them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from app import session
from app.components.matrices import Axis
from app.text import text
from app.views import html, linked
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
    sublayer = linked.chosen("sublayer", names, attention) or attention
    tokens = len(trace.tokens(SIDES[stack]))
    token = linked.number("token", range(tokens), tokens // 2)
    return Spot(Station(stack, place.layer, names.index(sublayer), names), token)


def choose(atlas: Atlas, trace: Trace, where: Spot) -> None:
    """Stack, layer, sublayer, position: each widget shows what the link says, and changes it."""
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}[where.stack]
    stacks = tuple(dict.fromkeys(kind.partition(".")[0] for kind in session.attentions(atlas)))
    names = where.station.sublayers
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_spot"):
        linked.show("spot_stack", where.stack)
        linked.show("spot_layer", where.station.layer)
        _choice("stack", "spot_stack", stacks, [text(f"layers.stack_{stack}") for stack in stacks], lambda: _to_stack(atlas))
        _choice("layer", "spot_layer", range(layers), [str(layer + 1) for layer in range(layers)], lambda: _to_layer(atlas))
        _choice("sublayer", "sublayer", names, [sublayer_name(name) for name in names], lambda: _keep("sublayer"))
        st.selectbox(
            text("layers.choose_token"),
            range(len(trace.tokens(where.side))),
            key="token",
            format_func=lambda position: token_name(trace, where.side, position),
            on_change=lambda: linked.write("token", str(st.session_state["token"])),
        )


def _choice(name: str, key: str, options: Sequence[object], labels: Sequence[str], change: Callable[[], None]) -> None:
    st.segmented_control(
        text(f"layers.choose_{name}"),
        options,
        key=key,
        required=True,
        format_func=dict(zip(options, labels, strict=True)).__getitem__,
        on_change=linked.fresh(key, change),
    )


def linked_choice(name: str, options: Sequence[str], labels: Sequence[str], first: str | None) -> str | None:
    """One of several under a name of its own in the URL, which holds the option and not its label, so in any language.

    `first` is what is chosen at first; None chooses nothing, and lets the visitor take a choice back.
    """
    linked.chosen(name, options, first)
    chosen: str | None = st.segmented_control(
        text(f"layers.linked_{name}"),
        options,
        key=name,
        required=first is not None,
        format_func=dict(zip(options, labels, strict=True)).__getitem__,
        on_change=linked.remember(name, first),
    )
    return chosen


def _to_stack(atlas: Atlas) -> None:
    """To the other stack: its self-attention, or of the decoder cross-attention, which only it has."""
    stack = str(st.session_state["spot_stack"])
    there = [kind for kind in session.attentions(atlas) if kind.startswith(stack)]
    session.move(atlas, attention=there[-1])
    session.put("unit", None)


def _to_layer(atlas: Atlas) -> None:
    session.move(atlas, layer=st.session_state["spot_layer"])
    session.put("unit", None)


def _keep(name: str) -> None:
    linked.write(name, st.session_state[name])
    session.put("unit", None)


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
