"""Writing one token at a time: greedy, sampling and beam search, with a cache of keys and values.

Every way of writing may begin with a *prefix*, tokens of the output that are given: they are read in one pass, and what comes
after them is written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.attention import KeyValueCache
from model.config import ModelConfig
from model.sampling import Sampling, distribution, draws, take
from model.transformer import DecoderOnly, EncoderDecoder

Read = Callable[[Tensor, KeyValueCache | None], Tensor]  # tokens (batch, target) and cache -> logits (batch, target, vocab)
Fate = Literal["given", "kept", "cut", "finished", "left"]


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


# ----- one output: greedy and sampling


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
    source_mask: Bool[Tensor, "batch source"] | None = None,
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
        source_mask=source_mask, limit=limit, cached=cached, prefix=prefix,
    )  # fmt: skip


def greedy(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    limit: int | None = None,
    cached: bool = True,
    prefix: Sequence[int] = (),
    memory: Float[Tensor, "batch source d_model"] | None = None,
) -> list[Hypothesis]:
    """The greedy output of every sentence of the batch."""
    return finished(greedy_steps(model, source, source_mask, limit, cached, prefix, memory), model.config.end)


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


# ----- several outputs: beam search


@dataclass(frozen=True)
class Node:
    """A token that a beam search considered, behind the tokens on the way to it.

    `parent` is the index of the node before it, None for a first token; `depth` counts the tokens of the way, its own too.
    `total` is the log-probability of the way, `worth` that divided by the length penalty. `fate`: "given" in the prefix, "kept",
    "cut", "finished", or "left" unfinished when the search stopped.
    """

    id: int
    parent: int | None
    depth: int
    log_probability: float
    total: float
    worth: float
    fate: Fate


@dataclass(frozen=True)
class BeamTree:
    """All that a beam search considered, in order, and the nodes at which the outputs that it returns end, best first."""

    nodes: tuple[Node, ...]
    best: tuple[int, ...]

    def way(self, index: int) -> tuple[int, ...]:
        """The nodes from a first token to this one."""
        found, at = [], index
        while True:
            found.append(at)
            parent = self.nodes[at].parent
            if parent is None:
                return tuple(reversed(found))
            at = parent

    def hypothesis(self, index: int) -> Hypothesis:
        """The output that ends at this node."""
        way = [self.nodes[at] for at in self.way(index)]
        return Hypothesis(
            tuple(node.id for node in way), tuple(node.log_probability for node in way), self.nodes[index].fate == "finished"
        )


def penalty(length: int, length_penalty: float) -> float:
    """What the log-probability of an output of so many tokens is divided by (Wu et al. 2016, 7)."""
    return float(((5 + length) / 6) ** length_penalty)


@torch.inference_mode()
def beam_steps(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = 0.6,
    prefix: Sequence[int] = (),
) -> Iterator[tuple[Node, ...]]:
    """The nodes that each step of a beam search adds to its tree; first those of the prefix, then at each step the 2 `size` best.

    The rows of the batch that is read at a step are the nodes that were kept at the step before, in their order.
    """
    if size < 1:
        raise ValueError(f"a beam of {size} holds nothing; choose 1 (greedy) or more")
    config = model.config
    limit = tokens_allowed(limit, source.shape[1], config)
    prefix = checked_prefix(prefix, limit, config)
    logits_of, first = begin(model, source, None)
    cache = KeyValueCache()
    rows = (
        logits_of(torch.cat((first, source.new_tensor([prefix])), dim=1), cache)[:, first.shape[1] - 1 :].float().log_softmax(-1)
    )

    def grown(id_: int, parent: int | None, log_probability: float, fate: Fate) -> Node:
        depth = 1 + (nodes[parent].depth if parent is not None else 0)
        total = log_probability + (nodes[parent].total if parent is not None else 0.0)
        return Node(id_, parent, depth, log_probability, total, total / penalty(depth, length_penalty), fate)

    nodes: list[Node] = []
    for at, id_ in enumerate(prefix):
        fate: Fate = "finished" if id_ == config.end else "given"
        nodes.append(grown(id_, at - 1 if at else None, float(rows[0, at, id_]), fate))
    if nodes:
        yield tuple(nodes)
    alive: list[int | None] = [len(nodes) - 1 if nodes else None]
    log_probabilities, ended = rows[:, -1], 0
    for index in range(len(prefix), limit if prefix[-1:] != (config.end,) else 0):
        totals = log_probabilities + source.new_tensor(
            [[nodes[at].total if at is not None else 0.0] for at in alive], dtype=log_probabilities.dtype
        )
        best = totals.flatten().topk(min(2 * size, totals.numel())).indices
        candidates = [divmod(int(place), totals.shape[1]) for place in best]
        fates = _fates([id_ == config.end for _, id_ in candidates], size)
        ended += fates.count("finished")
        stops = ended >= size or index + 1 == limit
        added = [
            grown(id_, alive[row], float(log_probabilities[row, id_]), "left" if stops and fate == "kept" else fate)
            for (row, id_), fate in zip(candidates, fates, strict=True)
        ]
        nodes += added
        yield tuple(added)
        if stops:
            return
        carried = [at for at, fate in enumerate(fates) if fate == "kept"]
        alive = [len(nodes) - len(added) + at for at in carried]
        cache.select(torch.tensor([candidates[at][0] for at in carried], device=source.device))
        read = torch.tensor([[candidates[at][1]] for at in carried], device=source.device)
        log_probabilities = logits_of(read, cache)[:, -1].float().log_softmax(dim=-1)


def _fates(ends: Sequence[bool], size: int) -> list[Fate]:
    """What becomes of the candidates of a step, best first: the `size` best that go on are kept; ends before them finish."""
    fates: list[Fate] = []
    for end in ends:
        full = fates.count("kept") == size
        fates.append("cut" if full else "finished" if end else "kept")
    return fates


def beam_tree(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = 0.6,
    prefix: Sequence[int] = (),
) -> BeamTree:
    """The whole search; see `beam`."""
    return as_tree(beam_steps(model, source, size, limit, length_penalty, prefix), size)


def as_tree(steps: Iterable[Sequence[Node]], size: int) -> BeamTree:
    """The steps of a search as its tree: the outputs that ended, or if none did those that were left, the best `size` of them."""
    nodes = tuple(node for step in steps for node in step)
    for fate in ("finished", "left", "given"):
        if ends := [index for index, node in enumerate(nodes) if node.fate == fate]:
            chosen = ends[-1:] if fate == "given" else sorted(ends, key=lambda index: nodes[index].worth, reverse=True)[:size]
            return BeamTree(nodes, tuple(chosen))
    raise ValueError("a search without steps has no outputs")


def beam(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = 0.6,
    prefix: Sequence[int] = (),
) -> list[Hypothesis]:
    """The best outputs that keeping `size` unfinished ones at each step finds, best first.

    `source` is a prompt for a decoder-only model, as in `greedy_steps`. Outputs are compared by
    score / ((5 + length) / 6)^length_penalty (Wu et al. 2016, 7); size 1 is greedy.
    """
    tree = beam_tree(model, source, size, limit, length_penalty, prefix)
    return [tree.hypothesis(index) for index in tree.best]
