"""A list of tiny models of others, as an operator writes it, for tests of the app."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from app.session import listed
from app.session.shelf import shelf
from tests.model.adapters.tiny_hugging_face import FAMILIES


def make(folder: Path, *families: str) -> Path:
    """Folders of these families, and the list that names them: each called by its family."""
    for family in families:
        (folder / family).mkdir()
        torch.manual_seed(5)
        FAMILIES[family](folder / family)
    return write(folder, *families)


def write(folder: Path, *families: str, more: str = "") -> Path:
    """The list in this folder; `more` stands above its entries."""
    entries = "".join(f'[[model]]\ntitle = "Tiny {family}"\nfolder = "{family}"\n' for family in families)
    (folder / "models.toml").write_text(more + entries, encoding="utf-8")
    return folder / "models.toml"


@contextmanager
def served(file: Path) -> Iterator[None]:
    """A server that was given this list; at the end nothing of it is in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(listed.VARIABLE, str(file))
        patch.setattr(listed, "LOOKED", 0.0)
        listed.forget()
        yield
    settle()
    for name in list(shelf.places):
        shelf.places.pop(name)
    listed.forget()


def settle() -> None:
    """Wait until nothing is on its way."""
    for place in list(shelf.places.values()):
        assert place.done.wait(30)
    time.sleep(0)
