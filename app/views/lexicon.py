"""The tokenizer and the table on the page of tokens: how words are cut, the vocabulary, and what lies near a token."""

import streamlit as st

from app import session
from app.text import text
from app.views import html
from model.analysis import embeddings, vocabulary
from model.analysis.vocabulary import Side, Word, visible
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.translator import Translator

LONGEST_SEARCH = 100


def tokenizer_of(atlas: Translator, side: Side) -> Tokenizer:
    """The tokenizer of a side."""
    found: Tokenizer = getattr(atlas.tokenizers, side)
    return found


def text_of(trace: Trace, side: Side) -> str:
    """The text of a side as it was typed or written."""
    return trace.source_text if side == "source" else trace.target_text


# ----- how words are cut


def cut(selection: session.Selection, atlas: Translator, trace: Trace, side: Side) -> None:
    """The rule of this tokenizer, then one word merge by merge, then ways of writing that look alike."""
    summary = session.measured_model(vocabulary.summarised, selection.model, side)
    html.prose(
        f"tokens.cut_{summary.kind}",
        pieces=html.Ours(f"{summary.pieces:,}"),
        characters=html.Ours(f"{summary.characters:,}"),
        merges=html.Ours(f"{summary.merges:,}"),
        spaced=html.Ours(f"{summary.spaced:,}"),
        longest=summary.longest.shown,
        length=len(summary.longest.piece),
    )
    if summary.kind == "bpe":
        merged(selection, trace, side)
    spelled(selection, trace, side)


@st.fragment
def merged(selection: session.Selection, trace: Trace, side: Side) -> None:
    """A word of the sentence from its characters to its pieces, one merge a row."""
    session.begin_run()
    words = session.measured(vocabulary.words_of, selection, side)
    if not words:
        return
    index = st.selectbox(
        text("tokens.word"),
        range(len(words)),
        index=vocabulary.most_merged(words),
        format_func=[f"{place}: {visible(word.text)}" for place, word in enumerate(words)].__getitem__,
        key=f"word_{side}",
    )
    word: Word = words[index]
    rows = [(0, html.Ours("—"), html.Ours("—"), apart(word.characters))]
    rows += [
        (step, html.Ours(f"{merge.rank:,}"), apart((merge.left, merge.right)), apart(merge.pieces))
        for step, merge in enumerate(word.merges, start=1)
    ]
    html.table(
        {
            text("tokens.merge_step"): "number",
            text("tokens.merge_rank"): "number",
            text("tokens.merge_pair"): "word",
            text("tokens.merge_word"): "word strong",
        },
        rows,
        text("tokens.merge_caption", word=visible(word.text)),
    )
    html.prose("tokens.merge_read", kind="quiet", count=len(word.tokens), merges=len(word.merges))


def apart(pieces: tuple[str, ...]) -> str:
    """Pieces beside one another, told apart by a bar."""
    return " | ".join(map(visible, pieces))


def spelled(selection: session.Selection, trace: Trace, side: Side) -> None:
    """The sentence written in other ways, and whether the model would see a difference."""
    found = session.measured(vocabulary.spellings_of, selection, side)
    html.prose("tokens.spelling_idea")
    html.table(
        {text("tokens.spelling"): "rich", text("tokens.spelling_differs"): "rich", text("tokens.spelling_same"): "rich"},
        [
            (
                html.sentence(f"tokens.spelling_{way.name}"),
                html.sentence("tokens.yes" if way.differs else "tokens.no"),
                html.sentence("tokens.yes" if way.same else "tokens.no"),
            )
            for way in found
        ],
        text("tokens.spelling_caption"),
    )


# ----- the vocabulary and the table


@st.fragment
def vocabulary_and_neighbours(selection: session.Selection, atlas: Translator, trace: Trace, side: Side) -> None:
    """Search the vocabulary; look at the neighbours of a token of the sentence or of one that was found."""
    session.begin_run()
    tokenizer = tokenizer_of(atlas, side)
    asked = st.text_input(
        text("tokens.search"),
        key="find",
        bind="query-params",
        placeholder=text("tokens.search_placeholder"),
        max_chars=LONGEST_SEARCH,
        icon=":material/search:",
    )
    found = vocabulary.search(tokenizer, asked or "")
    html.prose(
        "tokens.search_found",
        kind="quiet",
        total=html.Ours(f"{found.total:,}"),
        shown=len(found.entries),
        size=html.Ours(f"{len(tokenizer):,}"),
    )
    with st.container(height=260, key="hits", border=False):
        html.table(
            {text("tokens.id"): "number", text("tokens.piece"): "word strong", text("tokens.note"): "rich"},
            [(hit.id, hit.shown, html.sentence("tokens.note_special_entry") if hit.special else "") for hit in found.entries],
            text("tokens.search_caption"),
        )
    own = dict.fromkeys(token.id for token in trace.tokens(side) if not token.special)
    options = list(dict.fromkeys([*own, *(hit.id for hit in found.entries if asked)])) or [0]
    id_ = st.selectbox(
        text("tokens.near"),
        options,
        format_func=lambda id_: f"{id_}: {visible(tokenizer.pieces[id_])}",
        key="near",
        bind="query-params",
    )
    near(selection, tokenizer, side, id_)


def near(selection: session.Selection, tokenizer: Tokenizer, side: Side, id_: int) -> None:
    """The rows of the table that point where this token's row points."""
    found = session.measured_model(embeddings.neighbours, selection.model, side, id_)
    shown = vocabulary.entry(tokenizer, id_).shown
    html.table(
        {
            text("tokens.near_rank"): "number",
            text("tokens.piece"): "word strong",
            text("tokens.id"): "number",
            text("tokens.near_cosine"): "number",
        },
        [
            (rank, vocabulary.entry(tokenizer, other).shown, other, html.Ours(html.number(cosine, 3)))
            for rank, (other, cosine) in enumerate(found.nearest, start=1)
        ],
        text("tokens.near_caption", token=shown),
    )
    html.prose(
        "tokens.near_chance",
        kind="quiet",
        token=shown,
        mean=html.Ours(html.number(found.mean, 3)),
        spread=html.Ours(html.number(found.spread, 3)),
        size=html.Ours(f"{len(tokenizer):,}"),
    )
