"""Two families: an encoder-decoder and a decoder-only model on the same text."""

import streamlit as st

from app import session
from app.charts import families as charts
from app.charts import formulas
from app.components.two_families import pack, two_families
from app.components.two_families.payload import Panel, Strip
from app.text import section, text
from app.views import families_cost, families_live, families_masks, html, linked
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.families_pair import PROMPT, Pair, default_prompt, pair
from model import cost
from model.analysis import families
from model.config import paper_base
from model.trace import Trace
from model.transformer import DecoderOnly, EncoderDecoder
from model.translator import Atlas

CODE = (
    EncoderDecoder.forward,
    EncoderDecoder.decode,
    DecoderOnly.forward,
    families.prefix_mask,
    families.under,
    cost.cache_bytes,
)


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a text that both can read; it says what is missing where there is no model of the other family."""
    found = pair(selection, atlas)
    about = (Section("families.tasks_title", families_live.tasks),)
    if found is None:
        key = "families.no_translator" if session.writes_on(selection.model) else "families.no_language_model"
        return Anatomy("families", lambda: html.notice("warning", key), sections=about, code=CODE)
    if refusal := refused(found):
        return Anatomy("families", lambda: refuse(selection, refusal), sections=about, code=CODE)
    return Anatomy(
        "families",
        lambda: stage(selection, found),
        export=Export(
            f"{found.translator.name}-{found.writer.name}-two-families.npz",
            lambda: charts.npz_of(dict(zip(("encoder_decoder", "decoder_only"), found.traces, strict=True)), caption(found)),
        ),
        sections=(
            Section("families.masks_title", lambda: families_masks.masks(found, caption(found))),
            Section("families.where_title", lambda: families_masks.where(found)),
            Section("families.cost_title", lambda: families_cost.cost_of_both(found)),
            *((Section("families.live_title", lambda: families_live.asked(found)),) if found.sentence.strip() else ()),
            *about,
        ),
        formulas=equations(found),
        shapes=sizes(found),
        what_if=lambda: families_live.what_if(found),
        code=CODE,
    )


def refused(found: Pair) -> session.Remark | None:
    """Why one of the two cannot take its text; a language model writes on even after nothing, such as an empty translation."""
    one = session.refused(found.translator, found.translated.text, found.translated.target)
    if one or not found.continued.text.strip():
        return one
    two = session.refused(found.writer, found.continued.text, found.continued.target)
    if two and two.key == "limits.source_tokens":  # of a prompt that was made from the visitor's text
        return session.Remark("families.prompt_tokens", {**two.values, "model": found.writer.name})
    return two


def refuse(selection: session.Selection, refusal: session.Remark) -> None:
    tell(refusal, "error")
    choose(selection)


def caption(found: Pair) -> dict[str, str]:
    one, two = found.traces
    return {
        "model": f"{found.translator.name}, {found.writer.name}",
        "source": one.source_text,
        "target": f"{one.target_text} | {two.target_text}",
    }


# ----- the stage


def choose(selection: session.Selection) -> None:
    names = {kind: text(f"families.prompt_{kind}") for kind in families.PROMPTS}
    st.segmented_control(
        text("families.prompt"), families.PROMPTS, format_func=names.__getitem__, key=PROMPT, required=True,
        on_change=linked.remember(PROMPT, default_prompt(selection)),
    )  # fmt: skip


def stage(selection: session.Selection, found: Pair) -> None:
    one, two = found.traces
    choose(selection)
    led = found.translated.target is not None
    html.prose(
        "families.led" if led else "families.wrote",
        model=html.Ours(found.translator.name), source=one.source_text, target=or_nothing(one.target_text),
    )  # fmt: skip
    continued(found, two)
    with st.container(key="stage"):
        two_families(pack(panels(found), text=section("two_families"), caption=caption(found)), key="two_families")
    html.prose("families.convention", kind="quiet")


def continued(found: Pair, trace: Trace) -> None:
    """What the language model read and wrote, or was led through."""
    written = found.continued.target
    if written is None:
        written = session.translation(found.continued.model, found.continued.text, found.continued.beam).text
        key = "families.continued" if written.strip() else "families.continued_end"
    else:
        key = "families.continued_led"
    model, prompt = html.Ours(found.writer.name), or_nothing(trace.source_text)
    html.prose(key, model=model, prompt=prompt, text=or_nothing(written))
    if not found.reads:
        html.prose("families.other_language", kind="quiet", model=model, other=html.Ours(found.translator.name))


def or_nothing(written: str) -> object:
    return written.strip() or html.Ours(text("translate.nothing"))


def panels(found: Pair) -> list[Panel]:
    """The keys that both models read, from their traces; the language model's steps begin behind its prompt."""
    one, two = found.traces
    source, written, sequence = ([token.label for token in side] for side in (one.source, one.target, two.target))
    layers, alone = found.translator.config.decoder_layers, found.writer.config.decoder_layers
    return [
        Panel(
            "encoder_decoder",
            text("families.panel_both", model=found.translator.name),
            one,
            0,
            layers,
            [
                Strip("source", "decoder.layers.{layer}.cross_attention", source, len(source)),
                Strip("written", "decoder.layers.{layer}.self_attention", written, 0),
            ],
        ),
        Panel(
            "decoder_only",
            text("families.panel_alone", model=found.writer.name),
            two,
            found.first,
            alone,
            [Strip("sequence", "decoder.layers.{layer}.self_attention", sequence, found.first + 1)],
        ),
    ]


