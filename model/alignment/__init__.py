"""Which word goes with which: words, links from attention, their symmetrisation and their measure against gold."""

from model.alignment.symmetrize import symmetrize

__all__ = ["symmetrize"]
