"""The tokens of a file: texts under many conventions, as tokens that know their place in the text that they make."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from model.adapters.matrices.problem import MatrixError
from model.tokenizer import Token, encodable

SPECIALS = frozenset(
    {"<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "[BOS]", "[EOS]", "<mask>", "<bos>", "<eos>", "EOS"}
)
LONGEST_TOKEN = 200  # characters
_CONTROL = re.compile(r"<\|[^|<>\s]+\|>")  # <|endoftext|>, <|im_start|> and their like
_SPACE = "\u2581"  # of SentencePiece
_BYTE_SPACE = "\u0120"  # a space as GPT-2 writes it
_JOINS = "\u200b"  # stands where a piece with @@ waits for the next one


def labels(values: Any, array: str) -> list[str]:
    """Tokens as a list of texts; one text is parted at its spaces, bytes are read as UTF-8."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list) and len(values) == 1 and isinstance(values[0], list):  # a batch of one sentence
        (values,) = values
    if isinstance(values, str):
        values = values.split()
    if isinstance(values, list) and values and all(isinstance(token, bytes) for token in values):
        values = [token.decode("utf-8", "replace") for token in values]
    if not isinstance(values, list) or not all(isinstance(token, str) for token in values):
        raise MatrixError("no_texts", array=array)
    if (longest := max(map(len, values), default=0)) > LONGEST_TOKEN:
        raise MatrixError("long_token", array=array, given=longest, limit=LONGEST_TOKEN)
    return [encodable(token) for token in values]


def is_special(text: str) -> bool:
    return text in SPECIALS or _CONTROL.fullmatch(text) is not None


def tokens(texts: Sequence[str]) -> tuple[tuple[Token, ...], str]:
    """Labels as tokens, with the text that they make: signs for spaces are spaces, a piece that goes on a word joins it."""
    found: list[Token] = []
    written = ""
    read = _of_bytes(texts)
    spaced = any(text[:1] == _SPACE for text in read)
    for number, (text, shown) in enumerate(zip(texts, read, strict=True)):
        if is_special(text):
            found.append(Token(text, number, (len(written), len(written)), special=True))
            continue
        begins = shown[:1] == _SPACE if spaced else not (shown.startswith("##") and shown != "##")
        joins = shown.endswith("@@") and shown != "@@"
        plain = shown.lstrip(_SPACE) if spaced else shown.removeprefix("##") if not begins else shown
        plain = plain.removesuffix("@@") if joins else plain
        if written and begins and not written.endswith(_JOINS):
            written += " "
        written = written.removesuffix(_JOINS)
        found.append(Token(plain or text, number, (len(written), len(written) + len(plain))))
        written += plain + (_JOINS if joins else "")
    return tuple(found), written.removesuffix(_JOINS)


def _of_bytes(texts: Sequence[str]) -> list[str]:
    """Pieces of GPT-2's kind, whose every letter stands for a byte, as what they spell; a space before them as SentencePiece's.

    A piece that is no whole character keeps its signs. Other pieces are returned as they are.
    """
    if not any(text[:1] == _BYTE_SPACE for text in texts):
        return list(texts)
    return [text if is_special(text) else _spelled(text) for text in texts]


def _spelled(text: str) -> str:
    try:
        spelled = bytes(_BYTES[sign] for sign in text).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return f"{_SPACE}{text[1:]}" if text[:1] == _BYTE_SPACE else text
    return f"{_SPACE}{spelled[1:]}" if spelled[:1] == " " else spelled


def _byte_signs() -> dict[str, int]:
    """The printable sign of each byte -> the byte (Radford et al. 2019): itself where it is printable, else the next free one."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_signs()
