"""Alignment studio: bring pairs of sentences, see how a model aligns them, score it, correct it, take it away."""

import importlib
from types import ModuleType

import streamlit as st

from app import session
from app.views import anatomy, html, linked, studio_input, studio_work
from app.views.anatomy import Anatomy, Section
from model.alignment.metrics import alignment_error_rate

PAIR = "pair"


def described() -> Anatomy:
    found = session.study()
    sections = []
    if found is not None and found.results:
        sections = [
            Section("studio.pair_title", lambda: _show("studio_pair", found, linked.number(PAIR, range(found.done), 0))),
            Section("studio.heads_title", lambda: _show("studio_heads", found)),
            Section("studio.out_title", lambda: _show("studio_out", found)),
        ]
    return Anatomy("studio", stage, sections=sections, code=(alignment_error_rate,))


def stage() -> None:
    studio_input.show()
    studio_work.show()


def _show(name: str, *given: object) -> None:
    if part := _part(name):
        part.show(*given)


def _part(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"app.views.{name}")
    except ModuleNotFoundError:
        return None


session.begin_run()
anatomy.show(described())
