"""Queries, keys and values come from where the page says, in every layer; asymmetry is what plain counting gives."""

import pytest
import torch

from model import Translator
from model.analysis import origins
from model.analysis.purpose import CROSS, DECODER, ENCODER

SOURCE, TARGET = "He bought 3 books, and she read them.", "x y z"


@pytest.mark.parametrize("attention", [ENCODER, DECODER, CROSS])
def test_recorded_projections_are_those_of_their_origin(translator: Translator, attention: str) -> None:
    trace = translator.trace(SOURCE, TARGET)
    found = origins.checks(translator, trace, [attention])[attention]
    assert max(found.query, found.key, found.value) < 1e-6


def test_each_decoder_layer_projects_the_same_memory_with_its_own_matrices(translator: Translator) -> None:
    """Plain matrix products; the memory is the last encoder layer's output, after its norm."""
    trace = translator.trace(SOURCE, TARGET)
    memory = trace["encoder.output"].tensor[0]
    last = f"encoder.layers.{translator.config.encoder_layers - 1}.residual.1"
    expected = trace[f"{last}.normed"] if translator.config.norm == "post" else trace[f"{last}.sum"]
    torch.testing.assert_close(memory, translator.model.encoder.norm(expected.tensor)[0])
    keys = []
    for layer, block in enumerate(translator.model.decoder.layers):
        weight, bias = block.cross_attention.to_key.weight, block.cross_attention.to_key.bias
        flat = memory @ weight.T + (0 if bias is None else bias)
        heads = torch.stack(flat.chunk(translator.config.num_heads, dim=-1))
        torch.testing.assert_close(trace[f"decoder.layers.{layer}.cross_attention.key"].tensor[0], heads)
        keys.append(heads)
    assert not torch.allclose(keys[0], keys[1])


def test_queries_of_cross_attention_come_from_after_the_first_add_and_norm(translator: Translator) -> None:
    trace, norm = translator.trace(SOURCE, TARGET), translator.config.norm
    path = origins.after_self_attention(norm, 1)
    assert origins.origin(norm, CROSS, 1).memory == "encoder.output"
    assert torch.equal(trace[path].tensor, trace[origins.origin(norm, CROSS, 1).query].tensor)
    around = trace["decoder.layers.1.residual.0.sum"].tensor
    norms = translator.model.decoder.layers[1].residual
    torch.testing.assert_close(trace[path].tensor, norms[1 if norm == "pre" else 0].norm(around))


def test_asymmetry_counts_pairs() -> None:
    symmetric = torch.tensor([[0.5, 0.2, 0.3], [0.2, 0.1, 0.7], [0.3, 0.7, 0.0]])
    one_way = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    mixed = torch.tensor([[0.4, 0.6], [0.2, 0.8]])
    assert origins.asymmetry(torch.stack([symmetric, one_way])).tolist() == [0, 1]
    assert float(origins.asymmetry(mixed)) == pytest.approx(0.4 / 0.8)
    assert float(origins.asymmetry(torch.ones(1, 1))) == 0


def test_asymmetry_of_each_head(translator: Translator) -> None:
    trace = translator.trace(SOURCE, TARGET)
    rows = origins.asymmetries(translator, trace, ENCODER)
    assert len(rows) == translator.config.encoder_layers
    weights = trace["encoder.layers.0.self_attention.weights"].tensor[0, 1].tolist()
    pairs = [(weights[i][j], weights[j][i]) for i in range(len(weights)) for j in range(i)]
    expected = sum(abs(a - b) for a, b in pairs) / sum(a + b for a, b in pairs)
    assert rows[0][1] == pytest.approx(expected)


def test_the_most_one_sided_pair() -> None:
    weights = torch.tensor([[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.8, 0.1, 0.1]])
    assert origins.most_one_sided(weights) == (2, 0)
    assert origins.most_one_sided(torch.ones(1, 1)) == (0, 0)


def test_with_the_sides_exchanged_the_result_has_the_rows_of_the_source(translator: Translator) -> None:
    trace = translator.trace(SOURCE, TARGET)
    source, target = len(trace.source), len(trace.target)
    found = origins.swapped(translator, trace, 1)
    assert found == origins.Swapped((source, target), (source, translator.config.d_model))
    assert trace["decoder.layers.1.cross_attention.weights"].tensor.shape[2:] == (target, source)


def test_keys_and_values_of_the_source_do_not_depend_on_the_target(translator: Translator) -> None:
    assert origins.change_with_target(translator, translator.trace(SOURCE, TARGET)) == 0
