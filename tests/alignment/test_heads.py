"""Which head aligns: each choice scored as if alone, with gold and without."""

from dataclasses import dataclass

import numpy as np
import pytest

from model.alignment import heads, metrics
from model.alignment.baseline import diagonal
from model.alignment.extract import Choice

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Pair:
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    best: np.ndarray
    problem: str | None = None


@dataclass(frozen=True)
class Gold:
    sure: Links
    possible: Links


def made(rng: np.random.Generator, sources: int, targets: int, layers: int = 2, heads_: int = 3) -> Pair:
    """A pair whose best source words are drawn, with "none" among them."""
    best = rng.integers(-1, sources, size=(layers, heads_ + 1, 2, targets)).astype(np.int16)
    return Pair(("s",) * sources, ("t",) * targets, best)


def drawn_gold(rng: np.random.Generator, pair: Pair) -> Gold:
    shape = len(pair.source_words), len(pair.target_words)
    possible = {(int(i), int(j)) for i, j in zip(*(rng.random(shape) < 0.4).nonzero(), strict=True)}
    return Gold(frozenset(link for link in possible if rng.random() < 0.6), frozenset(possible))


def choices(pair: Pair) -> list[Choice]:
    layers, with_mean = pair.best.shape[:2]
    return [
        Choice(layer, head, row)
        for layer in range(layers)
        for head in (*range(with_mean - 1), None)
        for row in heads.ROWS
    ]  # fmt: skip


def test_with_gold_every_choice_has_the_error_rate_that_metrics_gives_it() -> None:
    rng = np.random.default_rng(3)
    pairs = [made(rng, sources, targets) for sources, targets in ((3, 4), (1, 1), (5, 2))]
    gold = [drawn_gold(rng, pair) for pair in pairs]
    found = heads.scoreboard(iter(pairs), gold)
    assert found.measure == "aer"
    assert found.pairs == 3
    sure, possible = [one.sure for one in gold], [one.possible for one in gold]
    rates = {}
    for choice in choices(pairs[0]):
        alone = [heads.links(pair, choice) for pair in pairs]
        expected = metrics.Counts.of(alone, sure, possible)
        assert found.of(choice) == expected
        rates[choice] = expected.alignment_error_rate
        assert found.rate(choice) == pytest.approx(rates[choice])
    assert found.best is not None
    assert rates[found.best] == min(rates.values())
    straight = [diagonal(len(pair.source_words), len(pair.target_words)) for pair in pairs]
    assert found.baseline == pytest.approx(metrics.alignment_error_rate(straight, sure, possible))


def test_pairs_without_gold_and_pairs_that_could_not_be_aligned_are_left_out() -> None:
    rng = np.random.default_rng(4)
    pairs = [made(rng, 3, 3), made(rng, 2, 4), made(rng, 4, 2)]
    gold = [drawn_gold(rng, pair) for pair in pairs]
    failed = Pair(pairs[2].source_words, pairs[2].target_words, np.zeros((0, 0, 2, 0), np.int16), "too long")
    found = heads.scoreboard([*pairs[:2], failed], [gold[0], None, gold[2]])
    alone = heads.scoreboard(pairs[:1], gold[:1])
    assert found.pairs == 1
    assert (found.counts == alone.counts).all()


def test_without_gold_agreement_is_the_f_measure_of_both_directions() -> None:
    rng = np.random.default_rng(5)
    pairs = [made(rng, 3, 5), made(rng, 4, 4)]
    turned = [made(rng, 5, 3), made(rng, 4, 4)]
    found = heads.scoreboard(pairs, None, turned)
    assert found.measure == "agreement"
    for choice in choices(pairs[0]):
        ours = [heads.links(pair, choice) for pair in pairs]
        theirs = [{(i, j) for j, i in heads.links(pair, choice)} for pair in turned]
        both = sum(len(one & other) for one, other in zip(ours, theirs, strict=True))
        size = sum(map(len, ours)) + sum(map(len, theirs))
        assert found.rate(choice) == pytest.approx(2 * both / size)
    assert found.best is not None
    assert found.rate(found.best) == found.rates().max()


def test_links_that_are_the_same_in_both_directions_agree_wholly() -> None:
    best = np.array([1, 0, 2], np.int16).reshape(1, 1, 1, 3).repeat(2, axis=2).repeat(2, axis=1)
    one = Pair(("a", "b", "c"), ("x", "y", "z"), best)
    assert heads.scoreboard([one], None, [one]).rate(Choice(0, None, "read")) == 1.0


def test_of_equal_heads_the_first_is_best_and_a_head_comes_before_the_mean() -> None:
    pair = Pair(("a",), ("x",), np.zeros((2, 3, 2, 1), np.int16))
    found = heads.scoreboard([pair], [Gold(frozenset({(0, 0)}), frozenset({(0, 0)}))])
    assert found.best == Choice(0, 0, "produced")


def test_a_gold_link_out_of_range_is_not_counted_and_nothing_at_all_has_no_best() -> None:
    pair = Pair(("a",), ("x",), np.zeros((1, 2, 2, 1), np.int16))
    far = Gold(frozenset({(0, 0), (7, 0), (-1, 0)}), frozenset())
    assert heads.scoreboard([pair], [far]).rate(Choice(0, 0, "read")) == 0.0
    empty = heads.scoreboard([pair], [None])
    assert empty.pairs == 0
    assert empty.best is None


def test_nothing_to_compare_with_and_unlike_models_are_errors() -> None:
    rng = np.random.default_rng(6)
    with pytest.raises(ValueError, match="neither gold nor a reverse model"):
        heads.scoreboard([made(rng, 2, 2)])
    with pytest.raises(ValueError, match="2 layers of 3 heads and 1 layers of 3 heads"):
        heads.scoreboard([made(rng, 2, 2)], None, [made(rng, 2, 2, layers=1)])
