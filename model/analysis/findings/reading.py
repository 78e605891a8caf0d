"""Stories of what heads read: maps, masks, positions."""

import math

import torch
from torch import Tensor

from model.analysis import masking, rotary
from model.analysis.ablation import Head
from model.analysis.findings.told import Cell, Picture, Told, weighed, weight_map, weights_of
from model.trace import Trace
from model.training import tasks
from model.translator import Atlas


def crossing(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """Two neighbouring rows whose largest weights cross: the first pair of words that change places.

    `first` and `second` are produced one after the other; `first_reads` stands behind `second_reads` in the source.
    """
    weights = weights_of(trace, head)
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
        weight_map(weights, trace.produced, trace.source),
    )


def renamed(atlas: Atlas, trace: Trace, head: Head, read_head: int) -> Told | None:
    """One map under two names of its rows: by the token that a row produces, and by the token that it reads.

    Which source token belongs to a word is asked of another head of the same layer, `read_head`, at the row that reads the
    word. `word` is the last one before the full stop.
    """
    weights, other = weights_of(trace, head), weights_of(trace, Head(head.attention, head.layer, read_head))
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
        weight_map(weights, trace.target, trace.source),
    )


def full_stops(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """Where the rows that read the first and the second full stop look: from the second stop back to the first."""
    weights = weights_of(trace, head)
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
        weight_map(weights[[first, second], : second + 1], [read[first], read[second]], read),
    )


def resting(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """A head of the decoder's self-attention that rests on `<s>`, and how little it takes from there.

    `weight` is the mean over the rows after the first, `even` what even weights would give; the lengths are those of the value
    vectors, of `<s>` and the shortest of the others.
    """
    weights = weights_of(trace, head)
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
        weight_map(weights, trace.target, trace.target),
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
            (tuple(map(weighed, wrong.tolist())), tuple(map(weighed, right.tolist()))),
            named=True,
        ),
    )


def turning(atlas: Atlas, trace: Trace, head: Head, far: int = 100) -> Told | None:
    """One rotary score when both tokens move, and when one does. Scores are scaled; `difference` is the largest in float64.

    Query and key are the pair of words with the head's largest weight; `moved` is the score one place further apart.
    """
    row, column = rotary.telling_pair(weights_of(trace, head), trace.source)
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
            "weight": float(weights_of(trace, head)[row, column]),
        },
        Picture(
            ("both", "one"),
            tuple(f"+{step}" for step in range(len(steps))),
            tuple(tuple(Cell(score, (score - low) / (high - low)) for score in scored) for scored in (both, one)),
            named=True,
        ),
    )


def untaught(atlas: Atlas, trace: Trace, head: Head, pairs: int = 30) -> Told | None:
    """How many of the links of held-out pairs, which its rules know, the largest weights of a head find; and of one sentence.

    `even` is what a random key of each row would find.
    """
    found = total = 0
    chance = 0.0
    for pair in tasks.TASKS["toy"].distinct(pairs, 0, "held out"):
        best = weights_of(atlas.trace(pair.source, pair.target), head).argmax(dim=-1).tolist()
        found += sum(best[target] == source for source, target in pair.links)
        total += len(pair.links)
        chance += len(pair.links) / (len(pair.source.split()) + 1)
    known = tasks.written_pair("toy", trace.source_text)
    links = known.links if known else frozenset()
    best = weights_of(trace, head).argmax(dim=-1).tolist()
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
        weight_map(weights_of(trace, head), trace.produced, trace.source),
    )
