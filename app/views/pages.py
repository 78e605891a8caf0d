"""The pages of the app, each made once for a language: Streamlit looks on the disk for every page it makes, in every run."""

from copy import copy
from functools import lru_cache

import streamlit as st

from app.text import language, text

OPENED_FIRST = "translate"


def page(name: str) -> st.Page:
    """The page of this name, its title in the visitor's language; an object of this run, in which it may be run once."""
    return copy(_made(name, language()))


@lru_cache(maxsize=128)
def _made(name: str, _language: str) -> st.Page:
    return st.Page(f"views/{name}.py", title=text(f"{name}.title"), url_path=name, default=name == OPENED_FIRST)
