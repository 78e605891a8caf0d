"""Sampling: what is kept against an independent count, what is drawn against its distribution, and its limits."""

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from torch import Tensor

from model.decoding import finished, greedy, greedy_steps, sample_steps
from model.sampling import Sampling, distribution, draws, take
from tests.model import tiny

pytestmark = pytest.mark.usefixtures("quick")
LIMIT = 6


def by_hand(logits: list[float], temperature: float, top_k: int | None, top_p: float) -> list[float]:
    """The same in plain Python, token by token: divide, keep the k likeliest, keep until p is reached, share out again."""
    order = sorted(range(len(logits)), key=lambda id_: (-logits[id_], id_))
    if temperature == 0:
        return [float(id_ == order[0]) for id_ in range(len(logits))]
    kept = order[:top_k]
    best = logits[order[0]]
    raw = {id_: math.exp((logits[id_] - best) / temperature) for id_ in kept}
    total, reached, nucleus = sum(raw.values()), 0.0, []
    for id_ in kept:
        if reached >= top_p and top_p < 1:
            break
        nucleus.append(id_)
        reached += raw[id_] / total
    whole = sum(raw[id_] for id_ in nucleus)
    return [raw[id_] / whole if id_ in nucleus else 0.0 for id_ in range(len(logits))]


@settings(deadline=None, max_examples=60)
@given(
    logits=some.lists(some.integers(-60, 60).map(lambda n: n / 8), min_size=1, max_size=9),
    temperature=some.sampled_from([0.0, 0.25, 1.0, 3.0]),
    top_k=some.none() | some.integers(1, 12),
    top_p=some.sampled_from([0.03, 0.37, 0.91, 1.0]),
)
def test_the_distribution_is_the_one_worked_out_by_hand(
    logits: list[float], temperature: float, top_k: int | None, top_p: float
) -> None:
    found = distribution(torch.tensor([logits]), Sampling(temperature, top_k, top_p))[0]
    assert found.tolist() == pytest.approx(by_hand(logits, temperature, top_k, top_p), abs=1e-12)
    assert float(found.sum()) == pytest.approx(1.0)


@pytest.mark.parametrize("temperature", [0.0, 5e-324, 1e-30, 1e-9])
def test_a_temperature_near_0_is_the_likeliest_token(temperature: float) -> None:
    logits = torch.tensor([[1.0, 3.0, -2.0, 2.999], [1e4, -1e4, 0.0, 5.0]])
    assert distribution(logits, Sampling(temperature)).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    equals = torch.tensor([[2.0, 2.0, 1.0]])
    assert distribution(equals, Sampling(0)).tolist() == [[1, 0, 0]]


def test_draws_follow_the_distribution() -> None:
    """Pearson's chi-square over 20,000 draws: 23.2 would be passed once in a thousand by chance (7 degrees of freedom: 24.3)."""
    torch.manual_seed(3)
    wanted = distribution(torch.randn(1, 8) * 2, Sampling(1.3))
    count = 20_000
    (drawn,) = itertools.islice(draws(7, count), 1)
    observed = take(wanted.expand(count, -1), drawn).bincount(minlength=8)
    assert float(((observed - count * wanted[0]) ** 2 / (count * wanted[0])).sum()) < 24.3
    few = distribution(torch.randn(1, 8), Sampling(1.0, top_k=3))
    assert set(take(few.expand(count, -1), drawn).tolist()) == set(few[0].nonzero()[:, 0].tolist())


