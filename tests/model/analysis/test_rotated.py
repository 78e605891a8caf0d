"""Altered rotary models: what is left as it was, what is not, and the loss of joined sentences."""

from dataclasses import replace

import pytest
import torch

from model import Translator
from model.analysis import lengths, rotary, rotated
from model.attention import MultiHeadAttention
from model.position import rotate
from tests.model import tiny

SENTENCE = "She didn't know 12 things."


@pytest.mark.usefixtures("quick")
def test_the_right_model_stays_as_it_is(characters: Translator) -> None:
    before = {name: value.clone() for name, value in characters.model.state_dict().items()}
    trace = characters.trace(SENTENCE)
    found = {variant: rotated.measure(characters, trace, variant) for variant in rotated.VARIANTS}
    assert all(torch.equal(before[name], value) for name, value in characters.model.state_dict().items())
    assert all(type(module) is MultiHeadAttention for module in rotated.rotary_attentions(characters))
    again = characters.trace(SENTENCE)
    assert torch.equal(again["logits"].tensor, trace["logits"].tensor)

    assert found["right"].logits == 0
    assert found["right"].loss == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced))
    assert found["right"].written == trace.target_text
    assert found["permuted"].logits < 1e-4
    assert found["permuted"].written == trace.target_text
    for variant in ("right", "half", "permuted", "interpolated", "ntk", "nowhere"):
        assert found[variant].moved < 1e-4
    for variant in ("mixed", "values"):
        assert found[variant].moved > 1e-2
    for variant in ("half", "mixed", "values", "nowhere", "interpolated"):
        assert found[variant].logits > 1e-2


def test_permuted_weights_repair_the_other_pairing_exactly_in_float64(characters: Translator) -> None:
    made = tiny.model(positions="rotary", norm="pre", attention_bias=True)
    atlas = replace(characters, model=made)
    source, target = tiny.ids(9, 23), tiny.ids(7, 19)
    with torch.inference_mode():
        right = made(source, target)
        repaired = rotated.permuted(atlas).model(source, target)
        broken = rotated.other_pairing(atlas).model(source, target)
    assert (repaired - right).abs().max() < 1e-12
    assert (broken - right).abs().max() > 1e-2


def test_values_are_turned_and_nothing_else(characters: Translator) -> None:
    altered = rotated.values_too(characters)
    first = altered.model.encoder.layers[0].self_attention
    memory, positions = torch.randn(1, 5, characters.config.d_model), torch.arange(5)[None]
    key, value = first.keys_and_values(memory, positions)
    own_key, own_value = characters.model.encoder.layers[0].self_attention.keys_and_values(memory, positions)
    assert torch.equal(key, own_key)
    assert torch.equal(value, rotate(own_value, positions[:, None]))
    cross = altered.model.decoder.layers[0].cross_attention
    assert type(cross) is MultiHeadAttention


def test_without_positions_a_reordered_sentence_is_a_reordered_output(translator: Translator) -> None:
    altered = rotated.nowhere(translator)
    trace = altered.trace("I love you.")
    order = torch.randperm(len(trace.source))
    ids = torch.tensor([[token.id for token in trace.source]])
    with torch.inference_mode():
        encoded, reordered = altered.model.encode(ids), altered.model.encode(ids[:, order])
    torch.testing.assert_close(reordered, encoded[:, order], atol=1e-5, rtol=0)
    maps = rotated.maps_without(translator, translator.trace("I love you."))
    assert len(maps) == translator.config.encoder_layers
    torch.testing.assert_close(maps[0].sum(dim=-1), torch.ones(maps[0].shape[:-1]))


@pytest.mark.usefixtures("quick")
def test_another_base_and_scaling(characters: Translator) -> None:
    trace = characters.trace(SENTENCE)
    plain = -sum(trace.log_probabilities) / len(trace.produced)
    assert rotated.loss_in(characters, trace, rotary.BASE, "none", 1.0) == pytest.approx(plain, abs=1e-6)
    assert rotated.loss_in(characters, trace, rotary.BASE, "interpolated", 1.0) == pytest.approx(plain, abs=1e-6)
    by_variant = rotated.measure(characters, trace, "ntk").loss
    assert rotated.loss_in(characters, trace, rotary.BASE, "ntk", 2.0) == pytest.approx(by_variant)
    assert abs(rotated.loss_in(characters, trace, 500.0, "none", 1.0) - plain) > 1e-4


def test_an_unknown_variant_is_refused(characters: Translator) -> None:
    with pytest.raises(ValueError, match="variant='upside down' is not known; choose one of right, half"):
        rotated.measure(characters, characters.trace("I love you."), "upside down")
    rotary_attention = next(rotated.rotary_attentions(rotated.mixed_up(characters)))
    with pytest.raises(ValueError, match="turns queries and keys by their positions"):
        rotary_attention.rotated(torch.ones(1, 1, 1, 2), None)


class TestLossByLength:
    PAIRS = tuple(zip(tiny.ENGLISH, tiny.FRENCH, strict=True))

    def test_joining(self) -> None:
        assert lengths.joined(self.PAIRS, 1) == list(self.PAIRS)
        fours = lengths.joined(self.PAIRS, 4)
        assert fours == [(" ".join(tiny.ENGLISH[:4]), " ".join(tiny.FRENCH[:4]))]

    def test_the_loss_is_that_of_the_traces(self, shared: Translator) -> None:
        found = lengths.loss_by_length(shared, self.PAIRS)
        assert [(at.sentences, at.texts) for at in found] == [(1, 6), (2, 3), (3, 2), (4, 1)]
        trace = shared.trace(*lengths.joined(self.PAIRS, 4)[0])
        assert found[3].tokens == len(trace.source)
        assert found[3].loss == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced))
        one = [shared.trace(*pair) for pair in self.PAIRS]
        assert found[0].loss == pytest.approx(-sum(sum(t.log_probabilities) for t in one) / sum(len(t.produced) for t in one))
        assert lengths.loss_by_length(shared, self.PAIRS[:2], "nowhere")[1].loss != pytest.approx(found[1].loss)
