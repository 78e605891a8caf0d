"""Files that people bring: sentence pairs and alignments, read with every problem named, and written again."""

from model.alignment.formats.files import pasted
from model.alignment.formats.link_detection import LINK_FORMATS
from model.alignment.formats.link_writing import write_alignments
from model.alignment.formats.links import Alignments, GoldLinks, read_alignments
from model.alignment.formats.pairs import PAIR_FORMATS, Entry, Limits, Pair, Pairs
from model.alignment.formats.problem import FormatError, Message, Problem
from model.alignment.formats.read import read_pairs
from model.alignment.formats.write import write_pairs

__all__ = [
    "LINK_FORMATS",
    "PAIR_FORMATS",
    "Alignments",
    "Entry",
    "FormatError",
    "GoldLinks",
    "Limits",
    "Message",
    "Pair",
    "Pairs",
    "Problem",
    "pasted",
    "read_alignments",
    "read_pairs",
    "write_alignments",
    "write_pairs",
]
