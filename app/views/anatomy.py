"""The frame of every page, the same everywhere.

idea · contents · stage (the picture, its controls right above it, the export bar below) · further sections · formula with this
example's numbers · table of shapes · what if · the code · things to try · next.

A page describes itself with an `Anatomy` and calls `show`. Its sentences are found by the page's name: `<page>.title`,
`.idea`, `.what_if`, and as many `.try.1`, `.try.2` as the text file holds.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from app import session
from app.text import numbered, text
from app.views import examples, html, needs, pages, parts, presenter, sections, share, take_away
from app.views.needs import Need
from app.views.presenter import Slide
from app.views.sections import Block, Export, Formula, Shape
from model.trace import Trace
from model.translator import Opened

__all__ = [
    "ORDER",
    "Anatomy",
    "Export",
    "Formula",
    "Section",
    "Shape",
    "begin",
    "model_of",
    "open_page",
    "refuse",
    "show",
    "tell",
]

# The pages in the order in which data flows; after the last comes the first.
ORDER = (
    "translate",
    "findings",
    "architecture",
    "tokens",
    "positions",
    "rotary",
    "attention",
    "heads",
    "masks",
    "three_attentions",
    "layers",
    "decoding",
    "training",
    "cost",
    "families",
    "own",
    "studio",
)


@dataclass(frozen=True)
class Section:
    """A part of a page below its stage, in a card of its own: its heading's key, what draws it, what it asks of the model."""

    title: str
    content: Block
    needs: Sequence[Need] = ()


@dataclass(frozen=True)
class Anatomy:
    """A page. Whatever is empty is left out, so a page that cannot show a picture still has its frame."""

    name: str
    stage: Block
    export: Export | None = None
    slides: Sequence[Block] = ()  # of a stage that presenter mode shows in several parts
    sections: Sequence[Section] = ()
    formulas: Sequence[Formula] = ()
    shapes: Sequence[Shape] = ()
    what_if: Block | None = None
    what_if_needs: Sequence[Need] = ()
    code: Sequence[Callable[..., Any] | type] = ()
    numbers: Export | None = None  # of a page without an NPZ button, for its pack
    pictured: bool = True  # whether there is anything to take away
    tries: bool = True  # whether there is anything to try
    still: Collection[str] = ()  # titles of parts that nothing changes which is chosen outside of them


def open_page(
    name: str,
    described: Callable[[session.Selection, Any, Trace], Anatomy],
    refused: Callable[[session.Selection, session.Remark], None] | None = None,
    without: Callable[[session.Selection, Any], Anatomy] | None = None,
    needed: Sequence[Need] = (),
) -> None:
    """What every page does: the chosen model and the trace of the visitor's sentences, described and drawn.

    A model that cannot be loaded and a text that cannot be shown are told in the page's own frame; `refused` draws the latter,
    and of a page that needs no text `without` describes it. `described` takes models of either family. Of a model that has not
    what is `needed` the page says why it shows nothing.
    """
    selection = session.begin_run()
    atlas = model_of(selection, name)
    if atlas is None:
        return
    if need := needs.missing(atlas, needed):
        show(Anatomy(name, partial(needs.instead_of_page, atlas, need), pictured=False, tries=False))
        return
    if refusal := session.refused(atlas, selection.text, selection.target):
        if without:
            show(_fitted(without(selection, atlas), atlas), lambda: _fitted(without(session.current(), atlas), atlas))
            return
        show(Anatomy(name, lambda: (refused or refuse)(selection, refusal), pictured=False))
        return
    trace = session.trace(selection.model, selection.text, selection.target, selection.beam)
    show(_fitted(described(selection, atlas, trace), atlas), lambda: _fitted(described(session.current(), atlas, trace), atlas))


def _fitted(page: Anatomy, atlas: Opened) -> Anatomy:
    """The page with a sentence in place of each part that asks for something which the model has not."""

    def instead(asked: Sequence[Need], content: Block) -> Block:
        need = needs.missing(atlas, asked)
        return partial(needs.instead_of_part, atlas, need) if need else content

    sections = [replace(section, content=instead(section.needs, section.content)) for section in page.sections]
    what_if = page.what_if and instead(page.what_if_needs, page.what_if)
    return replace(page, sections=sections, what_if=what_if, code=needs.code_of(atlas, page.code))


def show(page: Anatomy, again: Callable[[], Anatomy] | None = None) -> None:
    """Draw a whole page, or in presenter mode one slide of it.

    `again` describes it anew after one of its own choices; without it every choice runs the whole page.
    """
    if session.presenting():
        _present(page)
        return
    begin(page.name)
    _contents(page)
    _doubts(page.name)
    html.unseen_heading("presenting.stage")
    if again:
        parts.draw(_body(page), lambda: _body(again()))
    else:
        for part in _body(page):
            part.draw()
    if page.code:
        sections.section("page.code", lambda: sections.code(page.code))
    if tries := _tries(page):
        sections.section("page.try", lambda: html.bullets([html.sentence(key) for key in tries]))
    sections.terms(page.name)
    after = ORDER[(ORDER.index(page.name) + 1) % len(ORDER)]
    st.page_link(
        pages.page(after),
        label=text("page.next", page=text(f"{after}.title")),
        icon=":material/arrow_forward:",
        query_params=session.current().parameters(),
    )


