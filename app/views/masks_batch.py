"""Masks of a batch: sentences padded together and each alone; and the same mask in the conventions of the libraries."""

import streamlit as st

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture
from model.analysis import conventions as code
from model.analysis import masking, padding, painted
from model.analysis.padding import Padded
from model.trace import Trace
from model.translator import Opened


@st.fragment
def together(selection: session.Selection, atlas: Opened, place: session.Place) -> None:
    """The sentence with a shorter and a longer one: the batch, its masks, and one sentence's map alone and padded."""
    session.begin_run()
    html.prose("masks.batch_idea")
    if not st.toggle(text("masks.batch_show"), key="batch", bind="query-params"):  # three more passes: only when asked for
        return
    others = companions(selection)
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_row"):
        possible = padding.SIDES if atlas.config.pads_left else padding.SIDES[:1]
        sides = {side: text(f"masks.side_{side}") for side in possible}
        linked.chosen("side", possible, possible[0])
        side = st.segmented_control(
            text("masks.side"), possible, format_func=sides.__getitem__, key="side", required=True,
            on_change=linked.remember("side", padding.SIDES[0]),
        )  # fmt: skip
        count = len(others) + 1
        names = {str(index): text("masks.sentence_number", number=index + 1) for index in range(count)}
        linked.chosen("batch_sentence", names, "0")
        sentence = st.segmented_control(
            text("masks.sentence"), list(names), format_func=names.__getitem__, key="batch_sentence", required=True,
            on_change=linked.remember("batch_sentence", "0"),
        )  # fmt: skip
        forgotten = st.toggle(text("masks.forget"), key="forget", bind="query-params")
    if not atlas.config.pads_left:
        html.prose("masks.pads_right", kind="quiet", name=html.Ours(atlas.name))
    at = (others, place.attention, place.layer, place.head, side or padding.SIDES[0], not forgotten)
    found = session.measured(padding.padded, selection, *at)
    batch_table(found)
    index = int(sentence or 0)
    maps(selection, place, found, index, (selection.text, *others)[index])
    measured(found, index, forgotten=forgotten)


def companions(selection: session.Selection) -> tuple[str, ...]:
    """A shorter and a longer sentence of our own; of the visitor's own words, where there is none in the model's language."""
    candidates = tuple(example.source for example in session.examples(selection.model, selection.language))
    candidates = candidates or padding.cut_and_doubled(selection.text)
    return session.measured(padding.companions, selection, candidates)


def batch_table(found: Padded) -> None:
    """The three sentences as the model gets them, position by position."""
    columns = {text("masks.sentence"): "number", **{str(position): "code" for position in range(len(found.tokens[0]))}}
    rows = [(number, *(token.label for token in tokens)) for number, tokens in enumerate(found.tokens, 1)]
    html.table(columns, rows, text("masks.batch_caption"))


def maps(selection: session.Selection, place: session.Place, found: Padded, index: int, sentence: str) -> None:
    """Two steps: the map alone and in the batch; the two masks and what they make together."""
    tokens = [token.label for token in found.tokens[index]]
    side: str = "source" if place.attention.startswith("encoder") else "target"
    axis = Axis(text("masks.axis_read"), tokens, "source" if side == "source" else "target")
    real = found.real[index]
    alone_axis = Axis(axis.name, [label for label, kept in zip(tokens, real.tolist(), strict=True) if kept], axis.role)
    own = painted.own_mask(place.attention, len(tokens))
    keys = padding.keys_of(found, index)
    given = [
        Matrix("causal", own, axis, axis, text("masks.own_mask"), scale="switch", masked=~own),
        Matrix("padding", keys, axis, axis, text("masks.padding_mask"), scale="switch", masked=~keys),
        Matrix("both", found.mask[index], axis, axis, text("masks.both_masks"), scale="switch", masked=~found.mask[index]),
        Matrix(
            "alone", found.alone[index], alone_axis, alone_axis, text("masks.alone"), role="weights", scale="unit",
            masked=~own[: len(found.alone[index]), : len(found.alone[index])], path=f"{place.path}.weights",
        ),
        Matrix(
            "padded", found.weights[index], axis, axis, text("masks.padded"), role="weights", scale="unit",
            masked=padding.hidden(found, index),
        ),
    ]  # fmt: skip
    scenes = [
        Scene("maps", text("masks.scene_maps"), ("alone", "padded"), note=text("masks.scene_maps_note")),
        Scene("masks", text("masks.scene_masks"), ("causal", "∧", "padding", "=", "both"), note=text("masks.scene_masks_note")),
    ]
    trace = session.trace(selection.model, selection.text, selection.target, selection.beam)
    if index:  # a sentence of our own, with its own translation
        trace = session.trace(selection.model, sentence)
    message = pack(scenes, given, text=section("matrices"), caption=picture.caption(selection, trace), name="batch")
    matrices(message, key="masks_batch")


def measured(found: Padded, index: int, *, forgotten: bool) -> None:
    """The difference between alone and padded, the mass on padding, and the rows without any key."""
    difference, lost = found.differences[index], found.lost[index]
    key = "masks.batch_forgotten" if forgotten else "masks.batch_same"
    html.prose(
        key, number=index + 1, difference=html.small(difference, 3), lost=html.number(lost, 3), padding=found.padding_of(index)
    )
    if empty := found.empty_rows(index):
        html.prose("masks.batch_empty", count=empty)


# ----- conventions


@st.fragment
def conventions(selection: session.Selection, atlas: Opened, trace: Trace, place: session.Place, mask: str) -> None:
    """The mask of this sentence in four conventions, to copy."""
    session.begin_run()
    html.prose("masks.conventions_idea")
    length = len(trace.tokens("source" if place.attention.startswith("encoder") else "target"))
    own = painted.own_mask(place.attention, length)
    kinds = ["causal", "padding", "both", *(["painted"] if mask and length <= masking.LARGEST else [])]
    names = {kind: text(f"masks.kind_{kind}") for kind in kinds}
    kind = st.segmented_control(
        text("masks.kind"), kinds, default="causal", format_func=names.__getitem__, key="kind", bind="query-params", required=True
    )
    chosen = kind if kind in kinds else "causal"
    if chosen == "painted":
        described = code.of_cells(masking.chosen(mask, own))
    elif chosen == "causal":
        described = code.Mask("causal", length, length)
    else:
        found = session.measured(padding.padded, selection, companions(selection), place.attention, place.layer, place.head)
        described = code.Mask(chosen, found.longest, found.shortest)
        html.prose("masks.conventions_batch", kind="quiet", longest=found.longest, shortest=found.shortest)
    heads = atlas.config.heads_of(place.attention)
    for name, snippet in code.snippets(described, heads * atlas.config.head_dim_of(place.attention), heads).items():
        html.prose(f"masks.convention_{name}")
        st.code(snippet, language="python")
    html.prose("masks.conventions_note", kind="quiet")
