"""Writing one token at a time: greedy and beam search, with a cache of keys and values."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.attention import KeyValueCache
from model.config import ModelConfig
from model.transformer import DecoderOnly, EncoderDecoder

Read = Callable[[Tensor, KeyValueCache | None], Tensor]  # tokens (batch, target) and cache -> logits (batch, target, vocab)


@dataclass(frozen=True)
class Step:
    """One decoding step of a batch of sentences.

    `log_probabilities` of every possible next token, `chosen` the ids that were taken; sentences that had ended before
    take padding.
    """

    index: int
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
    model: EncoderDecoder | DecoderOnly, source: Int[Tensor, "batch source"], source_mask: Bool[Tensor, "batch source"] | None
) -> tuple[Read, Int[Tensor, "batch first"]]:
    """How the model reads what it has written, and what it reads first: the start token, or the prompt itself."""
    if isinstance(model, DecoderOnly):
        if source_mask is not None:
            raise ValueError("prompts of a decoder-only model are read without padding; give prompts of one length, no mask")
        return lambda read, cache: model(read, cache=cache), source
    memory = model.encode(source, source_mask)
    first = torch.full((source.shape[0], 1), model.config.start, device=source.device)
    return lambda read, cache: model.decode(read, memory.expand(read.shape[0], -1, -1), source_mask, cache=cache), first


@torch.inference_mode()
def greedy_steps(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    limit: int | None = None,
    cached: bool = True,
) -> Iterator[Step]:
    """Take the likeliest token, again and again, until every sentence has ended or `limit` tokens stand.

    `source` is what is translated; for a decoder-only model it is the prompt that is written on, the start token first.
    With `cached` each step computes only the new row; without, it repeats all earlier ones, to the same result.
    """
    config = model.config
    limit = tokens_allowed(limit, source.shape[1], config)
    logits_of, read = begin(model, source, source_mask)
    cache = KeyValueCache() if cached else None
    ended = torch.zeros(source.shape[0], dtype=torch.bool, device=source.device)
    for index in range(limit):
        log_probabilities = logits_of(read, cache)[:, -1].float().log_softmax(dim=-1)
        chosen = log_probabilities.argmax(dim=-1).masked_fill(ended, config.padding)
        yield Step(index, log_probabilities, chosen)
        ended = ended | (chosen == config.end)
        if bool(ended.all()):
            return
        read = chosen[:, None] if cached else torch.cat((read, chosen[:, None]), dim=1)


def greedy(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    limit: int | None = None,
    cached: bool = True,
) -> list[Hypothesis]:
    """The greedy output of every sentence of the batch."""
    steps = list(greedy_steps(model, source, source_mask, limit, cached))
    chosen = torch.stack([step.chosen for step in steps], dim=1)
    scores = torch.stack([step.log_probabilities.gather(1, step.chosen[:, None])[:, 0] for step in steps], dim=1)
    result = []
    for ids, values in zip(chosen.tolist(), scores.tolist(), strict=True):
        ended = model.config.end in ids
        length = ids.index(model.config.end) + 1 if ended else len(ids)
        result.append(Hypothesis(tuple(ids[:length]), tuple(values[:length]), ended))
    return result


@torch.inference_mode()
def beam(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = 0.6,
) -> list[Hypothesis]:
    """The best outputs that keeping `size` unfinished ones at each step finds, best first.

    `source` is a prompt for a decoder-only model, as in `greedy_steps`. Outputs are compared by
    score / ((5 + length) / 6)^length_penalty (Wu et al. 2016, 7); size 1 is greedy.
    """
    if size < 1:
        raise ValueError(f"a beam of {size} holds nothing; choose 1 (greedy) or more")
    config = model.config
    limit = tokens_allowed(limit, source.shape[1], config)

    def worth(hypothesis: Hypothesis) -> float:
        return hypothesis.score / float(((5 + len(hypothesis.ids)) / 6) ** length_penalty)

    logits_of, read = begin(model, source, None)
    cache = KeyValueCache()
    alive = [Hypothesis((), (), False)]
    finished: list[Hypothesis] = []
    for _ in range(limit):
        log_probabilities = logits_of(read, cache)[:, -1].float().log_softmax(dim=-1)
        totals = log_probabilities + torch.tensor([[hypothesis.score] for hypothesis in alive], device=source.device)
        best = totals.flatten().topk(min(2 * size, totals.numel())).indices
        grown, rows = [], []
        for row, id_ in ((int(i) // totals.shape[1], int(i) % totals.shape[1]) for i in best):
            parent, ended = alive[row], id_ == config.end
            child = Hypothesis((*parent.ids, id_), (*parent.log_probabilities, float(log_probabilities[row, id_])), ended)
            if not ended:
                grown.append(child)
                rows.append(row)
            else:
                finished.append(child)
            if len(grown) == size:
                break
        if len(finished) >= size or (size == 1 and finished):
            break
        alive = grown
        read = torch.tensor([[hypothesis.ids[-1]] for hypothesis in alive], device=source.device)
        cache.select(torch.tensor(rows, device=source.device))
    else:
        finished += alive if not finished else []
    return sorted(finished, key=worth, reverse=True)[:size]
