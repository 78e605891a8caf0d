"""The parts of the input, each computed once more with numpy or by hand."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from model import Trace
from model.analysis import embeddings, what_if
from model.analysis.vocabulary import Side
from model.translator import Translator, load

SENTENCE = "The dog sees the dog."
SIDES: tuple[Side, ...] = ("source", "target")


@pytest.fixture(scope="module")
def atlas() -> Translator:
    return load("en-fr", device="cpu")


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace(SENTENCE)


@pytest.mark.parametrize("side", SIDES)
def test_parts_by_numpy(atlas: Translator, trace: Trace, side: Side) -> None:
    table = atlas.model.get_parameter(f"{side}.table.weight").detach().numpy()
    found = embeddings.parts(atlas, trace, side)
    ids = [token.id for token in trace.tokens(side)]
    rows = np.eye(len(table), dtype=np.float32)[ids] @ table
    np.testing.assert_array_equal(found.looked_up, rows)
    np.testing.assert_allclose(found.scaled, rows * math.sqrt(192), rtol=1e-6)
    angles = np.arange(len(ids))[:, None] / 10000 ** (np.arange(0, 192, 2) / 192)
    position = np.stack((np.sin(angles), np.cos(angles)), axis=-1).reshape(len(ids), 192)
    assert found.position is not None
    np.testing.assert_allclose(found.position, position, atol=1e-6)
    np.testing.assert_allclose(found.entering, rows * math.sqrt(192) + position, atol=1e-5)


@pytest.mark.parametrize("name", ["en-fr", "en-zh"])
@pytest.mark.parametrize("side", SIDES)
def test_the_steps_of_the_page_are_what_the_model_computed(name: str, side: Side) -> None:
    atlas = load(name, device="cpu")
    found = embeddings.agreement(atlas, atlas.trace(SENTENCE), side)
    assert (found.product, found.scaled, found.sum) == (0, 0, 0)


@pytest.mark.parametrize("blocks", [7, 48])
def test_a_condensed_table_covers_every_row_once_and_keeps_the_sentence_exact(
    atlas: Translator, trace: Trace, blocks: int
) -> None:
    table = atlas.model.source.table.weight.detach()
    found = embeddings.condensed(atlas, trace, "source", blocks)
    covered = [id_ for first, last in zip(found.first, found.last, strict=True) for id_ in range(first, last + 1)]
    assert covered == list(range(len(table)))
    for row, (first, last) in enumerate(zip(found.first, found.last, strict=True)):
        torch.testing.assert_close(found.rows[row], table[first : last + 1].mean(0))
        assert last - first < found.block == math.ceil(len(table) / blocks)
    exact = [first for first, alone in zip(found.first, found.exact, strict=True) if alone]
    assert exact == sorted({token.id for token in trace.source})
    assert found.one_hot.sum(1).tolist() == [1] * len(trace.source)
    assert torch.equal(found.one_hot @ found.rows, embeddings.parts(atlas, trace, "source").looked_up)


@pytest.mark.parametrize("side", SIDES)
def test_norms_and_cosines_by_numpy(atlas: Translator, trace: Trace, side: Side) -> None:
    found, parts = embeddings.norms(atlas, trace, side), embeddings.parts(atlas, trace, side)
    assert parts.position is not None
    row, position = parts.looked_up[2].double().numpy(), parts.position[2].double().numpy()
    assert found.looked_up[2] == pytest.approx(np.sqrt((row**2).sum()))
    assert found.scaled[2] == pytest.approx(math.sqrt(192) * found.looked_up[2])
    assert found.position == pytest.approx([math.sqrt(192 / 2)] * len(trace.tokens(side)))
    assert found.entering[2] == pytest.approx(np.linalg.norm(row * math.sqrt(192) + position))
    for shown, factor in ((found.word[2], math.sqrt(192)), (found.word_unscaled[2], 1.0)):
        added = row * factor + position
        assert shown == pytest.approx(row @ added / np.linalg.norm(row) / np.linalg.norm(added))


def test_with_the_factor_the_word_is_found_again_and_without_it_is_not(atlas: Translator, trace: Trace) -> None:
    found = embeddings.norms(atlas, trace, "source")
    assert found.found_again == len(trace.source)
    assert found.found_again_unscaled == 0


def test_an_untrained_table_has_rows_of_length_one(atlas: Translator) -> None:
    found = embeddings.untrained(atlas, "target")
    assert found.row == pytest.approx(1, abs=0.01)
    assert found.scaled == pytest.approx(found.row * math.sqrt(192))
    assert found.position == pytest.approx(math.sqrt(96))


def test_neighbours_by_numpy(atlas: Translator) -> None:
    table = atlas.model.target.table.weight.detach().double().numpy()
    id_ = atlas.tokenizers.target.vocabulary[" love"]
    found = embeddings.neighbours(atlas, "target", id_)
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosines = unit @ unit[id_]
    others = np.delete(cosines, id_)
    assert (found.mean, found.spread) == pytest.approx((others.mean(), others.std(ddof=1)))
    assert [near for near, _ in found.nearest] == [int(near) for near in np.argsort(-cosines)[1:11]]
    assert [cosine for _, cosine in found.nearest] == pytest.approx(sorted(others, reverse=True)[:10])
    assert atlas.tokenizers.target.pieces[found.nearest[0][0]] in {" loves", " loved"}


def test_a_rotary_model_adds_no_position(characters: Translator) -> None:
    trace = characters.trace("I love you.", "我爱你。")
    found = embeddings.parts(characters, trace, "target")
    assert found.position is None
    assert embeddings.agreement(characters, trace, "target") == embeddings.Agreement(0, 0, 0)
    measured = embeddings.norms(characters, trace, "target")
    assert measured.position is None
    assert measured.word == pytest.approx([1] * len(trace.target))


@pytest.mark.parametrize("alter", [what_if.without_embedding_scale, what_if.without_positions])
def test_an_altered_model_shares_its_weights_and_leaves_the_original_alone(
    atlas: Translator, trace: Trace, alter: Callable[[Translator], Translator]
) -> None:
    altered = alter(atlas)
    assert altered.model is not atlas.model
    for (name, ours), (_, theirs) in zip(atlas.model.named_parameters(), altered.model.named_parameters(), strict=True):
        assert ours is theirs, name
    assert altered.trace(SENTENCE, trace.target_text).log_probabilities != trace.log_probabilities
    assert atlas.trace(SENTENCE).log_probabilities == trace.log_probabilities


def test_without_the_factor_the_rows_enter_as_they_are(atlas: Translator, trace: Trace) -> None:
    altered = what_if.without_embedding_scale(atlas).trace(SENTENCE, trace.target_text)
    parts = embeddings.parts(atlas, trace, "source")
    assert parts.position is not None
    assert torch.equal(altered["source.embedding"].tensor[0], parts.looked_up)
    torch.testing.assert_close(altered["encoder.layers.0.residual.0.input"].tensor[0], parts.looked_up + parts.position)


def test_without_positions_the_encoder_cannot_tell_the_order(atlas: Translator) -> None:
    altered = what_if.without_positions(atlas)
    ids = torch.tensor([[token.id for token in atlas.source_tokens(SENTENCE)]])
    with torch.inference_mode():
        torch.testing.assert_close(altered.model.encode(ids.flip(1)), altered.model.encode(ids).flip(1), atol=1e-5, rtol=0)
        assert (atlas.model.encode(ids.flip(1)) - atlas.model.encode(ids).flip(1)).abs().max() > 0.5


def test_damage_is_of_the_same_tokens(atlas: Translator, trace: Trace) -> None:
    found = embeddings.without_factor(atlas, trace)
    assert len(found.log_probabilities) == len(trace.produced)
    assert sum(found.log_probabilities) < sum(trace.log_probabilities) - 10
    assert found.written != trace.target_text
    found = embeddings.without_position(atlas, trace)
    assert sum(found.log_probabilities) < sum(trace.log_probabilities) - 1
