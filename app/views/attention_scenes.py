"""The steps of one head as scenes of real matrices: what stands beside what, how it is labelled, what is said of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from app.components.matrices import Axis, Matrix, Scene
from app.components.matrices.payload import Law
from app.text import text
from app.views import html, rows
from model.analysis.purpose import DECODER
from model.analysis.steps import CROSS, HeadSteps, Projection, Scaling
from model.trace import Trace

TIMES, PLUS, EQUALS, ARROW, BESIDE = "×", "+", "=", "→", "|"


@dataclass(frozen=True)
class Labels:
    """The axes of one attention: rows under the label that the visitor chose, keys always under the token read."""

    rows: Axis
    keys: Axis
    width: Axis
    head: Axis


def labels(trace: Trace, steps: HeadSteps, row: rows.Named) -> Labels:
    """What names a row of the decoder is for the visitor to choose."""
    return Labels(*axes_of(trace, steps.spans, row), Axis("d_model"), Axis("d_k"))


def axes_of(trace: Trace, spans: Mapping[str, str], row: rows.Named) -> tuple[Axis, Axis]:
    """Rows and keys of one attention, from the sentences that its weights run along."""
    asking = rows.asking(trace, spans["query"], row)
    return (
        rows.axis(text(f"attention.axis_{spans['query']}"), spans["query"], asking),
        rows.axis(text(f"attention.axis_{spans['key']}"), spans["key"], trace.tokens(spans["key"])),
    )


def matrices_of(steps: HeadSteps, axes: Labels) -> list[Matrix]:
    """Every matrix that a scene shows, each once."""
    asking, keys, width, head = axes.rows, axes.keys, axes.width, axes.head
    query, key = steps.compared
    turned = steps.query_rotated is not None
    names = ("Q′", "K′") if turned else ("Q", "K")
    ending = "_rotated" if turned else ""
    found = [
        Matrix("x", steps.x, asking, width, "X"),
        *_projection("query", steps.to_query, axes, "W_Q", "b_Q"),
        *_projection("key", steps.to_key, axes, "W_K", "b_K"),
        *_projection("value", steps.to_value, axes, "W_V", "b_V"),
        Matrix("all_queries", steps.all_queries, asking, width, text("attention.all_heads"), role="query"),
        Matrix("query", steps.query, asking, head, "Q", role="query", path=f"{steps.path}.query"),
        Matrix("key", steps.key, keys, head, "K", role="key", path=f"{steps.path}.key"),
        Matrix("value", steps.value, keys, head, "V", role="value", path=f"{steps.path}.value"),
        Matrix("key_t", key.mT, head, keys, f"{names[1]}ᵀ", role="key", path=f"{steps.path}.key{ending}"),
        Matrix("products", steps.products, asking, keys, f"{names[0]} {names[1]}ᵀ", role="scores"),
        Matrix("scores", steps.scores, asking, keys, "S", role="scores", path=f"{steps.path}.scores"),
        Matrix(
            "masked", steps.masked, asking, keys, "S + B", role="scores", masked=~steps.allowed, path=f"{steps.path}.masked"
        ),
        Matrix(
            "weights", steps.weights, asking, keys, "A", role="weights", scale="unit", masked=~steps.allowed,
            path=f"{steps.path}.weights",
        ),
        *(
            Matrix(f"context_{at}", part, asking, head, text("attention.of_head", head=at + 1))
            for at, part in enumerate(steps.contexts)
        ),
        Matrix("context", steps.context, asking, head, "A V", path=f"{steps.path}.context"),
        Matrix("concat", steps.concat, asking, width, "Concat"),
        Matrix("w_output", steps.weight_output, width, width, "W_O"),
        *_row("b_output", steps.bias_output, width, "b_O"),
        Matrix("output", steps.output, asking, width, "O", path=f"{steps.path}.output"),
    ]  # fmt: skip
    if steps.attention != CROSS:
        # In self-attention the keys' X is the same tensor; its rows are tokens that are read, whatever names the queries.
        found.append(Matrix("memory", steps.memory, keys, width, "X"))
    else:
        found.append(Matrix("memory", steps.memory, keys, width, "M", path="encoder.output"))
    if turned:
        found += [
            Matrix("query_rotated", query, asking, head, names[0], role="query", path=f"{steps.path}.query_rotated"),
            Matrix("key_rotated", key, keys, head, names[1], role="key", path=f"{steps.path}.key_rotated"),
        ]
    return found


def _projection(name: str, projection: Projection, axes: Labels, weight: str, bias: str) -> list[Matrix]:
    return [
        Matrix(f"w_{name}", projection.weight, axes.width, axes.head, weight),
        *_row(f"b_{name}", projection.bias, axes.head, bias),
    ]


def _row(name: str, bias: Tensor | None, columns: Axis, title: str) -> list[Matrix]:
    return [] if bias is None else [Matrix(name, bias[None], Axis("", [""]), columns, title)]


def scenes_of(steps: HeadSteps, measured: Scaling, row: int, column: int) -> list[Scene]:
    """The scenes in order; each opens with the cell of `row` and `column`, or with what that row leads to."""
    cell, kind = (row, column), "cross" if steps.attention == CROSS else "self"
    numbers = _numbers(steps, measured)
    dimension = steps.largest_dimension(row)
    turned = steps.query_rotated is not None
    first, _ = steps.columns
    asked = "query_rotated" if turned else "query"

    def scene(
        name: str, items: Sequence[str], law: Law, cell: tuple[int, int], note: str = "", value: float | None = None
    ) -> Scene:
        said = text(f"attention.note_{note or name}", **numbers)
        return Scene(name, text(f"attention.step_{name}"), items, law, said, value, cell=cell)

    def linear(x: str, name: str, result: str, bias: Tensor | None) -> list[str]:
        return [x, TIMES, f"w_{name}", *([] if bias is None else [PLUS, f"b_{name}"]), EQUALS, result]

    return [
        scene("query", linear("x", "query", "query", steps.to_query.bias), "product", (row, 0)),
        scene("key", linear("memory", "key", "key", steps.to_key.bias), "product", (column, 0), f"key_{kind}"),
        scene("value", linear("memory", "value", "value", steps.to_value.bias), "product", (column, dimension), f"value_{kind}"),
        scene("split", ["all_queries", ARROW, "query"], "slice", (row, 0), value=first),
        *(
            (
                scene("rotate_query", ["query", ARROW, "query_rotated"], "same", (row, 0), "rotate"),
                scene("rotate_key", ["key", ARROW, "key_rotated"], "same", (column, 0), "rotate"),
            )
            if turned
            else ()
        ),
        scene("score", [asked, TIMES, "key_t", EQUALS, "products"], "product", cell),
        scene("scale", ["products", ARROW, "scores"], "scaled", cell, value=steps.factor),
        scene("mask", ["scores", ARROW, "masked"], "mask", cell, f"mask_{masking(steps)}"),
        scene("softmax", ["masked", ARROW, "weights"], "softmax", cell),
        scene("sum", ["weights", TIMES, "value", EQUALS, "context"], "product", (row, dimension)),
        scene("concat", _joined("context", len(steps.contexts), "concat"), "concat", (row, first + dimension)),
        scene("output", linear("concat", "output", "output", steps.bias_output), "product", (row, 0)),
    ]


def masking(steps: HeadSteps) -> str:
    """What there is to say of the mask: it hides cells; it has nothing to hide in a single row; nothing is masked here."""
    if steps.hidden:
        return "causal"
    return "single" if steps.attention == DECODER else "open"


def _joined(name: str, heads: int, result: str) -> list[str]:
    parts = [item for at in range(heads) for item in (f"{name}_{at}", BESIDE)]
    return [*parts[:-1], EQUALS, result]


def _numbers(steps: HeadSteps, measured: Scaling) -> dict[str, object]:
    """What the notes fill in."""
    (length, d_model), (_, head_dim) = steps.x.shape, steps.query.shape
    first, last = steps.columns
    heads = len(steps.contexts)
    return {
        "d_model": d_model,
        "head_dim": head_dim,
        "heads": heads,
        "head": steps.head + 1,
        "first": first,
        "last": last,
        "shape": f"[{heads}, {length}, {head_dim}]",
        "scale": html.number(steps.scale),
        "before": html.number(measured.before),
        "after": html.number(measured.after),
        "hidden": steps.hidden,
        "cells": steps.weights.numel(),
    }
