"""The stories of the gallery: which sentence, model and place each is about, where it opens, and what it measures there.

They do not depend on the visitor: each is measured once and shared by all.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from app.session import premeasured
from app.session.computed import trace
from app.session.loading import damage, load, models
from app.session.places import Place
from model.analysis import findings
from model.analysis.ablation import Head
from model.analysis.findings import Told

FILE = Path(__file__).resolve().parents[2] / "assets" / "findings.toml"
LARGEST = 64  # stories whose numbers are kept


@dataclass(frozen=True)
class Finding:
    """A story: its name in the texts and in `model.analysis.findings`, what it looks at, the page that shows it, that page's
    choices in the URL, and what its function is given.
    """

    name: str
    model: str
    text: str
    place: Place
    page: str
    choices: Mapping[str, str | list[str]]
    given: Mapping[str, Any]

    def parameters(self, language: str) -> dict[str, str | list[str]]:
        """The URL that opens the story's place."""
        return {"lang": language, "model": self.model, "text": self.text, **self.place.parameters(), **self.choices}


@cache
def stories() -> tuple[Finding, ...]:
    """All of them, in the order of the page."""
    return tuple(
        Finding(
            entry["name"],
            entry["model"],
            entry["text"],
            Place(entry["attention"], entry["layer"], entry["head"]),
            entry["page"],
            entry.get("choices", {}),
            entry.get("with", {}),
        )
        for entry in tomllib.loads(FILE.read_text("utf-8"))["story"]
    )


@st.cache_resource(show_spinner=False, max_entries=LARGEST)
def told(name: str) -> Told | None:
    """What a story tells; None where its model is not here, or does not do what the story says."""
    (story,) = (story for story in stories() if story.name == name)
    if story.model not in models() or damage(story.model):
        return None
    place = story.place
    measured: Told | None
    if (known := premeasured.found(f"{findings.__name__}.{name}", story.model, of(story))) is not premeasured.NOTHING:
        measured = known
        return measured
    found = trace(story.model, story.text)
    if f"{place.path}.weights" not in found or place.head >= found[f"{place.path}.weights"].size("head"):
        return None
    measured = getattr(findings, name)(load(story.model), found, Head(place.attention, place.layer, place.head), **story.given)
    return measured


def of(story: Finding) -> tuple[str, str, str]:
    """What a story's numbers depend on, beside its model and its function."""
    return story.text, story.place.path + f".{story.place.head}", json.dumps(story.given, sort_keys=True)
