"""The sinusoidal table in numbers: the facts that the page states, against plain numpy."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analysis import positions
from model.position import Layout, sinusoidal

widths = st.integers(1, 16).map(lambda half: 2 * half)
layouts = st.sampled_from(["interleaved", "halves"])


def test_wavelengths_reach_from_two_pi_to_nearly_the_base() -> None:
    waves = positions.wavelengths(512)
    assert float(waves[0]) == pytest.approx(2 * math.pi)
    assert float(waves[-1]) == pytest.approx(2 * math.pi * 10000 ** (510 / 512))
    assert float(waves[-1]) < 2 * math.pi * 10000


@settings(deadline=None, max_examples=40, derandomize=True)
@given(widths, layouts, st.integers(0, 100), st.data())
def test_a_cell_is_its_formula_and_the_tables_number(width: int, layout: Layout, position: int, data: st.DataObject) -> None:
    dimension = data.draw(st.integers(0, width - 1))
    found = positions.cell(position, dimension, width, 100.0, layout)
    angle = position / 100 ** (2 * found.pair / width)
    assert found.angle == pytest.approx(angle)
    assert found.value == pytest.approx({"sin": math.sin, "cos": math.cos}[found.wave](angle), abs=1e-12)
    table = sinusoidal(position + 1, width, 100.0, layout=layout, dtype=torch.float64)
    assert found.value == float(table[position, dimension])
    assert dimension in positions.columns(found.pair, width, layout)


def test_position_two_of_512_begins_with_sin_and_cos_of_two() -> None:
    first, second = positions.cell(2, 0, 512), positions.cell(2, 1, 512)
    assert (first.wave, round(first.value, 4), second.wave, round(second.value, 4)) == ("sin", 0.9093, "cos", -0.4161)
    with pytest.raises(ValueError, match="dimension=512 is not in a table of 512"):
        positions.cell(0, 512, 512)


def test_numbers_are_bounded_and_every_row_has_the_same_length() -> None:
    found = positions.bounds(sinusoidal(128, 64, dtype=torch.float64))
    assert found.least >= -1
    assert found.greatest <= 1
    assert found.shortest == pytest.approx(32) == found.longest == found.half


@pytest.mark.parametrize(("width", "first"), [(64, 6), (256, 25), (512, 44)])
def test_products_fall_and_rise_again(width: int, first: int) -> None:
    along = positions.by_distance(60, width).numpy()
    angles = np.arange(60)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    np.testing.assert_allclose(along, np.cos(angles).sum(axis=1), atol=1e-10)
    assert along[0] == pytest.approx(width / 2)
    assert positions.first_rise(width) == first
    assert (np.diff(along[:first]) < 0).all()
    assert along[first] > along[first - 1]
    assert positions.first_rise(width, length=first) is None


def test_products_depend_on_the_distance_alone() -> None:
    found = positions.offsets(positions.products(40, 64))
    assert found.spread < 1e-12
    assert found.share < 1e-24
    assert found.asymmetry < 1e-12
    assert found.offsets == tuple(range(-39, 40))
    assert found.mean[39] == pytest.approx(32)
    assert found.mean[0] == pytest.approx(found.mean[-1])


def test_offsets_of_a_matrix_by_hand() -> None:
    found = positions.offsets(torch.tensor([[1.0, 2.0], [5.0, 3.0]]))
    assert (found.offsets, found.least, found.greatest) == ((-1, 0, 1), (5, 1, 2), (5, 3, 2))
    assert (found.spread, found.asymmetry) == (2, 3)
    assert found.share == pytest.approx(2 / np.var([1, 2, 5, 3]) / 4)  # 1 and 3 differ by 1 from their mean, twice
    assert positions.offsets(torch.ones(3, 3)).share == 0


@pytest.mark.parametrize(("length", "within"), [(20, 1e-14), (512, 1e-13), (5000, 1e-12)])
def test_one_matrix_moves_all_positions(length: int, within: float) -> None:
    found = positions.shift(length, 64, 7)
    assert found.error < within
    assert found.orthogonality < 1e-14
    assert found.moved.shape == (length, 64)


def test_a_block_is_a_rotation_with_its_numbers() -> None:
    found = positions.turn(positions.shift(4, 8, 3), position=2, pair=1)
    assert found.angle == pytest.approx(3 * 10000 ** (-2 / 8))
    cosine, sine = math.cos(found.angle), math.sin(found.angle)
    np.testing.assert_allclose(found.block, [[cosine, sine], [-sine, cosine]])
    np.testing.assert_allclose(np.array(found.block) @ found.before, found.after)
    np.testing.assert_allclose(found.after, [math.sin(5 * 0.1), math.cos(5 * 0.1)])
