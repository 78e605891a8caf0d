"""What enters the first layer: the row of a token times sqrt(d_model), plus its position."""

import math

import torch

from model.config import paper_base
from model.embedding import InputEmbedding, count_positions
from model.position import sinusoidal
from model.trace import tracing
from tests.model import tiny


def embedding(**changes: object) -> InputEmbedding:
    made = InputEmbedding(tiny.config(**changes), 23)
    made.path = "source"
    return made.eval().requires_grad_(False)


def test_rows_of_the_table_times_the_root_of_the_width_plus_positions() -> None:
    module, ids = embedding(), tiny.ids(5, 23, batch=2)
    with tracing() as recording:
        output = module(ids, torch.arange(5)[None])
    rows = module.table.weight[ids] * math.sqrt(24)
    torch.testing.assert_close(output, rows + sinusoidal(5, 24))
    torch.testing.assert_close(recording["source.embedding"].tensor, rows)
    assert torch.equal(recording["source.position"].tensor, sinusoidal(5, 24).expand(2, 5, 24))


def test_rotary_and_missing_positions_add_nothing() -> None:
    for positions in ("rotary", "none"):
        module, ids = embedding(positions=positions), tiny.ids(5, 23)
        with tracing() as recording:
            output = module(ids, torch.arange(5)[None])
        assert torch.equal(output, recording["source.embedding"].tensor)
        assert "source.position" not in recording.activations


def test_at_the_start_words_are_as_loud_as_positions() -> None:
    config = paper_base(100)
    rows = InputEmbedding(config, 100).table.weight.detach().norm(dim=-1)
    assert abs(float(rows.mean()) - 1) < 0.05
    assert sinusoidal(3, 512).norm(dim=-1).tolist() == [16.0] * 3  # so without the factor they would drown the words
    assert abs(float(rows.mean()) * math.sqrt(512) - 22.6) < 1


def test_the_table_of_positions_is_no_parameter_and_not_saved() -> None:
    module = embedding()
    assert [name for name, _ in module.named_parameters()] == ["table.weight"]
    assert list(module.state_dict()) == ["table.weight"]


def test_positions_count_real_tokens() -> None:
    ids = torch.zeros(3, 4, dtype=torch.long)
    assert count_positions(ids, None).tolist() == [[0, 1, 2, 3]]
    assert count_positions(ids, None, start=5).tolist() == [[5, 6, 7, 8]]
    mask = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], dtype=torch.bool)
    positions = count_positions(ids, mask)
    assert positions[0, :2].tolist() == positions[1, 2:].tolist() == [0, 1]
    assert positions[2].tolist() == [0, 1, 2, 3]
    assert positions.min() == 0
