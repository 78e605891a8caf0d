"""Writing, one step at a time: what the decoder read, the best next tokens, what sampling made of them, and the choice."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model import cost
from model.attention import KeyValueCache
from model.decoding import Step, begin, greedy_steps, sample_steps
from model.sampling import Sampling, distribution, draws, in_top_k, in_top_p, tempered
from model.tokenizer import Token
from model.trace import tracing
from model.translator import Atlas, LanguageModel

BEST = 20  # tokens of a step that are shown one by one
FEW = 6  # the same, read from afar


@dataclass(frozen=True)
class Plan:
    """How to write: greedily, or by drawing from `sampling` with this seed; after the tokens of `prefix`."""

    kind: Literal["greedy", "sampling"] = "greedy"
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = 1
    prefix: tuple[int, ...] = ()
    limit: int | None = None


@dataclass(frozen=True)
class Eye:
    """The attention whose row a step shows: a layer of the last of the model's attentions, and a head (None: the mean of all)."""

    layer: int
    head: int | None

    def path(self, atlas: Atlas) -> str:
        """Where its weights stand in a recording."""
        return weights_of(atlas, self.layer)

    def row(self, weights: Float[Tensor, "batch head query key"], sentence: int, query: int, keys: int) -> tuple[float, ...]:
        """One row of it, over the first `keys` keys."""
        return self.chosen(weights[sentence, :, query, :keys])

    def chosen(self, of_heads: Float[Tensor, "head key"]) -> tuple[float, ...]:
        """Of one row of every head its own."""
        row = of_heads.mean(dim=0) if self.head is None else of_heads[self.head]
        return tuple(row.double().tolist())


def weights_of(atlas: Atlas, layer: int) -> str:
    """Where the weights of the last of the model's attentions stand in a recording."""
    name = "self_attention" if isinstance(atlas, LanguageModel) else "cross_attention"
    return f"decoder.layers.{layer}.{name}.weights"


@dataclass(frozen=True)
class Candidate:
    """One possible next token of a step, `rank` from 1: its logit, the logit divided by the temperature (None at 0), the model's
    probability, whether top-k and top-p let it pass, and the probability that it was drawn from.
    """

    id: int
    label: str
    rank: int
    logit: float
    divided: float | None
    probability: float
    in_top_k: bool
    in_top_p: bool
    final: float


@dataclass(frozen=True)
class Moment:
    """One step. `candidates`: the `best` likeliest and, if it is not among them, the one taken; `others` are all the rest, with
    the sums of their probabilities.

    `log_sum`: the logarithm of the sum of the exponentials of all logits. `drawn`: the number of the draw, None where nothing was
    drawn; the taken token owns the numbers from `low` to `high`. `weights`: what the row looked at, one number a key.
    """

    read: Token
    taken: Token
    given: bool
    candidates: tuple[Candidate, ...]
    others: int
    others_probability: float
    others_final: float
    kept: int
    log_probability: float
    log_sum: float
    drawn: float | None
    low: float
    high: float
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Writing:
    """An output and how it came about: `keys` are what the rows of `Moment.weights` run over, the source or the prompt."""

    keys: tuple[Token, ...]
    moments: tuple[Moment, ...]
    text: str
    ended: bool

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(moment.taken.id for moment in self.moments)

    @property
    def score(self) -> float:
        """The log-probability of the output, by the model's own probabilities."""
        return sum(moment.log_probability for moment in self.moments)


@dataclass(frozen=True)
class Written:
    """A `Writing` before anybody has chosen an `Eye`: its moments hold no weights, `rows` has those of every layer and head."""

    writing: Writing
    rows: tuple[Float[Tensor, "layer head key"], ...]  # one a step

    def seen_by(self, eye: Eye) -> Writing:
        """With the weights of one head, or of the mean of all."""
        pairs = zip(self.writing.moments, self.rows, strict=True)
        return replace(self.writing, moments=tuple(replace(moment, weights=eye.chosen(row[eye.layer])) for moment, row in pairs))


def write(atlas: Atlas, text: str, plan: Plan, eye: Eye, best: int = BEST) -> Writing:
    """Write after a source or prompt as planned; keep what a page shows of each step, with the `best` likeliest tokens."""
    return written_out(atlas, text, plan, best).seen_by(eye)


