"""What was read of a file of matrices: its format, its attentions, how rows are named, and what is doubtful."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.text import text
from app.views import heads_place, html
from model.adapters.matrices import Doubt
from model.page.view import attentions_of
from model.trace import Trace

LISTED = 8  # doubts that are shown at once


def show(found: session.BroughtMatrices, chosen: int) -> None:
    """The file, and the sentence that is shown."""
    matrices = found.matrices
    trace = matrices.traces[chosen]
    said = [html.sentence("own_matrices.fact_file", file=found.name, format=html.Ours(format_name(matrices.format)))]
    if len(matrices.traces) > 1:
        said.append(html.sentence("own_matrices.fact_sentences", count=len(matrices.traces)))
    if matrices.encoding:
        said.append(html.sentence("own_matrices.fact_encoding", encoding=html.Ours(matrices.encoding.upper())))
    said += [_map(trace, attention) for attention in attentions_of(trace)]
    if any(attention.startswith("decoder") for attention in attentions_of(trace)):
        said.append(html.sentence(f"own_matrices.fact_rows_{_rows(trace)}"))
    html.bullets(said)
    _doubts(found, chosen)


def format_name(format_: str) -> str:
    return text(f"own_matrices.format_{format_.replace('-', '_')}")


def problem(code: str, values: Mapping[str, object], file: str = "", place: tuple[str, int] | None = None) -> str:
    """What is wrong, in the language of the page: file, place, sentence; what stands in the file appears literally."""
    said = html.sentence(f"own_matrices.problem_{code}", **{name: _value(name, value) for name, value in values.items()})
    where = [html.literal(file)] if file else []
    if place:
        where.append(html.sentence(f"own_matrices.at_{place[0]}", number=html.Ours(f"{place[1]:,}")))
    return f"{html.joined(where)}{html.sentence('studio.colon')}{said}" if where else said


def _value(name: str, value: object) -> object:
    """A value as the page says it: a side by its name, numbers; all else as it stands in the file."""
    if name == "side":
        return html.Ours(text(f"studio_pair.side_{value}"))
    return html.Ours(f"{value:,}") if isinstance(value, int) else value


def _map(trace: Trace, attention: str) -> str:
    stack, _, name = attention.partition(".")
    layers = sum(path.startswith(stack) and path.endswith(f"{name}.weights") for path in trace)
    _, heads, queries, keys = trace[f"{stack}.layers.0.{name}.weights"].tensor.shape
    named = html.Ours(heads_place.attention_name(attention))
    return html.sentence("own_matrices.fact_map", attention=named, layers=layers, heads=heads, queries=queries, keys=keys)


def _rows(trace: Trace) -> str:
    """How the rows of the target can be named, as the picture does."""
    if not trace.produced:
        return "read"
    return "produced" if [token.text for token in trace.produced] == [token.text for token in trace.target] else "both"


def _doubts(found: session.BroughtMatrices, sentence: int) -> None:
    """What is doubtful of the whole file and of this sentence; sentences that were left out."""
    doubts = [doubt for doubt in found.matrices.doubts if doubt.sentence in (None, sentence)]
    if not doubts:
        return
    html.prose("own_matrices.doubts", kind="quiet doubt")
    html.bullets([_doubt(doubt) for doubt in doubts[:LISTED]])
    if rest := doubts[LISTED:]:
        with st.expander(text("own_matrices.doubts_more", count=f"{len(rest):,}")):
            html.bullets([_doubt(doubt) for doubt in rest])


def _doubt(doubt: Doubt) -> str:
    said = problem(doubt.message.code, doubt.message.values, place=doubt.left_out)
    return f"{html.sentence('own_matrices.left_out')} {said}" if doubt.left_out else said
