"""One matrix in several places: the same parameter, counted once, read by cosine, multiplied where it should be."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model import cost
from model.analysis import tying
from model.config import paper_base
from model.tokenizer import PADDING
from model.translator import Translator, load
from tests.model import tiny


def test_tied_matrices_are_one_parameter(atlas: Translator) -> None:
    model = atlas.model
    assert model.source.table.weight is model.target.table.weight is model.to_logits.weight
    found = tying.matrices(atlas)
    assert [matrix.path for matrix in found] == list(tying.MATRICES)
    assert {matrix.storage for matrix in found} == {0}
    assert {matrix.address for matrix in found} == {model.to_logits.weight.data_ptr()}
    assert {matrix.shape for matrix in found} == {(atlas.config.target_vocab_size, atlas.config.d_model)}


@pytest.mark.parametrize(("shared", "tie", "storages"), [(True, "none", [0, 1, 2]), (False, "target", [0, 1, 1])])
def test_of_other_models_fewer_places_are_one(tmp_path: Path, shared: bool, tie: str, storages: list[int]) -> None:
    tiny.save_checkpoint(tmp_path, shared, tie=tie)
    loaded = load(tmp_path)
    assert [matrix.storage for matrix in tying.matrices(loaded)] == storages
    assert tying.counted(loaded) == sum(parameter.numel() for parameter in loaded.model.parameters())
    assert tying.counted(loaded) == cost.parameters(loaded.config) == tying.saved(loaded.config).tied


def test_a_language_model_has_two_places(tmp_path: Path) -> None:
    tiny.save_language_model(tmp_path)
    loaded = load(tmp_path)
    assert [(matrix.path, matrix.storage) for matrix in tying.matrices(loaded)] == [(path, 0) for path in tying.MATRICES[1:]]
    size = loaded.config.target_vocab_size * loaded.config.d_model
    assert tying.saved(loaded.config).saved == size
    assert tying.counted(loaded) == cost.parameters(loaded.config)


def test_what_is_saved_are_two_tables_of_three(atlas: Translator) -> None:
    saved = tying.saved(atlas.config)
    assert saved.tied == tying.counted(atlas) == sum(parameter.numel() for parameter in atlas.model.parameters())
    assert saved.saved == 2 * atlas.config.target_vocab_size * atlas.config.d_model
    assert tying.saved(paper_base()).saved == 2 * 37_000 * 512
    assert tying.saved(replace(atlas.config, tie="none")).saved == 0


def test_the_nearest_outputs_of_an_embedding(atlas: Translator) -> None:
    table = atlas.model.to_logits.weight.double().numpy()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    for side in ("source", "target"):
        found = tying.nearest(atlas, side, 1873)  # type: ignore[arg-type]
        cosines = unit @ unit[1873]
        assert [id_ for id_, _ in found.words] == np.argsort(-cosines, kind="stable")[:10].tolist()
        assert found.words[0] == (1873, pytest.approx(1))
        assert found.own == 1
        assert found.mean == pytest.approx(cosines.mean())


def test_of_two_vocabularies_no_output_is_the_tokens_own(tmp_path: Path) -> None:
    tiny.save_checkpoint(tmp_path, shared=False)
    loaded = load(tmp_path)
    apart, own = tying.nearest(loaded, "source", 7), tying.nearest(loaded, "target", 7)
    assert (apart.own, apart.tied) == (None, False)
    assert (own.own, own.tied) == (1, True)


def test_the_factor_multiplies_the_embedding_and_not_the_output(atlas: Translator) -> None:
    trace = atlas.trace("The dog saw the dog .")
    found = tying.factor(atlas, trace, 2)
    row = atlas.model.target.table.weight[trace.target[2].id].double()
    assert found.factor == pytest.approx(atlas.config.d_model**0.5)
    assert (found.row, found.scaled) == pytest.approx((float(row.norm()), float(row.norm()) * found.factor), rel=1e-6)
    assert found.embedding_error == 0
    assert found.logits_error < 1e-4
    pairs = (("The dog saw the dog .", "Le chien vit un chat ."),)
    wrong = tying.misplaced(atlas, pairs)
    forced = atlas.trace(*pairs[0])
    assert wrong.tokens == len(forced.produced)
    assert wrong.as_is == pytest.approx(-sum(forced.log_probabilities) / wrong.tokens)
    ids = torch.tensor([token.id for token in forced.produced])
    sharper = torch.nn.functional.cross_entropy(forced["logits"].tensor[0].double() * found.factor, ids)
    assert wrong.on_output == pytest.approx(float(sharper), rel=1e-6)
    assert wrong.as_is < wrong.on_output
    assert wrong.as_is < wrong.nowhere
    assert PADDING not in ids
