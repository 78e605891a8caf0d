"""What the operator's list of models says, each entry checked: what was given, what is needed, what to do."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.session.remark import Remark
from model.adapters.hugging_face import AdapterError, Folder, hub, inspect
from model.alignment.formats import language_tags

PREFIX = "own-"
UNKNOWN = "und"  # a language that nobody named, by ISO 639-2
NUMBERS = {"most": 2, "idle_minutes": 30}  # models in memory at once; minutes that one stays there unused
LARGEST = 1_000  # of these numbers
TEXTS = ("title", "name", "folder", "hub", "revision", "source_language", "target_language", "prefix")
FIELDS = (*TEXTS, "languages", "pickles")
TABLE = "[[model]]"
ON_A_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True)
class Listed:
    """One model of the list. `name` is what visitors choose; it lies in a `folder` on this disk, or is called so on a `hub`.

    `found` is what lies in the folder, as far as it could be looked into; `trouble` says why it cannot be loaded.
    """

    name: str
    title: str
    folder: Path | None = None
    hub: str = ""
    revision: str = ""
    pickles: bool = False
    languages: tuple[str, ...] = ()
    source_language: str | None = None
    target_language: str | None = None
    prefix: str = ""
    found: Folder | None = None
    trouble: Remark | None = None

    @property
    def architecture(self) -> str:
        """Their `model_type`; empty where nobody knows yet."""
        return self.found.architecture if self.found else ""

    @property
    def kind(self) -> str:
        """Its family: "encoder-decoder", "decoder-only", "encoder-only"; empty where nobody knows yet."""
        return self.found.kind if self.found else ""


@dataclass(frozen=True)
class ModelList:
    """The whole file: its models, and what is wrong with other entries. `given`: whether there is a list at all."""

    given: bool = False
    models: tuple[Listed, ...] = ()
    problems: tuple[Remark, ...] = ()
    most: int = NUMBERS["most"]
    idle_minutes: int = NUMBERS["idle_minutes"]


class _WrongError(Exception):
    """What is wrong with an entry, as the key of a sentence and its values."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.remark = Remark(f"own.problem_{key}", values)


def read(file: Path) -> ModelList:
    """What a file lists; never raises."""
    try:
        given = tomllib.loads(file.read_text("utf-8"))
    except OSError:
        return ModelList(True, problems=(_WrongError("no_file", file=file.name).remark,))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return ModelList(True, problems=(_WrongError("not_toml", file=file.name, reason=str(error)).remark,))
    problems, models, numbers = list[Remark](), dict[str, Listed](), dict(NUMBERS)
    entries = given.get("model", [])
    for check in (_same_fields, _entries, _numbers):
        try:
            check(file.name, given, numbers)
        except _WrongError as wrong:
            problems.append(wrong.remark)
    for number, entry in enumerate(entries if isinstance(entries, list) else (), 1):
        try:
            made = _entry(entry, number, file.parent)
            if (other := models.get(made.name)) is not None:
                raise _WrongError("same_name", entry=made.title, other=other.title, name=made.name.removeprefix(PREFIX))
        except _WrongError as wrong:
            problems.append(wrong.remark)
        else:
            models[made.name] = looked_into(made)
    return ModelList(True, tuple(models.values()), tuple(problems), numbers["most"], numbers["idle_minutes"])


def looked_into(entry: Listed) -> Listed:
    """The same with what lies in its folder now."""
    if entry.hub:
        entry = replace(entry, folder=hub.cached(entry.hub, entry.revision))
    if entry.folder is None:  # not fetched yet
        return entry
    if not entry.folder.is_dir():
        return replace(entry, found=None, trouble=Remark("own.trouble_no_folder", {"folder": entry.folder.name}))
    try:
        found = inspect(entry.folder, pickles=entry.pickles)
    except AdapterError as error:
        if entry.hub:  # not wholly fetched, perhaps
            return replace(entry, folder=None)
        return replace(entry, found=None, trouble=unreadable(error))
    return replace(entry, found=found, trouble=None, languages=entry.languages or _languages_of(entry, entry.folder))


