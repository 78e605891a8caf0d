"""Label smoothing in its three conventions, cross-entropy against PyTorch's, and the loss of guided heads."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from model.training.loss import Convention, smoothed_targets, summed_cross_entropy, summed_guide


class TestSmoothedTargets:
    def test_the_three_conventions(self) -> None:
        target = torch.tensor([2])
        assert smoothed_targets(target, 5, 0.1)[0].tolist() == pytest.approx([0.02, 0.02, 0.92, 0.02, 0.02])
        assert smoothed_targets(target, 5, 0.1, "others")[0].tolist() == pytest.approx([0.025, 0.025, 0.9, 0.025, 0.025])
        without = smoothed_targets(target, 5, 0.1, "without_padding", padding=0)[0].tolist()
        assert without == pytest.approx([0, 0.1 / 3, 0.9, 0.1 / 3, 0.1 / 3])

    @settings(max_examples=30)
    @given(
        st.sampled_from(["uniform", "others", "without_padding"]), st.integers(3, 50), st.floats(0, 0.45), st.integers(0, 2**30)
    )
    def test_rows_sum_to_1(self, convention: Convention, vocab_size: int, smoothing: float, seed: int) -> None:
        torch.manual_seed(seed)
        target = torch.randint(1, vocab_size, (2, 3))
        rows = smoothed_targets(target, vocab_size, smoothing, convention, padding=0)
        assert rows.shape == (2, 3, vocab_size)
        torch.testing.assert_close(rows.sum(dim=-1), torch.ones(2, 3))
        assert (rows.argmax(dim=-1) == target).all()
        assert (rows >= 0).all()

    def test_without_smoothing_all_are_one_hot(self) -> None:
        target = torch.tensor([[1, 2], [3, 1]])
        for convention in ("uniform", "others", "without_padding"):
            assert torch.equal(smoothed_targets(target, 4, 0.0, convention, padding=0), functional.one_hot(target, 4).float())

    @pytest.mark.parametrize(("vocab_size", "floor"), [(10, 0.50), (32_000, 1.36), (37_000, 1.377)])
    def test_the_best_possible_loss_is_not_0(self, vocab_size: int, floor: float) -> None:
        row = smoothed_targets(torch.tensor([1]), vocab_size, 0.1).double()
        assert float(-(row * row.log()).sum()) == pytest.approx(floor, abs=0.005)

    @pytest.mark.parametrize(
        ("x", "penalty"),
        [(1, 0.951350), (2, 0.550661), (5, 0.196003), (10, 0.057679), (20, 0.004391), (27, 0.0), (50, 0.014527), (99, 0.054421)],
    )
    def test_published_penalty_of_overconfidence(self, x: int, penalty: float) -> None:
        """Five classes, of which one is padding: the more certain, the dearer, beyond 0.9."""
        target = smoothed_targets(torch.tensor([1]), 5, 0.1, "without_padding", padding=0)[0].double()
        guess = torch.tensor([1e-9, x / (x + 3) - 1e-9, 1 / (x + 3), 1 / (x + 3), 1 / (x + 3)], dtype=torch.float64)
        divergence = torch.special.xlogy(target, target) - target * guess.log()
        assert float(divergence.sum()) == pytest.approx(penalty, abs=2e-6)

    def test_what_cannot_be_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"smoothing=1\.0 is not a share below 1"):
            smoothed_targets(torch.tensor([1]), 5, 1.0)
        with pytest.raises(ValueError, match="leaves the padding class out; give its id as padding"):
            smoothed_targets(torch.tensor([1]), 5, 0.1, "without_padding")

    @pytest.mark.usefixtures("quick")
    def test_an_unknown_convention_is_refused(self) -> None:
        with pytest.raises(ValueError, match="convention='most' is not known; choose one of uniform, others, without_padding"):
            smoothed_targets(torch.tensor([1]), 5, 0.1, "most")  # type: ignore[arg-type]


class TestCrossEntropy:
    @pytest.mark.parametrize("smoothing", [0.0, 0.1])
    def test_equals_the_sum_over_the_smoothed_targets(self, smoothing: float) -> None:
        logits = torch.randn(2, 4, 9, dtype=torch.float64)
        target = torch.tensor([[3, 4, 2, 0], [8, 2, 0, 0]])
        rows = smoothed_targets(target, 9, smoothing).double()
        each = -(rows * logits.log_softmax(dim=-1)).sum(dim=-1)
        expected = each[target != 0].sum()  # padding is left out as a target, and stays a class
        torch.testing.assert_close(summed_cross_entropy(logits, target, smoothing, 0), expected, atol=1e-6, rtol=1e-7)

    def test_padding_gets_no_gradient(self) -> None:
        logits = torch.randn(1, 3, 5, requires_grad=True)
        summed_cross_entropy(logits, torch.tensor([[3, 2, 0]]), 0.1, 0).backward()
        assert logits.grad is not None
        assert logits.grad[0, :2].abs().min() > 0
        assert not logits.grad[0, 2].any()

    def test_half_precision_is_summed_in_float32(self) -> None:
        logits = torch.randn(2, 4, 9, dtype=torch.bfloat16)
        target = torch.randint(1, 9, (2, 4))
        loss = summed_cross_entropy(logits, target, 0.1, 0)
        assert loss.dtype == torch.float32
        torch.testing.assert_close(loss, summed_cross_entropy(logits.float(), target, 0.1, 0))


class TestGuide:
    def test_minus_log_of_the_weight_on_the_links(self) -> None:
        weights = torch.tensor([[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8], [0.6, 0.4, 0.0]]])
        links = torch.tensor([[[True, True, False], [False, False, False], [False, True, False]]])
        loss, rows = summed_guide(weights, links)
        assert int(rows) == 2  # the second row has no link and no say
        assert float(loss) == pytest.approx(-math.log(0.5) - math.log(0.4), rel=1e-6)

    def test_spread_asks_for_an_equal_share_on_every_link(self) -> None:
        links = torch.tensor([[[True, True, False]]])
        even, one_sided = torch.tensor([[[0.4, 0.4, 0.2]]]), torch.tensor([[[0.75, 0.05, 0.2]]])
        assert summed_guide(even, links)[0] == summed_guide(one_sided, links)[0]  # 0.8 together
        loss, rows = summed_guide(one_sided, links, spread=True)
        assert float(loss) == pytest.approx(-(math.log(0.75) + math.log(0.05)) / 2, rel=1e-6)
        assert int(rows) == 1
        assert summed_guide(even, links, spread=True)[0] < loss
        alone = links & torch.tensor([True, False, False])
        torch.testing.assert_close(summed_guide(even, alone, spread=True), summed_guide(even, alone))

    def test_no_links_at_all(self) -> None:
        loss, rows = summed_guide(torch.rand(1, 2, 3), torch.zeros(1, 2, 3, dtype=torch.bool))
        assert (float(loss), int(rows)) == (0, 0)

    def test_no_weight_on_the_links_is_dear_but_not_infinite(self) -> None:
        weights = torch.tensor([[[1.0, 0.0]]], requires_grad=True)
        loss, _ = summed_guide(weights, torch.tensor([[[False, True]]]))
        loss.backward()
        assert 10 < loss.item() < math.inf
        assert weights.grad is not None
        assert weights.grad.isfinite().all()
