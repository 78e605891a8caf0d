"""Decoding: how an output is written, one token at a time, and what could have been written instead."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app import session
from app.charts import decoding as charts
from app.text import text
from app.views import decoding_cache, decoding_forcing, decoding_lens, decoding_penalty, decoding_stage, decoding_what_if, html
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.decoding_place import Asked, asked, controls
from model.analysis import decoding_steps
from model.attention import KeyValueCache
from model.beam_search import LENGTH_PENALTY, beam_steps, penalty
from model.config import paper_base
from model.decoding import steps_of
from model.sampling import distribution, take
from model.trace import Trace
from model.translator import Atlas, LanguageModel


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a text that can be read. The picture writes by itself; lens and what-if read the trace of the selection."""
    found = asked(selection, atlas)
    return Anatomy(
        "decoding",
        lambda: stage(selection, atlas, found),
        export=Export(f"{selection.model}-decoding.npz", lambda: archive(selection, atlas, found), "decoding.export_note"),
        sections=(
            Section("decoding.forcing_title", lambda: decoding_forcing.draw(selection, atlas)),
            Section("decoding.cache_title", lambda: decoding_cache.draw(selection, atlas, found)),
            Section("decoding.penalty_title", lambda: decoding_penalty.draw(selection, atlas, found)),
            Section("decoding.lens_title", lambda: decoding_lens.draw(selection, atlas, trace, found), ("modules",)),
        ),
        formulas=equations(selection, atlas, found),
        shapes=sizes(selection, atlas, found),
        what_if=lambda: decoding_what_if.draw(selection, trace, found),
        code=(steps_of, distribution, take, beam_steps, KeyValueCache),
    )


def stage(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    controls(atlas, found)
    html.prose(f"decoding.about_{found.strategy}", kind="quiet")
    with st.container(key="stage"):
        decoding_stage.draw(selection, atlas, found)


def archive(selection: session.Selection, atlas: Atlas, found: Asked) -> bytes:
    """The logits of every step; of a beam search also the tree."""
    writing = decoding_stage.written(selection, found)
    numbers: dict[str, Any] = {
        "ids": writing.ids,
        "log_probabilities": [moment.log_probability for moment in writing.moments],
        "weights": [moment.weights for moment in writing.moments],
    }
    labels: dict[str, Sequence[str]] = {
        "keys": [token.label for token in writing.keys],
        "read": [moment.read.label for moment in writing.moments],
        "produced": [moment.taken.label for moment in writing.moments],
    }
    if found.strategy == "beam":
        grown = decoding_stage.searched(selection, found)
        nodes = grown.tree.nodes
        labels |= {"tree": grown.labels, "tree.fate": [node.fate for node in nodes]}
        numbers |= {
            "tree.parent": [-1 if node.parent is None else node.parent for node in nodes],
            "tree.log_probability": [node.log_probability for node in nodes],
            "tree.total": [node.total for node in nodes],
            "tree.weights": [grown.rows[row] for row in grown.row_of],
            "tree.best": grown.tree.best,
        }
    logits = decoding_steps.logits(atlas, selection.text, writing.ids).cpu().numpy()
    caption = {**decoding_stage.caption(selection, writing.text), "path": found.eye.path(atlas)}
    return charts.npz(logits, labels, numbers, caption)


def equations(selection: session.Selection, atlas: Atlas, found: Asked) -> list[Formula]:
    """Softmax and temperature at the first step, where it is chosen, and what the whole output is worth."""
    writing = decoding_stage.written(selection, found)
    length = len(writing.moments)
    divisor = penalty(length, LENGTH_PENALTY)
    chosen = len(writing.moments[0].candidates) > 1  # a model of others may have to begin with one certain token
    return [
        *(of_first_step(writing.moments[0], atlas, found) if chosen else ()),
        Formula(
            r"s(y) = \frac{\log P(y)}{\left(\frac{5 + |y|}{6}\right)^{\alpha}}",
            charts.worth(writing.score, length, LENGTH_PENALTY, divisor, writing.score / divisor),
            "decoding.formula_penalty",
            {"text": writing.text.strip() or text("translate.nothing"), "count": length},
        ),
    ]


def of_first_step(moment: decoding_steps.Moment, atlas: Atlas, found: Asked) -> tuple[Formula, ...]:
    """The probability of the token that was taken, and what the temperature does to the best two."""
    first, second = moment.candidates[:2]
    taken = next(one for one in moment.candidates if one.id == moment.taken.id)
    temperature, drawn = found.plan.sampling.temperature, found.strategy == "sampling"
    return (
        Formula(
            r"p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}",
            charts.softmax(taken.logit, moment.log_sum, atlas.config.target_vocab_size),
            "decoding.formula_softmax",
            {"token": moment.taken.label, "id": moment.taken.id},
        ),
        Formula(
            r"p_i = \frac{e^{z_i / T}}{\sum_{j \in \text{kept}} e^{z_j / T}}, \qquad "
            r"\frac{p_i}{p_j} = e^{(z_i - z_j) / T}",
            charts.divided(first.logit, second.logit, temperature, moment.kept),
            "decoding.formula_temperature" if drawn else "decoding.formula_temperature_greedy",
            {
                "first": first.label,
                "second": second.label,
                "kept": html.Ours(f"{moment.kept:,}"),
                "temperature": html.Ours(f"{temperature:g}"),
            },
        ),
    )


def sizes(selection: session.Selection, atlas: Atlas, found: Asked) -> list[Shape]:
    """The last step of the output."""
    ours, base = atlas.config, paper_base()
    writing = decoding_stage.written(selection, found)
    alone, source, steps = isinstance(atlas, LanguageModel), len(writing.keys), len(writing.moments)
    heads, keys = ours.heads_of("decoder.self_attention"), ours.key_heads_of("decoder.self_attention")
    width = ours.head_dim_of("decoder.self_attention")
    read = source + steps - 1 if alone else steps
    vocab = (1, ours.target_vocab_size), (1, 37_000)
    shapes = [
        Shape("decoding.shape_read", "[1, t]", (1, read), (1, read)),
        Shape("decoding.shape_last", "[1, d_model]", (1, ours.d_model), (1, base.d_model)),
        Shape("decoding.shape_logits", "[1, V]", *vocab),
        Shape(
            "decoding.shape_keys", "[1, h, t, d_k]",
            (1, keys, read, width), (1, base.num_heads, read, base.head_dim),
        ),
        Shape("decoding.shape_scores", "[1, h, 1, t]", (1, heads, 1, read), (1, base.num_heads, 1, read)),
    ]  # fmt: skip
    if not alone:
        shapes.append(
            Shape(
                "decoding.shape_memory", "[1, h, L_s, d_k]",
                (1, keys, source, width), (1, base.num_heads, source, base.head_dim),
            )
        )  # fmt: skip
    return shapes


open_page("decoding", described, needed=("writing",))
