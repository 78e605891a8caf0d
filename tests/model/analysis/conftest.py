"""The shipped model whose heads the measures are about."""

import pytest

from model.translator import Translator, load


@pytest.fixture(scope="session")
def atlas() -> Translator:
    """English to French, as it is stored."""
    loaded = load("en-fr")
    assert isinstance(loaded, Translator)
    return loaded
