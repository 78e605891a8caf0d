"""Greedy and beam search against forced passes and against trying every output there is."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from model.beam_search import beam
from model.decoding import Hypothesis, greedy, greedy_steps, length_limit
from model.transformer import EncoderDecoder
from tests.model import tiny

pytestmark = pytest.mark.usefixtures("quick")
VOCAB = 7  # so small that the end token comes by chance
LIMIT = 8
KINDS: list[dict[str, Any]] = [{}, {"positions": "rotary", "norm": "pre"}]


def model(seed: int = 1, **changes: Any) -> EncoderDecoder:
    """Untied, since a random model with a tied output says the same word again and again."""
    small = {"encoder_layers": 1, "decoder_layers": 2, "target_vocab_size": VOCAB, "max_length": 40, "tie": "none"}
    return tiny.model(seed=seed, **{**small, **changes})


def forced(model: EncoderDecoder, source: Tensor, ids: tuple[int, ...]) -> Tensor:
    """Log-probabilities of every next token, from one pass over a finished output."""
    read = torch.tensor([[model.config.start, *ids[:-1]]])
    return model(source, read)[0].log_softmax(dim=-1)


@pytest.mark.parametrize("changes", KINDS)
class TestGreedy:
    def test_cached_equals_uncached(self, changes: dict[str, Any]) -> None:
        source, mask = padded_sources()
        for with_cache, without in zip(
            greedy_steps(model(**changes), source, mask, LIMIT),
            greedy_steps(model(**changes), source, mask, LIMIT, cached=False),
            strict=True,
        ):
            assert torch.equal(with_cache.chosen, without.chosen)
            torch.testing.assert_close(with_cache.log_probabilities, without.log_probabilities)

    def test_step_by_step_equals_one_forced_pass(self, changes: dict[str, Any]) -> None:
        for seed in range(2):
            made, source = model(seed, **changes), tiny.ids(4, 23)
            (hypothesis,) = greedy(made, source, limit=LIMIT)
            rows = forced(made, source, hypothesis.ids)
            steps = torch.cat([step.log_probabilities for step in greedy_steps(made, source, limit=LIMIT)])
            torch.testing.assert_close(steps.double(), rows, atol=1e-5, rtol=0)  # steps give float32
            assert rows.argmax(dim=-1).tolist() == list(hypothesis.ids)
            chosen = rows.gather(1, torch.tensor(hypothesis.ids)[:, None])[:, 0]
            torch.testing.assert_close(torch.tensor(hypothesis.log_probabilities).double(), chosen, atol=1e-5, rtol=0)
            assert hypothesis.score == pytest.approx(float(chosen.sum()), abs=1e-4)

    def test_sentences_of_a_batch_are_written_as_if_alone(self, changes: dict[str, Any]) -> None:
        made, (source, mask) = model(2, **changes), padded_sources()
        together = greedy(made, source, mask, LIMIT)
        for row, of_batch in enumerate(together):
            (alone,) = greedy(made, source[row : row + 1, mask[row]], limit=LIMIT)
            assert alone.ids == of_batch.ids
            assert alone.ended == of_batch.ended
            assert alone.log_probabilities == pytest.approx(of_batch.log_probabilities, abs=1e-5)


def padded_sources() -> tuple[Tensor, Tensor]:
    source = tiny.ids(5, 23, batch=4)
    lengths = torch.tensor([5, 1, 3, 4])
    mask = torch.arange(5)[None] < lengths[:, None]
    return source.masked_fill(~mask, 0), mask


def test_an_ended_sentence_takes_padding_while_others_go_on() -> None:
    source = tiny.ids(4, 23, batch=12)
    made = model(1)
    chosen = torch.stack([step.chosen for step in greedy_steps(made, source, limit=LIMIT)], dim=1)
    ends = chosen == made.config.end
    assert len({row.tolist().index(True) for row in ends if row.any()}) > 1, "the sentences should end at different steps"
    for row, hypothesis in zip(chosen.tolist(), greedy(made, source, limit=LIMIT), strict=True):
        length = len(hypothesis.ids)
        assert hypothesis.ids == tuple(row[:length])
        assert set(row[length:]) <= {made.config.padding}
        assert hypothesis.ended == (hypothesis.ids[-1] == made.config.end)
        assert len(hypothesis.log_probabilities) == length


def never_ending() -> EncoderDecoder:
    """Another token is always likelier than the end."""
    made = model(max_length=20)
    made.decoder.layers[-1].residual[2].norm.weight.zero_()  # so that every row comes out as the bias of this norm
    row = made.decoder.layers[-1].residual[2].norm.bias
    made.to_logits.weight[made.config.end] = -row
    made.to_logits.weight[made.config.end + 2] = row
    return made


@pytest.mark.parametrize(("limit", "length"), [(3, 3), (None, 19), (1000, 19)])
def test_a_sentence_that_does_not_end_is_stopped(limit: int | None, length: int) -> None:
    """At the limit given, at the latest where the model's positions end, one of which the start token needs."""
    (hypothesis,) = greedy(never_ending(), tiny.ids(4, 23), limit=limit)
    assert len(hypothesis.ids) == length
    assert not hypothesis.ended
    (of_beam, *_) = beam(never_ending(), tiny.ids(4, 23), 2, limit=limit)
    assert len(of_beam.ids) == length
    assert not of_beam.ended


