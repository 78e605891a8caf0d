"""Text in; text, tokens and traces out, of a model of Hugging Face: the calls of `model.Translator` and `model.LanguageModel`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from model.adapters.hugging_face.modules import (
    HuggingFaceConfig,
    HuggingFaceDecoderOnly,
    HuggingFaceEncoderDecoder,
    HuggingFaceEncoderOnly,
)
from model.adapters.hugging_face.tokens import HuggingFaceTokenizer
from model.checkpoint import Tokenizers
from model.tokenizer import Token
from model.trace import Activation, Edit, Trace, tracing
from model.translator import LanguageModel, Reader, TextError, Translator


class NotInThisModelError(Exception):
    """Something that the architecture has not; the message says which and why."""


@dataclass(frozen=True)
class HuggingFaceTranslator(Translator):
    """An encoder-decoder of Hugging Face."""

    ours: ClassVar[bool] = False
    model: HuggingFaceEncoderDecoder
    tokenizers: "HuggingFaceTokenizers"

    def source_tokens(self, text: str) -> tuple[Token, ...]:
        """What the encoder reads: the text between the special tokens that its tokenizer puts around it."""
        if not text.strip():
            raise TextError("the source text is empty; type at least one word")
        return self._checked(self.tokenizers.source.whole(text))

    def _rows(self, pieces: tuple[Token, ...], end: int) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """The decoder reads its start token, the language that it is asked for (where it is asked for one), and `pieces`."""
        config, tokenizer = self.model.config, self.tokenizers.target
        asked = () if config.first is None else (tokenizer.special(config.first),)
        read = self._checked((tokenizer.special(config.start), *asked, *pieces))
        return read, (*asked, *pieces, tokenizer.special(config.end, end))

    def forced(
        self, source: Tensor, target: Tensor, source_mask: Tensor | None = None, target_mask: Tensor | None = None
    ) -> Tensor:
        """The model's own logits of a forced pass, also of what its rules for writing forbid."""
        return self.model.logits(target, self.model.encode(source, source_mask), source_mask, target_mask)

    def decoded(self, target: Tensor, trace: Trace) -> Tensor:
        """The same of another target for the source of a trace."""
        return self.model.logits(target, trace["encoder.output"].tensor)

    def _record(
        self,
        forward: Callable[[Tensor], Tensor],
        source: tuple[Token, ...],
        pieces: tuple[Token, ...],
        texts: tuple[str, str],
        edits: Mapping[str, Edit] | None,
    ) -> Trace:
        read, produced = self._rows(pieces, len(texts[1]))
        return _recorded(lambda: forward(self._batch(read)), source, read, produced, texts, edits)


@dataclass(frozen=True)
class HuggingFaceLanguageModel(LanguageModel):
    """A decoder-only model of Hugging Face. Not every one has a start token: then the first row reads the first piece."""

    ours: ClassVar[bool] = False
    model: HuggingFaceDecoderOnly
    tokenizers: "HuggingFaceTokenizers"

    def source_tokens(self, text: str) -> tuple[Token, ...]:
        """What the model reads before it writes: the pieces of the prompt, and before them what its tokenizer puts there."""
        return self._checked(self._read(self.tokenizers.target.encode(text)))

    def forced(
        self, source: Tensor, target: Tensor, source_mask: Tensor | None = None, target_mask: Tensor | None = None
    ) -> Tensor:
        """The model's own logits of a forced pass, also of what its rules for writing forbid; there is no source."""
        return self.model.logits(target, target_mask)

    def decoded(self, target: Tensor, trace: Trace) -> Tensor:
        """The same of another text; nothing of a trace is needed for it."""
        return self.model.logits(target)

    def _read(self, pieces: Sequence[Token]) -> tuple[Token, ...]:
        tokenizer = self.tokenizers.target
        leading, _ = tokenizer.around()
        if not leading and not pieces:  # something has to be read
            leading = (self.model.config.start,)
        return (*map(tokenizer.special, leading), *pieces)

    def _record(
        self,
        forward: Callable[[Tensor], Tensor],
        source: tuple[Token, ...],
        pieces: tuple[Token, ...],
        texts: tuple[str, str],
        edits: Mapping[str, Edit] | None,
    ) -> Trace:
        """Each row is asked for the token that the next one reads, the last one for the end."""
        read = self._checked(self._read(pieces))
        produced = (*read[1:], self.tokenizers.target.special(self.model.config.end, len(texts[1])))
        return _recorded(lambda: forward(self._batch(read)), source, read, produced, texts, edits)


@dataclass(frozen=True)
class HuggingFaceEncoder(Reader):
    """An encoder alone (BERT and its family): a text in, a trace out. It writes nothing."""

    model: HuggingFaceEncoderOnly
    tokenizers: "HuggingFaceTokenizers"

    @property
    def config(self) -> HuggingFaceConfig:
        return self.model.config

    def source_tokens(self, text: str) -> tuple[Token, ...]:
        """What the encoder reads."""
        if not text.strip():
            raise TextError("the text is empty; type at least one word")
        tokens = self.tokenizers.source.whole(text)
        if len(tokens) > self.config.max_length:
            raise TextError(f"the text has {len(tokens)} tokens, the model takes {self.config.max_length}; shorten it")
        return tokens

    def trace(self, source: str, target: str | None = None, edits: Mapping[str, Edit] | None = None) -> Trace:
        """One pass over a text, everything recorded; there is no target."""
        if target is not None:
            raise NotInThisModelError(self._why("a target"))
        tokens = self.source_tokens(source)
        ids = torch.tensor([[token.id for token in tokens]], device=next(self.model.parameters()).device)
        with torch.inference_mode(), tracing(edits) as recording:
            self.model(ids)
        return Trace(recording.activations, tokens, (), (), (), source, "")

    def write(self, text: str, beam: int = 1, limit: int | None = None) -> None:
        """An encoder writes nothing: raises `NotInThisModelError`."""
        raise NotInThisModelError(self._why("a decoder"))

    translate = generate = write

    def _why(self, missing: str) -> str:
        return f"{self.name} is an encoder alone ({self.config.architecture}): it has not {missing}, and writes nothing"


AnyHuggingFace = HuggingFaceTranslator | HuggingFaceLanguageModel | HuggingFaceEncoder


@dataclass(frozen=True)
class HuggingFaceTokenizers(Tokenizers):
    """One for each side; the same object twice where one cuts both."""

    source: HuggingFaceTokenizer
    target: HuggingFaceTokenizer


def _recorded(
    forward: Callable[[], Tensor],
    source: tuple[Token, ...],
    read: tuple[Token, ...],
    produced: tuple[Token, ...],
    texts: tuple[str, str],
    edits: Mapping[str, Edit] | None,
) -> Trace:
    with torch.inference_mode(), tracing(edits) as recording:
        forward()
    activations: dict[str, Activation] = recording.activations
    scores = activations["logits"].tensor[0].double().log_softmax(dim=-1)
    chosen = scores.gather(1, torch.tensor([[token.id] for token in produced], device=scores.device))[:, 0]
    return Trace(activations, source, read, produced, tuple(chosen.tolist()), texts[0], texts[1])
