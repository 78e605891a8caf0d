"""What the visitor asked of the page Decoding: how to write, and the tokens to begin with. All of it stands in the URL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked, picture
from model.analysis.decoding_steps import Eye, Plan
from model.decoding import length_limit, tokens_allowed
from model.sampling import Sampling
from model.translator import Atlas

STRATEGIES = ("greedy", "sampling", "beam")
STRATEGY, PREFIX, HEAD, _BRANCH = "strategy", "prefix", "decoding_head", "decoding_branch"
SIZES, TOP_K, SEEDS = range(1, 9), range(10_000), range(10_000)
TEMPERATURES = tuple(f"{step / 20:g}" for step in range(61))  # 0 to 3
SHARES = tuple(f"{step / 20:g}" for step in range(1, 21))
LONGEST_TYPED = 200  # characters


@dataclass(frozen=True)
class Branch:
    """The tokens that the visitor begins with, whose they are (a model and a text), and what to say of them."""

    owner: tuple[str, str]
    ids: tuple[int, ...] = ()
    written: str = ""
    pieces: tuple[str, ...] = ()
    remark: str = ""  # key of a sentence


@dataclass(frozen=True)
class Asked:
    """How to write; `size` is that of a beam."""

    strategy: str
    sampling: Sampling
    seed: int
    size: int
    branch: Branch
    limit: int
    eye: Eye
    head: picture.Head

    @property
    def plan(self) -> Plan:
        """For one output; where a beam searches, the greedy one."""
        if self.strategy == "sampling":
            return Plan("sampling", self.sampling, self.seed, self.branch.ids, self.limit)
        return Plan("greedy", Sampling(), 0, self.branch.ids, self.limit)


def asked(selection: session.Selection, atlas: Atlas) -> Asked:
    """What the visitor chose so far, as session and URL say it."""
    strategy = linked.chosen(STRATEGY, STRATEGIES, STRATEGIES[0]) or STRATEGIES[0]
    temperature, top_p = linked.chosen("temperature", TEMPERATURES, "1"), linked.chosen("top_p", SHARES, "1")
    top_k, seed, size = linked.number("top_k", TOP_K, 0), linked.number("seed", SEEDS, 1), linked.number("size", SIZES, 4)
    head, limit = _head(atlas), allowed(selection, atlas)
    return Asked(
        strategy,
        Sampling(float(temperature or 1), top_k or None, float(top_p or 1)),
        seed,
        size,
        current(selection, atlas, limit),
        limit,
        Eye(head.layer, head.head),
        head,
    )


def controls(atlas: Atlas, found: Asked) -> None:
    """The widgets of what `asked` found."""
    names = {name: text(f"decoding.strategy_{name}") for name in STRATEGIES}
    with st.container(horizontal=True, vertical_alignment="bottom", key="decoding_controls"):
        st.segmented_control(
            text("decoding.strategy"), STRATEGIES, format_func=names.__getitem__, key=STRATEGY, required=True,
            on_change=linked.remember(STRATEGY, STRATEGIES[0]),
        )  # fmt: skip
        if found.strategy == "sampling":
            _slider("temperature", TEMPERATURES)
            _number("top_k", TOP_K, 0)
            _slider("top_p", SHARES)
            _number("seed", SEEDS, 1)
        elif found.strategy == "beam":
            _number("size", SIZES, 4)
        _choose_head(atlas, found.head)


def _slider(name: str, options: tuple[str, ...]) -> None:
    st.select_slider(text(f"decoding.control_{name}"), options, key=name, on_change=linked.remember(name, "1"), width=200)


def _number(name: str, allowed: range, default: int) -> None:
    on_change = linked.remember(name, default)
    st.number_input(text(f"decoding.control_{name}"), allowed[0], allowed[-1], key=name, on_change=on_change, width=150)


def _head(atlas: Atlas) -> picture.Head:
    """Whose weights are shown: the head that the visitor looks at if it is of the last attention, else the aligning one."""
    place = session.place(atlas)
    if place.attention == session.attentions(atlas)[-1]:
        return picture.Head(place.layer, place.head, place.attention)
    return picture.aligning_head(atlas, "produced")


def _choose_head(atlas: Atlas, shown: picture.Head) -> None:
    """Another head of the last attention; the place is that of all pages, in the URL."""
    layers, heads = range(atlas.config.decoder_layers), range(atlas.config.heads_of(shown.attention))
    options = [picture.Head(layer, head, shown.attention) for layer in layers for head in heads]
    if shown not in options:  # the mean of a layer, until a head is chosen
        options.insert(0, shown)

    def look() -> None:
        chosen = st.session_state[HEAD]
        if isinstance(chosen, picture.Head) and chosen.head is not None:  # anything may be sent
            session.move(atlas, attention=chosen.attention, layer=chosen.layer, head=chosen.head)

    linked.show(HEAD, shown)
    label, change = text("decoding.choose_head"), linked.fresh(HEAD, look)
    st.selectbox(label, options, format_func=lambda head: head.name, key=HEAD, on_change=change, width=190)


def allowed(selection: session.Selection, atlas: Atlas) -> int:
    """How many tokens are written here at most."""
    source = len(atlas.source_tokens(selection.text))
    return tokens_allowed(min(session.MAX_TOKENS, length_limit(source)), source, atlas.config)


# ----- the tokens to begin with


def current(selection: session.Selection, atlas: Atlas, limit: int) -> Branch:
    """The branch of this run: a URL that the visitor changed wins; the branch of another text is dropped."""
    owner, url = (selection.model, selection.text), st.query_params.get(PREFIX, "")
    before: Branch | None = st.session_state.get(_BRANCH)
    if before is None or (url and url != before.written):
        ids = from_link(url)
        wrong = bool(url) and (ids is None or not possible(atlas, ids, limit))
        found = Branch(owner, () if ids is None or wrong else ids, remark="decoding.refused_link" if wrong else "")
    elif before.owner != owner:
        found = Branch(owner)
    else:
        found = before
    return _keep(found)


def take(selection: session.Selection, atlas: Atlas, limit: int, key: str) -> Callable[[], None]:
    """A callback that takes the branch which the component `key` sends; what is no branch does nothing."""

    def branch() -> None:
        told = (st.session_state.get(key) or {}).get("branch")
        ids = numbers(told.get("ids")) if isinstance(told, Mapping) else None
        if ids is not None and possible(atlas, ids, limit):
            _keep(Branch((selection.model, selection.text), ids))

    return branch


def typed(selection: session.Selection, atlas: Atlas, limit: int, key: str) -> Callable[[], None]:
    """A callback that puts the pieces of a typed text behind the tokens before it."""

    def write() -> None:
        told = (st.session_state.get(key) or {}).get("typed")
        if not isinstance(told, Mapping) or not isinstance(told.get("text"), str):
            return
        before, owner = numbers(told.get("ids")), (selection.model, selection.text)
        pieces = atlas.tokenizers.target.encode(told["text"][:LONGEST_TYPED])
        ids = None if before is None else (*before, *(piece.id for piece in pieces))
        if ids is None or not pieces or not possible(atlas, ids, limit):
            kept: Branch = st.session_state[_BRANCH]
            _keep(Branch(owner, kept.ids, remark="decoding.refused_typed"))
        else:
            _keep(Branch(owner, ids, pieces=tuple(piece.label for piece in pieces)))

    return write


def possible(atlas: Atlas, ids: Sequence[int], limit: int) -> bool:
    """Whether these tokens can begin an output: known ones, the end token last if at all, no more than may be written."""
    config = atlas.config
    known = len(ids) <= limit and all(0 <= id_ < config.target_vocab_size for id_ in ids)
    return known and config.end not in ids[:-1] and config.may_begin(ids)


def numbers(told: Any) -> tuple[int, ...] | None:
    """A list of whole numbers as it came from a browser, or None if it is something else."""
    if not isinstance(told, list) or not all(isinstance(value, int) and not isinstance(value, bool) for value in told):
        return None
    return tuple(told)


def from_link(url: str) -> tuple[int, ...] | None:
    """The tokens of a link, "12-45-8", or None if it names something else."""
    parts = url.split("-") if url else []
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts):
        return None
    return tuple(int(part) for part in parts)


def _keep(branch: Branch) -> Branch:
    written = "-".join(map(str, branch.ids))
    kept = Branch(branch.owner, branch.ids, written, branch.pieces, branch.remark)
    st.session_state[_BRANCH] = kept
    session.settle()
    session.put(PREFIX, written or None)
    return kept


def tell_branch(atlas: Atlas, found: Asked) -> None:
    """Where this output begins, and what was refused."""
    branch = found.branch
    if branch.remark:
        html.notice("warning", branch.remark, longest=LONGEST_TYPED, limit=found.limit)
    if branch.pieces:
        html.prose("decoding.pieces", kind="quiet", pieces=" · ".join(branch.pieces), count=len(branch.pieces))
    if branch.ids:
        tokens = atlas.tokenizers.target.produced(branch.ids)
        html.prose("decoding.branch", kind="quiet", count=len(tokens), tokens=" · ".join(token.label for token in tokens))
