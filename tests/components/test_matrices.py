"""What the matrices component is given: every value as it is, its labels, its masked and changed cells."""

import numpy as np
import pytest
import torch

from app.components.matrices import LABELS, Axis, Matrix, Scene, pack, unpack

TEXT = dict.fromkeys(LABELS, "")
CAPTION = {"model": "m", "source": "s", "target": "t"}
ROWS, COLUMNS = Axis("target", ["the", "the", "1E1"], "target"), Axis("d_k")


def packed(*matrices: Matrix, scenes: tuple[Scene, ...] = ()) -> bytes:
    given = scenes or (Scene("one", "one", [matrices[-1].id]),)
    return pack(given, matrices, text=TEXT, caption=CAPTION)


def test_values_come_back_to_the_bit_and_labels_in_order() -> None:
    values = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))
    header, found = unpack(packed(Matrix("a", values, ROWS, COLUMNS, "A")))
    np.testing.assert_array_equal(found["a"], values.numpy())
    (entry,) = header["matrices"]
    assert entry["rows"]["labels"] == ["the", "the", "1E1"]
    assert entry["columns"]["labels"] is None
    assert entry["top"] == pytest.approx(float(values.abs().max()))


@pytest.mark.parametrize("form", ["whole", "half", "sparse"])
def test_the_shortest_form_holds_the_same_bits(form: str) -> None:
    values = torch.randn(40, 50, generator=torch.Generator().manual_seed(2))
    values[0, :4] = torch.tensor([-0.0, float("inf"), 6e-8, 65504.0])
    given = {"whole": values, "half": values.half().float(), "sparse": torch.where(torch.eye(40, 50) > 0, values, 0.0)}[form]
    message = packed(Matrix("a", given, Axis("row"), Axis("column"), "A"))
    header, found = unpack(message)
    assert header["matrices"][0]["form"] == form
    np.testing.assert_array_equal(found["a"].view("<u4"), given.numpy().view("<u4"))
    assert header["bytes"] == {"whole": 8000, "half": 4000, "sparse": header["bytes"]}[form]


def test_the_scale_ends_at_the_largest_cell_that_can_be_read() -> None:
    values = torch.tensor([[1.0, -2.0, float("-inf")], [900.0, 0.5, 0.25], [0.0, 0.0, 0.0]])
    masked = torch.tensor([[False, False, True], [True, False, False], [False, False, False]])
    header, _ = unpack(packed(Matrix("a", values, ROWS, COLUMNS, "A", masked=masked)))
    assert header["matrices"][0]["top"] == 2.0


def test_one_mask_for_all_rows_is_spread() -> None:
    message = packed(Matrix("a", torch.zeros(3, 4), ROWS, COLUMNS, "A", masked=torch.tensor([[False, True, False, True]])))
    header, _ = unpack(message)
    start = header["matrices"][0]["masked"]
    raw = message[-header["bytes"] :]
    assert list(raw[start : start + 12]) == [0, 1, 0, 1] * 3


@pytest.mark.parametrize(
    ("problem", "matrix", "scene"),
    [
        ("needed are two axes", Matrix("a", torch.zeros(3), ROWS, COLUMNS, "A"), Scene("s", "", ["a"])),
        ("3 labels for 2 places", Matrix("a", torch.zeros(2, 4), ROWS, COLUMNS, "A"), Scene("s", "", ["a"])),
        ("ends in no matrix", Matrix("a", torch.zeros(3, 4), ROWS, COLUMNS, "A"), Scene("s", "", ["a", "="])),
    ],
)
def test_what_cannot_be_drawn_is_an_error_that_says_why(problem: str, matrix: Matrix, scene: Scene) -> None:
    with pytest.raises(ValueError, match=problem):
        packed(matrix, scenes=(scene,))


def test_too_many_cells_are_refused() -> None:
    wide = torch.zeros(1, 1).expand(3, 1_000_000)
    with pytest.raises(ValueError, match="3,000,000 cells are more than"):
        packed(Matrix("a", wide, ROWS, COLUMNS, "A"))
