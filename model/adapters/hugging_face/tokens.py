"""Tokenizers of Hugging Face under the interface of ours: tokens that know their place in the text as typed."""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.tokenizer import Token, Tokenizer, encodable

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_HALF = re.compile("[\udc80-\udcff]")
_SPACE = "\u2581"  # stands for a space in pieces of SentencePiece


@dataclass(frozen=True)
class Unknown(Token):
    """A piece for which the vocabulary has no id, called as this vocabulary calls it."""

    called: str = ""

    @property
    def unknown_name(self) -> str:
        return self.called


class HuggingFaceTokenizer(Tokenizer):
    """One side of a model: `theirs` is a tokenizer that nobody else changes, already switched to the language it cuts.

    Typed text never becomes a special token, whatever it spells. `prefix` is what the model has to read before a text (a task, a
    language); its tokens are special.
    """

    def __init__(self, theirs: Any, prefix: str = "") -> None:
        self.theirs, self.prefix, self.space = theirs, prefix, None
        self.backend = theirs.backend_tokenizer if theirs.is_fast else None
        self.specials = frozenset(theirs.all_special_ids) - {theirs.unk_token_id}
        self.vocabulary: dict[str, int] = dict(getattr(theirs, "current_encoder", None) or theirs.get_vocab())
        self.bytes: dict[str, int] = _bytes_of_characters() if self.backend is not None and _is_byte_level(self.backend) else {}
        if self.backend is not None:
            self.backend.encode_special_tokens = True  # what is typed stays text
            self.backend.no_truncation()
            self.backend.no_padding()
        names = {id_: name for name, id_ in self.vocabulary.items()}
        self.pieces: tuple[str, ...] = tuple(self._shown(names.get(id_, "")) for id_ in range(max(names, default=-1) + 1))

    def __len__(self) -> int:
        return len(self.theirs)

    def encode(self, text: str) -> tuple[Token, ...]:
        """The pieces of a text, without special tokens."""
        text = encodable(text)
        if self.backend is None:
            return self._placed(text)
        return self._read(self.backend.encode(text, add_special_tokens=False), text)

    def whole(self, text: str) -> tuple[Token, ...]:
        """What the model reads of a text: prefix and pieces, and the special tokens that the tokenizer puts around them."""
        typed, before = encodable(self.prefix + text), len(self.prefix)
        if self.backend is None:
            leading, trailing = self.around()
            tokens = (*map(self.special, leading), *self._placed(typed), *(self.special(id_, len(typed)) for id_ in trailing))
        else:
            tokens = self._read(self.backend.encode(typed, add_special_tokens=True), typed)
        return tuple(_without(token, before) for token in tokens)

    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ids of the special tokens that the tokenizer puts before and after a text."""
        if self.backend is None:
            ids = list(self.theirs.build_inputs_with_special_tokens([-1]))
            middle = [ids.index(-1)]
        else:
            encoding = self.backend.encode("a", add_special_tokens=True)
            ids = list(encoding.ids)
            middle = [index for index, special in enumerate(encoding.special_tokens_mask) if not special] or [len(ids)]
        return tuple(ids[: middle[0]]), tuple(ids[middle[-1] + 1 :])

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the ids of many texts, without special tokens."""
        return [[token.id for token in self.encode(text)] for text in texts]

    def special(self, id_: int, at: int = 0) -> Token:
        """A token that is not text, by the name that the model's own vocabulary has for it."""
        return Token(str(self.theirs.convert_ids_to_tokens(id_)), id_, (at, at), special=True)

    def decode(self, ids: Iterable[int], after: str = "") -> str:
        """The text of these pieces behind that of `after`; special tokens are left out."""
        kept = [id_ for id_ in ids if id_ not in self.specials]
        if not after:
            return self._text(kept)
        read = [token.id for token in self.encode(after)]
        before, both = self._text(read), self._text([*read, *kept])
        return after + (both[len(before) :] if both.startswith(before) else self._text(kept))

    def produced(self, ids: Sequence[int], after: str = "") -> tuple[Token, ...]:
        """The tokens of a text that was produced rather than typed: their spans lie in `decode(ids, after)`.

        Where a piece ends is where the text of all pieces up to it ends; bytes of one character all stand at that character.
        """
        whole, tokens, begin = self.decode(ids, after), [], len(after)
        for index, id_ in enumerate(ids):
            if id_ in self.specials:
                tokens.append(self.special(id_, begin))
                continue
            end = max(begin, _common(self.decode(ids[: index + 1], after), whole))
            name = str(self.theirs.convert_ids_to_tokens(id_))
            if end == begin and self._part(name) and begin < len(whole):
                tokens.append(Token(self._shown(name), id_, (begin, begin + 1)))
                continue
            while begin < end - 1 and whole[begin].isspace():
                begin += 1
            text = self._shown(name) if self._part(name) else whole[begin:end]
            tokens.append(self._token(text.strip() or self._shown(name), id_, (begin, end)))
            begin = end
        return tuple(tokens)

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.theirs.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)) if ids else ""

    def _read(self, encoding: Any, text: str) -> tuple[Token, ...]:
        """Tokens of an encoding that knows where its pieces stand; special ones stand before or behind the text."""
        tokens, seen = [], 0
        columns = (encoding.ids, encoding.tokens, encoding.offsets, encoding.special_tokens_mask)
        for id_, name, (begin, end), is_special in zip(*columns, strict=True):
            if is_special:
                tokens.append(self.special(id_, seen))
                continue
            while begin < end - 1 and text[begin].isspace():  # a piece owns the space before it; its label does not
                begin += 1
            shown, seen = self._shown(name), len(text)
            if shown == " " and not text[begin:end].isspace():  # a space that was put before the text stands for none of it
                end = begin
            label = shown if self._part(name) or begin == end else text[begin:end]
            tokens.append(self._token(label.strip() or shown, id_, (begin, end)))
        return tuple(tokens)

    def _placed(self, text: str) -> tuple[Token, ...]:
        """Pieces of a tokenizer that does not say where they stand: they are looked for in the text, one after the other."""
        spm = getattr(self.theirs, "current_spm", None)
        pieces = spm.encode(text, out_type=str) if spm else self.theirs.tokenize(text, split_special_tokens=True)
        ids = self.theirs.convert_tokens_to_ids(pieces)
        found = placed([piece.replace(_SPACE, "") for piece in pieces], text)
        return tuple(
            self._token(text[slice(*span)] or self._shown(piece), id_, span)
            for piece, id_, span in zip(pieces, ids, found, strict=True)
        )

    def _token(self, text: str, id_: int, span: tuple[int, int]) -> Token:
        """A piece of text; one entry of the vocabulary stands for all that is not in it."""
        if id_ == self.theirs.unk_token_id:
            return Unknown(text, id_, span, unknown=True, called=str(self.theirs.unk_token))
        return Token(text, id_, span)

    def _part(self, name: str) -> bool:
        """Whether a piece holds bytes that are no whole character."""
        return any(0xDC80 <= ord(sign) <= 0xDCFF for sign in self._decoded(name))

    def _shown(self, name: str) -> str:
        """A piece as text; bytes that are no whole character are written as numbers."""
        return _HALF.sub(lambda found: f"<0x{ord(found[0]) - 0xDC00:02X}>", self._decoded(name))

    def _decoded(self, name: str) -> str:
        """The text of a piece, with half a surrogate pair for each byte that is no whole character."""
        if byte := _BYTE.fullmatch(name):
            return bytes([int(byte[1], 16)]).decode("utf-8", "surrogateescape")
        if self.bytes and all(sign in self.bytes for sign in name):
            return bytes(self.bytes[sign] for sign in name).decode("utf-8", "surrogateescape")
        return name.replace(_SPACE, " ")


