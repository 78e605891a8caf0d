"""Cost: parameters, operations and memory of any configuration, and how long it takes."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.charts import cost as charts
from app.charts.formulas import aligned
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import cost_lengths, cost_live, cost_paper, cost_roof, cost_shape, cost_terms, cost_wrong, html
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page
from app.views.cost_shape import Counted, Fields
from model import cost
from model.analysis import cost_curves, machine
from model.config import paper_base
from model.trace import Trace
from model.translator import Atlas

CODE = (cost.flops_by_part, cost.parameters_by_part, cost.crossing, cost.prefill, cost.roof, machine.median_seconds)


def described(selection: session.Selection, atlas: Atlas, trace: Trace | None) -> Anatomy:
    """The page; what depends on a configuration is left out while there is none that can be. It needs no sentence."""
    fields = cost_shape.read(atlas, trace)
    found = cost_shape.counted(fields)
    caption = captioned(selection, trace, fields, found)
    always = (
        Section("cost.cache_title", lambda: cost_lengths.caches(found, caption)),
        Section("cost.table_3_title", cost_paper.table_3),
        Section("cost.training_title", cost_paper.training),
    )
    if found is None:
        return Anatomy("cost", lambda: refuse(fields), sections=always, code=CODE)
    return Anatomy(
        "cost",
        lambda: stage(fields, found, caption, trace is None),
        slides=(
            lambda: totals(fields, found, trace is None),
            lambda: parameters(found),
            lambda: operations(found, caption),
            lambda: memory(found),
        ),
        export=Export(
            f"{selection.model if found.preset == cost_shape.THIS else found.preset}-cost.npz",
            lambda: archive(found),
            "cost.export_note",
        ),
        sections=(
            Section("cost.crossing_title", lambda: cost_lengths.crossing(found, caption)),
            Section("cost.stored_title", lambda: cost_lengths.stored(found, caption)),
            *always[:1],
            Section("cost.roof_title", lambda: cost_roof.roofline(found, caption)),
            Section("cost.live_title", lambda: cost_live.this_machine(found, caption)),
            *always[1:],
            Section("cost.kinds_title", lambda: cost_paper.kinds(found, caption)),
        ),
        formulas=equations(found),
        shapes=sizes(found),
        what_if=lambda: cost_wrong.what_if(found),
        code=CODE,
        still=("cost.table_3_title", "cost.training_title"),
    )


def captioned(selection: session.Selection, trace: Trace | None, fields: Fields, found: Counted | None) -> dict[str, str]:
    """What every exported picture says: the configuration in the place of a model, and the sentence whose length was taken.

    Where its lengths were changed, they alone: what is counted is then of no sentence.
    """
    name = selection.model if found is None else cost_shape.described(found)
    if trace is None or any(fields.values[length] != fields.defaults[length] for length in ("n", "m")):
        return {"model": name, "source": f"n = {fields.values['n']:,}", "target": f"m = {fields.values['m']:,}"}
    return {"model": name, "source": trace.source_text, "target": trace.target_text}


def refuse(fields: Fields) -> None:
    cost_shape.draw(fields)
    given = fields.values
    html.notice("error", "cost.refused", d_model=given["d_model"], num_heads=given["num_heads"])


# ----- the stage: every part of the configuration


def stage(fields: Fields, found: Counted, caption: Mapping[str, str], no_sentence: bool) -> None:
    with st.container(key="stage"):
        totals(fields, found, no_sentence)
        parameters(found)
        operations(found, caption)
        memory(found)


def totals(fields: Fields, found: Counted, no_sentence: bool) -> None:
    """What is counted, and the two sums."""
    cost_shape.draw(fields)
    if no_sentence:
        html.prose("cost.no_sentence", kind="quiet", length=cost_shape.UNSAID)
    config = found.config
    parts, flops = cost.parameters_by_part(config), flops_by_part(found)
    html.prose(
        "cost.found_alone" if config.family == "decoder-only" else "cost.found",
        name=html.Ours(cost_shape.described(found)),
        parameters=html.Ours(f"{parts['total']:,}"),
        flops=html.Ours(charts.scaled(flops["total"])),
        source=html.Ours(f"{found.source:,}"),
        target=html.Ours(f"{found.target:,}"),
        batch=html.Ours(f"{found.batch:,}"),
    )
    if not found.changed and (printed := {row.name: row.millions for row in cost.table_3()}.get(found.preset)):
        html.prose("cost.printed", kind="quiet", printed=printed, counted=html.Ours(f"{parts['total']:,}"))
    if not found.changed and found.preset == "gpt2":
        learned = cost.learned_positions(config, cost_shape.GPT_2_POSITIONS)
        html.prose(
            "cost.gpt2_positions",
            kind="quiet",
            positions=html.Ours(f"{learned.alone:,}"),
            total=html.Ours(f"{learned.total:,}"),
        )


def parameters(found: Counted) -> None:
    config = found.config
    parts, terms = cost.parameters_by_part(config), cost_terms.parameter_terms(config)
    there = [name for name in terms if name != "encoder" or config.family == "encoder-decoder"]
    rows = [(html.sentence(f"cost.part_{name}"), *terms[name], html.Ours(f"{parts[name]:,}")) for name in there]
    total = (html.sentence("cost.total"), "", "", html.Ours(f"{parts['total']:,}"))
    columns = {"cost.part": "rich", "cost.formula": "code", "cost.with_numbers": "code", "cost.parameters": "number"}
    html.table({text(key): kind for key, kind in columns.items()}, [*rows, total], text("cost.parameters_caption"))
    html.prose(
        "cost.terms",
        kind="quiet",
        attention=html.Ours(f"{cost.of_attention(config):,}"),
        feed_forward=html.Ours(f"{cost.of_feed_forward(config):,}"),
        norm=html.Ours(f"{cost.of_norm(config):,}"),
    )


def flops_by_part(found: Counted) -> dict[str, int]:
    """Of all sequences at once."""
    return cost_curves.together(cost.flops_by_part(found.config, found.source, found.target), found.batch)


def operations(found: Counted, caption: Mapping[str, str]) -> None:
    config = found.config
    parts, terms = flops_by_part(found), cost_terms.flop_terms(config)
    shares = cost_curves.shares({name: parts[name] for name in terms})
    rows = [
        (
            html.sentence(f"cost.part_{name.replace('.', '_')}"),
            terms[name],
            html.Ours(f"{parts[name]:,}"),
            html.Ours(html.number(shares[name], 1)),
        )
        for name in terms
    ]
    total = (html.sentence("cost.total"), "", html.Ours(f"{parts['total']:,}"), "")
    columns = {"cost.part": "rich", "cost.formula": "code", "cost.operations": "number", "cost.share": "number"}
    html.table({text(key): kind for key, kind in columns.items()}, [*rows, total], text("cost.operations_caption"))
    names = [text(f"cost.part_{name.replace('.', '_')}") for name in terms]
    chart = Chart(
        text("cost.operations_chart"),
        text("cost.part"),
        text("cost.operations"),
        (Series(text("cost.operations"), [parts[name] for name in terms], "bar"),),
        names,
    )
    curves(pack(chart, text=section("curves"), caption=caption, name="operations"), key="cost_operations")


def memory(found: Counted) -> None:
    config = found.config
    held = cost.memory_by_part(config, found.source, found.target, found.batch, found.size)
    terms = cost_terms.memory_terms(config)
    rows = [
        (html.sentence(f"cost.memory_{name}"), terms[name], html.Ours(f"{held[name]:,}"), html.Ours(charts.in_bytes(held[name])))
        for name in held
    ]
    columns = {"cost.memory": "rich", "cost.formula": "code", "cost.bytes_exact": "number", "cost.bytes_read": "number"}
    html.table({text(key): kind for key, kind in columns.items()}, rows, text("cost.memory_caption"))
    html.prose("cost.memory_note", kind="quiet")


# ----- beneath


def equations(found: Counted) -> list[Formula]:
    config, length = found.config, max(1, found.length)
    values: dict[str, object] = {"name": html.Ours(cost_shape.described(found)), "length": length}
    return [
        Formula(
            r"P_{\text{layer}} = 4 d^2 + (2\, d\, d_{ff} + d_{ff} + d) + 2 \cdot 2 d"
            + (r" + 4 d" if config.attention_bias else ""),
            cost_terms.layer_parameters(config),
            "cost.formula_parameters",
            values,
        ),
        Formula(
            r"\text{FLOPs} = \underbrace{8 n d^2 + 4 n d\, d_{ff}}_{\text{linear}} + \underbrace{4 n^2 d}_{\text{square}}",
            aligned(*cost_terms.layer_operations(config, length)),
            "cost.formula_operations",
            values,
        ),
        Formula(
            r"4 n^2 d = 8 n d^2 + 4 n d\, d_{ff} \;\Rightarrow\; n^* = 2 d + d_{ff} \quad (= 6 d \text{ if } d_{ff} = 4 d)",
            cost_terms.crossing(config),
            "cost.formula_crossing",
            values,
        ),
        Formula(
            r"\text{bytes} = B \cdot N \cdot 2 d \cdot (n + m) \cdot b",
            cost_terms.cache(config, found.source, found.target, found.batch, found.size),
            "cost.formula_cache",
            values,
        ),
    ]


def sizes(found: Counted) -> list[Shape]:
    config, base, n, batch = found.config, paper_base(), found.length, found.batch
    return [
        Shape("cost.shape_stream", "[B, n, d]", (batch, n, config.d_model), (batch, n, base.d_model)),
        Shape("cost.shape_attention", "[d, d]", (config.d_model, config.d_model), (base.d_model, base.d_model)),
        Shape("cost.shape_expand", "[d, d_ff]", (config.d_model, config.d_ff), (base.d_model, base.d_ff)),
        Shape("cost.shape_weights", "[B, h, n, n]", (batch, config.num_heads, n, n), (batch, base.num_heads, n, n)),
        Shape(
            "cost.shape_cache", "[2, B, h, n, d_k]",
            (2, batch, config.num_heads, n, config.head_dim), (2, batch, base.num_heads, n, base.head_dim),
        ),
        Shape("cost.shape_table", "[V, d]", (config.target_vocab_size, config.d_model), (base.target_vocab_size, base.d_model)),
    ]  # fmt: skip


def archive(found: Counted) -> bytes:
    """Counts by part, the settings, and the curves over the length."""
    config = found.config
    grown = cost_curves.growth(config, max(1, found.length), found.size)
    return charts.npz_of(
        {
            **{f"parameters.{name}": value for name, value in cost.parameters_by_part(config).items()},
            **{f"flops.{name}": float(value) for name, value in cost.flops_by_part(config, found.source, found.target).items()},
            **{f"config.{name}": setting for name, setting in config.to_dict().items()},
            "lengths": (found.source, found.target, found.batch, found.size),
            **{f"growth.{name}": [float(value) for value in values] for name, values in vars(grown).items()},
        }
    )


open_page("cost", described, without=lambda selection, atlas: described(selection, atlas, None), needed=("counts",))
