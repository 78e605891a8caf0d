"""The attention map of a trace, the same on every page that has one: what it is given, and the head it opens with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import streamlit as st
from torch import Tensor

from app import session
from app.components.attention_map import attention_map, pack, pack_detail
from app.text import section, text
from app.views import html
from model.adapters.hugging_face.tokens import HuggingFaceTokenizer
from model.alignment import words
from model.page.attention import LARGEST
from model.tokenizer import Token
from model.trace import Trace
from model.translator import LanguageModel, Opened, Reader

CROSS = "decoder.cross_attention"
AROUND = "a"  # any text, to see what a tokenizer puts around it


@dataclass(frozen=True)
class Head:
    """A head, counted from 0; `head` None is the mean of all heads of the layer."""

    layer: int
    head: int | None
    attention: str = CROSS

    @property
    def path(self) -> str:
        return self.attention.replace(".", f".layers.{self.layer}.")

    @property
    def name(self) -> str:
        """As it is called on the screen, counted from 1."""
        if self.head is None:
            return text("picture.mean_of_layer", layer=self.layer + 1)
        return text("picture.layer_head", layer=self.layer + 1, head=self.head + 1)

    def weights(self, trace: Trace) -> Tensor:
        """Its weights, one row a step, one column a token that is read."""
        weights = trace[f"{self.path}.weights"].tensor[0]
        return weights.mean(0) if self.head is None else weights[self.head]

    def keys(self, trace: Trace) -> tuple[Token, ...]:
        """The tokens that its columns stand for."""
        return trace.tokens(trace[f"{self.path}.weights"].spans["key"])


def guided(atlas: Opened) -> list[dict[str, object]]:
    """The heads that were shown word alignments in training, as the card names them."""
    return [dict(entry) for entry in atlas.card.get("guided", ())]


def aligning_head(atlas: Opened, row: str) -> Head:
    """The head to look at first for the rows of this kind.

    The guided one, or the one that aligns a small task best, else the mean of the last layer: of cross-attention, or in a
    language model of the one attention that it has.
    """
    for entry in (*guided(atlas), atlas.card.get("exact", {})):
        if entry.get("row") == row:
            return Head(int(str(entry["layer"])), int(str(entry["head"])))
    last = session.attentions(atlas)[-1]
    return Head(session.layers_of(atlas, last) - 1, None, last)


def name_guided(atlas: Opened) -> None:
    """Say which heads were guided: what they show was taught, not found."""
    names = [(entry["row"], html.Ours(Head(int(str(entry["layer"])), int(str(entry["head"]))).name)) for entry in guided(atlas)]
    if sorted(str(row) for row, _ in names) == ["produced", "read"]:
        html.bullets([html.sentence("picture.guided_both", **{str(row): name for row, name in names})])
    elif names:
        html.bullets([html.sentence(f"picture.guided_{row}", head=name) for row, name in names])


def tell_foreign(atlas: Opened) -> None:
    """Of a model of others: how it differs from those of this app, as far as one sees it in the picture."""
    if atlas.ours:
        return
    kind = "writer" if isinstance(atlas, LanguageModel) else "reader" if isinstance(atlas, Reader) else "translator"
    said = [
        html.sentence(f"of_others.kind_{kind}", name=html.Ours(atlas.name), architecture=html.Ours(architecture(atlas))),
        html.sentence(f"of_others.positions_{atlas.config.positions}"),
        *_shared(atlas),
        *_around(atlas),
    ]
    html.bullets(said)


def architecture(atlas: Opened) -> str:
    """What a model of others is called by those who made its kind."""
    return str(atlas.card.get("architecture", ""))


def _shared(atlas: Opened) -> list[str]:
    """That queries share keys, and that encoder and decoder have unequal numbers of heads."""
    config, (first, *_, last) = atlas.config, (*session.attentions(atlas), session.attentions(atlas)[-1])
    heads, keys = config.heads_of(last), config.key_heads_of(last)
    said = []
    if keys < heads:
        size = heads // keys
        groups = html.joined([f"{at * size + 1}\N{EN DASH}{(at + 1) * size} → {at + 1}" for at in range(keys)])
        said.append(html.sentence("of_others.grouped", heads=heads, keys=keys, groups=html.Ours(groups)))
    if config.heads_of(first) != heads:
        said.append(html.sentence("of_others.unequal_heads", encoder=config.heads_of(first), decoder=heads))
    return said


def _around(atlas: Opened) -> list[str]:
    """The special tokens, and the operator's prefix, that were put around the text: nobody typed them."""
    source = cast(HuggingFaceTokenizer, atlas.tokenizers.source)
    before, after = ([source.special(id_) for id_ in side] for side in source.around())
    said = []
    if before or after:
        names = [html.joined([token.label for token in side]) if side else "\N{EN DASH}" for side in (before, after)]
        said.append(html.sentence("of_others.around", before=names[0], after=names[1]))
    elif isinstance(atlas, LanguageModel):
        said.append(html.sentence("of_others.nothing_around"))
    if source.prefix:
        told = sum(token.special for token in atlas.source_tokens(AROUND)) - len(before) - len(after)
        said.append(html.sentence("of_others.prefix", prefix=source.prefix.strip(), count=told))
    if not isinstance(atlas, LanguageModel | Reader):
        (start,) = atlas.tokenizers.target.produced([atlas.config.start])
        said.append(html.sentence("of_others.begins", start=start.label))
    return said


def caption(selection: session.Selection, trace: Trace) -> dict[str, str]:
    """What every exported picture and file says of itself."""
    return {"model": selection.model, "source": trace.source_text, "target": trace.target_text}


def draw(
    selection: session.Selection,
    atlas: Opened,
    trace: Trace,
    *,
    view: Literal["heads", "linked"],
    attentions: Sequence[str] = (),
    defaults: Mapping[str, object] | None = None,
    badges: Sequence[Mapping[str, object]] = (),
) -> None:
    """The picture: weights of every layer and head in one message; a head above 128 tokens is fetched when it is opened.

    `attentions`: those to draw, all of the model if none is named.
    """
    key = f"attention_map_{view}"
    message = pack(
        trace,
        view=view,
        attentions=attentions or session.attentions(atlas),
        words={
            "source": words.of_tokens(trace.source, trace.source_text),
            "target": words.of_tokens(trace.target, trace.target_text),
            "produced": words.of_tokens(trace.produced, trace.target_text),
        },
        text=section("attention_map"),
        caption=caption(selection, trace),
        guided=[*guided(atlas), *badges],
        defaults=defaults,
        steps=atlas.ours,
    )
    drawn = attention_map(message, key=key, detail=_detail(atlas, trace, key))
    if isinstance(into := drawn.into, Mapping):
        session.go("views/attention.py", session.checked_place(atlas, into.get("attention"), into.get("layer"), into.get("head")))


def _detail(atlas: Opened, trace: Trace, key: str) -> bytes | None:
    """The head that the visitor opened, exactly, if the overview shows it pooled. What the browser asks for is checked."""
    if max(len(trace.source), len(trace.target)) <= LARGEST:
        return None
    asked = (st.session_state.get(key) or {}).get("open")
    if not isinstance(asked, Mapping):
        return None
    attention, layer, head = asked.get("attention"), asked.get("layer"), asked.get("head")
    if attention not in session.attentions(atlas) or not isinstance(layer, int) or not (isinstance(head, int) or head == "mean"):
        return None
    try:
        return pack_detail(trace, attention, layer, head)
    except (KeyError, ValueError):
        return None
