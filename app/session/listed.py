"""The operator's list: models of others that visitors may choose by name; no visitor gives a path.

It is the TOML file that the environment variable ATLAS_OWN_MODELS names (docs/own-models.md). What is wrong with an entry is told
on the page "Your own model" and in the log; everything else is served.
"""

import logging
import os
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from app.session import listed_file
from app.session.listed_file import PREFIX, UNKNOWN, Listed, ModelList
from app.session.remark import Remark
from app.text import DEFAULT_LANGUAGE, filled, sentences

VARIABLE = "ATLAS_OWN_MODELS"
LOOKED = 1.0  # seconds in which the files of the list are not looked at again: every run of every page asks for its names

logger = logging.getLogger(__name__)

State = tuple[tuple[int, int] | None, ...]
_kept: dict[str, tuple[float, State, ModelList]] = {}


@cache
def installed() -> bool:
    """Whether the library is there that reads these models."""
    return find_spec("transformers") is not None


def model_list() -> ModelList:
    """The list of this server, read again when one of its files has changed."""
    written = os.environ.get(VARIABLE, "")
    if not written:
        return ModelList()
    at, state, found = _kept.get(written, (-LOOKED, (), ModelList()))
    if time.monotonic() - at < LOOKED:
        return found
    file = Path(written)
    if state != _state(file, found):
        found = listed_file.read(file)
        _log(found)
    _kept.clear()
    _kept[written] = (time.monotonic(), _state(file, found), found)
    return found


def forget() -> None:
    """Look at all files again at the next question: something was fetched."""
    _kept.clear()


def listed() -> tuple[Listed, ...]:
    """What visitors may choose, also what cannot be loaded now; nothing where the library is not installed."""
    return model_list().models if os.environ.get(VARIABLE) and installed() else ()


def find(name: str) -> Listed | None:
    """The model of the list that is called so."""
    return next((entry for entry in listed() if entry.name == name), None) if name.startswith(PREFIX) else None


def languages(entry: Listed) -> tuple[str, ...]:
    """Source and target of a model that translates, else its one language: as the list says, or its tokenizer."""
    return (*entry.languages, UNKNOWN, UNKNOWN)[: 1 if entry.kind in ("decoder-only", "encoder-only") else 2]


def _state(file: Path, found: ModelList) -> State:
    """What tells the list and its folders from how they were."""
    folders = [entry.folder for entry in found.models if entry.folder is not None]
    return tuple(_stamp(path) for path in (file, *(part for folder in folders for part in (folder, folder / "config.json"))))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_size, known.st_mtime_ns


def _log(found: ModelList) -> None:
    """Whoever runs the server reads English, whoever's visit it was that read the list."""
    for problem in found.problems:
        logger.error("%s: %s", VARIABLE, in_english(problem))
    for entry in found.models:
        if entry.trouble:
            logger.error("%s: %s: %s (%s)", VARIABLE, entry.title, in_english(entry.trouble), entry.folder)
    if not installed():
        logger.error("%s: %s", VARIABLE, in_english(Remark("own.not_installed", {})))


def in_english(remark: Remark) -> str:
    """A remark for the log, and for what is no page."""
    return filled(sentences(DEFAULT_LANGUAGE)[remark.key], remark.values).replace("`", "")
