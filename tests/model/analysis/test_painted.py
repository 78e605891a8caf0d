"""A painted mask changes the attention that it is put on, and nothing else; padding changes nothing."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from model import Translator
from model.analysis import masking, padding
from model.analysis.painted import damage, damaged_text, loss, own_mask, painted, written
from model.trace import Trace
from tests.model.agreement import in_double

SENTENCE, OTHERS = "I don't know her name.", ("I love you.", "The old man gave his dog a piece of bread.")


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace(SENTENCE)


def link(trace: Trace, name: str, side: str = "target") -> str:
    return masking.to_link(masking.preset(name, len(trace.tokens(side))))


def test_the_models_own_mask_changes_nothing(atlas: Translator, trace: Trace) -> None:
    found = painted(atlas, trace, "decoder.self_attention", 1, 2, link(trace, "causal"))
    assert torch.equal(found.after, found.before)
    assert found.log_probabilities == trace.log_probabilities
    assert found.likeliest == found.likeliest_before
    assert found.future == 0
    assert found.ahead is None
    assert written(atlas, trace, "decoder.self_attention", 1, 2, link(trace, "causal")).text == trace.target_text


def test_a_decoder_without_its_mask_sees_ahead_and_a_model_that_never_did_gets_worse(atlas: Translator, trace: Trace) -> None:
    found = painted(atlas, trace, "decoder.self_attention", 0, 0, link(trace, "none"))
    assert found.after[0, 1:].any()
    assert found.future > 0
    assert found.ahead == len(trace.target) - 1
    assert sum(found.log_probabilities) < sum(trace.log_probabilities)


def test_a_single_cell_ahead_of_its_row_is_found(atlas: Translator, trace: Trace) -> None:
    cells = masking.preset("causal", len(trace.target))
    cells[0, 3] = True
    found = painted(atlas, trace, "decoder.self_attention", 0, 0, masking.to_link(cells))
    assert found.ahead == 3
    assert found.future > 0
    assert painted(atlas, trace, "encoder.self_attention", 0, 0, "causal").ahead is None


@pytest.mark.parametrize("attention", ["decoder.self_attention", "encoder.self_attention"])
@pytest.mark.parametrize("scope", ["head", "layer", "all"])
def test_the_weights_are_those_of_plain_torch(atlas: Translator, trace: Trace, attention: str, scope: str) -> None:
    side = "target" if attention.startswith("decoder") else "source"
    found = painted(atlas, trace, attention, 0, 1, link(trace, "itself", side), scope)
    scores = trace[f"{attention.replace('.', '.layers.0.')}.scores"].tensor[0, 1]  # the first layer's scores do not change
    expected = scores.masked_fill(~masking.preset("itself", len(scores)), -torch.inf).softmax(-1)
    torch.testing.assert_close(found.after, expected)


@settings(deadline=None, derandomize=True, max_examples=5)
@given(arrays("bool", (5, 5)), st.sampled_from(["decoder.self_attention", "encoder.self_attention"]))
def test_whatever_is_painted_no_weight_is_nan(atlas: Translator, cells: object, attention: str) -> None:
    mask = torch.tensor(cells)
    trace = atlas.trace("I love you.", "Je t'aime.")
    found = painted(atlas, trace, attention, 0, 0, masking.to_link(mask))
    sums = found.after.sum(-1)
    torch.testing.assert_close(sums, found.mask.any(-1).to(sums.dtype))
    assert not found.after[~found.mask].any()
    assert all(value > -torch.inf for value in found.log_probabilities)


def test_cross_attention_takes_no_painted_mask(atlas: Translator, trace: Trace) -> None:
    with pytest.raises(ValueError, match="takes no painted mask; choose one of decoder"):
        painted(atlas, trace, "decoder.cross_attention", 0, 0, link(trace, "none"))


def test_wrong_ways_to_mask_a_decoder(atlas: Translator, trace: Trace) -> None:
    right, before, after, off = (damage(atlas, trace, way) for way in ("minus_infinity", "zero_before", "zero_after", "off"))
    renormalised, flipped = (damage(atlas, trace, way) for way in ("zero_after_renormalised", "flipped"))
    assert right.loss == loss(trace.log_probabilities)
    assert right.future == 0
    assert renormalised.future == pytest.approx(0, abs=1e-4)
    assert after.future > 0.01  # the future stands in the sum that the past was divided by
    assert min(before.future, off.future, flipped.future) > 0.01
    assert min(before.loss, off.loss, flipped.loss) > right.loss != after.loss
    assert renormalised.loss == pytest.approx(right.loss, abs=1e-4)
    alone = painted(atlas, trace, "decoder.self_attention", 0, 0, "none")
    assert (off.loss, off.future) == (alone.loss, alone.future)
    assert damaged_text(atlas, trace, "minus_infinity").text == trace.target_text


def test_own_masks() -> None:
    assert torch.equal(own_mask("decoder.self_attention", 3), torch.ones(3, 3).tril().bool())
    assert own_mask("encoder.self_attention", 3).all()


# ----- padding


@pytest.mark.parametrize(("attention", "side"), [("decoder.self_attention", "left"), ("encoder.self_attention", "right")])
def test_a_sentence_gives_the_same_map_alone_and_padded(translator: Translator, attention: str, side: str, quick: None) -> None:
    """In float64, to 1e-12; both tiny models, sinusoidal and rotary."""
    exact = in_double(translator)
    others = ("Where is the café?", "Do you like the summer?")
    found = padding.padded(exact, exact.trace("I love you."), others, attention, 0, 1, side)
    assert max(found.differences) < 1e-12
    assert max(found.lost) == 0
    for tokens, real in zip(found.tokens, found.real, strict=True):
        assert [token.id != 0 for token in tokens] == real.tolist()
    for weights, alone, real in zip(found.weights, found.alone, found.real, strict=True):
        torch.testing.assert_close(weights[real][:, real], alone)
    assert not found.weights.isnan().any()


def test_without_the_padding_mask_weight_falls_on_padding(atlas: Translator, trace: Trace) -> None:
    found = padding.padded(atlas, trace, OTHERS, "encoder.self_attention", 0, 0, masked=False)
    assert found.differences[0] > 0.01
    assert found.lost[0] > 0.01
    assert found.lost[2] == 0  # the longest has no padding


def test_padding_on_the_left_under_a_causal_mask_leaves_rows_without_any_key(atlas: Translator, trace: Trace) -> None:
    found = padding.padded(atlas, trace, OTHERS, "decoder.self_attention", 0, 0, "left")
    empty = padding.row_without_key(found.mask)
    assert torch.equal(empty, ~found.real)  # just the rows of the padding itself
    assert not found.weights[empty].any()


@pytest.mark.parametrize("masked", [True, False])
def test_the_mask_is_the_attentions_own_and_that_of_padding(atlas: Translator, trace: Trace, masked: bool) -> None:
    found = padding.padded(atlas, trace, OTHERS, "decoder.self_attention", 0, 0, masked=masked)
    own = own_mask("decoder.self_attention", found.longest)
    for sentence in range(3):
        keys = padding.keys_of(found, sentence)
        assert torch.equal(own & keys, found.mask[sentence])
        assert keys.all() == (not masked or found.padding_of(sentence) == 0)


def test_companions_are_the_shortest_and_the_longest(atlas: Translator, trace: Trace) -> None:
    shorter, longer = OTHERS
    assert padding.companions(atlas, trace, (SENTENCE, longer, "I don't know his name.", shorter)) == (shorter, longer)
    assert padding.companions(atlas, trace, (SENTENCE, longer)) == (longer,)
    assert padding.companions(atlas, trace, (SENTENCE,)) == ()


def test_a_side_that_is_none_is_refused(atlas: Translator, trace: Trace) -> None:
    with pytest.raises(ValueError, match="side='top' is not known; choose one of right, left"):
        padding.padded(atlas, trace, OTHERS, "encoder.self_attention", 0, 0, "top")
