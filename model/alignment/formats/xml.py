"""The two XML formats of translators."""

from model.alignment.formats.tmx import read_tmx, write_tmx
from model.alignment.formats.xliff import read_xliff, write_xliff

__all__ = ["read_tmx", "read_xliff", "write_tmx", "write_xliff"]
