"""Ten short true stories about attention in the shipped models: each function measures what its story tells.

A story names a sentence and a head; its function returns the numbers and words of the text and a small picture, or None where
this model does not do what the story says. Nothing is stored: whoever trains the models anew reads other numbers. Weights say
what a row reads from, never why a word was chosen.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis import ablation, lens, masking, rotary
from model.analysis.ablation import Head
from model.tokenizer import Token
from model.trace import Trace
from model.training import tasks
from model.translator import Atlas, Translation

Value = str | int | float


@dataclass(frozen=True)
class Cell:
    """One cell of a picture: what stands in it, and a share between 0 and 1 that colours it."""

    written: Value
    share: float


@dataclass(frozen=True)
class Picture:
    """A small table: labels of its rows and columns, and its cells. `named`: the rows are named by sentences of the page."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    named: bool = False


@dataclass(frozen=True)
class Told:
    """What a story tells: the values of its text by name, and its picture."""

    values: Mapping[str, Value]
    picture: Picture


def crossing(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """Two neighbouring rows whose largest weights cross: the first pair of words that change places.

    `first` and `second` are produced one after the other; `first_reads` stands behind `second_reads` in the source.
    """
    weights = _weights(trace, head)
    best = weights.argmax(dim=-1).tolist()
    row = next((at for at in range(len(best) - 1) if best[at] > best[at + 1]), None)
    if row is None:
        return None
    return Told(
        {
            "translation": trace.target_text,
            "first": trace.produced[row].label,
            "first_reads": trace.source[best[row]].label,
            "first_weight": float(weights[row, best[row]]),
            "second": trace.produced[row + 1].label,
            "second_reads": trace.source[best[row + 1]].label,
            "second_weight": float(weights[row + 1, best[row + 1]]),
        },
        _map(weights, trace.produced, trace.source),
    )


def renamed(atlas: Atlas, trace: Trace, head: Head, read_head: int) -> Told | None:
    """One map under two names of its rows: by the token that a row produces, and by the token that it reads.

    Which source token belongs to a word is asked of another head of the same layer, `read_head`, at the row that reads the
    word. `word` is the last one before the full stop.
    """
    weights, other = _weights(trace, head), _weights(trace, Head(head.attention, head.layer, read_head))
    best, right = weights.argmax(dim=-1).tolist(), other.argmax(dim=-1).tolist()
    words = range(len(trace.produced) - 1)  # row r produces the word that row r + 1 reads
    at = len(words) - 2
    produced_right = sum(best[row] == right[row + 1] for row in words)
    read_right = sum(best[row + 1] == right[row + 1] for row in words)
    if at < 0 or produced_right <= read_right:
        return None
    return Told(
        {
            "translation": trace.target_text,
            "words": len(words),
            "produced_right": produced_right,
            "read_right": read_right,
            "word": trace.produced[at].label,
            "produced_reads": trace.source[best[at]].label,
            "produced_weight": float(weights[at, best[at]]),
            "read_reads": trace.source[best[at + 1]].label,
            "read_weight": float(weights[at + 1, best[at + 1]]),
        },
        _map(weights, trace.target, trace.source),
    )


def full_stops(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """Where the rows that read the first and the second full stop look: from the second stop back to the first."""
    weights = _weights(trace, head)
    stops = [at for at, token in enumerate(trace.target) if token.text == "."]
    if len(stops) < 2 or int(weights[stops[1]].argmax()) != stops[0]:
        return None
    first, second = stops[:2]
    read = trace.target[: second + 1]
    opening = int(weights[first].argmax())
    return Told(
        {
            "first_at": first,
            "second_at": second,
            "first_reads": read[opening].label,
            "first_weight": float(weights[first, opening]),
            "weight": float(weights[second, first]),
            "even": 1 / (second + 1),
        },
        _map(weights[[first, second], : second + 1], [read[first], read[second]], read),
    )


def resting(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """A head of the decoder's self-attention that rests on `<s>`, and how little it takes from there.

    `weight` is the mean over the rows after the first, `even` what even weights would give; the lengths are those of the value
    vectors, of `<s>` and the shortest of the others.
    """
    weights = _weights(trace, head)
    lengths = trace[f"{head.path}.value"].tensor[0, head.head].norm(dim=-1)
    rows = range(1, len(trace.target))
    even = sum(1 / (row + 1) for row in rows) / max(1, len(rows))
    if not rows or float(weights[1:, 0].mean()) <= even or lengths[0] >= lengths[1:].min():
        return None
    return Told(
        {
            "translation": trace.target_text,
            "rows": len(rows),
            "weight": float(weights[1:, 0].mean()),
            "least": float(weights[1:, 0].min()),
            "even": even,
            "length": float(lengths[0]),
            "shortest": float(lengths[1:].min()),
        },
        _map(weights, trace.target, trace.target),
    )


def leaking(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """The causal mask multiplied into the scores of one head: the weight that still lies on tokens not yet written, row by row.

    `leaked` is that of the row that reads `<s>`, `ahead` the tokens that it should not see, `rows` those with a weight above
    0.1 on the future, of all `of`.
    """
    found = masking.leaks_of(atlas, trace, head.path, head.head, "", "causal")
    wrong, right = (found[way].forbidden for way in ("zero_before", "minus_infinity"))
    if len(wrong) < 2 or right.any():
        return None
    return Told(
        {
            "leaked": float(wrong[0]),
            "ahead": len(wrong) - 1,
            "rows": int((wrong > 0.1).sum()),
            "of": len(wrong),
            "right": float(right.max()),
        },
        Picture(
            ("wrong", "right"),
            tuple(token.label for token in trace.target),
            (tuple(map(_weight, wrong.tolist())), tuple(map(_weight, right.tolist()))),
            named=True,
        ),
    )


def turning(atlas: Atlas, trace: Trace, head: Head, far: int = 100) -> Told | None:
    """One rotary score when both tokens move, and when one does. Scores are scaled; `difference` is the largest in float64.

    Query and key are the pair of words with the head's largest weight; `moved` is the score one place further apart.
    """
    row, column = rotary.telling_pair(_weights(trace, head), trace.source)
    vectors = rotary.head_vectors(atlas, trace, head.attention, head.layer, head.head)
    steps = torch.arange(6.0)

    def scores(at_query: Tensor, at_key: Tensor) -> list[float]:
        products = rotary.products_at(vectors.query[row], vectors.key[column], at_query, at_key)
        found: list[float] = (products / math.sqrt(atlas.config.head_dim)).tolist()
        return found

    one = scores(row + steps, column + 0 * steps)
    both = scores(row + steps, column + steps)
    (distant,) = scores(torch.tensor([float(row + far)]), torch.tensor([float(column + far)]))
    low, high = min(one), max(one)
    if atlas.config.positions != "rotary" or one[1] >= one[0]:
        return None
    return Told(
        {
            "query_token": trace.source[row].label,
            "key_token": trace.source[column].label,
            "score": both[0],
            "far": far,
            "difference": max(abs(score - both[0]) for score in (*both, distant)),
            "moved": one[1],
            "least": low,
            "weight": float(_weights(trace, head)[row, column]),
        },
        Picture(
            ("both", "one"),
            tuple(f"+{step}" for step in range(len(steps))),
            tuple(tuple(Cell(score, (score - low) / (high - low)) for score in scored) for scored in (both, one)),
            named=True,
        ),
    )


def searching(atlas: Atlas, trace: Trace, head: Head, size: int = 4) -> Told | None:
    """Greedy beside a beam: where they part, what each token is worth there, and the whole outputs.

    `greedy_token` is the likelier at the parting; `times` says how many times likelier the beam's whole output is.
    """
    greedy, best = (atlas.write(trace.source_text, beam) for beam in (1, size))
    pairs = enumerate(zip(greedy.produced, best.produced, strict=False))
    at = next((at for at, (one, other) in pairs if one.id != other.id), None)
    if at is None or best.score <= greedy.score:
        return None
    return Told(
        {
            "greedy": greedy.text,
            "greedy_score": greedy.score,
            "greedy_token": greedy.produced[at].label,
            "greedy_share": math.exp(greedy.log_probabilities[at]),
            "beam": best.text,
            "size": size,
            "beam_score": best.score,
            "beam_token": best.produced[at].label,
            "beam_share": math.exp(best.log_probabilities[at]),
            "times": math.exp(best.score - greedy.score),
        },
        _outputs(greedy, best),
    )


def silenced(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """Every head off, one at a time; then all of the layer of `head`; then all of the same attention: what is written then."""
    heads = ablation.every_head(trace)
    alone = [ablation.rewritten(atlas, trace, (one,), "zero") for one in heads]
    groups = {
        "layer": tuple(one for one in heads if (one.attention, one.layer) == (head.attention, head.layer)),
        "all": tuple(one for one in heads if one.attention == head.attention),
    }
    written = {name: ablation.rewritten(atlas, trace, group, "zero") for name, group in groups.items()}
    effects = {name: ablation.switch_off(atlas, trace, group, "zero") for name, group in groups.items()}
    unchanged = sum(one == trace.target_text for one in alone)
    if unchanged < len(heads) or written["layer"] == trace.target_text:
        return None
    shares = (trace.log_probabilities, *(effect.log_probabilities for effect in effects.values()))
    return Told(
        {
            "translation": trace.target_text,
            "heads": len(heads),
            "unchanged": unchanged,
            "layer_heads": len(groups["layer"]),
            "all_heads": len(groups["all"]),
            **written,
            "loss": effects["layer"].before,
            "layer_loss": effects["layer"].after,
        },
        Picture(
            ("none", "layer", "all"),
            tuple(token.label for token in trace.produced),
            tuple(tuple(_weight(math.exp(value)) for value in row) for row in shares),
            named=True,
        ),
    )


def deciding(atlas: Atlas, trace: Trace, head: Head, word: int) -> Told | None:
    """The logit lens at one row, after every decoder layer; `word` is the row.

    Before the first layer the row would repeat the token that it reads, `reads`; `echoes` counts the rows that would.
    """
    readings = lens.after_layers(atlas, trace)
    if word >= len(trace.produced):
        return None
    first, before, last = readings[0].words, readings[-2].words[word], readings[-1].words[word]
    if before[2] or not last[2] or first[word][0] != trace.target[word].label:
        return None
    echoes = sum(said == token.label for (said, _, _), token in zip(first, trace.target, strict=True))
    return Told(
        {
            "translation": trace.target_text,
            "reads": trace.target[word].label,
            "echo": first[word][0],
            "echo_share": first[word][1],
            "echoes": echoes,
            "rows": len(first),
            "before": before[0],
            "before_share": before[1],
            "word": last[0],
            "share": last[1],
            "layers": len(readings) - 1,
        },
        Picture(
            tuple(str(reading.layer) for reading in readings),
            tuple(token.label for token in trace.produced),
            tuple(tuple(Cell(said, share) for said, share, _ in reading.words) for reading in readings),
        ),
    )


def untaught(atlas: Atlas, trace: Trace, head: Head, pairs: int = 30) -> Told | None:
    """How many of the links of held-out pairs, which its rules know, the largest weights of a head find; and of one sentence.

    `even` is what a random key of each row would find.
    """
    found = total = 0
    chance = 0.0
    for pair in tasks.TASKS["toy"].distinct(pairs, 0, "held out"):
        best = _weights(atlas.trace(pair.source, pair.target), head).argmax(dim=-1).tolist()
        found += sum(best[target] == source for source, target in pair.links)
        total += len(pair.links)
        chance += len(pair.links) / (len(pair.source.split()) + 1)
    known = tasks.written_pair("toy", trace.source_text)
    links = known.links if known else frozenset()
    best = _weights(trace, head).argmax(dim=-1).tolist()
    if not links or found <= chance:
        return None
    return Told(
        {
            "translation": trace.target_text,
            "links": len(links),
            "right": sum(best[target] == source for source, target in links if target < len(best)),
            "pairs": pairs,
            "found": found,
            "total": total,
            "share": found / total,
            "even": chance / total,
        },
        _map(_weights(trace, head), trace.produced, trace.source),
    )


def _weights(trace: Trace, head: Head) -> Float[Tensor, "query key"]:
    return trace[f"{head.path}.weights"].tensor[0, head.head]


def _weight(value: float) -> Cell:
    return Cell(value, value)


def _map(weights: Float[Tensor, "query key"], rows: Sequence[Token], columns: Sequence[Token]) -> Picture:
    return Picture(
        tuple(token.label for token in rows),
        tuple(token.label for token in columns),
        tuple(tuple(map(_weight, row)) for row in weights.tolist()),
    )


def _outputs(*outputs: Translation) -> Picture:
    """A row for each output: its tokens, coloured by their probability."""
    longest = max(len(output.produced) for output in outputs)
    return Picture(
        tuple(output.text for output in outputs),
        tuple(str(step + 1) for step in range(longest)),
        tuple(
            tuple(
                Cell(token.label, math.exp(value)) for token, value in zip(output.produced, output.log_probabilities, strict=True)
            )
            + (Cell("", 0.0),) * (longest - len(output.produced))
            for output in outputs
        ),
    )
