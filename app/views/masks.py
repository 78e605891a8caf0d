"""Masks: who may read whom; a mask to paint, and what it does to the model's attention and translation."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app import session
from app.charts import formulas
from app.charts.archive import npz
from app.components.mask_painter import mask_painter
from app.components.mask_painter import pack as pack_painter
from app.text import section, text
from app.views import html, linked, picture, rows
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.masks_batch import conventions, together
from app.views.masks_effect import effect, effect_on_reader
from app.views.masks_wrong import formats, four_ways, what_if
from model import attention_mask
from model.analysis import masking, painted
from model.analysis.what_if import minus_infinity, zero_after, zero_after_renormalised, zero_before
from model.attention import softmax_or_zero
from model.config import paper_base
from model.trace import Trace
from model.translator import LanguageModel, Opened, Reader

PAINTER = "mask_painter"
SCOPES = ("all", "layer", "head")


def described(selection: session.Selection, atlas: Opened, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    place = self_attention(atlas, session.place(atlas))
    mask, damaged = asked_mask(trace, place)
    return Anatomy(
        "masks",
        lambda: stage(selection, atlas, trace, place, mask, damaged=damaged),
        slides=(
            lambda: paint(selection, trace, place, mask, asked(selection, atlas, place, damaged=damaged)[1]),
            lambda: affected(selection, trace, place, mask, *asked(selection, atlas, place, damaged=damaged)),
        ),
        export=Export(f"{selection.model}-masks.npz", lambda: npz(trace, picture.caption(selection, trace))),
        sections=(
            Section("masks.batch_title", lambda: together(selection, atlas, place)),
            Section("masks.ways_title", lambda: four_ways(selection, trace, place, mask, rows.named())),
            Section("masks.formats_title", lambda: aside("formats", "hidden", formats)),
            Section(
                "masks.conventions_title",
                lambda: aside("conventions", "kind", lambda: conventions(selection, atlas, trace, place, mask)),
            ),
        ),
        formulas=equations(trace, place),
        shapes=sizes(atlas, trace),
        what_if=lambda: what_if(selection, trace),
        what_if_needs=("writing",),
        code=(attention_mask.causal, attention_mask.padding, softmax_or_zero, minus_infinity, zero_before, zero_after,
              zero_after_renormalised),
        still=("masks.formats_title", "page.shapes", "page.what_if"),
    )  # fmt: skip


@st.fragment
def aside(name: str, parameter: str, content: Callable[[], None]) -> None:
    """What is for readers who write such code: closed at first, open for a link that names what was chosen in it."""
    session.begin_run()
    html.prose(f"masks.{name}_for", kind="quiet")
    with st.expander(
        text(f"masks.{name}_open"), expanded=parameter in st.query_params, key=name, on_change="rerun", bind="query-params"
    ) as part:
        if part.open:  # what colours the code weighs more than the rest of the page
            content()


def self_attention(atlas: Opened, place: session.Place) -> session.Place:
    """The place in the model, but in a self-attention: only there a painted mask is square."""
    known = place.attention in painted.ATTENTIONS
    return session.checked_place(atlas, place.attention if known else painted.ATTENTIONS[0], place.layer, place.head)


def asked_mask(trace: Trace, place: session.Place) -> tuple[str, bool]:
    """The mask that the painter or the link asks for, and whether it had to be left out because it cannot be read."""
    sent = (st.session_state.get(PAINTER) or {}).get("mask")
    asked = sent if isinstance(sent, str) else st.query_params.get("mask", "")
    own = painted.own_name(place.attention)
    try:
        masking.chosen(asked, masking.preset(own, 1))
    except ValueError:
        return "", True
    return ("" if asked == own else asked), False


# ----- the stage


def stage(selection: session.Selection, atlas: Opened, trace: Trace, place: session.Place, mask: str, *, damaged: bool) -> None:
    scope, row = asked(selection, atlas, place, damaged=damaged)
    paint(selection, trace, place, mask, row)
    affected(selection, trace, place, mask, scope, row)
    picture.tell_foreign(atlas)


def asked(selection: session.Selection, atlas: Opened, place: session.Place, *, damaged: bool) -> tuple[str, rows.Named]:
    """What is to be said first, and what is looked at."""
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    if damaged:
        html.notice("warning", "masks.damaged_link")
    return choose(atlas, place)


def paint(selection: session.Selection, trace: Trace, place: session.Place, mask: str, row: rows.Named) -> None:
    """The mask, to be painted."""
    tokens = trace.source if place.attention.startswith("encoder") else trace.target
    decoder = tokens is trace.target
    count = min(len(tokens), masking.LARGEST)
    message = pack_painter(
        [token.label for token in tokens[:count]],
        produced=[token.label for token in trace.produced[:count]] if decoder else None,
        named=row,
        side="target" if decoder else "source",
        length=len(tokens),
        presets={name: masking.to_link(masking.preset(name, count)) for name in masking.PRESETS},
        own=painted.own_name(place.attention),
        mask=mask,
        text=section("mask_painter"),
        caption={**picture.caption(selection, trace), "attention": attention_name(place)},
    )
    with st.container(key="stage"):
        mask_painter(message, key=PAINTER, on_mask_change=lambda: None)
    html.prose(f"masks.convention_{row}" if decoder else "masks.convention_encoder", kind="quiet")


def affected(selection: session.Selection, trace: Trace, place: session.Place, mask: str, scope: str, row: rows.Named) -> None:
    """What the painted mask does to the model."""
    html.heading("masks.effect_title")
    if mask:
        (effect if trace.target else effect_on_reader)(selection, trace, place, mask, scope, row)
    else:
        html.prose("masks.effect_none", attention=html.Ours(attention_name(place)))


def attention_name(place: session.Place) -> str:
    return text(f"attention_map.{place.attention.replace('.', '_')}")


def choose(atlas: Opened, place: session.Place) -> tuple[str, rows.Named]:
    """Which self-attention, layer and head; where the painted mask is put on and what names a row of the decoder (returned)."""
    layers, heads = session.layers_of(atlas, place.attention), atlas.config.heads_of(place.attention)
    kinds = {
        kind: text(f"attention_map.{kind.replace('.', '_')}") for kind in painted.ATTENTIONS if kind in session.attentions(atlas)
    }
    numbers = {index: str(index + 1) for index in range(max(layers, heads))}
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_place"):
        _coordinate(atlas, place, "attention", kinds)
        _coordinate(atlas, place, "layer", {index: numbers[index] for index in range(layers)})
        _coordinate(atlas, place, "head", {index: numbers[index] for index in range(heads)})
        names = {scope: text(f"masks.scope_{scope}") for scope in SCOPES}
        linked.chosen("scope", SCOPES, SCOPES[0])
        chosen = st.segmented_control(
            text("masks.scope"), SCOPES, format_func=names.__getitem__, key="scope", required=True,
            on_change=linked.remember("scope", SCOPES[0]),
        )  # fmt: skip
        row = rows.choose() if place.attention.startswith("decoder") else rows.ROWS[0]
    return chosen or SCOPES[0], row


def _coordinate(atlas: Opened, place: session.Place, name: str, names: Mapping[Any, str]) -> None:
    """One coordinate of the place. The widget shows what the session knows, and tells it what the visitor chose."""
    key = f"masks_{name}"
    linked.show(key, getattr(place, name))

    def change() -> None:
        session.move(atlas, **{name: st.session_state[key]})

    st.segmented_control(
        text(f"attention_map.{name}"), list(names), key=key, required=True, on_change=linked.fresh(key, change),
        format_func=names.__getitem__,
    )  # fmt: skip


# ----- beneath


def equations(trace: Trace, place: session.Place) -> list[Formula]:
    """One masked weight, and the leak of a hidden score that became 0; both of the decoder, where something is hidden."""
    if not trace.target:  # an encoder alone hides nothing
        return []
    layer = place.layer if place.attention.startswith("decoder") else 0
    path = f"decoder.layers.{layer}.self_attention"
    row, column = formulas.largest_weight(trace, f"{path}.weights", place.head)
    scores = trace[f"{path}.scores"].tensor[0, place.head]
    leak = masking.leaks(scores, masking.preset("causal", len(scores)))["zero_before"]
    where: dict[str, object] = {
        "head": text("picture.layer_head", layer=layer + 1, head=place.head + 1),
        "row": row,
        "column": column,
    }
    return [
        Formula(
            r"\alpha_{r,j} = \frac{\exp(s_{r,j} + m_{r,j})}{\sum_{j'} \exp(s_{r,j'} + m_{r,j'})}, \qquad "
            r"m_{r,j} = \begin{cases} 0 & j \le r \\ -\infty & j > r \end{cases}",
            formulas.softmax_cell(trace, path, place.head, row, column),
            "masks.formula_mask",
            {**where, "read": trace.target[row].label, "other": trace.target[column].label},
        ),
        Formula(
            r"\sum_{j > r} \alpha_{r,j} = \frac{n_{\text{hidden}}}{n_{\text{hidden}} + \sum_{j \le r} \exp(s_{r,j})}",
            formulas.leaked(trace, path, place.head, row, float(leak.forbidden[row])),
            "masks.formula_leak",
            {"row": row},
        ),
    ]


def sizes(atlas: Opened, trace: Trace) -> list[Shape]:
    ours, base = atlas.config, paper_base()
    source, target = len(trace.source), len(trace.target)
    if isinstance(atlas, Reader):
        return [
            Shape("masks.shape_padding", "[B, 1, L_s]", (1, 1, source), (1, 1, source)),
            Shape(
                "masks.shape_scores", "[B, h, L_s, L_s]", (1, ours.num_heads, source, source), (1, base.num_heads, source, source)
            ),
        ]
    heads = ours.heads_of("decoder.self_attention")
    if isinstance(atlas, LanguageModel):
        return [
            Shape("masks.shape_causal", "[1, L_t, L_t]", (1, target, target), (1, target, target)),
            Shape("masks.shape_padding", "[B, 1, L_t]", (1, 1, target), (1, 1, target)),
            Shape("masks.shape_both", "[B, L_t, L_t]", (1, target, target), (1, target, target)),
            Shape("masks.shape_scores", "[B, h, L_t, L_t]", (1, heads, target, target), (1, base.num_heads, target, target)),
        ]
    return [
        Shape("masks.shape_causal", "[1, L_t, L_t]", (1, target, target), (1, target, target)),
        Shape("masks.shape_padding", "[B, 1, L_s]", (1, 1, source), (1, 1, source)),
        Shape("masks.shape_both", "[B, L_t, L_t]", (1, target, target), (1, target, target)),
        Shape("masks.shape_scores", "[B, h, L_t, L_t]", (1, heads, target, target), (1, base.num_heads, target, target)),
        Shape("masks.shape_cross", "[B, h, L_t, L_s]", (1, heads, target, source), (1, base.num_heads, target, source)),
    ]  # fmt: skip


open_page("masks", described)
