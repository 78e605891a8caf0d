"""Alignment studio, one pair: its text linked both ways, ribbon and matrix, gold beside it, links edited by hand."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import session
from app.components import alignment
from app.session.studio_opened import Joint, OpenedPair, Reverse, opened_pair
from app.text import has, section, text
from app.views import html, linked
from model.alignment import joint
from model.alignment.baseline import diagonal
from model.alignment.corpus import JOINT
from model.alignment.extract import Choice
from model.alignment.formats import GoldLinks
from model.alignment.symmetrize import METHODS

KEY, PAIR = "studio_alignment", "pair"
_REFUSED = "studio_pair_refused"


def show(study: session.Study, index: int) -> None:
    """Draw pair `index` (from 0) of a study."""
    pair = opened_pair(study, index)
    if not isinstance(pair, OpenedPair):
        values = {**pair.values}
        if side := values.get("side"):
            values["side"] = html.Ours(text(f"studio_pair.side_{side}"))
        html.notice("warning", pair.key, **values)
        _walk(study, index)
        return
    where = pair.choice
    html.prose(
        "studio_pair.from_study", kind="quiet", layer=where.layer + 1, head=html.Ours(_head(where)), row=html.Ours(_row(where))
    )
    if pair.reverse is None:
        source, target = (html.Ours(text(f"languages.{name}") if has(f"languages.{name}") else name) for name in study.languages)
        html.prose("studio_pair.no_reverse", kind="quiet", source=source, target=target)
    alignment.alignment(
        _message(study, pair),
        key=KEY,
        on_gold=lambda: _keep(study, pair),
        on_go=lambda: _go(_sent("go"), len(study.results)),
    )
    html.prose("studio_pair.what_is_gold", kind="quiet")
    html.prose("studio_pair.not_certain", kind="quiet")


def _message(study: session.Study, pair: OpenedPair) -> bytes:
    gold = study.gold_of(pair.index)
    settings = study.settings
    refused: bool = st.session_state.pop(_REFUSED, False)
    return alignment.pack(
        index=pair.index,
        count=len(study.results),
        source=alignment.Sentence(pair.source.words, pair.source.gaps),
        target=alignment.Sentence(pair.target.words, pair.target.gaps),
        pieces={side: _pieces(pair, side) for side in pair.tokens},
        weights=pair.weights,
        backward=_backward(pair.reverse),
        joint=_joint(pair.joint),
        gold=alignment.Gold(gold.sure, gold.possible, pair.index in study.edits) if gold else None,
        diagonal=diagonal(len(pair.source.words), len(pair.target.words)),
        defaults={
            "layer": pair.choice.layer,
            "head": "mean" if pair.choice.head is None else pair.choice.head,
            "row": pair.choice.row,
            "measure": settings.measure,
            "threshold": settings.threshold,
            "second": _second(settings.symmetrize) if pair.reverse else "none",
            "method": settings.symmetrize if settings.symmetrize in METHODS else "grow-diag-final-and",
        },
        text=section("alignment"),
        caption={"file": study.name, "model": study.model, "path": "decoder.layers.{layer}.cross_attention"},
        opened=_asked(pair),
        refused=text("studio_pair.stale") if refused else "",
    )


def _pieces(pair: OpenedPair, side: str) -> alignment.Pieces:
    tokens = pair.tokens[side]
    return alignment.Pieces([token.label for token in tokens], getattr(pair.labels, side), [token.special for token in tokens])


def _backward(reverse: Reverse | None) -> alignment.Backward | None:
    if reverse is None:
        return None
    where = reverse.choice
    name = text("studio_pair.reverse_name", model=reverse.model, layer=where.layer + 1, head=_head(where), row=_row(where))
    return alignment.Backward(name, reverse.maps)


def _joint(found: Joint | None) -> alignment.Joint | None:
    if found is None:
        return None
    heads = [(one.layer, "mean" if one.head is None else one.head, one.row) for one in found.heads]
    return alignment.Joint(heads, found.forward, found.backward, joint.ABOVE, joint.MUTUAL)


def _second(symmetrize: str | None) -> str:
    """What the links of the study are joined with, in the words of the picture's switch."""
    if symmetrize is None:
        return "none"
    return "joint" if symmetrize == JOINT else "reverse"


def _head(where: Choice) -> str:
    return text("studio_pair.head_mean") if where.head is None else text("studio_pair.head", head=where.head + 1)


def _row(where: Choice) -> str:
    return text(f"studio_pair.row_{where.row}")


# ----- what the browser sends, none of it to be trusted


def _sent(name: str) -> Any:
    return (st.session_state.get(KEY) or {}).get(name)


def _asked(pair: OpenedPair) -> tuple[str, int]:
    """The measure and layer of a large pair that are to be sent."""
    sent = _sent("open")
    asked: Mapping[str, Any] = sent if isinstance(sent, Mapping) else {}
    measure, layer = asked.get("measure"), asked.get("layer")
    maps = pair.weights.get(measure) if isinstance(measure, str) else None
    if isinstance(measure, str) and maps is not None and isinstance(layer, int) and 0 <= layer < len(maps):
        return measure, layer
    return "weights", pair.choice.layer


def _keep(study: session.Study, pair: OpenedPair) -> None:
    """Save what was linked by hand as the gold of this pair; what does not belong to it is refused."""
    links = _links(_sent("gold"), pair)
    if links is None:
        st.session_state[_REFUSED] = True
    else:
        session.edit_links(pair.index, links)


def _links(sent: object, pair: OpenedPair) -> GoldLinks | None:
    if not isinstance(sent, Mapping) or sent.get("index") != pair.index:
        return None
    if sent.get("pair") != alignment.identity(pair.index, pair.source.words, pair.target.words):
        return None
    sides = [sent.get(name) for name in ("sure", "possible")]
    sure, possible = (_checked(side, len(pair.source.words), len(pair.target.words)) for side in sides)
    return None if sure is None or possible is None else GoldLinks(sure, possible | sure)


def _checked(sent: object, sources: int, targets: int) -> frozenset[tuple[int, int]] | None:
    """Links as a browser sent them; None where one is no pair of words of this pair of sentences."""
    if not isinstance(sent, list):
        return None
    found = set()
    for link in sent:
        if not isinstance(link, list) or len(link) != 2 or not all(type(at) is int for at in link):
            return None
        if not (0 <= link[0] < sources and 0 <= link[1] < targets):
            return None
        found.add((link[0], link[1]))
    return frozenset(found)


def _go(index: object, count: int) -> None:
    """Open another pair, if it is one of those that are there."""
    if type(index) is int and 0 <= index < count:
        linked.write(PAIR, str(index) if index else None)
        st.session_state[PAIR] = index


def _walk(study: session.Study, index: int) -> None:
    """The way on from a pair that cannot be drawn."""
    with st.container(horizontal=True, key="studio_pair_walk"):
        for name, to in (("previous", index - 1), ("next", index + 1)):
            st.button(
                text(f"alignment.{name}"),
                key=f"studio_pair_{name}",
                disabled=not 0 <= to < len(study.results),
                on_click=_go,
                args=(to, len(study.results)),
            )
