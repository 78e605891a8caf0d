"""Models that a visitor has trained here: names and folders, known to their session alone."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_OWN = "atlas_own"


def own_models() -> Mapping[str, Path]:
    """The visitor's models by name, the oldest first; none outside a visit (while the server warms up, say)."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return {}
    found: dict[str, Path] = st.session_state.get(_OWN, {})
    return {name: folder for name, folder in found.items() if folder.is_dir()}


def keep_model(name: str, folder: Path, most: int) -> list[Path]:
    """From now on this session has a model of this name, the newest of at most so many; the folders of those that it gives up."""
    kept = [*st.session_state.get(_OWN, {}).items(), (name, folder)]
    st.session_state[_OWN] = dict(kept[-most:])
    return [old for _, old in kept[:-most]]
