"""The models: which there are, what they read, and the one object of each that all visitors share.

Beside the shipped ones the operator may list models of others (`listed`), which are loaded when somebody asks for them. And a
visitor may have models of their own, trained here: only their session knows these names.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

import model
from app.session import listed
from app.session.common_words import may_be
from app.session.own import own_models
from app.session.shelf import shelf
from app.text import text
from model import checkpoint
from model.analysis.what_if import alter
from model.checkpoint import CheckpointError
from model.config import ModelConfig
from model.practice.order import ALTERED
from model.tokenizer import Token
from model.translator import Atlas, Opened, Reader, Translator

ROOT = Path(__file__).resolve().parents[2]
KNOWN = 64  # models of whose files something is kept: the shipped ones and those of visitors
LOOKED = 1.0  # seconds in which files that were looked at are not looked at again: every run of every page asks for all of them

_shipped: dict[Path, tuple[float, tuple[str, ...]]] = {}


def models() -> tuple[str, ...]:
    """The names of the shipped models, of those on the operator's list, and of those that this visitor has trained."""
    at, names = _shipped.get(checkpoint.SHIPPED, (0.0, ()))
    if not names or time.monotonic() - at > LOOKED:
        names = model.available()
        _shipped.clear()
        _shipped[checkpoint.SHIPPED] = (time.monotonic(), names)
    return (*names, *(entry.name for entry in listed.listed()), *own_models())


def folder_of(name: str) -> Path:
    """Where the files of a model are."""
    entry = listed.find(name)
    return (entry and entry.folder) or own_models().get(name) or checkpoint.SHIPPED / name


def default_model(language: str, written: str) -> str:
    """The model that a visitor meets first: one that reads their sentence, or else their own language."""
    names = tuple(name for name in models() if not listed.find(name) or shelf.peek(name)) or models()
    for name in (f"{language}-en", f"en-{language}", "en-fr", *names):
        if name in names and reads(name, written):
            return name
    return names[0] if names else "en-fr"


def reads(name: str, written: str) -> bool:
    """Whether a text may be in the source language of a model, as far as its writing and its words tell.

    Of a model whose words are all known, whether most words of the text are among them.
    """
    if known_words(name):
        tokens = load(name).tokenizers.source.encode(written[:1000]) if loaded([name]) else ()
        return 2 * sum(token.unknown for token in tokens) <= len(tokens)
    return may_be(written, languages(name)[0])


def reader(name: str, written: str) -> str:
    """Another model that reads this text, the reverse of `name` before all others; empty if there is none."""
    found = [other for other in loaded(models()) if reads(other, written)]
    return min(found, key=lambda other: languages(other) != languages(name)[::-1], default="")


def languages(name: str) -> tuple[str, ...]:
    """The languages of a model: source and target, or the one of a language model.

    The card says them; where it does not, the name: "en-fr" and "en-fr-rotary", "en-lm".
    """
    if entry := listed.find(name):
        return listed.languages(entry)
    if said := _card(name).get("languages"):
        return tuple(str(said[side]) for side in ("source", "target", "text") if side in said)
    source, _, rest = name.partition("-")
    return (source,) if writes_on(name) else (source, rest.partition("-")[0])


def writes_on(name: str) -> bool:
    """Whether this is a language model, which writes on after a text, from its name: "en-lm"."""
    entry = listed.find(name)
    return entry.kind == "decoder-only" if entry else name.split("-")[1:2] == ["lm"]


def known_words(name: str) -> bool:
    """Whether the vocabulary of a model is closed: a small language whose words are all known."""
    return not listed.find(name) and bool(_card(name).get("closed_vocabulary", False))


def unknown(atlas: Opened, written: str) -> tuple[Token, ...]:
    """The pieces of a text that the model has no id for, each once."""
    found = {token.text: token for token in atlas.tokenizers.source.encode(written) if token.unknown}
    return tuple(found.values())


def _card(name: str) -> dict[str, Any]:
    """The card of a model; empty if it cannot be read, which loading the model tells."""
    found = _files(name)
    if found.card is None:
        try:
            found.card = checkpoint.load_card(folder_of(name))
        except CheckpointError:
            found.card = {}
    return found.card