def written_out(atlas: Atlas, text: str, plan: Plan, best: int = BEST) -> Written:
    """The same for every layer and head at once."""
    source = atlas.source_tokens(text)
    paths = [weights_of(atlas, layer) for layer in range(atlas.config.decoder_layers)]
    first = len(source) if isinstance(atlas, LanguageModel) else 1
    facts, rows, ids = [], [], []
    with torch.inference_mode(), tracing(only=frozenset(paths)) as recording:
        for step, drawn in zip(_steps(atlas, ids_of(atlas, source), plan), _draws(plan), strict=False):
            query = first - 1 + step.index if step.index <= len(plan.prefix) else -1
            rows.append(torch.stack([recording[path].tensor[0, :, query, : len(source)] for path in paths]))
            given = step.index < len(plan.prefix)
            facts.append(_facts(atlas, step, plan, None if given else drawn, best))
            ids.append(int(step.chosen))
    after = text if isinstance(atlas, LanguageModel) else ""
    taken = atlas.tokenizers.target.produced(ids, after=after)
    start = source[-1] if isinstance(atlas, LanguageModel) else atlas.tokenizers.target.produced([atlas.config.start])[0]
    moments = tuple(
        Moment(read=read, taken=token, given=at < len(plan.prefix), weights=(), **values)
        for at, (read, token, values) in enumerate(zip((start, *taken), taken, facts, strict=False))
    )
    said = atlas.tokenizers.target.decode(ids, after=after)[len(after) :]
    return Written(Writing(source, moments, said, ids[-1] == atlas.config.end), tuple(rows))


def ids_of(atlas: Atlas, tokens: tuple[Token, ...]) -> Int[Tensor, "1 token"]:
    """A batch of one sentence."""
    return torch.tensor([[token.id for token in tokens]], device=atlas.device)


def logits(atlas: Atlas, text: str, ids: tuple[int, ...]) -> Float[Tensor, "step vocab"]:
    """The logits at every step of an output: one forced pass over it, as a prefix of itself."""
    steps = greedy_steps(atlas.model, ids_of(atlas, atlas.source_tokens(text)), limit=len(ids), prefix=ids)
    return torch.cat([step.logits for step in steps])


def _steps(atlas: Atlas, source: Tensor, plan: Plan) -> Iterator[Step]:
    if plan.kind == "greedy":
        return greedy_steps(atlas.model, source, limit=plan.limit, prefix=plan.prefix)
    return sample_steps(atlas.model, source, plan.sampling, plan.seed, limit=plan.limit, prefix=plan.prefix)


def _draws(plan: Plan) -> Iterator[float | None]:
    for drawn in draws(plan.seed):
        yield float(drawn) if plan.kind == "sampling" else None


def _facts(atlas: Atlas, step: Step, plan: Plan, drawn: float | None, best: int) -> dict[str, Any]:
    """What a moment holds beside its tokens and weights."""
    sampling, row, taken = plan.sampling, step.logits[0].double(), int(step.chosen)
    probabilities, final = row.softmax(dim=-1), distribution(row, sampling)
    scores = tempered(row, sampling.temperature)
    # Of the logits themselves: no temperature changes their order, and at 0 all but one are equal.
    in_k = torch.ones_like(row, dtype=torch.bool) if sampling.top_k is None else in_top_k(row, sampling.top_k)
    in_p = in_k & in_top_p(scores.masked_fill(~in_k, -math.inf).softmax(dim=-1), sampling.top_p)
    order = row.argsort(descending=True, stable=True)
    rank = int((order == taken).nonzero())
    shown = order[:best] if rank < best else torch.cat((order[:best], order[rank : rank + 1]))
    shown = shown[row[shown] > -math.inf]  # a model of others may forbid tokens, or ask for one at first
    high = float(final[order[: rank + 1]].sum())
    labels = [token.label for id_ in shown.tolist() for token in atlas.tokenizers.target.produced([id_])]
    candidates = tuple(
        Candidate(
            id_, label, 1 + (at if at < best else rank), float(row[id_]),
            float(row[id_]) / sampling.temperature if sampling.temperature else None,
            float(probabilities[id_]), bool(in_k[id_]), bool(in_p[id_]), float(final[id_]),
        )
        for at, (id_, label) in enumerate(zip(shown.tolist(), labels, strict=True))
    )  # fmt: skip
    hidden = torch.ones_like(in_k).scatter(0, shown, torch.zeros_like(shown, dtype=torch.bool))
    return {
        "candidates": candidates, "others": len(row) - len(shown), "kept": int((final > 0).sum()), "drawn": drawn,
        "others_probability": float(probabilities[hidden].sum()), "others_final": float(final[hidden].sum()),
        "log_probability": float(row[taken] - row.logsumexp(dim=-1)), "log_sum": float(row.logsumexp(dim=-1)),
        "low": high - float(final[taken]), "high": high,
    }  # fmt: skip


