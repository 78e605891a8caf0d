"""A component from its folder, whose small ES modules are joined into the one that Streamlit takes."""

from pathlib import Path
from typing import Any

import streamlit as st

from model.page.bundle import joined, style


def component(folder: Path) -> Any:
    """Registers the component of this folder, which names it."""
    name = folder.name.replace("_", "-")
    return st.components.v2.component(
        folder.name,
        html=f'<div class="atlas {name}"\n data-testid="{name}"></div>',
        css=style(folder.name),
        js=joined(folder.name),
    )


def nothing() -> None:
    """For a component's message that nobody waits for."""
