"""Set a number, and everything after it is what a computation by hand gives; everything before it stays."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from model import Trace
from model.analysis import edited, variants
from model.analysis.cells import KINDS, LARGEST, MOST, CellEdit, as_text, from_text, problem, rounded
from model.analysis.edited import as_edits, recompute
from model.analysis.forced import repeated
from model.translator import Translator, load
from tests.model import tiny
from tests.model.agreement import in_double

PLACE = ("decoder.cross_attention", 2, 1)
PATH = "decoder.layers.2.cross_attention"


@pytest.fixture(scope="module")
def atlas() -> Translator:
    return in_double(load("en-fr"))


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace("The old man gave his dog bread.")


def by_hand(atlas: Translator, trace: Trace, cell: CellEdit, renormalise: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Weights and context of the head, and logits, with one cell of the last layer's cross-attention set."""
    layer = atlas.model.decoder.layers[2]
    query, key, value = (trace[f"{PATH}.{name}"].tensor[0].clone() for name in ("query", "key", "value"))
    if cell.kind == "query":
        query[1, cell.row, cell.column] = cell.value
    scores = torch.einsum("hqd,hkd->hqk", query, key) / math.sqrt(query.shape[-1])
    if cell.kind == "scores":
        scores[1, cell.row, cell.column] = cell.value
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    if cell.kind == "weights":
        weights[1, cell.row, cell.column] = cell.value
        if renormalise:
            weights[1, cell.row] = weights[1, cell.row] / weights[1, cell.row].sum()
    context = weights @ value
    mixed = torch.cat(list(context), dim=-1) @ layer.cross_attention.to_output.weight.mT
    x = trace["decoder.layers.2.residual.1.input"].tensor[0] + mixed
    x = functional.layer_norm(x, x.shape[-1:], layer.residual[1].norm.weight, layer.residual[1].norm.bias, 1e-5)
    inside = functional.relu(functional.linear(x, layer.feed_forward.expand.weight, layer.feed_forward.expand.bias))
    x = x + functional.linear(inside, layer.feed_forward.contract.weight, layer.feed_forward.contract.bias)
    x = functional.layer_norm(x, x.shape[-1:], layer.residual[2].norm.weight, layer.residual[2].norm.bias, 1e-5)
    return weights[1], context[1], x @ atlas.model.to_logits.weight.mT