# ----- what the key/value cache keeps


@dataclass(frozen=True)
class Cached:
    """The same output written with the cache and without: after each step the bytes that the cache holds and the operations so
    far of both ways (matrix products, by formula), and the largest difference of any logit.
    """

    bytes: tuple[int, ...]
    with_cache: tuple[int, ...]
    without: tuple[int, ...]
    difference: float
    largest: float
    same: bool


@torch.inference_mode()
def cached(atlas: Atlas, text: str, ids: tuple[int, ...]) -> Cached:
    """Read the output token by token, once keeping keys and values, once computing all rows anew at every step."""
    logits_of, first = begin(atlas.model, ids_of(atlas, atlas.source_tokens(text)), None)
    whole = torch.cat((first, first.new_tensor([ids[:-1]])), dim=1)
    cache, kept, rows, anew = KeyValueCache(), [], [], []
    for length in range(first.shape[1], whole.shape[1] + 1):
        read = whole[:, :length]
        rows.append(logits_of(read if length == first.shape[1] else read[:, -1:], cache)[0, -1])
        anew.append(logits_of(read, None)[0, -1])
        kept.append(cache.bytes())
    one, other = torch.stack(rows), torch.stack(anew)
    possible = one > -math.inf  # a model of others may forbid tokens
    spent = cost.flops_of_writing(atlas.config, len(atlas.source_tokens(text)), len(ids))
    return Cached(
        tuple(kept), *spent, float((one - other)[possible].abs().max()), float(one[possible].abs().max()),
        bool((one.argmax(dim=-1) == other.argmax(dim=-1)).all()),
    )  # fmt: skip


# ----- led through a target, and left alone


@dataclass(frozen=True)
class Row:
    """One row of both ways. Led: it reads `read`, should produce `wanted`, would have written `likeliest`; `loss` is that of
    `wanted`. Alone: it wrote `written`. What a shorter way does not have is None.
    """

    read: Token | None
    wanted: Token | None
    likeliest: str
    right: bool
    loss: float | None
    written: Token | None


@dataclass(frozen=True)
class Beside:
    """A target that the decoder was led through, beside what it wrote alone; `divergence`: the first row that differs."""

    rows: tuple[Row, ...]
    divergence: int | None
    mean_loss: float
    right: int
    text: str


@torch.inference_mode()
def beside(atlas: Atlas, source: str, target: str | None, given: int = 1) -> Beside:
    """Teacher forcing and free running on one pair; of a language model, its text behind the first `given` tokens that it reads.

    Free running is greedy and may go on a little after the target has ended.
    """
    trace = atlas.trace(source, target)
    first = given - 1
    start = trace.target[:given] if isinstance(atlas, LanguageModel) else trace.source
    steps = list(greedy_steps(atlas.model, ids_of(atlas, start), limit=len(trace.produced) - first + 10))
    after = trace.target_text[: start[-1].span[1]] if isinstance(atlas, LanguageModel) else ""
    ids = [int(step.chosen) for step in steps]
    written = atlas.tokenizers.target.produced(ids, after=after)
    best = trace["logits"].tensor[0].argmax(dim=-1).tolist()
    rows = [
        Row(
            trace.target[at] if at < len(trace.target) else None,
            trace.produced[at] if at < len(trace.produced) else None,
            atlas.tokenizers.target.produced([best[at]])[0].label if at < len(best) else "",
            at < len(best) and best[at] == trace.produced[at].id,
            -trace.log_probabilities[at] if at < len(trace.produced) else None,
            written[at - first] if at - first < len(written) else None,
        )
        for at in range(first, max(len(trace.produced), first + len(written)))
    ]
    wanted = [token.id for token in trace.produced[first:]]
    differ = [at for at, (one, other) in enumerate(zip(wanted, ids, strict=False)) if one != other]
    losses = [row.loss for row in rows if row.loss is not None]
    return Beside(
        tuple(rows), differ[0] if differ else None, sum(losses) / len(losses), sum(row.right for row in rows),
        atlas.tokenizers.target.decode(ids, after=after)[len(after) :],
    )  # fmt: skip
