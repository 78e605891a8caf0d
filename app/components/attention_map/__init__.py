"""The attention map: every layer and head of a trace on one canvas, opened, compared and read in the browser.

The JavaScript is written as small ES modules beside this file; Streamlit takes one, so they are joined in the order of
`MODULES`: a module may import from those before it.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.attention_map.payload import LABELS, pack, pack_detail

__all__ = ["LABELS", "attention_map", "pack", "pack_detail"]

MODULES = (
    "theme", "labels", "surface", "scale", "payload", "axes", "reduce", "state", "template", "controls", "stage",
    "matrix", "lines", "overview", "linked", "opened", "table", "export", "export_bar", "guided", "switches",
    "panel", "overview_panel", "heads_view", "linked_view", "main",
)  # fmt: skip

_FOLDER = Path(__file__).parent


def joined(names: tuple[str, ...] = MODULES, folder: Path = _FOLDER) -> str:
    """One ES module of several: each keeps a scope of its own, the last one is the entry and keeps its default export."""
    *parts, entry = ((name, (folder / f"{name}.js").read_text(encoding="utf-8")) for name in names)
    return "\n".join([*(_scoped(name, source) for name, source in parts), _linked(entry[1])])


def _linked(source: str) -> str:
    """Imports become names taken from the scopes above."""
    return re.sub(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', r"const \1 = $\2;", source, flags=re.MULTILINE)


def _scoped(name: str, source: str) -> str:
    exported = re.findall(r"^export (?:const|function|class) (\w+)", source, flags=re.MULTILINE)
    body = re.sub(r"^export ", "", _linked(source), flags=re.MULTILINE)
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


_component = st.components.v2.component(
    "attention_map",
    html='<div class="attention-map"\n data-testid="attention-map"></div>',
    css=(_FOLDER / "style.css").read_text(encoding="utf-8"),
    js=joined(),
)


def attention_map(
    payload: bytes,
    *,
    key: str,
    detail: bytes | None = None,
    on_open_change: Callable[[], None] | None = None,
) -> Any:
    """Draws a payload made by `pack`.

    Layer, head and the switches live in the browser and in the URL; nothing is sent to the server, except for maps above
    `payload.LARGEST` tokens: opening a head then sets `.open` of the result to {"attention", "layer", "head"}, and the next
    run passes `pack_detail` of it as `detail`.
    """
    return _component(key=key, data=payload + (detail or b""), on_open_change=on_open_change or (lambda: None))
