"""Positions against the formulas in plain Python, complex numbers and published tables."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model.position import frequencies, rotate, shift_matrix, sinusoidal


def by_hand(position: int, d_model: int, base: float = 10000.0) -> list[float]:
    """The paper's formula, one number at a time."""
    row = []
    for i in range(d_model // 2):
        angle = position / base ** (2 * i / d_model)
        row += [math.sin(angle), math.cos(angle)]
    return row


def table(length: int, d_model: int, **changes: Any) -> Tensor:
    return sinusoidal(length, d_model, dtype=torch.float64, **changes)


class TestSinusoidal:
    @pytest.mark.parametrize(("d_model", "base"), [(2, 10000.0), (6, 10000.0), (64, 100.0), (512, 10000.0)])
    def test_equals_the_formula(self, d_model: int, base: float) -> None:
        expected = torch.tensor([by_hand(p, d_model, base) for p in range(30)], dtype=torch.float64)
        torch.testing.assert_close(table(30, d_model, base=base), expected, atol=1e-13, rtol=0)

    def test_published_values(self) -> None:
        small = [[0, 1, 0, 1], [0.84147098, 0.54030231, 0.00999983, 0.99995000]]
        small += [[0.90929743, -0.41614684, 0.01999867, 0.99980001], [0.14112001, -0.98999250, 0.02999550, 0.99955003]]
        torch.testing.assert_close(sinusoidal(4, 4), torch.tensor(small, dtype=torch.float32), atol=1e-7, rtol=0)
        six = torch.tensor([0.84147098, 0.54030231, 0.04639922, 0.99892298, 0.00215443, 0.99999768])
        torch.testing.assert_close(sinusoidal(2, 6)[1], six, atol=1e-7, rtol=0)
        sixteen = torch.tensor([0.841470985, 0.540302306, 0.310983593, 0.950415280, 0.0998334166, 0.995004165])
        torch.testing.assert_close(sinusoidal(2, 16)[1, :6], sixteen, atol=1e-7, rtol=0)

    def test_published_values_of_the_papers_width(self) -> None:
        wide = sinusoidal(5000, 512)
        first = torch.tensor([0.8414710, 0.5403023, 0.8218562, 0.5696950, 0.8019618, 0.5973753])
        torch.testing.assert_close(wide[1, :6], first, atol=1e-7, rtol=0)
        torch.testing.assert_close(wide[1, -2:], torch.tensor([1.036633e-4, 0.99999999]), atol=1e-8, rtol=0)
        torch.testing.assert_close(wide[2, :2], torch.tensor([0.9093, -0.4161]), atol=5e-5, rtol=0)
        exact = torch.tensor(by_hand(4999, 512), dtype=torch.float64)
        torch.testing.assert_close(wide[4999].double(), exact, atol=1e-7, rtol=0)  # float32 formulas drift by 4e-4 here

    def test_position_0_is_not_zero(self) -> None:
        assert sinusoidal(1, 8)[0].tolist() == [0, 1, 0, 1, 0, 1, 0, 1]

    def test_sines_first_is_the_same_table_with_its_columns_in_another_order(self) -> None:
        halves = sinusoidal(2, 4, layout="halves")
        torch.testing.assert_close(halves[1], torch.tensor([0.8415, 0.0100, 0.5403, 0.99995]), atol=5e-5, rtol=0)
        assert torch.equal(halves[:, [0, 2, 1, 3]], sinusoidal(2, 4))

    def test_start_and_dtype(self) -> None:
        assert torch.equal(sinusoidal(3, 6, start=4), sinusoidal(7, 6)[4:])
        assert sinusoidal(2, 4).dtype == torch.float32
        assert sinusoidal(2, 4, dtype=torch.float16).dtype == torch.float16
        assert sinusoidal(0, 4).shape == (0, 4)

    def test_dot_products_know_distance_but_not_direction(self) -> None:
        wide = table(60, 512)
        products = wide @ wide.T
        torch.testing.assert_close(products.diagonal(), torch.full((60,), 256.0, dtype=torch.float64))
        assert products[1, 2].item() == pytest.approx(249.1021, abs=5e-5)
        for offset in range(5):
            along = products.diagonal(offset)
            torch.testing.assert_close(along, along[:1].expand_as(along))
        torch.testing.assert_close(products, products.T)

    @pytest.mark.parametrize(("d_model", "first_rise"), [(64, 6), (256, 25), (512, 44)])
    def test_similarity_does_not_fall_for_ever(self, d_model: int, first_rise: int) -> None:
        products = table(60, d_model) @ table(1, d_model)[0]
        assert int((products.diff() > 0).nonzero()[0]) + 1 == first_rise

    @pytest.mark.parametrize("d_model", [1, 5, 0, -2])
    def test_a_width_that_makes_no_pairs_is_refused(self, d_model: int) -> None:
        with pytest.raises(ValueError, match=f"width {d_model} cannot be split into pairs .* choose an even number"):
            sinusoidal(3, d_model)

    def test_a_length_below_zero_is_refused(self) -> None:
        with pytest.raises(ValueError, match="length=-1 is negative"):
            sinusoidal(-1, 4)

    def test_a_base_without_wavelengths_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"base=0\.0 gives no wavelengths"):
            sinusoidal(3, 4, base=0.0)


