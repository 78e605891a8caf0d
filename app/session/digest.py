"""The check sum that tells one file of weights from another."""

import hashlib
from functools import lru_cache
from pathlib import Path


def of_file(file: Path) -> str:
    """SHA-256 of a file, read once as long as it stays as it is; empty if it is not there."""
    return _of_unchanged(file, file.stat().st_mtime_ns) if file.exists() else ""


@lru_cache(maxsize=64)
def _of_unchanged(file: Path, _changed: int) -> str:
    with file.open("rb") as stream:  # never whole in memory: it may be gigabytes
        return hashlib.file_digest(stream, "sha256").hexdigest()