def unreadable(error: AdapterError) -> Remark:
    """Why a folder cannot be opened. What its reader says is English, and stands in a page as plain text."""
    return Remark("own.trouble_reason", {"reason": str(error).replace("`", "")})


def _languages_of(entry: Listed, folder: Path) -> tuple[str, ...]:
    """Source and target as the tokenizer of the folder names them, if it does."""
    written: dict[str, Any] = {}
    with suppress(OSError, ValueError, TypeError):
        written = dict(json.loads((folder / "tokenizer_config.json").read_text("utf-8")))
    codes = (entry.source_language or written.get("source_lang"), entry.target_language or written.get("target_lang"))
    return tuple(language_tags.normal(code).split("-")[0] if isinstance(code, str) and code else UNKNOWN for code in codes)


def _same_fields(file: str, given: Mapping[str, Any], _: dict[str, int]) -> None:
    if unknown := sorted(set(given) - {"model", *NUMBERS}):
        raise _WrongError("field", entry=file, field=", ".join(unknown), known=", ".join((*NUMBERS, TABLE)))


def _entries(file: str, given: Mapping[str, Any], _: dict[str, int]) -> None:
    if not given.get("model") or not isinstance(given["model"], list):
        raise _WrongError("no_entries", file=file, table=TABLE)


def _numbers(_: str, given: Mapping[str, Any], numbers: dict[str, int]) -> None:
    for field in set(NUMBERS) & set(given):
        if type(given[field]) is not int or not 1 <= given[field] <= LARGEST:
            raise _WrongError("number", field=field, given=repr(given[field]), most=LARGEST, usual=NUMBERS[field])
        numbers[field] = given[field]


def _entry(given: object, number: int, beside: Path) -> Listed:
    """An entry with every field checked; a folder that is no whole path is looked for `beside` the list."""
    if not isinstance(given, dict):
        raise _WrongError("no_table", number=number, table=TABLE)
    title = given.get("title")
    called = title if isinstance(title, str) and title.strip() else f"{TABLE} {number}"
    if unknown := sorted(set(given) - set(FIELDS)):
        raise _WrongError("field", entry=called, field=", ".join(unknown), known=", ".join(FIELDS))
    for field in TEXTS:
        if field in given and not (isinstance(given[field], str) and given[field].strip()):
            raise _WrongError("text", entry=called, field=field, given=repr(given[field]))
    if called != title:
        raise _WrongError("no_title", entry=called)
    if ("folder" in given) == ("hub" in given):
        raise _WrongError("no_place" if "hub" not in given else "two_places", entry=called)
    if "hub" in given and not ON_A_HUB.fullmatch(given["hub"]):
        raise _WrongError("hub", entry=called, given=given["hub"])
    if "revision" in given and "hub" not in given:
        raise _WrongError("revision", entry=called)
    if not isinstance(given.get("pickles", False), bool):
        raise _WrongError("pickles", entry=called, given=repr(given["pickles"]))
    folder = _folder(beside, given["folder"]) if "folder" in given else None
    place = given.get("name") or (folder.name if folder else given["hub"].rpartition("/")[2])
    return Listed(
        name=PREFIX + _slug(place, called),
        title=called.strip(),
        folder=folder,
        languages=_languages(given.get("languages", []), called),
        **{field: given[field] for field in FIELDS if field in given and field not in ("title", "name", "folder", "languages")},
    )


def _folder(beside: Path, given: str) -> Path:
    """A folder beside the list, or in a home, or by its whole path."""
    with suppress(RuntimeError):  # nobody has that home
        return beside / Path(given).expanduser()
    return beside / given


def _slug(place: str, called: str) -> str:
    """What an address can hold of a name: small letters, digits, hyphens."""
    slug = re.sub(r"[^a-z0-9]+", "-", place.lower()).strip("-")[:60]
    if not slug:
        raise _WrongError("name", entry=called, given=place)
    return slug


def _languages(given: object, called: str) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > 2:
        raise _WrongError("languages", entry=called, given=repr(given))
    if not all(isinstance(code, str) and re.fullmatch(r"[a-z]{2,3}", code) for code in given):
        raise _WrongError("languages", entry=called, given=repr(given))
    return tuple(given)
