"""The shipped models: which there are, what their names say, and the one object of each that all visitors share."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import streamlit as st

import model
from model import checkpoint
from model.alignment import words
from model.checkpoint import CheckpointError
from model.translator import Atlas

ROOT = Path(__file__).resolve().parents[2]


def models() -> tuple[str, ...]:
    """The names of the shipped models."""
    return model.available()


def default_model(language: str, written: str) -> str:
    """The model that a visitor meets first: one that reads their sentence, or else their own language."""
    names = models()
    for name in (f"{language}-en", f"en-{language}", "en-fr", *names):
        if name in names and reads(name, written):
            return name
    return names[0] if names else "en-fr"


def reads(name: str, written: str) -> bool:
    """Whether a text may be in the source language of a model. Chinese is told from other writing, not English from French."""
    share = words.chinese_share(written[:1000])  # the rest of a long text is not asked
    return share is None or (share > 0 if languages(name)[0] == "zh" else share <= 0.5)


def reader(name: str, written: str) -> str:
    """Another model that reads this text, the reverse of `name` before all others; empty if there is none."""
    found = [other for other in loaded(models()) if reads(other, written)]
    return min(found, key=lambda other: languages(other) != languages(name)[::-1], default="")


def languages(name: str) -> tuple[str, ...]:
    """The languages of a model, from its name: source and target of "en-fr" and "en-fr-rotary", the one of "en-lm"."""
    source, _, rest = name.partition("-")
    return (source,) if writes_on(name) else (source, rest.partition("-")[0])


def writes_on(name: str) -> bool:
    """Whether this is a language model, which writes on after a text, from its name: "en-lm"."""
    return name.split("-")[1:2] == ["lm"]


@st.cache_resource(show_spinner=False)
def load(name: str) -> Atlas:
    """The model of this name, one object for all visitors; raises CheckpointError, and then tries again the next time."""
    return model.load(name)


def loaded(names: Sequence[str]) -> dict[str, Atlas]:
    """Those of the models that can be loaded: a damaged one is told on its page and does not hide the others."""
    return {name: load(name) for name in names if _loads(name, _state(name))}


@st.cache_resource(show_spinner=False, max_entries=64)
def _loads(name: str, state: tuple[tuple[str, int, int], ...]) -> bool:
    """Whether a model can be loaded whose files are in this state: a damaged one is not read again until they change."""
    try:
        load(name)
    except CheckpointError:
        return False
    return True


def _state(name: str) -> tuple[tuple[str, int, int], ...]:
    """What tells the files of a model from others that may take their place: names, sizes, times."""
    found = []
    for path in sorted((checkpoint.SHIPPED / name).glob("*")):
        with suppress(OSError):  # gone in between
            known = path.stat()
            found.append((path.name, known.st_size, known.st_mtime_ns))
    return tuple(found)


def without_folder(message: str) -> str:
    """The message without the path of this installation, which is nobody's business in a browser."""
    return message.replace(f"{ROOT}{os.sep}", "")
