"""The place in the model that a visitor looks at: an attention, a layer, a head."""

from dataclasses import dataclass

import streamlit as st

from app.session.address import put, settle
from app.session.presenting import STAGE, presented
from app.session.selection import current
from model.translator import LanguageModel, Opened, Reader

ATTENTIONS = ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention")
OWN = ATTENTIONS[1:2]  # those of a language model

_PLACE = "atlas_place"


@dataclass(frozen=True)
class Place:
    """One head, counted from 0, of one of the model's `attentions`."""

    attention: str
    layer: int
    head: int

    @property
    def path(self) -> str:
        """Its attention in the module tree: "decoder.layers.1.cross_attention"."""
        return self.attention.replace(".", f".layers.{self.layer}.")

    def parameters(self) -> dict[str, str]:
        """The place as URL parameters, the same that the attention map writes."""
        return {"attention": self.attention, "layer": str(self.layer), "head": str(self.head)}


def attentions(atlas: Opened) -> tuple[str, ...]:
    """The attentions that this model has, in reading order: a language model or an encoder alone has one of `ATTENTIONS`."""
    if isinstance(atlas, Reader):
        return ATTENTIONS[:1]
    return OWN if isinstance(atlas, LanguageModel) else ATTENTIONS


def layers_of(atlas: Opened, attention: str) -> int:
    """How many layers have this attention."""
    return atlas.config.encoder_layers if attention.startswith("encoder") else atlas.config.decoder_layers


def place(atlas: Opened) -> Place:
    """Where the visitor looks: what the URL says, else where they looked last, else the head that aligns best."""
    before: Place | None = st.session_state.get(_PLACE)
    first = before or _first_place(atlas)
    url = {name: st.query_params.get(name, "") for name in ("attention", "layer", "head")}
    found = st.session_state[_PLACE] = checked_place(
        atlas, url["attention"] or first.attention, url["layer"] or first.layer, url["head"] or first.head
    )
    return found


def last_place() -> Place | None:
    """Where the visitor looked last, on whatever page; None before any page asked."""
    found: Place | None = st.session_state.get(_PLACE)
    return found


def checked_place(atlas: Opened, attention: object, layer: object, head: object) -> Place:
    """The place of these names and numbers, whatever a browser sent: what this model does not have becomes what it has."""
    there = attentions(atlas)
    known = attention if isinstance(attention, str) and attention in there else there[-1]
    return Place(known, _index(layer, layers_of(atlas, known)), _index(head, atlas.config.heads_of(known)))


def look_at(where: Place) -> None:
    """Look at another place from now on; for callbacks of widgets and components."""
    st.session_state[_PLACE] = where
    for name, value in where.parameters().items():
        put(name, value)


def move(atlas: Opened, **changed: object) -> Place:
    """Change the attention, layer or head that is looked at, and leave the others; for callbacks of widgets."""
    settle()
    where = checked_place(atlas, **{**place(atlas).parameters(), **changed})
    look_at(where)
    return where


def go(page: str, where: Place | None = None, **parameters: str) -> None:
    """Open another page (its file, relative to app/), at this place; parameters of its own go with it.

    In presenter mode its picture is shown, where the parameters ask for no other slide.
    """
    if where is not None:
        st.session_state[_PLACE] = where
    own = {**presented(STAGE), **(where.parameters() if where else {}), **parameters}
    st.switch_page(page, query_params={**current().parameters(), **own})


def _first_place(atlas: Opened) -> Place:
    for entry in atlas.card.get("guided", ()):
        if entry.get("row") == "produced":
            return Place(ATTENTIONS[-1], int(entry["layer"]), int(entry["head"]))
    if exact := atlas.card.get("exact"):
        return Place(ATTENTIONS[-1], int(exact["layer"]), int(exact["head"]))
    last = attentions(atlas)[-1]
    return Place(last, layers_of(atlas, last) - 1, 0)


def _index(value: object, count: int) -> int:
    written = str(value) if isinstance(value, int | str) else ""
    return min(int(written), count - 1) if written.isascii() and written.isdigit() and len(written) < 7 else 0
