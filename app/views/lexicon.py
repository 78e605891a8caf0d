"""The tokenizer and the table on the page of tokens: how words are cut, the vocabulary, and what lies near a token."""

import streamlit as st

from app import session
from app.components.bars import Series, bars, pack
from app.text import section, text
from app.views import html, linked, picture
from model.analysis import embeddings, vocabulary
from model.analysis.vocabulary import Side, Word, visible
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.translator import Atlas

LONGEST_SEARCH = 100
FEW_HITS = 6  # that need no scrolling


def tokenizer_of(atlas: Atlas, side: Side) -> Tokenizer:
    """The tokenizer of a side."""
    found: Tokenizer = getattr(atlas.tokenizers, side)
    return found


# ----- how words are cut


def cut(selection: session.Selection, atlas: Atlas, trace: Trace, side: Side) -> None:
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
    places, first = [str(place) for place in range(len(words))], str(vocabulary.most_merged(words))
    linked.chosen("word", places, first)
    place = st.selectbox(
        text("tokens.word"),
        places,
        format_func=lambda place: f"{place}: {visible(words[int(place)].text)}",
        key="word",
        on_change=linked.remember("word", first),
    )
    word: Word = words[int(place)]
    rows: list[tuple[object, ...]] = [(0, html.Ours("—"), html.Ours("—"), apart(word.characters))]
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
    read = [token.id for token in trace.tokens(side) if not token.special]
    if read != [token.id for word in words for token in word.tokens]:
        html.prose("tokens.cut_otherwise", kind="quiet")


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
def vocabulary_and_neighbours(selection: session.Selection, atlas: Atlas, trace: Trace, side: Side) -> None:
    """Search the vocabulary; look at the neighbours of a token of the sentence or of one that was found."""
    session.begin_run()
    tokenizer = tokenizer_of(atlas, side)
    linked.chosen("find", None, "")
    asked = st.text_input(
        text("tokens.search"),
        key="find",
        on_change=linked.remember("find", ""),
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
    with st.container(height=260 if len(found.entries) > FEW_HITS else "content", key="hits", border=False):
        html.table(
            {text("tokens.id"): "number", text("tokens.piece"): "word strong", text("tokens.note"): "rich"},
            [(hit.id, hit.shown, html.sentence("tokens.note_special_entry") if hit.special else "") for hit in found.entries],
            text("tokens.search_caption"),
        )
    own = [token.id for token in trace.tokens(side) if not token.special]
    options = [str(id_) for id_ in dict.fromkeys([*own, *(hit.id for hit in found.entries if asked)])]
    near_to = linked.chosen("near", options, options[0] if options else None)
    if near_to is None:
        return
    id_ = st.selectbox(
        text("tokens.near"),
        options,
        format_func=lambda id_: named(tokenizer, int(id_)),
        key="near",
        on_change=linked.remember("near", options[0]),
    )
    near(selection, trace, tokenizer, side, int(id_))


def near(selection: session.Selection, trace: Trace, tokenizer: Tokenizer, side: Side, id_: int) -> None:
    """The rows of the table that point where this token's row points."""
    found = session.measured_model(embeddings.neighbours, selection.model, side, id_)
    shown = named(tokenizer, id_)
    message = pack(
        [named(tokenizer, other) for other, _ in found.nearest],
        [Series("cosine", text("tokens.near_cosine"), [cosine for _, cosine in found.nearest])],
        title=text("tokens.near_caption", token=shown),
        name=text("tokens.token"),
        text=section("bars"),
        caption=picture.caption(selection, trace),
        digits=3,
        numbered=False,
    )
    html.prose("tokens.near_idea", token=shown)
    bars(message, key="tokens_near")
    html.prose(
        "tokens.near_chance",
        kind="quiet",
        token=shown,
        mean=html.Ours(html.number(found.mean, 3)),
        spread=html.Ours(html.number(found.spread, 3)),
        size=html.Ours(f"{len(tokenizer):,}"),
    )


def named(tokenizer: Tokenizer, id_: int) -> str:
    """An entry by its piece and its id."""
    return f"{visible(tokenizer.pieces[id_])} ({id_})"