def config_of(name: str) -> ModelConfig | None:
    """What a model is made of, without loading it: None of one that is known to be damaged, or whose file says nothing.

    Of a model of the operator's list, once it is in memory.
    """
    if listed.find(name):
        found = shelf.peek(name)
        return found.config if found else None
    files = _files(name)
    if files.config is None and not files.damage:
        try:
            files.config = checkpoint.load_config(folder_of(name))
        except CheckpointError as error:
            files.damage = without_folder(str(error))
    return None if files.damage else files.config


def writer(name: str) -> Atlas:
    """The model of this name, of which is known that it writes."""
    atlas = load(name)
    assert not isinstance(atlas, Reader), f"{name} writes nothing"
    return atlas


def load(name: str) -> Opened:
    """The model of this name, one object for all visitors; raises CheckpointError, and then tries again the next time.

    One of the operator's list may have to be loaded first, which takes a while: pages ask `arriving` before.
    """
    if entry := listed.find(name):
        return shelf.take(entry)
    own = own_models().get(name)
    return _load(name) if own is None else _load_own(name, own)


@st.cache_resource(show_spinner=False)
def _load(name: str) -> Atlas:
    return model.load(name)


@st.cache_resource(show_spinner=False, max_entries=32)
def _load_own(name: str, folder: Path) -> Atlas:
    """A visitor's model, with what was left out in its training left out again."""
    atlas = replace(model.load(folder), name=name)
    if isinstance(atlas, Translator):
        alter(atlas.model, [what for what in atlas.card["architecture"]["without"] if what in ALTERED])
    return atlas


def arriving(name: str) -> bool:
    """Whether this is a model of the operator's list that has to be loaded before a page can show it (`brought.bring`)."""
    entry = listed.find(name)
    return entry is not None and not entry.trouble and shelf.is_awaited(entry)


def loaded(names: Sequence[str]) -> dict[str, Opened]:
    """Those of the models that can be loaded: a damaged one is told on its page and does not hide the others.

    Of those on the operator's list, those that are in memory: to look at all of them is no reason to load them.
    """
    found = {name: shelf.peek(name) if listed.find(name) else None if damage(name) else load(name) for name in names}
    return {name: atlas for name, atlas in found.items() if atlas is not None}


def damage(name: str) -> str:
    """Why a model cannot be loaded, for the visitor; empty if it can be, or nobody has tried one of the operator's list."""
    if entry := listed.find(name):
        refusal = entry.trouble or shelf.look(name).refusal
        return text(refusal.key, **refusal.values) if refusal else ""
    found = _files(name)
    if found.damage is None:
        try:
            load(name)
            found.damage = ""
        except CheckpointError as error:
            found.damage = without_folder(str(error))
    return found.damage


@dataclass
class _Files:
    """What is known of a model whose files are in this state; None: not asked yet."""

    state: tuple[tuple[str, int, int], ...]
    card: dict[str, Any] | None = None
    config: ModelConfig | None = None
    damage: str | None = None
    looked: float = 0.0  # when the state was last compared with that of the files


def _files(name: str) -> _Files:
    """The same as long as the files stay as they are: a damaged model is read again a second after they changed."""
    folder, known = folder_of(name), _known()
    found = known.get(folder)
    if found is not None and time.monotonic() - found.looked < LOOKED:
        return found
    state = _state(folder)
    if found is None or found.state != state:
        if len(known) >= KNOWN:
            oldest, *_ = tuple(known)  # a copy: other visitors' threads write into it meanwhile
            known.pop(oldest, None)
        found = known[folder] = _Files(state)
    found.looked = time.monotonic()
    return found


@st.cache_resource(show_spinner=False)
def _known() -> dict[Path, _Files]:
    """One for all visitors. Every page asks it of every model: a dictionary, since Streamlit hashes what its caches are asked."""
    return {}


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells the files of a model from others that may take their place: names, sizes, times."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # gone in between
                known = entry.stat()
                found.append((entry.name, known.st_size, known.st_mtime_ns))
    return tuple(sorted(found))


def without_folder(message: str) -> str:
    """The message without the path of this installation, which is nobody's business in a browser."""
    return message.replace(f"{ROOT}{os.sep}", "")
