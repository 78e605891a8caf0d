"""Translate: a sentence, its translation, and where each produced word looked."""

import streamlit as st

from app import session
from app.charts import formulas
from app.charts.archive import npz
from app.text import text
from app.views import examples, html, linked, picture, translate_reader
from app.views.anatomy import Anatomy, Export, Formula, Shape, open_page, tell
from app.views.sidebar import sentence_box
from app.views.token_cards import probable
from model.attention import MultiHeadAttention
from model.config import paper_base
from model.tokenizer import printable
from model.trace import Trace
from model.translator import Atlas, LanguageModel, Opened, Reader, Translator

VARIANTS = ("label", "head", "even")


def described(selection: session.Selection, atlas: Opened, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated; of a model that only reads, for one that it can read."""
    if isinstance(atlas, Reader):
        return translate_reader.described(selection, atlas, trace, lambda: ask(selection, None))

    def stage() -> None:
        ask(selection, trace)
        for remark in session.remarks(atlas, selection.text):
            tell(remark)
        answer(selection, atlas, trace)
        warn(selection, atlas, trace)
        with st.container(key="stage"):
            picture.draw(
                selection, atlas, trace, view="linked", attentions=session.attentions(atlas)[-1:], defaults=opening(atlas)
            )
        picture.name_guided(atlas)
        picture.tell_foreign(atlas)

    return Anatomy(
        "translate",
        stage,
        export=Export(f"{selection.model}-translate.npz", lambda: npz(trace, picture.caption(selection, trace))),
        formulas=equations(atlas, trace),
        shapes=sizes(atlas, trace),
        what_if=lambda: what_if(selection, atlas, trace),
        code=((LanguageModel if isinstance(atlas, LanguageModel) else Translator).trace, MultiHeadAttention.forward),
    )


def opening(atlas: Atlas) -> dict[str, object]:
    """The head that the picture opens with."""
    head = picture.aligning_head(atlas, "produced")
    return {"layer": head.layer, "head": "mean" if head.head is None else head.head, "row": "produced"}


# ----- asking


def refuse(selection: session.Selection, refusal: session.Remark) -> None:
    """The text box, and why there is no picture."""
    ask(selection, None)
    if selection.target is not None and writes(selection):
        write_target(selection.target)
    tell(refusal, "error")


def ask(selection: session.Selection, trace: Trace | None) -> None:
    """The text box, the examples, the way of decoding."""
    with st.container(key="ask"):
        sentence_box(selection, height=68, label_visibility="collapsed")
        with st.container(horizontal=True, vertical_alignment="bottom", key="ask_row"):
            st.button(text("translate.button"), type="primary", key="translate_button")
            examples.choose(selection)
            if writes(selection):
                choose_decoding(selection)
            if trace and selection.target is None:
                with st.popover(text("translate.edit"), icon=":material/edit:"):
                    # A key of its own for every sentence: a closed popover would go on sending what it held for the last one.
                    target_box(offered(selection), f"target_{hash((selection.model, selection.text, selection.beam)):x}")
    if trace is None:
        return
    for example in session.examples(selection.model, selection.language):
        if example.source == selection.text and not session.is_foreign(selection.model):  # it tells of models of this app
            html.prose("translate.look", kind="quiet", look=html.Ours(example.look))


def writes(selection: session.Selection) -> bool:
    """Whether the chosen model writes anything."""
    return not isinstance(session.load(selection.model), Reader)


def offered(selection: session.Selection) -> str:
    """What the model wrote, to be changed by hand."""
    return session.translation(selection.model, selection.text, selection.beam).text.strip()


def choose_decoding(selection: session.Selection) -> None:
    labels = {beam: text("translate.beam", beam=beam) if beam > 1 else text("translate.greedy") for beam in session.BEAMS}
    st.session_state["beam"] = selection.beam
    st.segmented_control(
        text("translate.decoding"),
        session.BEAMS,
        key="beam",
        format_func=labels.__getitem__,
        on_change=lambda: session.select(beam=st.session_state["beam"] or selection.beam),
    )


# ----- answering


def answer(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The translation and its score, or the one written by hand. (Each token's probability is in the picture.)"""
    own = session.translation(selection.model, selection.text, selection.beam)
    with st.container(key="answer"):
        if selection.target is not None:
            yours = html.number(sum(trace.log_probabilities[atlas.first_written(trace) :]))
            html.heading("translate.yours")
            write_target(selection.target)
            html.prose("translate.scores", kind="quiet", yours=yours, own=own_score(selection, atlas), translation=own.text)
            return
        language = session.languages(selection.model)[-1]
        written = html.literal(trace.target_text or text("translate.nothing"))
        if isinstance(atlas, LanguageModel):
            prompt, rest = (html.characters(part) for part in (selection.text, trace.target_text[len(selection.text) :]))
            written = f'<bdi class="typed"><span class="prompt">{prompt}</span>{rest}</bdi>'
        st.html(
            f'<div role="group" aria-label="{html.sentence("translate.result")}"><p class="atlas-translation" lang="{language}">'
            f"{written}</p></div>"
        )
        html.prose("translate.score", kind="quiet", score=own_score(selection, atlas))


def own_score(selection: session.Selection, atlas: Atlas) -> str:
    """The score of what the model wrote by itself, by the probabilities under its tokens.

    A model of others may have chosen among fewer tokens than it gives probabilities to: its rules for writing forbid some.
    """
    if atlas.ours:
        return html.number(session.translation(selection.model, selection.text, selection.beam).score)
    trace = session.trace(selection.model, selection.text, None, selection.beam)
    written = session.translation(selection.model, selection.text, selection.beam).produced
    return html.number(sum(trace.log_probabilities[atlas.first_written(trace) :][: len(written)]))


def write_target(written: str) -> None:
    """The target written by hand, and the way back."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="edit_row"):
        target_box(written, "target")
        st.button(
            text("translate.own_again"), icon=":material/undo:", key="own_again", on_click=lambda: session.select(target=None)
        )


def target_box(written: str, key: str) -> None:
    linked.show(key, written)
    st.text_area(
        text("translate.target"),
        key=key,
        height=96,
        help=text("translate.target_help"),
        on_change=linked.fresh(key, lambda: session.select(target=st.session_state[key])),
    )


def warn(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Unknown tokens, a translation that was stopped, one that is empty."""
    unknown = [f"{printable(token.text)} ({position})" for position, token in enumerate(atlas.given(trace)) if token.unknown]
    if unknown:
        html.notice("warning", "translate.unknown", tokens=html.joined(unknown))
    first = atlas.first_written(trace)
    rows = [row for row, token in enumerate(trace.produced) if token.unknown and row >= first]
    unknown = [f"{printable(trace.produced[row].text)} ({row})" for row in rows]
    if selection.target is not None:
        if unknown:
            html.notice("warning", "translate.unknown_written", tokens=html.joined(unknown))
        return
    if unknown:
        head = picture.aligning_head(atlas, "produced")
        weights, keys = head.weights(trace), head.keys(trace)
        guesses = [f"{row + 1} → {keys[int(weights[row].argmax())].label}" for row in rows]
        html.notice("warning", "translate.unknown_produced", guesses=html.joined(guesses))
    own = session.translation(selection.model, selection.text, selection.beam)
    if own.stopped == "limit":
        html.notice("warning", "translate.stopped", count=len(own.produced))
    elif len(own.produced) == 1:
        html.notice("warning", "translate.empty")
    for remark in session.doubts(selection):
        tell(remark)


# ----- beneath the picture


def equations(atlas: Atlas, trace: Trace) -> list[Formula]:
    head = picture.aligning_head(atlas, "produced")
    row, column = formulas.largest_weight(trace, f"{head.path}.weights", head.head)
    written = trace.log_probabilities[atlas.first_written(trace) :]
    general, numbers, note = of_mean(trace, head, row, column) if head.head is None else of_head(trace, head, row, column)
    return [
        Formula(
            r"P(y \mid x) = \prod_{t=1}^{T} P(y_t \mid y_1, \ldots, y_{t-1}, x)",
            formulas.log_likelihood(written),
            "translate.formula_likelihood",
            {"count": len(written)},
        ),
        Formula(
            general,
            numbers,
            note,
            {
                "head": html.Ours(head.name),
                "row": row,
                "column": column,
                "produced": trace.produced[row].label,
                "source": head.keys(trace)[column].label,
            },
        ),
    ]


def of_head(trace: Trace, head: picture.Head, row: int, column: int) -> tuple[str, str, str]:
    """A weight of one head: the formula, its numbers, and the key of the sentence beneath."""
    return (
        r"\alpha_{r,j} = \frac{\exp(s_{r,j})}{\sum_{j'} \exp(s_{r,j'})}, \qquad s_{r,j} = "
        + formulas.law_of_scores(trace, head.path),
        formulas.softmax_cell(trace, head.path, head.head or 0, row, column),
        "translate.formula_weight",
    )


def of_mean(trace: Trace, head: picture.Head, row: int, column: int) -> tuple[str, str, str]:
    """The same where the picture shows the mean of all heads."""
    return (
        r"\bar{\alpha}_{r,j} = \frac{1}{h} \sum_{i=1}^{h} \alpha^{(i)}_{r,j}, \qquad "
        rf"\alpha^{{(i)}}_{{r,j}} = \mathrm{{softmax}}_j\!\left({formulas.law_of_scores(trace, head.path, '^{(i)}')}\right)",
        formulas.mean_cell(trace, head.path, row, column),
        "translate.formula_mean",
    )


def sizes(atlas: Atlas, trace: Trace) -> list[Shape]:
    ours, base = atlas.config, paper_base()
    source, target, heads = len(atlas.given(trace)), len(trace.target), ours.heads_of(session.attentions(atlas)[-1])
    if isinstance(atlas, LanguageModel):
        return [
            Shape("translate.shape_source", "[L_p]", (source,), (source,)),
            Shape("translate.shape_target", "[L_t]", (target,), (target,)),
            Shape("translate.shape_weights", "[h, L_t, L_t]", (heads, target, target), (base.num_heads, target, target)),
            Shape("translate.shape_logits", "[L_t, V]", (target, ours.target_vocab_size), (target, base.target_vocab_size)),
        ]
    return [
        Shape("translate.shape_source", "[L_s]", (source,), (source,)),
        Shape("translate.shape_target", "[L_t]", (target,), (target,)),
        Shape("translate.shape_memory", "[L_s, d_model]", (source, ours.d_model), (source, base.d_model)),
        Shape("translate.shape_weights", "[h, L_t, L_s]", (heads, target, source), (base.num_heads, target, source)),
        Shape("translate.shape_logits", "[L_t, V]", (target, ours.target_vocab_size), (target, base.target_vocab_size)),
    ]


@st.fragment
def what_if(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Attention spread evenly, the aligning head switched off, rows under the other label: each measured."""
    session.begin_run()
    linked.chosen("translate_what_if", VARIANTS, VARIANTS[0])
    variant = st.segmented_control(
        text("translate.what_if"),
        VARIANTS,
        required=True,
        on_change=linked.remember("translate_what_if", VARIANTS[0]),
        format_func={name: text(f"translate.what_if_{name}") for name in VARIANTS}.__getitem__,
        key="translate_what_if",
        label_visibility="collapsed",
    )
    head = picture.aligning_head(atlas, "produced")
    if variant == "label":
        relabelled(atlas, trace, head)
    elif variant:
        changed(selection, atlas, trace, head, variant)


def changed(selection: session.Selection, atlas: Atlas, trace: Trace, head: picture.Head, variant: str) -> None:
    """The same translation through the altered model, and what the altered model would write itself."""
    variant_name = "even" if variant == "even" else session.head_off(head.layer, head.head or 0)
    altered = session.altered(selection.model, selection.text, selection.target, selection.beam, variant_name)
    html.prose(f"translate.what_if_{variant}_idea", head=picture.Head(head.layer, head.head or 0).name)
    first = atlas.first_written(trace)
    for name, found in (("before", trace.log_probabilities[first:]), ("after", altered[first:])):
        html.prose(f"translate.what_if_{name}", kind="quiet", score=html.number(sum(found)))
        st.html(probable(trace.produced[first:], found, "translate.tokens"))
    written = session.altered_translation(selection.model, selection.text, variant_name)
    html.prose("translate.what_if_measured", written=written or text("translate.nothing"))


def relabelled(atlas: Atlas, trace: Trace, head: picture.Head) -> None:
    """Read the produced-row head as if its rows were named by the token they read: every link slips by one."""
    weights, keys = head.weights(trace), head.keys(trace)
    columns = [int(column) for column in weights.argmax(dim=-1)]
    rows = [
        (token.label, keys[columns[row]].label, keys[columns[row + 1]].label) for row, token in enumerate(trace.produced[:-1])
    ]
    differ = sum(columns[row] != columns[row + 1] for row in range(len(rows)))
    html.prose("translate.what_if_label_idea", head=head.name)
    html.table(
        {text("translate.word"): "word strong", text("translate.as_produced"): "word", text("translate.as_read"): "word"},
        rows,
        text("translate.what_if_label_caption"),
    )
    html.prose("translate.what_if_label_measured", differ=differ, count=len(rows))


open_page("translate", described, refuse)