def placed(pieces: Sequence[str], text: str) -> list[tuple[int, int]]:
    """The span of each piece in the text that was cut into them, which may have been normalised (NFKC) before.

    A piece that does not stand where it should (the normaliser did more) reaches to where the next that does begins.
    """
    signs = [
        (sign, index) for index, typed in enumerate(text) for sign in unicodedata.normalize("NFKC", typed) if not sign.isspace()
    ]
    flat, at = "".join(sign for sign, _ in signs), 0
    spans: list[tuple[int, int]] = []
    for number, piece in enumerate(pieces):
        wanted = "".join(unicodedata.normalize("NFKC", piece).split())
        if flat.startswith(wanted, at):
            end = at + len(wanted)
        else:
            following = next(
                (found for later in pieces[number + 1 :] if later and (found := flat.find(later, at)) >= 0), len(flat)
            )
            end = max(at, following)
        begin = signs[at][1] if at < len(signs) else len(text)
        spans.append((begin, signs[end - 1][1] + 1 if end > at else begin))
        at = end
    return spans


def _without(token: Token, prefix: int) -> Token:
    """A token of prefix and text together as one of the text: what is of the prefix stands for no text of the user."""
    if not prefix:
        return token
    begin, end = (max(0, place - prefix) for place in token.span)
    special = token.special or token.span[1] <= prefix
    return replace(token, span=(begin, begin if special else end), special=special, unknown=token.unknown and not special)


def _common(one: str, other: str) -> int:
    """How many characters two texts share at their beginning."""
    return next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _is_byte_level(backend: Any) -> bool:
    return '"ByteLevel"' in json.dumps(json.loads(backend.to_str()).get("decoder") or {})


def _bytes_of_characters() -> dict[str, int]:
    """The printable sign that GPT-2's vocabulary writes for each byte -> the byte (Radford et al. 2019, `bytes_to_unicode`)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}
