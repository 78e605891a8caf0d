"""Where a picture comes from: the version of the app and the very weights that computed it."""

import tomllib
from functools import cache
from pathlib import Path

from app.session import digest
from app.session.bringing import WEIGHTS
from app.session.loading import folder_of

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@cache
def version() -> str:
    """The version of the app."""
    return str(tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["version"])


def weights_digest(name: str) -> str:
    """SHA-256 of the file with a model's weights."""
    return digest.of_file(folder_of(name) / WEIGHTS)
