"""Text in; text, tokens and traces out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from torch import Tensor, nn

from model.beam_search import beam
from model.checkpoint import SHIPPED, CheckpointError, Tokenizers, available, load_card, shown
from model.checkpoint import load as load_checkpoint
from model.config import ModelConfig
from model.decoding import Hypothesis, greedy
from model.tokenizer import END, START, Token, special
from model.trace import Edit, Trace, tracing
from model.transformer import DecoderOnly, EncoderDecoder

Family = TypeVar("Family", EncoderDecoder, DecoderOnly)


class TextError(ValueError):
    """A text that the model cannot take: the message says what was given and what is needed."""


@dataclass(frozen=True)
class Translation:
    """What a model wrote.

    `produced` are its tokens, the end token last unless the limit stopped it; `log_probabilities` has one entry for each
    (natural logarithm), and `score` is their sum.
    """

    text: str
    source: tuple[Token, ...]
    produced: tuple[Token, ...]
    log_probabilities: tuple[float, ...]
    stopped: Literal["end", "limit"]

    @property
    def score(self) -> float:
        return sum(self.log_probabilities)


@dataclass(frozen=True)
class Generation(Translation):
    """What a language model wrote on: `source` is what it read first (start token, prompt), `text` and `produced` come after it.

    The spans of `produced` lie in the prompt with `text` behind it.
    """


@dataclass(frozen=True)
class Loaded(Generic[Family]):
    """A model with its tokenizers and card. Many threads may use one at the same time.

    `ours`: it is built of the modules of this project, so that embeddings, projections, norms and sums can be looked at.
    """

    ours: ClassVar[bool] = True
    name: str
    model: Family
    tokenizers: Tokenizers
    card: Mapping[str, Any]

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def _record(
        self,
        forward: Callable[[Tensor], Tensor],
        source: tuple[Token, ...],
        pieces: tuple[Token, ...],
        texts: tuple[str, str],
        edits: Mapping[str, Edit] | None,
    ) -> Trace:
        """One forced pass: the decoder reads start and `pieces`, and is asked for `pieces` and end."""
        read, produced = self._rows(pieces, len(texts[1]))
        with torch.inference_mode(), tracing(edits) as recording:
            scores = forward(self._batch(read))[0].double().log_softmax(dim=-1)
        chosen = scores.gather(1, torch.tensor([[token.id] for token in produced], device=self.device))[:, 0]
        return Trace(
            activations=recording.activations,
            source=source,
            target=read,
            produced=produced,
            log_probabilities=tuple(chosen.tolist()),
            source_text=texts[0],
            target_text=texts[1],
        )

    def _rows(self, pieces: tuple[Token, ...], end: int) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """The decoder reads start and `pieces`, and is asked for `pieces` and the end, which stands at this place of the text."""
        return self._checked((special(START), *pieces)), (*pieces, special(END, end))

    def _search(self, source: Sequence[Token], size: int, limit: int | None) -> Hypothesis:
        ids = self._batch(source)
        return greedy(self.model, ids, limit=limit)[0] if size == 1 else beam(self.model, ids, size, limit)[0]

    def _batch(self, tokens: Sequence[Token]) -> Tensor:
        return torch.tensor([[token.id for token in tokens]], device=self.device)

    def _checked(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        if len(tokens) > self.config.max_length:
            raise TextError(f"the text has {len(tokens)} tokens, the model takes {self.config.max_length}; shorten it")
        return tokens


@dataclass(frozen=True)
class Translator(Loaded[EncoderDecoder]):
    """An encoder-decoder: a source text in, its translation out."""

    model: EncoderDecoder

    def source_tokens(self, text: str) -> tuple[Token, ...]:
        """What the encoder reads: the pieces of the text and the end token."""
        tokens = self.tokenizers.source.encode(text)
        if not tokens:
            raise TextError("the source text is empty; type at least one word")
        return self._checked((*tokens, special(END, len(text))))

    def target_rows(self, text: str) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """What the decoder reads of a target, and what each of these rows is asked to produce."""
        return self._rows(self.tokenizers.target.encode(text), len(text))

    def translate(self, text: str, beam: int = 1, limit: int | None = None) -> Translation:
        """Write a translation: greedily, or with a beam of that size."""
        source = self.source_tokens(text)
        hypothesis = self._search(source, beam, limit)
        return Translation(
            text=self.tokenizers.target.decode(hypothesis.ids),
            source=source,
            produced=self.tokenizers.target.produced(hypothesis.ids),
            log_probabilities=hypothesis.log_probabilities,
            stopped="end" if hypothesis.ended else "limit",
        )

    def write(self, text: str, beam: int = 1, limit: int | None = None) -> Translation:
        """What the model writes of a text, whichever its family: `translate`."""
        return self.translate(text, beam, limit)

    def forced(
        self, source: Tensor, target: Tensor, source_mask: Tensor | None = None, target_mask: Tensor | None = None
    ) -> Tensor:
        """The logits (batch, target, vocab) of a forced pass over ids, whichever the family; masks are False at padding."""
        logits: Tensor = self.model(source, target, source_mask, target_mask)
        return logits

    def decoded(self, target: Tensor, trace: Trace) -> Tensor:
        """The logits of another target for the source of a trace, which kept "encoder.output"."""
        return self.model.decode(target, trace["encoder.output"].tensor)

    def said(self, source: str, ids: Sequence[int]) -> str:
        """What these ids say when they were written for a source: the translation."""
        return self.tokenizers.target.decode(ids)

    def given(self, trace: Trace) -> tuple[Token, ...]:
        """What the model read before it wrote, in this trace of its own: the source."""
        return trace.source

    def first_written(self, trace: Trace) -> int:
        """The first row of a trace whose token stands for what the model writes: all of them do."""
        return 0

    def trace(self, source: str, target: str | Translation | None = None, edits: Mapping[str, Edit] | None = None) -> Trace:
        """One forced pass over a pair, everything recorded; without a target, over the model's own greedy output.

        A `Translation` as the target is taken token for token; typed again, its text might be cut into other pieces.

        With `edits` (path -> function from tensor to tensor) the values at those paths are changed as they are computed.
        """
        tokens = self.source_tokens(source)
        target = self.translate(source) if target is None else target
        if isinstance(target, Translation):
            text, pieces = target.text, tuple(token for token in target.produced if not token.special)
        else:
            text, pieces = target, self.tokenizers.target.encode(target)
        return self._record(lambda read: self.model(self._batch(tokens), read), tokens, pieces, (source, text), edits)


@dataclass(frozen=True)
class LanguageModel(Loaded[DecoderOnly]):
    """A decoder-only model: a prompt in, what may follow it out. There is one sentence, the prompt with what was written on."""

    model: DecoderOnly

    def source_tokens(self, text: str) -> tuple[Token, ...]:
        """What the model reads before it writes: the start token and the pieces of the prompt, which may be empty."""
        return self._checked((special(START), *self.tokenizers.target.encode(text)))

    def generate(self, text: str, beam: int = 1, limit: int | None = None) -> Generation:
        """Write on after a prompt: greedily, or with a beam of that size."""
        source = self.source_tokens(text)
        hypothesis = self._search(source, beam, limit)
        tokenizer = self.tokenizers.target
        return Generation(
            text=tokenizer.decode(hypothesis.ids, after=text)[len(text) :],
            source=source,
            produced=tokenizer.produced(hypothesis.ids, after=text),
            log_probabilities=hypothesis.log_probabilities,
            stopped="end" if hypothesis.ended else "limit",
        )

    def write(self, text: str, beam: int = 1, limit: int | None = None) -> Translation:
        """What the model writes after a text, whichever its family: `generate`."""
        return self.generate(text, beam, limit)

    def forced(
        self, source: Tensor, target: Tensor, source_mask: Tensor | None = None, target_mask: Tensor | None = None
    ) -> Tensor:
        """The logits (batch, target, vocab) of a forced pass over ids, whichever the family: here there is no source."""
        logits: Tensor = self.model(target, target_mask)
        return logits

    def decoded(self, target: Tensor, trace: Trace) -> Tensor:
        """The logits of another text; nothing of a trace is needed for it."""
        logits: Tensor = self.model(target)
        return logits

    def said(self, source: str, ids: Sequence[int]) -> str:
        """What these ids say when they were written after a prompt: the prompt with its continuation."""
        return self.tokenizers.target.decode(ids, after=source)

    def given(self, trace: Trace) -> tuple[Token, ...]:
        """What the model read before it wrote, in this trace of its own: the start token and the prompt.

        The row of the last of them produced the first token of the continuation.
        """
        return self.source_tokens(trace.source_text)

    def first_written(self, trace: Trace) -> int:
        """The first row of a trace whose token stands for what the model writes: that of the last token of the prompt."""
        return min(len(self.given(trace)), len(trace.produced)) - 1

    def trace(self, source: str, target: str | Translation | None = None, edits: Mapping[str, Edit] | None = None) -> Trace:
        """One forced pass over prompt and continuation, everything recorded; without one, over the model's own greedy output.

        The trace has no source: both stand in its target, and `source_text` is the prompt alone. A `Generation` is taken token
        for token; a text typed as `target` is put behind the prompt, and an empty one leaves the prompt alone.
        """
        target = self.generate(source) if target is None else target
        if isinstance(target, Translation):
            text = source + target.text
            pieces = tuple(token for token in (*target.source, *target.produced) if not token.special)
        else:
            text = f"{source} {target}" if source and target else source or target
            pieces = self.tokenizers.target.encode(text)
        return self._record(self.model, (), pieces, (source, text), edits)


@dataclass(frozen=True)
class Reader(ABC):
    """An encoder alone: a text in, its trace out. It writes nothing: it has no target, no loss and no decoding.

    None is shipped; adapters make them of what others trained.
    """

    ours: ClassVar[bool] = False
    name: str
    model: nn.Module
    tokenizers: Tokenizers
    card: Mapping[str, Any]

    @property
    @abstractmethod
    def config(self) -> ModelConfig: ...

    @abstractmethod
    def source_tokens(self, text: str) -> tuple[Token, ...]:
        """What the encoder reads."""

    @abstractmethod
    def trace(self, source: str, target: None = None, edits: Mapping[str, Edit] | None = None) -> Trace:
        """One pass over a text, everything recorded."""


Atlas = Translator | LanguageModel
Opened = Translator | LanguageModel | Reader
AnyAtlas = TypeVar("AnyAtlas", bound=Translator | LanguageModel)


def choose_device(device: str = "auto") -> torch.device:
    """The device asked for; "auto" is CUDA where there is one, else the CPU."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise ValueError(f"device={device!r} is not known; choose 'cpu', 'cuda' or 'auto'") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={device!r}, but there is no CUDA device here; choose 'cpu' or 'auto'")
    return chosen


def load(name: str | Path, device: str = "auto") -> Atlas:
    """A shipped model by its name (see `available`), or a checkpoint folder by its path."""
    folder = name if isinstance(name, Path) else SHIPPED / name
    if not isinstance(name, Path) and name not in available():
        raise CheckpointError(f"{shown(folder)} holds no model; shipped are: {', '.join(available()) or 'none'}")
    loaded, tokenizers = load_checkpoint(folder, choose_device(device))
    card = load_card(folder)
    if isinstance(loaded, DecoderOnly):
        return LanguageModel(folder.name, loaded, tokenizers, card)
    return Translator(folder.name, loaded, tokenizers, card)