@pytest.mark.parametrize("search", [lambda made, ids: greedy(made, ids, limit=0), lambda made, ids: beam(made, ids, 2, limit=-1)])
def test_a_limit_below_1_is_refused(search: Any) -> None:
    with pytest.raises(ValueError, match=r"limit=(0|-1) leaves no token to be written; give 1 or more"):
        search(model(), tiny.ids(4, 23))


def test_the_limit_grows_with_the_source() -> None:
    assert length_limit(1) >= 20
    assert length_limit(100) >= 200
    assert len(list(greedy_steps(model(tie="none", max_length=200), tiny.ids(1, 23)))) <= length_limit(1)


@pytest.mark.parametrize("changes", KINDS)
class TestBeam:
    def test_a_beam_of_1_is_greedy(self, changes: dict[str, Any]) -> None:
        for seed in range(3):
            made, source = model(seed, **changes), tiny.ids(4, 23)
            assert beam(made, source, 1, LIMIT) == greedy(made, source, limit=LIMIT)

    def test_its_log_probabilities_are_those_of_forced_passes(self, changes: dict[str, Any]) -> None:
        made, source = model(4, **changes), tiny.ids(4, 23)
        found = beam(made, source, 3, LIMIT)
        assert len(found) == len({hypothesis.ids for hypothesis in found}) == 3
        for hypothesis in found:
            rows = forced(made, source, hypothesis.ids).gather(1, torch.tensor(hypothesis.ids)[:, None])[:, 0]
            assert hypothesis.log_probabilities == pytest.approx(rows.tolist(), abs=1e-5)
            assert made.config.end not in hypothesis.ids[:-1]
        assert worths(found) == sorted(worths(found), reverse=True)


def worths(hypotheses: list[Hypothesis], length_penalty: float = 0.6) -> list[float]:
    """Wu et al. 2016, equation 14, without coverage."""
    return [hypothesis.score / ((5 + len(hypothesis.ids)) / 6) ** length_penalty for hypothesis in hypotheses]


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
def test_a_beam_that_keeps_everything_finds_the_best_output_there_is(length_penalty: float) -> None:
    made, source, limit, vocab = model(5, target_vocab_size=5), tiny.ids(3, 23), 4, 5
    best = -float("inf")
    going_on = [token for token in range(vocab) if token != made.config.end]
    outputs = [
        (*body, made.config.end) for length in range(limit) for body in itertools.product(going_on, repeat=length)
    ]  # every output that ends within the limit
    for length in range(1, limit + 1):
        ids = torch.tensor([output for output in outputs if len(output) == length])
        read = torch.cat((torch.full((len(ids), 1), made.config.start), ids[:, :-1]), dim=1)
        rows = made(source.expand(len(ids), -1), read).log_softmax(dim=-1)
        scores = rows.gather(2, ids[:, :, None]).sum(dim=(1, 2)) / ((5 + length) / 6) ** length_penalty
        best = max(best, float(scores.max()))
    found = beam(made, source, 1000, limit, length_penalty)[0]
    assert found.ended
    assert worths([found], length_penalty)[0] == pytest.approx(best, abs=1e-5)


def test_a_beam_finds_what_is_worth_more_than_greedy_does() -> None:
    """A beam may miss greedy's output in a single case; over many sentences it must gain."""
    gains = []
    made = model(3)
    for _ in range(6):
        source = tiny.ids(4, 23)
        gains.append(worths(beam(made, source, 4, LIMIT))[0] - worths(greedy(made, source, limit=LIMIT))[0])
    assert sum(gain >= -1e-6 for gain in gains) >= 5, gains
    assert sum(gains) > 0.1


def test_an_empty_beam_is_refused() -> None:
    with pytest.raises(ValueError, match="a beam of 0 holds nothing; choose 1"):
        beam(model(), tiny.ids(4, 23), 0)
