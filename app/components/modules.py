"""A component from its folder: small ES modules joined into the one that Streamlit takes; those in `shared/` serve every one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

SHARED = Path(__file__).parent / "shared"
BEGINNING = ("theme", "labels", "surface", "template", "address", "mount", "controls", "stage", "export", "folded")  # of all


def component(folder: Path, modules: Sequence[str], *others: Path) -> Any:
    """Registers the component of this folder, which names it; `modules` and `others` are those of `joined`."""
    name = folder.name.replace("_", "-")
    return st.components.v2.component(
        folder.name,
        html=f'<div class="atlas {name}"\n data-testid="{name}"></div>',
        css=style(folder),
        js=joined(folder, modules, *others),
    )


def nothing() -> None:
    """For a component's message that nobody waits for."""


def joined(folder: Path, names: Sequence[str], *others: Path) -> str:
    """One ES module of several files, each from the component's folder, else from one of the `others`, or else from `shared/`.

    `BEGINNING` comes first, then `names`. A module may import from those before it. Each keeps a scope of its own; the last one
    is the entry and keeps its default export.
    """
    *parts, entry = ((name, _source((folder, *others, SHARED), name)) for name in dict.fromkeys((*BEGINNING, *names)))
    return "\n".join([*(_scoped(name, source) for name, source in parts), _linked(entry[1])])


def style(folder: Path) -> str:
    """The look that all components share, and the component's own."""
    return (SHARED / "style.css").read_text(encoding="utf-8") + (folder / "style.css").read_text(encoding="utf-8")


def _source(folders: Sequence[Path], name: str) -> str:
    candidates = [folder / f"{name}.js" for folder in folders]
    return next((path for path in candidates if path.exists()), candidates[-1]).read_text(encoding="utf-8")


def _linked(source: str) -> str:
    """Imports become names taken from the scopes above."""
    return re.sub(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', r"const \1 = $\2;", source, flags=re.MULTILINE)


def _scoped(name: str, source: str) -> str:
    exported = re.findall(r"^export (?:const|function|class) (\w+)", source, flags=re.MULTILINE)
    body = re.sub(r"^export ", "", _linked(source), flags=re.MULTILINE)
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"
