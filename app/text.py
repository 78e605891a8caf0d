"""Every sentence that a user reads, by key, in the language of the run.

The sentences stand in assets/text/<language>.toml and, a file for each page, assets/text/<language>/*.toml;
`[heads] title = "Heads"` is `text("heads.title")`. The glossary stands in assets/text/glossary.toml, both languages side by
side. The language is a context variable: session.begin_run() sets it first in every page and every fragment, since each of
their runs is a thread of its own. So is the family of the model that the page shows: a sentence that would be wrong of a
language model stands in language_model.toml once more, `[language_model.heads] title = ...`, in place of `heads.title`; in the
same way foreign.toml speaks of models that others made, which call the tokens that are no text by names of their own.
"""

import string
import tomllib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

LANGUAGES = {"en": "English", "zh": "中文"}  # each language is called by its own name, in every language
DEFAULT_LANGUAGE = "en"
FOLDER = Path(__file__).resolve().parents[1] / "assets" / "text"

INSTEAD = "language_model"  # where the sentences stand that replace others when the model writes on
REPLACING = (INSTEAD, "foreign", "foreign_writer", "foreign_reader")  # all such places; a later one replaces an earlier one
OWN_TOKENS = ("<s>", "</s>", "<unk>", "<pad>")  # the names of our models for the tokens that are no text

Replaced = tuple[str, ...]
Renamed = tuple[tuple[str, str], ...]

_language: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)
_of_model: ContextVar[tuple[Replaced, Renamed]] = ContextVar("of_model", default=((), ()))


class MissingTextError(KeyError):
    """A key that the language file lacks, or a value that the sentence asks for and was not given."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Term:
    """One entry of the glossary."""

    id: str
    names: Mapping[str, str]
    sentences: Mapping[str, str]
    symbol: str
    code: str

    @property
    def name(self) -> str:
        """What the term is called in the language of the run."""
        return self.names[language()]

    @property
    def sentence(self) -> str:
        """What it means, in one sentence, in the language of the run."""
        return self.sentences[language()]


def use(name: str, *, writes_on: bool = False, replaced: Sequence[str] = (), tokens: Mapping[str, str] | None = None) -> None:
    """Speak this language until the end of the run, of a model that translates or of one that writes on.

    `replaced`: those of `REPLACING` that hold sentences about this model. `tokens`: what it calls those of `OWN_TOKENS`.
    """
    if name not in LANGUAGES:
        raise ValueError(f"language {name!r} is not known; choose one of {', '.join(LANGUAGES)}")
    _language.set(name)
    sections = tuple(section for section in REPLACING if section in replaced or (writes_on and section == INSTEAD))
    _of_model.set((sections, tuple(sorted((tokens or {}).items()))))


def language() -> str:
    """The language of this run."""
    return _language.get()


def text(key: str, **values: object) -> str:
    """The sentence `key` in the language of the run, its {placeholders} filled with `values`."""
    sentence = template(key)
    try:
        return filled(sentence, values)
    except (KeyError, IndexError) as error:
        raise MissingTextError(f"{key} in {language()}.toml asks for {error}, which was not given") from error


def filled(sentence: str, values: Mapping[str, object]) -> str:
    """The {placeholders} of a sentence filled; of {count:token|tokens} the first is said of 1, the second of any other number."""
    if "|" in sentence:
        return _FILLED.vformat(sentence, (), values)
    return sentence.format(**values) if "{" in sentence or "}" in sentence else sentence  # a page has a thousand of them


class _Filled(string.Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        one, of_several, many = format_spec.partition("|")
        return (one if str(value) == "1" else many) if of_several else str(super().format_field(value, format_spec))


_FILLED = _Filled()


def template(key: str) -> str:
    """The sentence `key` with its {placeholders} still open."""
    try:
        return spoken()[key]
    except KeyError:
        raise MissingTextError(f"{key} is not in assets/text/{language()}.toml; add it in every language") from None


def has(key: str) -> bool:
    """Whether there is a sentence `key`: for lists that are numbered in the file, such as heads.try.1, heads.try.2."""
    return key in spoken()


def numbered(prefix: str) -> list[str]:
    """The keys prefix.1, prefix.2 ... as far as they go."""
    keys: list[str] = []
    while has(key := f"{prefix}.{len(keys) + 1}"):
        keys.append(key)
    return keys


def section(prefix: str) -> dict[str, str]:
    """All sentences whose key begins with `prefix.`, by the rest of the key: the labels that a component is given."""
    return dict(_section(language(), _of_model.get(), f"{prefix}."))


@lru_cache(maxsize=1024)
def _section(name: str, of_model: tuple[Replaced, Renamed], start: str) -> Mapping[str, str]:
    return {key.removeprefix(start): value for key, value in _about(name, *of_model).items() if key.startswith(start)}


def spoken() -> Mapping[str, str]:
    """All sentences of this run's language, as they are said of this run's family of models."""
    return _about(language(), *_of_model.get())


@lru_cache(maxsize=64)
def _about(name: str, replaced: Replaced, tokens: Renamed) -> Mapping[str, str]:
    """Of a numbered list (`heads.try.1`, `heads.try.2`) either all are replaced or none."""
    every = sentences(name)
    found = every
    for section in replaced:
        instead = {key.removeprefix(f"{section}."): value for key, value in every.items() if key.startswith(f"{section}.")}
        lists = {_list_of(key) for key in instead} - {""}
        found = {key: value for key, value in found.items() if _list_of(key) not in lists} | instead
    return {key: _renamed(value, tokens) for key, value in found.items()} if tokens else found


def _renamed(sentence: str, tokens: Renamed) -> str:
    """The sentence with the tokens that it names called as the model calls them; their names are no markup and no placeholder."""
    for ours, theirs in tokens:
        if ours in sentence:
            plain = theirs.replace("`", "").replace("{", "{{").replace("}", "}}")
            sentence = (
                sentence.replace(f"`{ours}`", f"`{plain}`").replace(f"`{ours} ", f"`{plain} ").replace(f" {ours}`", f" {plain}`")
            )
    return sentence


def _list_of(key: str) -> str:
    """The numbered list in which this sentence stands, if it stands in one."""
    prefix, _, last = key.rpartition(".")
    return prefix if last.isdigit() else ""


@cache
def sentences(name: str) -> Mapping[str, str]:
    """All sentences of a language by dotted key; the same key in two files is an error."""
    found: dict[str, str] = {}
    for file in (FOLDER / f"{name}.toml", *sorted((FOLDER / name).glob("*.toml"))):
        for key, sentence in _flattened(tomllib.loads(file.read_text("utf-8"))):
            if key in found:
                raise ValueError(f"{key} of {file.relative_to(FOLDER)} stands in another file already; keep one of them")
            found[key] = sentence
    return found


@cache
def glossary() -> Mapping[str, Term]:
    """All terms by id, in the order of the file."""
    entries = tomllib.loads((FOLDER / "glossary.toml").read_text("utf-8"))
    return {
        id: Term(
            id,
            {name: entry[name] for name in LANGUAGES},
            {name: entry[f"means_{name}"] for name in LANGUAGES},
            entry.get("symbol", ""),
            entry.get("code", ""),
        )
        for id, entry in entries.items()
    }


def _flattened(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += _flattened(value, f"{prefix}{key}.")
        else:
            found.append((f"{prefix}{key}", str(value)))
    return found
