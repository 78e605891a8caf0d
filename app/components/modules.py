"""A component from its folder, whose small ES modules are joined into one.

Streamlit sends a component's script with every element of every run. Where our server serves the scripts (app/pictures.py), what
it sends is only their address.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from app import pictures
from model.page.bundle import joined, style


def component(folder: Path) -> Any:
    """Registers the component of this folder, which names it."""
    name = folder.name.replace("_", "-")
    html = f'<div class="atlas {name}"\n data-testid="{name}"></div>'
    if pictures.served():
        return st.components.v2.component(folder.name, html=html, js=pictures.opening(folder.name))
    return st.components.v2.component(folder.name, html=html, css=style(folder.name), js=joined(folder.name))


def nothing() -> None:
    """For a component's message that nobody waits for."""