@pytest.mark.parametrize("renormalise", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_downstream_is_as_computed_by_hand(atlas: Translator, trace: Trace, kind: str, renormalise: bool) -> None:
    cell = CellEdit(kind, 3, 2, 1.75)
    found = recompute(atlas, trace, *PLACE, (cell,), renormalise)
    weights, context, logits = by_hand(atlas, trace, cell, renormalise)
    torch.testing.assert_close(found.matrices["weights"].after, weights)
    torch.testing.assert_close(found.matrices["context"].after, context)
    likely = logits.log_softmax(-1)
    produced = [token.id for token in trace.produced]
    assert found.log_probability_after == pytest.approx(sum(float(row[id_]) for row, id_ in zip(likely, produced, strict=True)))
    for row, entry in enumerate(found.rows):
        assert entry.candidates[0].before == pytest.approx(float(trace["logits"].tensor[0, row].softmax(-1).max()))
        for candidate in entry.candidates:
            assert candidate.after == pytest.approx(float(likely[row, candidate.id].exp()))
    assert found.row_sums([3]) == pytest.approx((float(weights[3].sum()),))


def test_what_lies_before_the_edit_does_not_change(atlas: Translator, trace: Trace) -> None:
    found = recompute(atlas, trace, *PLACE, (CellEdit("scores", 3, 2, 5.0),))
    assert found.matrices["query"].changed == 0
    assert found.matrices["scores"].changed == 1
    assert found.matrices["weights"].changed == len(trace.source)  # softmax shares among the whole row
    assert found.matrices["context"].changed == atlas.config.head_dim
    assert [entry.path for entry in found.decoder] == [
        f"decoder.layers.{layer}.residual.{part}" for layer in range(3) for part in range(3)
    ]
    assert [entry.relative > 0 for entry in found.decoder] == [False] * 7 + [True] * 2
    assert not any(entry.relative for entry in found.encoder)
    assert [entry.reached for entry in found.decoder[-2:]] == [1, 1]
    assert edited.most_changed(found.decoder)[1] == 3
    assert [row for row, entry in enumerate(found.rows) if entry.moved] == [3] == [found.most_moved]


def test_an_edit_in_the_encoder_reaches_every_position(atlas: Translator, trace: Trace) -> None:
    found = recompute(atlas, trace, "encoder.self_attention", 0, 0, (CellEdit("weights", 1, 2, 3.0),))
    assert [entry.reached for entry in found.encoder[:2]] == [1, 1]
    assert found.encoder[2].reached == len(trace.source)
    assert found.decoder[0].relative == 0  # decoder self-attention does not look at the source
    assert found.decoder[1].reached == len(trace.target)
    stream = repeated(atlas, trace, as_edits("encoder.self_attention", 0, 0, (CellEdit("weights", 1, 2, 3.0),)))
    before, after = (each["decoder.layers.2.residual.2.normed"].tensor[0] for each in (trace, stream))
    assert found.decoder[-1].relative == pytest.approx(float((after - before).norm() / before.norm()))


def test_an_edit_of_a_decoder_row_leaves_earlier_rows_alone(atlas: Translator, trace: Trace) -> None:
    found = recompute(atlas, trace, "decoder.self_attention", 0, 0, (CellEdit("query", 4, 0, 30.0),))
    assert [entry.moved > 0 for entry in found.rows] == [row >= 4 for row in range(len(trace.target))]


def test_no_edit_changes_nothing_and_the_last_of_two_on_one_cell_counts(atlas: Translator, trace: Trace) -> None:
    none = recompute(atlas, trace, *PLACE, ())
    assert none.log_probability_after == none.log_probability_before == sum(trace.log_probabilities)
    assert none.words_changed == 0
    first, second = CellEdit("scores", 1, 1, 9.0), CellEdit("scores", 1, 1, -9.0)
    both, one = (recompute(atlas, trace, *PLACE, cells) for cells in ((first, second), (second,)))
    assert both.log_probability_after == one.log_probability_after


def test_a_row_whose_sum_is_not_positive_is_not_renormalised(atlas: Translator, trace: Trace) -> None:
    cell = CellEdit("weights", 2, 0, -7.0)
    left, divided = (recompute(atlas, trace, *PLACE, (cell,), renormalise) for renormalise in (False, True))
    assert left.row_sums([2])[0] < 0
    assert divided.row_sums([2]) == left.row_sums([2])


@given(
    kind=st.sampled_from((*KINDS, "context", "")),
    row=st.integers(-2, 30),
    column=st.integers(-2, 60),
    value=st.floats() | st.integers(-(10**9), 10**9).map(float),
)
def test_what_may_be_edited(atlas: Translator, trace: Trace, kind: str, row: int, column: int, value: float) -> None:
    attention = "decoder.self_attention"
    said = problem(trace, attention, 0, 0, CellEdit(kind, row, column, value))
    length = len(trace.target)
    width = atlas.config.head_dim if kind == "query" else length
    if said == "masked":
        assert column > row
    fits = kind in KINDS and 0 <= row < length and 0 <= column < width
    fits = fits and math.isfinite(value) and abs(value) <= 1e4 and (kind == "query" or column <= row)
    assert (said == "") == fits


def test_left_to_itself_an_edit_of_the_encoder_holds_from_the_first_word(atlas: Translator, trace: Trace) -> None:
    place, cells = ("encoder.self_attention", 1, 0), (CellEdit("scores", 2, 3, 80.0), CellEdit("weights", 4, 1, -3.0))
    changed = repeated(atlas, trace, as_edits(*place, cells))
    memory, read = changed["encoder.output"].tensor, [atlas.config.start]
    while read[-1] != atlas.config.end:
        read.append(int(atlas.model.decode(torch.tensor([read]), memory)[0, -1].argmax()))
    assert edited.written(atlas, trace, *place, cells) == atlas.tokenizers.target.decode(read[1:])


def test_left_to_itself_an_edit_of_a_decoder_row_holds_once_the_row_exists(atlas: Translator, trace: Trace) -> None:
    cells = (CellEdit("weights", 3, 1, 40.0), CellEdit("scores", 90, 0, 5.0))  # there is no row 90
    first = recompute(atlas, trace, *PLACE, cells[:1]).rows[3].candidates
    text = edited.written(atlas, trace, *PLACE, cells)
    ids = atlas.tokenizers.target.encode(text)
    assert [token.id for token in ids[:3]] == [token.id for token in trace.produced[:3]]
    assert ids[3].id == max(first, key=lambda candidate: candidate.after).id != trace.produced[3].id


CELLS = st.builds(
    CellEdit,
    st.sampled_from(KINDS),
    st.integers(0, 9999),
    st.integers(0, 9999),
    st.floats(-LARGEST, LARGEST).map(rounded).filter(lambda value: value == 0 or abs(value) > 1e-90),
)


@given(st.lists(CELLS, max_size=MOST))
def test_a_link_holds_exactly_the_cells(cells: list[CellEdit]) -> None:
    assert from_text(as_text(cells)) == tuple(cells)


@given(st.text(max_size=60) | st.text("qsw_~-.0123456789e", max_size=60))
def test_whatever_a_link_holds_is_cells_or_refused(written: str) -> None:
    try:
        cells = from_text(written)
    except ValueError:
        return
    assert len(cells) <= MOST
    assert all(cell.kind in KINDS and math.isfinite(cell.value) for cell in cells)


@pytest.mark.parametrize(
    "written", ["s_1_1_nan", "s_1_1_1e9", "v_1_1_1", "s_1_1", "s_-1_1_1", "~", "s_1_1_1~", "~".join(["s_1_1_1"] * 9)]
)
def test_other_links_are_refused(written: str) -> None:
    with pytest.raises(ValueError, match="no list of at most 8 edits"):
        from_text(written)


def test_a_pre_norm_rotary_model_is_edited_and_made_wrong_as_well(tmp_path: Path) -> None:
    tiny.save_checkpoint(tmp_path / "tiny", norm="pre", positions="rotary", activation="gelu")
    small = load(tmp_path / "tiny")
    read = small.trace("I love you.", "Je t'aime.")
    found = recompute(small, read, "decoder.self_attention", 0, 1, (CellEdit("query", 2, 0, 9.0),))
    assert found.decoder[0].path == "decoder.layers.0.residual.0"
    assert [entry.positions[:2].any() for entry in found.decoder] == [False] * len(found.decoder)
    assert found.decoder[0].reached == 1
    for variant in variants.VARIANTS:
        measured = variants.measure(small, read, "encoder.self_attention", 0, 1, variant)
        assert all(math.isfinite(damage.log_probability) for damage in measured.damages)
        assert float((measured.after - measured.before).abs().max()) > 0
