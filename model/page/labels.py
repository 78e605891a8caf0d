"""What a picture says, in the reader's language: the sentences of the app, read from its files."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "text"


SAVED = ("needs_script", "untitled", "saved_note", "left_out")
"""Sentences of a saved page itself, in the section `saved_page`."""


def languages() -> list[str]:
    """Ids of the languages that the sentences are written in: "en", "zh"."""
    return sorted(file.stem for file in FOLDER.glob("*.toml") if (FOLDER / file.stem).is_dir())


def labels(section: str, language: str, *, writes_on: bool = False) -> dict[str, str]:
    """The sentences of a section by name; of a model that writes on, those that are said of it instead."""
    if language not in languages():
        raise ValueError(f"language={language!r} is not known; choose one of {', '.join(languages())}")
    instead = _file(language, "language_model").get("language_model", {}).get(section, {}) if writes_on else {}
    return {**_section(section, language), **instead}


def _section(section: str, language: str) -> Mapping[str, str]:
    found: Mapping[str, str] = tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8")).get(section, {})
    return found or _file(language, section)[section]


@cache
def _file(language: str, name: str) -> Mapping[str, Any]:
    return tomllib.loads((FOLDER / language / f"{name}.toml").read_text("utf-8"))
