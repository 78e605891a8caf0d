"""Our own sentences, with what to look for in them and the translations that we wrote."""

import tomllib
from dataclasses import dataclass

import streamlit as st

from app import text as texts
from app.session import listed
from app.session.loading import ROOT, languages

USUAL = "en-fr"
EXAMPLES = ROOT / "assets" / "examples"


@dataclass(frozen=True)
class Example:
    """A sentence of our own, and what to look for in it."""

    source: str
    look: str


@st.cache_resource(show_spinner=False, max_entries=32)
def examples(name: str, language: str) -> tuple[Example, ...]:
    """The sentences worth looking at for this model, with the hint in this language."""
    path = EXAMPLES / f"{'-'.join((*languages(name), 'lm')[:2])}.toml"
    if not path.exists():
        return ()
    entries = tomllib.loads(path.read_text("utf-8"))["example"]
    return tuple(Example(entry["source"], entry["look"][language]) for entry in entries)


@st.cache_resource(show_spinner=False, max_entries=32)
def example_pairs(name: str) -> tuple[tuple[str, str], ...]:
    """Those sentences, each with the translation that we wrote for it; empty where there is none."""
    path = EXAMPLES / f"{'-'.join(languages(name))}.toml"
    entries = tomllib.loads(path.read_text("utf-8"))["example"] if path.exists() else []
    return tuple((entry["source"], entry["reference"]) for entry in entries if "reference" in entry)


def first_example(name: str) -> str:
    """The sentence that the app opens with; for a model of others in whose language we have none, an English one."""
    found = examples(name, texts.DEFAULT_LANGUAGE) or (examples(USUAL, texts.DEFAULT_LANGUAGE) if listed.find(name) else ())
    return found[0].source if found else ""
