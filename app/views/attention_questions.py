"""What students ask when they see the steps, answered with the numbers of this head."""

from app.text import text
from app.views import html, rows
from app.views.attention_scenes import masking
from app.views.attention_tables import shape
from model.analysis import steps as analysis
from model.analysis.steps import CROSS, HeadSteps
from model.trace import Trace

FIRST_ROWS = 5  # of the decoder, that the table of reading and producing shows


def questions(trace: Trace, steps: HeadSteps, row: int) -> None:
    """Why the root, why minus infinity, what the split does, why a row is there before its word, who gives what."""
    _ask("scale", **_scaling(trace, steps, row))
    _ask("mask")
    counts: dict[str, object] = {"hidden": steps.hidden, "cells": steps.weights.numel()} if steps.hidden else {}
    html.prose(f"attention.answer_mask_{masking(steps)}", kind="", **counts)
    shapes, elsewhere = _split(steps)
    _ask("split", **shapes)
    reshape = "elsewhere" if elsewhere else "same"
    html.prose(f"attention.answer_reshape_{reshape}", kind="", split=shapes["split"], **elsewhere)
    _ask("first", start=trace.target[0].label, first=trace.produced[0].label)
    html.table(
        {text("attention.row"): "number", text("attention.reads"): "word", text("attention.produces"): "word"},
        [
            (number, read.label, produced.label)
            for number, (read, produced) in enumerate(zip(trace.target[:FIRST_ROWS], trace.produced[:FIRST_ROWS], strict=True))
        ],
        text("attention.answer_first_caption"),
    )
    html.heading("attention.ask_sides")
    length, columns = steps.weights.shape
    side = "cross" if steps.attention == CROSS else steps.attention.partition(".")[0]
    html.prose(f"attention.answer_sides_{side}", rows=length, columns=columns)


def _ask(name: str, **values: object) -> None:
    html.heading(f"attention.ask_{name}")
    html.prose(f"attention.answer_{name}", kind="", **values)


def _scaling(trace: Trace, steps: HeadSteps, row: int) -> dict[str, object]:
    measured = analysis.scaling(steps, row)
    asking = rows.asking(trace, steps.spans["query"], rows.named())
    return {
        "head_dim": steps.query.shape[1],
        "scale": html.number(steps.scale),
        "before": html.number(measured.before),
        "after": html.number(measured.after),
        "token": asking[row].label,
        "divided": html.number(measured.divided, 3),
        "undivided": html.number(measured.undivided, 3),
    }


def _split(steps: HeadSteps) -> tuple[dict[str, object], dict[str, object]]:
    """The shapes; and one row that a plain reshape would fill with the numbers of another position, if it fills any so."""
    (length, d_model), heads = steps.x.shape, len(steps.contexts)
    row = min(1, length - 1)
    position, taken = analysis.reshape_reads(heads, length, 0, row)
    shapes: dict[str, object] = {
        "flat": html.Ours(shape((length, d_model))),
        "split": html.Ours(shape((heads, length, steps.query.shape[1]))),
    }
    return shapes, {} if (position, taken) == (row, 0) else {"row": row, "position": position, "other": taken + 1}
