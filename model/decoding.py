"""Writing one token at a time, greedily or by drawing, with a cache of keys and values; `beam_search` keeps several outputs.

Every way of writing may begin with a *prefix*, tokens of the output that are given: they are read in one pass, and what comes
after them is written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.attention import KeyValueCache
from model.config import ModelConfig
from model.sampling import Sampling, distribution, draws, take
from model.transformer import DecoderOnly, EncoderDecoder

Read = Callable[[Tensor, KeyValueCache | None], Tensor]  # tokens (batch, target) and cache -> logits (batch, target, vocab)


@dataclass(frozen=True)
class Step:
    """One decoding step of a batch of sentences.

    `logits` and `log_probabilities` of every possible next token, `chosen` the ids that were taken; sentences that had ended
    before take padding. At the steps of a prefix its tokens are taken.
    """

    index: int
    logits: Float[Tensor, "batch vocab"]
    log_probabilities: Float[Tensor, "batch vocab"]
    chosen: Int[Tensor, " batch"]


@dataclass(frozen=True)
class Hypothesis:
    """A finished output: its ids (the end token last, unless the limit came first) and the log-probability of each."""

    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    ended: bool

    @property
    def score(self) -> float:
        """The log-probability of the whole output."""
        return sum(self.log_probabilities)


def length_limit(source_length: int) -> int:
    """Where decoding stops if no end token comes: generous for any real translation of so many source tokens."""
    return 2 * source_length + 20


def tokens_allowed(limit: int | None, source_length: int, config: ModelConfig) -> int:
    """How many tokens may be written: with those before them, they must fit into one forced pass over the output.

    Before them stands the start token, in decoder-only models the whole prompt (`source_length` counts its start token).
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit={limit} leaves no token to be written; give 1 or more, or None for a limit by length")
    before = source_length if config.family == "decoder-only" else 1
    return min(limit or length_limit(source_length), max(1, config.max_length - before))


def begin(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None,
    memory: Float[Tensor, "batch source d_model"] | None = None,
) -> tuple[Read, Int[Tensor, "batch first"]]:
    """How the model reads what it has written, and what it reads first: the start token, or the prompt itself.

    `memory` takes the place of the encoder's output.
    """
    if isinstance(model, DecoderOnly):
        if source_mask is not None:
            raise ValueError("prompts of a decoder-only model are read without padding; give prompts of one length, no mask")
        return lambda read, cache: model(read, cache=cache), source
    seen = model.encode(source, source_mask) if memory is None else memory
    first = torch.full((source.shape[0], 1), model.config.start, device=source.device)
    return lambda read, cache: model.decode(read, seen.expand(read.shape[0], -1, -1), source_mask, cache=cache), first


def checked_prefix(prefix: Sequence[int], limit: int, config: ModelConfig) -> tuple[int, ...]:
    """The given tokens, if they can stand at the beginning of an output of at most `limit` tokens."""
    if len(prefix) > limit:
        raise ValueError(f"a prefix of {len(prefix)} tokens is longer than the limit of {limit}; give fewer")
    if wrong := [id_ for id_ in prefix if not 0 <= id_ < config.target_vocab_size]:
        raise ValueError(f"id {wrong[0]} is not in the vocabulary of {config.target_vocab_size}; give ids from 0")
    if config.end in prefix[:-1]:
        raise ValueError("nothing can follow the end token; give a prefix that has it last or not at all")
    return tuple(prefix)


@torch.inference_mode()
def steps_of(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    choose: Callable[[Tensor], Tensor],
    *,
    source_mask: Bool[Tensor, "batch source"] | None = None,
    limit: int | None = None,
    cached: bool = True,
    prefix: Sequence[int] = (),
    memory: Float[Tensor, "batch source d_model"] | None = None,
) -> Iterator[Step]:
    """`choose` a token for each sentence by the logits (batch, vocab), again and again, until all have ended or `limit` stand.

    With `cached` each step computes only the new row; without, it repeats all earlier ones, to the same result.
    """
    config = model.config
    limit = tokens_allowed(limit, source.shape[1], config)
    prefix = checked_prefix(prefix, limit, config)
    logits_of, first = begin(model, source, source_mask, memory)
    cache = KeyValueCache() if cached else None
    given = source.new_tensor(prefix).expand(source.shape[0], -1)
    read = torch.cat((first, given), dim=1)
    rows = logits_of(read, cache)[:, first.shape[1] - 1 :].float()
    for index in range(len(prefix)):
        yield Step(index, rows[:, index], rows[:, index].log_softmax(dim=-1), given[:, index])
    if prefix[-1:] == (config.end,):
        return
    logits, ended = rows[:, -1], torch.zeros(source.shape[0], dtype=torch.bool, device=source.device)
    for index in range(len(prefix), limit):
        chosen = choose(logits).masked_fill(ended, config.padding)
        yield Step(index, logits, logits.log_softmax(dim=-1), chosen)
        ended = ended | (chosen == config.end)
        if bool(ended.all()) or index + 1 == limit:
            return
        read = chosen[:, None] if cached else torch.cat((read, chosen[:, None]), dim=1)
        logits = logits_of(read, cache)[:, -1].float()


def greedy_steps(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    limit: int | None = None,
    cached: bool = True,
    prefix: Sequence[int] = (),
    memory: Float[Tensor, "batch source d_model"] | None = None,
) -> Iterator[Step]:
    """Take the likeliest token, again and again, until every sentence has ended or `limit` tokens stand.

    `source` is what is translated; for a decoder-only model it is the prompt that is written on, the start token first.
    """
    return steps_of(
        model, source, lambda logits: logits.argmax(dim=-1),
        source_mask=source_mask, limit=limit, cached=cached, prefix=prefix, memory=memory,
    )  # fmt: skip


def sample_steps(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    sampling: Sampling,
    seed: int,
    limit: int | None = None,
    cached: bool = True,
    prefix: Sequence[int] = (),
) -> Iterator[Step]:
    """Draw every token from its `distribution`. The draw of a step depends on seed and step alone, not on what stands before."""
    drawn = draws(seed, source.shape[0])
    for _ in prefix:
        next(drawn)
    return steps_of(
        model, source, lambda logits: take(distribution(logits, sampling), next(drawn).to(logits.device)),
        limit=limit, cached=cached, prefix=prefix,
    )  # fmt: skip


def greedy(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    limit: int | None = None,
    cached: bool = True,
    memory: Float[Tensor, "batch source d_model"] | None = None,
) -> list[Hypothesis]:
    """The greedy output of every sentence of the batch."""
    return finished(greedy_steps(model, source, source_mask, limit, cached, memory=memory), model.config.end)


def finished(steps: Iterable[Step], end: int) -> list[Hypothesis]:
    """What the steps of a batch wrote, a prefix included."""
    taken = list(steps)
    chosen = torch.stack([step.chosen for step in taken], dim=1)
    scores = torch.stack([step.log_probabilities.gather(1, step.chosen[:, None])[:, 0] for step in taken], dim=1)
    result = []
    for ids, values in zip(chosen.tolist(), scores.tolist(), strict=True):
        ended = end in ids
        length = ids.index(end) + 1 if ended else len(ids)
        result.append(Hypothesis(tuple(ids[:length]), tuple(values[:length]), ended))
    return result
