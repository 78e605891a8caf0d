"""The parts that pages have in common, below their picture: formulas, shapes, code, terms, and the bar that saves numbers."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from app import session
from app.text import text
from app.views import html

Block = Callable[[], None]


@dataclass(frozen=True)
class Shape:
    """One row of the table of shapes: what it is, its symbols, and its sizes in this model and in the paper's base model."""

    meaning: str  # key of a sentence
    symbol: str
    here: tuple[int, ...]
    paper: tuple[int, ...]


@dataclass(frozen=True)
class Formula:
    """A formula, and under it the same with this example's numbers; `note` is the key of a sentence that says whose they are."""

    general: str
    numbers: str
    note: str
    values: dict[str, object]


@dataclass(frozen=True)
class Export:
    """What the NPZ button saves: a file name and a function that makes the file when it is clicked."""

    file_name: str
    content: Callable[[], bytes]
    note: str = "page.export_note"


def anchor(title: str) -> str:
    """Where the address of a part points."""
    return f"part-{title.replace('.', '-').replace('_', '-')}"


def section(title: str, content: Block) -> None:
    """One part in a frame, under its heading, to which a link can point."""
    with st.container(border=True, key=title.replace(".", "_")):
        html.heading(title, anchor=anchor(title))
        content()


def formulas(written: Sequence[Formula]) -> None:
    """Each in general, and with this example's numbers."""
    for formula in written:
        st.latex(formula.general)
        st.latex(formula.numbers)
        html.prose(formula.note, kind="quiet", **formula.values)


def shapes(rows: Sequence[Shape]) -> None:
    """The table of what has which shape, here and in the paper."""
    html.table(
        {
            text("page.shape_meaning"): "rich",
            text("page.shape_symbol"): "code",
            text("page.shape_here"): "code",
            text("page.shape_paper"): "code",
        },
        [(html.sentence(shape.meaning), shape.symbol, _sizes(shape.here), _sizes(shape.paper)) for shape in rows],
        text("page.shapes"),
        titled=True,
    )
    html.prose("page.shapes_note", kind="quiet")


def _sizes(sizes: Sequence[int]) -> str:
    return f"[{', '.join(f'{size:,}' for size in sizes)}]"


@st.fragment
def code(written: Sequence[Callable[..., Any] | type]) -> None:
    """A box for each function. Only one that is opened is filled: what colours the code weighs more than the rest of a page."""
    session.begin_run()
    html.prose("page.code_note", kind="quiet")
    for part in written:
        name = f"{part.__module__}.{part.__qualname__}"
        label = text("page.code_box", name=name, count=_source(part).count("\n"))
        with st.expander(label, on_change="rerun", key=f"code_{name}") as opened:
            if opened.open:
                st.code(_source(part), language="python")


@cache
def _source(part: Callable[..., Any] | type) -> str:
    return textwrap.dedent(inspect.getsource(part))


def terms(name: str) -> None:
    """A button for each term of the glossary that a page speaks of."""
    found = html.terms_in(html.keys(f"{name}.") + html.keys("picture."))
    if found:
        st.html(
            f'<div class="atlas-terms"><span>{html.sentence("page.terms")}</span>'
            f"{' '.join(html.term_button(term) for term in found)}</div>"
        )


def export(name: str, numbers: Export) -> None:
    """The button that saves the numbers of a page."""
    with st.container(horizontal=True, vertical_alignment="center", key="export_bar"):
        st.download_button(
            text("page.npz"),
            data=numbers.content,
            file_name=numbers.file_name,
            mime="application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            key=f"npz_{name}",
        )
        html.prose(numbers.note, kind="quiet")
