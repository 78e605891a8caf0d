"""What the parts of the Heads page speak of: which head, under which name, with which labels; and choices that links keep."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from app import session
from app.components.matrices import Axis
from app.text import text
from app.views import linked
from model.analysis.ablation import Head
from model.trace import Trace
from model.translator import Opened

LOOK = "look"  # of the link; the picture above keeps attention, layer and head of its own there
PARTS = ("several", "norms")  # that look at the place of the link, each a fragment that hears of no other, by what opens it
_MOVED = "heads_moved"


def choose(atlas: Opened, prefix: str, names: Sequence[str] = ("attention", "layer", "head")) -> session.Place:
    """Buttons for these coordinates, and where they stand: at first where the picture, or another page, was left.

    From then on the link says it, whatever becomes of the picture; and other parts that are open follow.
    """
    moved = st.session_state.pop(_MOVED, False)
    if moved and session.in_fragment() and any(st.session_state.get(part) for part in PARTS if part != prefix):
        st.rerun()
    place = looked(atlas)
    _write(place)
    counts = {"layer": session.layers_of(atlas, place.attention), "head": atlas.config.heads_of(place.attention)}
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{prefix}_place"):
        for name in names:
            options = session.attentions(atlas) if name == "attention" else tuple(range(counts[name]))
            _buttons(atlas, prefix, name, options, place)
    return place


def looked(atlas: Opened) -> session.Place:
    """The head of the link, else that of the picture above."""
    attention, layer, head = (st.query_params.get(LOOK, "").rsplit(".", 2) + [""] * 3)[:3]
    known = attention in session.attentions(atlas)
    return session.checked_place(atlas, attention, layer, head) if known else session.place(atlas)


def _write(place: session.Place) -> None:
    session.put(LOOK, f"{place.attention}.{place.layer}.{place.head}")


def _buttons(atlas: Opened, prefix: str, name: str, options: Sequence[str | int], place: session.Place) -> None:
    """One coordinate; the widget shows what the link says, and changes it."""
    key = f"{prefix}_{name}"
    linked.show(key, getattr(place, name))

    def change() -> None:
        session.settle()
        chosen = replace(looked(atlas), **{name: st.session_state[key]})
        _write(chosen)
        st.session_state[_MOVED] = True

    st.segmented_control(
        text(f"attention_map.{name}"),
        options,
        key=key,
        required=True,
        format_func=option_name,
        on_change=linked.fresh(key, change),
    )


def choice(label: str, name: str, names: Mapping[str, str]) -> str:
    """One of the options, the first unless the link says another; links hold ids, which are the same in every language."""
    options = list(names)
    linked.chosen(name, options, options[0])
    chosen = st.segmented_control(
        label, options, key=name, required=True, format_func=names.__getitem__, on_change=linked.remember(name, options[0])
    )
    return chosen or options[0]


def choices(label: str, name: str, names: Mapping[str, str], placeholder: str) -> list[str]:
    """Any of the options, by id; at first those that the link names: with commas between, or each in a parameter of its own."""
    asked = ",".join(st.query_params.get_all(name)).split(",")
    st.session_state[name] = [option for option in names if option in asked]

    def change() -> None:
        session.settle()
        session.put(name, ",".join(st.session_state[name]) or None)

    return st.multiselect(label, list(names), key=name, format_func=names.__getitem__, placeholder=placeholder, on_change=change)


def option_name(option: str | int) -> str:
    """Attentions by their name, layers and heads counted from 1."""
    return str(option + 1) if isinstance(option, int) else attention_name(option)


def attention_name(attention: str) -> str:
    return text(f"attention_map.{attention.replace('.', '_')}")


def layer_head(layer: int, head: int) -> str:
    return text("picture.layer_head", layer=layer + 1, head=head + 1)


def head_name(head: Head) -> str:
    """A head as it is called on the screen."""
    return text("heads_off.name", attention=attention_name(head.attention), head=layer_head(head.layer, head.head))


def short_name(head: Head) -> str:
    """A head in a list: its attention, layer and head in a few characters, so that typing finds one and no other."""
    return text(f"heads_off.short_{head.attention.replace('.', '_')}", place=f"{head.layer + 1}.{head.head + 1}")


def rows(trace: Trace, sentence: str) -> Axis:
    """Query rows: source tokens, or in the decoder the tokens that each row produces."""
    tokens = trace.source if sentence == "source" else trace.produced
    return Axis(text(f"heads_several.axis_{sentence}"), [token.label for token in tokens], side(sentence))


def columns(trace: Trace, sentence: str) -> Axis:
    """Keys: always the tokens read."""
    return Axis(text(f"heads_several.axis_{sentence}"), [token.label for token in trace.tokens(sentence)], side(sentence))


def side(sentence: str) -> Literal["source", "target"]:
    return "source" if sentence == "source" else "target"


def convention(place: session.Place) -> str:
    """The key of the sentence that says what names the rows."""
    return "attention_map.convention_self" if place.attention.startswith("encoder") else "attention_map.convention_produced"
