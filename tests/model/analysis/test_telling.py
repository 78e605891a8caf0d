"""The edit that a search finds does what it says, and what it leaves out cannot be read."""

import pytest
import torch

from model import Trace
from model.analysis import telling
from model.analysis.cells import problem
from model.analysis.edited import recompute
from model.translator import Translator

PLACES = [("decoder.cross_attention", 2, 1), ("decoder.self_attention", 0, 2), ("encoder.self_attention", 1, 3)]


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace("The cat sees the other cat.")


@pytest.mark.parametrize("place", PLACES)
def test_the_edit_that_is_found_changes_a_word_in_a_pass_of_its_own(
    atlas: Translator, trace: Trace, place: tuple[str, int, int]
) -> None:
    found = telling.search(atlas, trace, *place)
    assert found.cell
    assert not problem(trace, *place, found.cell)
    rows = recompute(atlas, trace, *place, (found.cell,)).rows
    assert [row.first_before != row.first_after for row in rows].index(True) == found.row
    likely = trace["logits"].tensor[0].double().softmax(dim=-1).sort(dim=-1, descending=True).values
    assert found.least_sure == int((likely[:, 0] / likely[:, 1]).argmin())


def test_where_one_head_alone_changes_nothing_another_is_named(atlas: Translator) -> None:
    sure = atlas.trace("I love you.")
    nothing = telling.search(atlas, sure, "encoder.self_attention", 0, 0)
    assert nothing.cell is None
    assert nothing.tried == len(sure.source) ** 2  # every cell
    other = telling.elsewhere(atlas, sure, "encoder.self_attention", 0, 0)
    assert other
    assert telling.search(atlas, sure, *other, passes=1).cell


def test_masked_cells_are_not_tried_and_one_row_is_enough(atlas: Translator, trace: Trace) -> None:
    ranked = telling._ranked(trace, "decoder.self_attention", 1, 0, trace["logits"].tensor[0].double().log_softmax(dim=-1))
    length = len(trace.target)
    assert len(ranked) == length * (length + 1) // 2
    assert all(cell.column <= cell.row for cell in ranked)
    short = atlas.trace("a", "")
    assert telling.search(atlas, short, "decoder.self_attention", 0, 0).tried == 1
    assert torch.equal(short["logits"].tensor, atlas.trace("a", "")["logits"].tensor)