def test_the_last_token_is_taken_where_rounding_leaves_the_sum_below_the_draw() -> None:
    probabilities = torch.tensor([[0.3, 0.0, 0.7 - 1e-9, 0.0]], dtype=torch.float64)
    assert take(probabilities, torch.tensor([1 - 1e-12], dtype=torch.float64)).tolist() == [0]
    assert take(probabilities, torch.tensor([0.0], dtype=torch.float64)).tolist() == [2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"temperature": -1.0}, "temperature=-1.0"),
        ({"temperature": math.nan}, "temperature=nan"),
        ({"top_k": 0}, "top_k=0"),
        ({"top_p": 0.0}, "top_p=0.0"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sampling(**wrong)


def writers() -> list[tuple[Any, Tensor]]:
    """A model of each family and what it reads first."""
    shape: dict[str, Any] = {"target_vocab_size": 7, "tie": "none", "decoder_layers": 2, "max_length": 40}
    prompt = torch.tensor([[1, 4, 5]])
    return [
        (tiny.model(seed=2, encoder_layers=1, **shape), tiny.ids(4, 23)),
        (tiny.language_model(seed=2, source_vocab_size=7, **shape), prompt),
    ]


def test_both_families_draw_what_seed_and_distribution_say() -> None:
    sampling = Sampling(0.8, top_k=5, top_p=0.9)
    for made, source in writers():
        steps = list(sample_steps(made, source, sampling, 11, limit=LIMIT))
        again = list(sample_steps(made, source, sampling, 11, limit=LIMIT, cached=False))
        others = [finished(sample_steps(made, source, sampling, seed, limit=LIMIT), made.config.end)[0].ids for seed in range(8)]
        assert len(set(others)) > 1
        for step, other, drawn in zip(steps, again, draws(11), strict=False):
            assert torch.equal(step.chosen, other.chosen)
            assert torch.equal(step.chosen, take(distribution(step.logits, sampling), drawn))
            torch.testing.assert_close(step.log_probabilities, step.logits.log_softmax(dim=-1))
        ids = [int(step.chosen) for step in steps]
        for length in range(1, len(ids) + 1):
            rest = sample_steps(made, source, sampling, 11, limit=LIMIT, prefix=ids[:length])
            assert [int(step.chosen) for step in rest] == ids
        cold = sample_steps(made, source, Sampling(0), 5, limit=LIMIT)
        assert finished(cold, made.config.end) == greedy(made, source, limit=LIMIT)


def test_a_seed_touches_no_other_generator() -> None:
    made, source = writers()[0]
    torch.manual_seed(1)
    before = torch.get_rng_state()
    list(sample_steps(made, source, Sampling(), 3, limit=LIMIT))
    assert torch.equal(before, torch.get_rng_state())


def test_a_branch_from_a_prefix_is_what_a_forced_pass_says() -> None:
    for made, source in writers():
        prefix = [5, 6, 4]
        steps = list(greedy_steps(made, source, limit=LIMIT, prefix=prefix))
        again = list(greedy_steps(made, source, limit=LIMIT, prefix=prefix, cached=False))
        ids = [int(step.chosen) for step in steps]
        assert ids[:3] == prefix
        if made.config.family == "decoder-only":
            rows = made(torch.cat((source, torch.tensor([ids[:-1]])), dim=1))[0, source.shape[1] - 1 :]
        else:
            rows = made(source, torch.tensor([[made.config.start, *ids[:-1]]]))[0]
        assert len(rows) == len(steps)
        for step, other, row in zip(steps, again, rows, strict=True):
            torch.testing.assert_close(step.logits[0].double(), row, atol=1e-5, rtol=0)
            assert torch.equal(step.chosen, other.chosen)
        assert rows[3:].argmax(dim=-1).tolist() == ids[3:]


def test_prefixes_that_cannot_begin_an_output_are_refused() -> None:
    made, source = writers()[0]
    for prefix, said in (
        ([7], "id 7 is not in the vocabulary of 7"),
        ([2, 4], "nothing can follow the end"),
        ([4] * 9, "longer than the limit"),
    ):
        with pytest.raises(ValueError, match=said):
            list(greedy_steps(made, source, limit=LIMIT, prefix=prefix))
    (step,) = greedy_steps(made, source, limit=LIMIT, prefix=[made.config.end])
    assert step.chosen.tolist() == [made.config.end]