# ----- beneath


def equations(found: Pair) -> list[Formula]:
    one, two = found.traces
    config, first = found.writer.config, found.first
    given, written = first + 1, len(two.target) - first - 1
    both = found.translator.config
    return [
        Formula(
            r"P(y \mid x) = \prod_t P(y_t \mid y_{<t},\, M(x))",
            formulas.log_likelihood(one.log_probabilities),
            "families.formula_both",
            {"model": html.Ours(found.translator.name)},
        ),
        Formula(
            r"P(y \mid x) = \prod_t P(y_t \mid x,\, y_{<t})",
            formulas.log_likelihood(two.log_probabilities[first:]),
            "families.formula_alone",
            {"model": html.Ours(found.writer.name)},
        ),
        Formula(
            r"\text{bytes} = 2 \cdot N \cdot d \cdot (L_s + L_t) \cdot 4",
            formulas.aligned(
                *(
                    rf"\text{{{name}}} = {charts.kept(shape.decoder_layers, shape.d_model, source, target, size)}"
                    for name, shape, source, target, size in (
                        ("encoder-decoder", both, len(one.source), len(one.target),
                         cost.cache_bytes(both, len(one.source), len(one.target))),
                        ("decoder-only", config, given, written, cost.cache_bytes(config, given, written)),
                    )
                )
            ),
            "families.formula_cache",
            {},
        ),
    ]  # fmt: skip


def sizes(found: Pair) -> list[Shape]:
    one, two = found.traces
    both, alone, base = found.translator.config, found.writer.config, paper_base()
    source, target, length = len(one.source), len(one.target), len(two.target)

    def weights(key: str, symbol: str, heads: int, *lengths: int) -> Shape:
        return Shape(key, symbol, (heads, *lengths), (base.num_heads, *lengths))

    return [
        Shape("families.shape_memory", "[L_s, D]", (source, both.d_model), (source, base.d_model)),
        weights("families.shape_encoder", "[h, L_s, L_s]", both.num_heads, source, source),
        weights("families.shape_decoder", "[h, L_t, L_t]", both.num_heads, target, target),
        weights("families.shape_cross", "[h, L_t, L_s]", both.num_heads, target, source),
        Shape("families.shape_stream", "[L, D]", (length, alone.d_model), (length, base.d_model)),
        weights("families.shape_alone", "[h, L, L]", alone.num_heads, length, length),
    ]


open_page("families", described, needed=("pair",))
