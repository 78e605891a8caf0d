"""Measured figures into a model's card.toml; whatever else stands there stays as it is."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def update(path: Path, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace or add the named top-level tables; keys of an old table that have no new figure are kept."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    old = tomllib.loads(text)
    new = "\n".join(render(name, {**old.get(name, {}), **table}) for name, table in figures.items())
    result = f"{without(text, set(figures)).rstrip()}\n\n{new}".lstrip()
    if {**tomllib.loads(result), **dict.fromkeys(figures)} != {**old, **dict.fromkeys(figures)}:
        raise ValueError(f"{path} is written in a way that cannot be changed safely; put the figures in by hand:\n{new}")
    path.write_text(result, encoding="utf-8")


def without(text: str, names: set[str]) -> str:
    """The text of a TOML file less these top-level tables and all tables inside them."""
    kept, keep = [], True
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            keep = line.strip("[] \n").split("#")[0].strip("[] ").split(".")[0] not in names
        if keep:
            kept.append(line)
    return "".join(kept)


def render(name: str, table: Mapping[str, Any]) -> str:
    """A table as TOML: plain values first, tables and lists of tables after them."""
    plain = {key: value for key, value in table.items() if not _is_table(value)}
    lines = [f"[{name}]", *(f"{key} = {_value(value)}" for key, value in plain.items()), ""]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines.append(render(f"{name}.{key}", value))
        elif _is_table(value):
            lines += [f"[{render(f'{name}.{key}', item).replace(']', ']]', 1)}" for item in value]
    return "\n".join(lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)  # strings, numbers, booleans and lists of them look the same in TOML
