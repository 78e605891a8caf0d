"""The profile of this server: how much one visitor, and all together, may ask for.

It is a file of profiles/, chosen by the environment variable ATLAS_PROFILE; the files say what each field means.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "ATLAS_PROFILE"
DEFAULT = "open"
FOLDER = Path(__file__).resolve().parents[1] / "profiles"

ALLOWED = {
    "max_tokens": range(1, 501),
    "max_characters": range(1, 100_001),
    "max_link": range(1_000, 60_001),  # the web server reads 65,536 bytes of a request's head
    "max_upload": range(50 * 1024**2 + 1),
    "max_pairs": range(1, 100_001),
    "alignments": range(1, 65),
    "trainings": range(65),
    "sessions": range(1, 10_001),
    "connections": range(1, 100_001),
    "max_message": range(1_000_000, 50_000_001, 1_000_000),
}
KINDS = ("sentence", "what_if", "upload", "alignment", "training", "measurement", "load")  # what is asked for at a limited rate
PER_MINUTE = range(1, 1_000_001)


class ProfileError(ValueError):
    """A profile that is not there or cannot be used; the message says what was given, what is allowed, what to do."""


class Rate(NamedTuple):
    """How often a minute something may be asked for: by one session, by all together."""

    session: int
    server: int


@dataclass(frozen=True)
class Profile:
    """The limits of a server. Sizes in bytes, `max_link` and `max_characters` in characters; 0 trainings: there are none."""

    name: str
    max_tokens: int
    max_characters: int
    max_link: int
    max_upload: int
    max_pairs: int
    alignments: int
    trainings: int
    sessions: int
    connections: int
    max_message: int
    rate: Mapping[str, Rate]


def names() -> tuple[str, ...]:
    """The profiles that there are."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


@cache
def profile() -> Profile:
    """The profile of this server; raises ProfileError."""
    name = os.environ.get(VARIABLE) or DEFAULT
    if name not in names():
        raise ProfileError(f"{VARIABLE}={name!r}: there is no such profile; choose one of {', '.join(names())}.")
    try:
        given = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"profiles/{name}.toml is not TOML: {error}.") from error
    return read(name, given)


def read(name: str, given: Mapping[str, Any]) -> Profile:
    """The profile that a file holds; raises ProfileError if a field is missing, unknown, or not what it may be."""
    wanted = {field.name for field in fields(Profile)} - {"name"}
    _same_names(f"profiles/{name}.toml", given, wanted)
    values = {key: _whole(f"profiles/{name}.toml: {key}", given[key], allowed) for key, allowed in ALLOWED.items()}
    rates = given["rate"]
    if not isinstance(rates, dict):
        raise ProfileError(f"profiles/{name}.toml: rate is {rates!r}; a table [rate] is needed.")
    _same_names(f"profiles/{name}.toml, [rate]", rates, set(KINDS))
    return Profile(name=name, rate={kind: _rate(f"profiles/{name}.toml: rate.{kind}", rates[kind]) for kind in KINDS}, **values)


def _same_names(place: str, given: Mapping[str, Any], wanted: set[str]) -> None:
    if missing := wanted - set(given):
        raise ProfileError(f"{place} lacks {', '.join(sorted(missing))}; profiles/{DEFAULT}.toml has every field.")
    if unknown := set(given) - wanted:
        raise ProfileError(
            f"{place} has {', '.join(sorted(unknown))}, which is no field; these are: {', '.join(sorted(wanted))}."
        )


def _whole(place: str, value: object, allowed: range) -> int:
    if type(value) is not int or value not in allowed:
        raise ProfileError(
            f"{place} = {value!r}; a whole number from {allowed[0]:,} to {allowed[-1]:,}"
            f"{f' in steps of {allowed.step:,}' if allowed.step > 1 else ''} is needed."
        )
    return value


def _rate(place: str, value: object) -> Rate:
    if not isinstance(value, list) or len(value) != 2:
        raise ProfileError(f"{place} = {value!r}; two numbers are needed: [of one session, of the whole server].")
    one, all_together = (_whole(place, figure, PER_MINUTE) for figure in value)
    if one > all_together:
        raise ProfileError(f"{place} = {value!r}; one session may not ask for more than the whole server.")
    return Rate(one, all_together)