def _body(page: Anatomy) -> list[parts.Part]:
    """The parts of a page that may follow its choices, in their order."""
    titled: dict[str, Block] = {
        section.title: partial(sections.section, section.title, section.content) for section in page.sections
    }
    if page.formulas:
        titled["page.formula"] = partial(sections.section, "page.formula", partial(sections.formulas, page.formulas))
    if page.shapes:
        titled["page.shapes"] = partial(sections.section, "page.shapes", partial(sections.shapes, page.shapes))
    if page.what_if:
        titled["page.what_if"] = partial(_what_if, page.what_if)
    return [
        parts.Part("stage", partial(_stage, page)),
        *(parts.Part(title, draw, title in page.still) for title, draw in titled.items()),
    ]


def _stage(page: Anatomy) -> None:
    page.stage()
    if page.export:
        sections.export(page.name, page.export)
    if page.pictured:
        _take_away(page)


def _what_if(content: Block) -> None:
    with st.container(key="what_if"):
        html.heading("page.what_if", anchor=sections.anchor("page.what_if"))
        content()


def model_of(selection: session.Selection, name: str) -> Opened | None:
    """The chosen model. If it cannot be loaded, the page `name` says which file is to blame and what to do, and is done."""
    damage = session.damage(selection.model)
    if not damage:
        atlas = session.load(selection.model)
        if not atlas.ours:  # only now its own names of tokens are known
            session.speak(selection.language, selection.model)
        return atlas

    def say() -> None:
        if session.models():
            html.notice("error", "errors.checkpoint", name=selection.model, reason=damage)
        else:
            html.notice("error", "errors.no_models")

    show_instead(name, say)
    return None


def show_instead(name: str, say: Block) -> None:
    """The page with its title and idea, and what is said in place of all else."""
    if session.presenting():
        _present(Anatomy(name, say))
    else:
        begin(name)
        say()


def begin(name: str) -> None:
    """Title and idea, and that a link asked for a model that is not here."""
    with st.container(horizontal=True, vertical_alignment="center", key="page_head"):
        st.title(text(f"{name}.title"), anchor=False)
        with st.container(horizontal=True, vertical_alignment="center", width="content", key="page_tools"):  # wrap together
            share.control(name)
            presenter.control()
    _idea(name)


def _idea(name: str) -> None:
    html.prose(f"{name}.idea", kind="idea")
    selection = session.current()
    if selection.asked:
        html.notice("warning", "errors.unknown_model", asked=selection.asked, name=selection.model)


def _doubts(name: str) -> None:
    if name not in ("translate", "findings", "own", "studio"):  # which says it under the translation; which have other sentences
        for remark in session.doubts(session.current()):
            html.prose(remark.key, kind="quiet doubt", **remark.values)


def _present(page: Anatomy) -> None:
    """Its parts as slides, one formula and one thing to try at a time; the code is left to the page."""

    def idea() -> None:
        _idea(page.name)
        _doubts(page.name)

    slides = [
        Slide("idea", f"{page.name}.title", idea),
        *(Slide("stage", "presenting.stage", part, headed=False) for part in page.slides or (page.stage,)),
        *(Slide("section", section.title, section.content, sections.anchor(section.title)) for section in page.sections),
        *(
            Slide("formula", "page.formula", partial(sections.formulas, (one,)), sections.anchor("page.formula"))
            for one in page.formulas
        ),
    ]
    if page.shapes:
        slides.append(Slide("shapes", "page.shapes", lambda: sections.shapes(page.shapes), sections.anchor("page.shapes")))
    if page.what_if:
        slides.append(Slide("what_if", "page.what_if", page.what_if, sections.anchor("page.what_if")))
    for key in _tries(page):
        slides.append(Slide("try", "page.try", partial(html.prose, key), sections.anchor("page.try")))
    at = ORDER.index(page.name)
    presenter.show(page.name, slides, previous=ORDER[at - 1], next=ORDER[(at + 1) % len(ORDER)])


def _contents(page: Anatomy) -> None:
    """Links to the parts below the stage, in their order."""
    common = {
        "page.formula": page.formulas,
        "page.shapes": page.shapes,
        "page.what_if": page.what_if,
        "page.code": page.code,
        "page.try": _tries(page),
    }
    titles = [section.title for section in page.sections] + [title for title, there in common.items() if there]
    if len(titles) > 2:
        html.contents("page.contents", {sections.anchor(title): title for title in titles})


def _tries(page: Anatomy) -> list[str]:
    return numbered(f"{page.name}.try") if page.tries else []


def _take_away(page: Anatomy) -> None:
    numbers = page.export or page.numbers
    take_away.bar(page.name, numbers.content if numbers else None, html.plain(numbers.note) if numbers else "")


def tell(remark: session.Remark, kind: str = "warning") -> None:
    """Say a remark of session in a box, with a way to the model that suits the text better."""
    html.notice(kind, remark.key, **remark.values)
    if remark.model:
        label = text("limits.read_with", name=remark.model)
        st.button(label, icon=":material/translate:", key="read_with", on_click=lambda: session.select(model=remark.model))


def refuse(selection: session.Selection, refusal: session.Remark) -> None:
    """Why there is no picture, and sentences that have one."""
    tell(refusal, "error")
    examples.choose(selection)