class TestShiftMatrix:
    @pytest.mark.parametrize(("last", "error"), [(20, 1e-14), (512, 1e-13), (5000, 1e-12)])
    @pytest.mark.parametrize("offset", [1, 7, -3])
    def test_one_matrix_moves_every_position(self, last: int, error: float, offset: int) -> None:
        matrix = shift_matrix(offset, 64, dtype=torch.float64)
        moved = table(last, 64, start=5) @ matrix.T
        assert (moved - table(last, 64, start=5 + offset)).abs().max() < error

    @pytest.mark.parametrize("offset", [0, 1, 100])
    def test_it_is_a_rotation(self, offset: int) -> None:
        matrix = shift_matrix(offset, 16, dtype=torch.float64)
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(16, dtype=torch.float64))
        torch.testing.assert_close(torch.linalg.det(matrix), torch.ones((), dtype=torch.float64))

    def test_shifts_add_up(self) -> None:
        two, three, five = (shift_matrix(k, 8, dtype=torch.float64) for k in (2, 3, 5))
        torch.testing.assert_close(two @ three, five)

    def test_each_pair_turns_alone(self) -> None:
        outside = shift_matrix(3, 6).clone()
        for pair in range(0, 6, 2):
            outside[pair : pair + 2, pair : pair + 2] = 0
        assert not outside.any()


