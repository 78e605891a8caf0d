"""Where a picture comes from: the version of the app and the very weights that computed it."""

import hashlib
import tomllib
from functools import cache, lru_cache
from pathlib import Path

from app.session.loading import folder_of

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@cache
def version() -> str:
    """The version of the app."""
    return str(tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["version"])


def weights_digest(name: str) -> str:
    """SHA-256 of the file with a model's weights."""
    file = folder_of(name) / "model.safetensors"
    return _digest(file, file.stat().st_mtime_ns) if file.exists() else ""


@lru_cache(maxsize=64)
def _digest(file: Path, _changed: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
