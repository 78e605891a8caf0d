"""Pairs, cosines, wavelengths and mixed-up pairings against the model's own rotation and formulas written out once more."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from model import Translator
from model.analysis import rotary
from model.position import frequencies, rotate
from model.tokenizer import Token

PAIRINGS = st.sampled_from(["adjacent", "half"])
SEEDS = st.integers(0, 2**30)


def vectors(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def as_llama(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """As `LlamaRotaryEmbedding`, `rotate_half` and `apply_rotary_pos_emb` of Hugging Face have it."""
    inverse = 1.0 / (base ** (torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1]))
    freqs = positions[:, None].double() @ inverse[None, :]
    emb = torch.cat((freqs, freqs), dim=-1)
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x * emb.cos() + torch.cat((-x2, x1), dim=-1) * emb.sin()


@settings(max_examples=30)
@given(PAIRINGS, SEEDS, st.sampled_from([2, 6, 16, 48]), st.floats(2, 1e6))
def test_mixed_is_no_mixture_where_both_pairings_are_the_same(pairing: Any, seed: int, width: int, base: float) -> None:
    x, positions = vectors(seed, 3, 5, width), torch.arange(2, 7)
    same = rotary.mixed(x, positions, base, pairing, pairing)
    torch.testing.assert_close(same, rotate(x, positions, base, pairing), atol=1e-12, rtol=0)
    if pairing == "half":
        torch.testing.assert_close(same, as_llama(x, positions, base), atol=1e-9, rtol=0)
    else:
        complex_numbers = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.exp(
            1j * positions[:, None] * base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        )
        torch.testing.assert_close(same, torch.view_as_real(complex_numbers).flatten(-2), atol=1e-9, rtol=0)


@settings(max_examples=30)
@given(PAIRINGS, SEEDS, st.floats(-200, 200), st.floats(-200, 200))
def test_the_cosines_add_up_to_the_score_and_only_the_offset_counts(pairing: Any, seed: int, at: float, other: float) -> None:
    query, key = vectors(seed, 2, 12)
    at_query, at_key = torch.tensor([[at, at + 5, 0.0], [other, other + 5, other - at]], dtype=torch.float64)
    products = rotary.products_at(query, key, at_query, at_key, pairing=pairing)
    made = rotary.cosines(query, key, pairing=pairing)
    torch.testing.assert_close(made.terms(at_query - at_key).sum(dim=-1), products, atol=1e-10, rtol=0)
    torch.testing.assert_close(products, products[:1].expand(3), atol=1e-10, rtol=0)
    q, k = (np.asarray(rotary.as_pairs(x, pairing)) for x in (query, key))
    by_numpy = (q * np.exp(1j * (at - other) * 10000 ** (-np.arange(6) / 6)) * k.conj()).sum().real
    assert float(products[0]) == pytest.approx(by_numpy, abs=1e-10)


def test_published_scores() -> None:
    q, k = torch.tensor([[1.0, 2, 3, 4], [4, 3, 2, 1]])
    places = torch.tensor([[3.0, 7, 102, 1], [1, 5, 100, 3]])
    ahead = rotary.products_at(q, k, *places)
    np.testing.assert_allclose(ahead, [1.1900512, 1.1900512, 1.1900512, 10.4830122], atol=1e-6)
    half = rotary.products_at(q, k, *places, pairing="half")
    np.testing.assert_allclose(half, [-3.4564292, -3.4564292, -3.4564292, 15.1294926], atol=1e-6)


def test_the_sign_of_the_phase_matters_and_leaving_it_out_is_wrong() -> None:
    query, key = vectors(3, 2, 8)
    made, offset = rotary.cosines(query, key), torch.tensor([2.0])
    score = made.terms(offset).sum()
    swapped = (made.sizes * (2 * made.frequencies - made.phases).cos()).sum()
    left_out = (made.sizes * (2 * made.frequencies).cos()).sum()
    assert abs(score - swapped) > 0.1
    assert abs(score - left_out) > 0.1
    phases = rotary.cosines(torch.tensor([-1.0, 0.1]), torch.tensor([-1.0, -0.1])).phases
    assert float(phases) == pytest.approx(-2 * math.atan(0.1))  # not 2 pi less
    alike = rotary.cosines(query, 3 * query)
    assert not alike.phases.any()


def test_the_pair_to_begin_with_is_two_words() -> None:
    def token(text: str, **kind: bool) -> Token:
        return Token(text, 0, (0, 1), **kind)

    tokens = [token("cat"), token("saw"), token("."), token("zzz", unknown=True), token("</s>", special=True)]
    weights = torch.full((5, 5), 0.01)
    weights[0, 0], weights[2, 4], weights[3, 1], weights[1, 0] = 0.9, 0.8, 0.7, 0.02
    assert rotary.telling_pair(weights, tokens) == (1, 0)
    assert rotary.telling_pair(weights[1:, 1:], tokens[1:]) == (1, 3)  # one word: any two tokens
    assert rotary.telling_pair(weights[:1, :1], tokens[:1]) == (0, 0)


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 9), st.integers(0, 300))
def test_permuted_channels_make_the_pairings_equal(seed: int, pairs: int, start: int) -> None:
    x, positions = vectors(seed, 4, 2 * pairs), torch.arange(start, start + 4)
    order = rotary.halves_order(2 * pairs)
    half = rotate(x[:, order], positions, pairing="half")
    torch.testing.assert_close(half, rotate(x, positions)[:, order], atol=1e-12, rtol=0)
    assert sorted(order.tolist()) == list(range(2 * pairs))


@settings(max_examples=30)
@given(PAIRINGS, SEEDS, st.integers(0, 500))
def test_the_matrix_turns_rows_and_keeps_their_lengths(pairing: Any, seed: int, position: int) -> None:
    x, matrix = vectors(seed, 3, 8), rotary.rotation_matrix(position, 8, pairing=pairing)
    torch.testing.assert_close(x @ matrix, rotate(x, torch.full((3,), position), pairing=pairing))
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(8, dtype=torch.float64))


def test_angles_are_position_times_frequency() -> None:
    found = rotary.angles(torch.tensor([0.0, 1, 2.5]), 4)
    torch.testing.assert_close(found, torch.tensor([[0, 0], [1, 0.01], [2.5, 0.025]], dtype=torch.float64))


class TestLongTexts:
    def test_wavelengths_by_hand(self) -> None:
        found = rotary.wavelengths(48)
        expected = [2 * math.pi * 10000 ** (2 * i / 48) for i in range(24)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(rotary.wavelengths(48, scaling="interpolated", factor=4), 4 * found, rtol=1e-12)

    @settings(max_examples=30)
    @given(st.floats(1, 64), st.sampled_from([4, 48, 128]), st.floats(100, 1e6))
    def test_ntk_keeps_the_shortest_wavelength_and_stretches_the_longest(self, factor: float, width: int, base: float) -> None:
        plain, scaled = rotary.wavelengths(width, base), rotary.wavelengths(width, base, "ntk", factor)
        assert float(scaled[0]) == float(plain[0])
        assert float(scaled[-1]) == pytest.approx(factor * float(plain[-1]), rel=1e-9)
        assert (scaled >= plain * (1 - 1e-12)).all()

    def test_a_head_of_one_pair_has_nothing_to_stretch(self) -> None:
        assert rotary.ntk_base(8, 2) == 10000

    def test_pairs_that_have_not_come_round(self) -> None:
        llama = rotary.wavelengths(128)
        assert rotary.turned_less_than_once(llama, 4096) == sum(2 * math.pi * 10000 ** (i / 64) > 4096 for i in range(64)) == 18

    def test_interpolated_positions_are_fractions(self) -> None:
        x, positions = vectors(1, 5, 8), torch.arange(5)
        turned = rotary.turn(scaling="interpolated", factor=2)(x, positions)
        torch.testing.assert_close(turned, rotate(x, torch.tensor([0, 0.5, 1, 1.5, 2])))
        raised = rotary.turn(scaling="ntk", factor=2)(x, positions)
        torch.testing.assert_close(raised, rotate(x, positions, base=10000 * 2 ** (8 / 6)))
        torch.testing.assert_close(rotary.turn(500.0)(x, positions), rotate(x, positions, base=500))


def test_a_mixture_is_neither_relative_nor_keeps_lengths(characters: Translator, shared: Translator) -> None:
    for atlas, attention in zip((characters, shared), rotary.ATTENTIONS, strict=True):
        found = rotary.kept(atlas, atlas.trace("The red car is here."), attention, 0, 1)
        assert found["adjacent"].difference == 0
        assert found["permuted"].difference < 1e-12
        assert found["half"].difference > 0.01
        for name in ("adjacent", "half", "permuted"):
            assert found[name].moved < 1e-12
            assert found[name].stretched < 1e-12
        for name in ("mixed", "mixed_other"):
            assert found[name].moved > 0.01
            assert found[name].stretched > 0.01


def test_vectors_are_those_before_rotation(characters: Translator) -> None:
    trace = characters.trace("I love you.")
    found = rotary.head_vectors(characters, trace, "decoder.self_attention", 1, 2)
    assert found.turned
    path = "decoder.layers.1.self_attention"
    assert torch.equal(rotate(found.query, torch.arange(len(trace.target))), trace[f"{path}.query_rotated"].tensor[0, 2])
    made = rotary.cosines(found.query[-1], found.key[0], rotary.BASE)
    score = made.terms(torch.tensor([float(len(trace.target) - 1)])).sum() * characters.config.head_dim**-0.5
    assert float(score) == pytest.approx(float(trace[f"{path}.scores"].tensor[0, 2, -1, 0]), abs=1e-5)
    assert torch.equal(made.frequencies, frequencies(characters.config.head_dim))