def turned_as_complex_numbers(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Neighbouring numbers read as one complex number, times e^(i p w)."""
    width = x.shape[-1]
    w = torch.tensor([base ** (-2 * i / width) for i in range(width // 2)], dtype=torch.float64)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    turned = pairs * torch.polar(torch.ones_like(w), positions.double()[..., None] * w)
    return torch.view_as_real(turned).flatten(-2)


def turned_by_halves(x: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """As LLaMA's code has it: x cos + rotate_half(x) sin, with the angles written twice."""
    width = x.shape[-1]
    inverse = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = np.concatenate([np.outer(positions, inverse)] * 2, axis=-1)
    rotated = np.concatenate([-x[..., width // 2 :], x[..., : width // 2]], axis=-1)
    return np.asarray(x * np.cos(angles) + rotated * np.sin(angles))


class TestRotary:
    @pytest.mark.parametrize(
        ("pairing", "position", "expected"),
        [
            ("adjacent", 0, [1, 2, 3, 4]),
            ("adjacent", 1, [-1.1426397, 1.9220756, 2.9598507, 4.0297995]),
            ("adjacent", 2, [-2.2347417, 0.0770038, 2.9194054, 4.0591960]),
            ("half", 0, [1, 2, 3, 4]),
            ("half", 1, [-1.9841106, 1.9599007, 2.4623779, 4.0197997]),
            ("half", 2, [-3.1440391, 1.9196053, -0.3391431, 4.0391974]),
        ],
    )
    def test_published_values(self, pairing: Any, position: int, expected: list[float]) -> None:
        x = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
        turned = rotate(x, torch.tensor([position]), pairing=pairing)[0]
        torch.testing.assert_close(turned, torch.tensor(expected, dtype=torch.float64), atol=1e-7, rtol=0)
        assert turned.norm().item() == pytest.approx(math.sqrt(30))

    @pytest.mark.parametrize(
        ("pairing", "ahead", "behind"), [("adjacent", 1.1900512, 10.4830122), ("half", -3.4564292, 15.1294926)]
    )
    def test_published_scores(self, pairing: Any, ahead: float, behind: float) -> None:
        q, k = (
            torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64),
            torch.tensor([[4.0, 3.0, 2.0, 1.0]], dtype=torch.float64),
        )
        for m, n, score in ((3, 1, ahead), (7, 5, ahead), (102, 100, ahead), (1, 3, behind)):
            turned = [rotate(x, torch.tensor([p]), pairing=pairing)[0] for x, p in ((q, m), (k, n))]
            assert float(turned[0] @ turned[1]) == pytest.approx(score, abs=1e-6)

    @pytest.mark.parametrize("shape", [(7, 6), (2, 3, 7, 10)])
    def test_adjacent_pairs_are_complex_numbers(self, shape: tuple[int, ...]) -> None:
        x, positions = torch.randn(shape, dtype=torch.float64), torch.arange(7)
        torch.testing.assert_close(rotate(x, positions), turned_as_complex_numbers(x, positions))

    @pytest.mark.parametrize(
        ("shape", "start", "base"), [((7, 6), 0, 10000.0), ((2, 3, 7, 10), 3, 10000.0), ((1, 4, 7, 128), 900, 5e5)]
    )
    def test_halves_turn_as_in_llama(self, shape: tuple[int, ...], start: int, base: float) -> None:
        """The published formula written out once more; `benchmarks.llama` compares with the code of Hugging Face itself."""
        x, positions = torch.randn(shape, dtype=torch.float64), torch.arange(start, start + 7)
        expected = torch.from_numpy(turned_by_halves(x.numpy(), positions.numpy(), base))
        torch.testing.assert_close(rotate(x, positions, base, pairing="half"), expected)

    def test_positions_of_each_sentence_and_between_tokens(self) -> None:
        x = torch.randn(2, 3, 4, 6, dtype=torch.float64)
        positions = torch.tensor([[0.0, 0.5, 1.0, 1.5], [0.0, 0.0, 1.0, 2.0]])
        turned = rotate(x, positions[:, None])
        for sentence in range(2):
            torch.testing.assert_close(turned[sentence], turned_as_complex_numbers(x[sentence], positions[sentence]))

    def test_permuted_channels_make_the_pairings_equal(self) -> None:
        q, k, positions = torch.randn(5, 8, dtype=torch.float64), torch.randn(5, 8, dtype=torch.float64), torch.arange(5)
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        adjacent = rotate(q, positions) @ rotate(k, positions).T
        half = rotate(q[:, order], positions, pairing="half") @ rotate(k[:, order], positions, pairing="half").T
        torch.testing.assert_close(adjacent, half)
        other = rotate(q, positions, pairing="half") @ rotate(k, positions, pairing="half").T
        assert (adjacent - other).abs().max() > 0.1

    @given(st.sampled_from(["adjacent", "half"]), st.integers(0, 2000), st.integers(0, 2**30))
    def test_only_the_distance_counts_and_lengths_stay(self, pairing: Any, start: int, seed: int) -> None:
        torch.manual_seed(seed)
        x, positions = torch.randn(5, 8, dtype=torch.float64), torch.arange(5)
        here, there = rotate(x, positions, pairing=pairing), rotate(x, positions + start, pairing=pairing)
        torch.testing.assert_close(here @ here.T, there @ there.T, atol=1e-10, rtol=0)
        torch.testing.assert_close(here.norm(dim=-1), x.norm(dim=-1))

    def test_the_score_is_a_sum_of_cosines(self) -> None:
        q, k = torch.randn(1, 8, dtype=torch.float64), torch.randn(1, 8, dtype=torch.float64)
        pairs = [torch.view_as_complex(x.view(4, 2)) for x in (q, k)]
        phi, lengths = pairs[0].angle() - pairs[1].angle(), pairs[0].abs() * pairs[1].abs()
        for at_q, at_k in ((9, 2), (2, 9), (4, 4)):
            score = rotate(q, torch.tensor([at_q]))[0] @ rotate(k, torch.tensor([at_k]))[0]
            torch.testing.assert_close(score, (lengths * ((at_q - at_k) * frequencies(8) + phi).cos()).sum())

    def test_precision_is_kept(self) -> None:
        x = torch.randn(3, 8)
        assert rotate(x, torch.arange(3)).dtype == torch.float32
        torch.testing.assert_close(rotate(x, torch.arange(4997, 5000)).double(), rotate(x.double(), torch.arange(4997, 5000)))

    def test_an_odd_head_is_refused(self) -> None:
        with pytest.raises(ValueError, match="width 3 cannot be split into pairs"):
            rotate(torch.randn(2, 3), torch.arange(2))
