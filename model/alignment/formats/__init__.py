"""Files that people bring: sentence pairs and alignments, read with every problem named, and written again."""

from model.alignment.formats.files import pasted
from model.alignment.formats.pairs import PAIR_FORMATS, Entry, Limits, Pair, Pairs
from model.alignment.formats.problem import FormatError, Message, Problem
from model.alignment.formats.read import read_pairs

__all__ = [
    "PAIR_FORMATS",
    "Entry",
    "FormatError",
    "Limits",
    "Message",
    "Pair",
    "Pairs",
    "Problem",
    "pasted",
    "read_pairs",
]
