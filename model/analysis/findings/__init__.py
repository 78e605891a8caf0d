"""Ten short true stories about attention in the shipped models: each function measures what its story tells.

A story names a sentence and a head; its function returns the numbers and words of the text and a small picture, or None where
this model does not do what the story says. What is written down of them holds for these weights alone: whoever trains the models
anew reads other numbers. Weights say what a row reads from, never why a word was chosen.
"""

from model.analysis.findings.reading import crossing, full_stops, leaking, renamed, resting, turning, untaught
from model.analysis.findings.told import Cell, Picture, Told, Value
from model.analysis.findings.writing import deciding, searching, silenced

__all__ = [
    "Cell",
    "Picture",
    "Told",
    "Value",
    "crossing",
    "deciding",
    "full_stops",
    "leaking",
    "renamed",
    "resting",
    "searching",
    "silenced",
    "turning",
    "untaught",
]
