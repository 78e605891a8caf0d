"""The shipped variants are what their figures say, and are no models of the sidebar."""

import json
from pathlib import Path

import pytest

import model
from model.checkpoint import SHIPPED, CheckpointError
from model.practice import variants
from model.training import exact
from model.training.tasks import TASKS, examples, written_pair
from model.translator import Translator

pytestmark = pytest.mark.usefixtures("quick")
FOLDER = SHIPPED / "toy"
NAMES = ("heads-1", "positions-none", "positions-rotary", "norm-pre")


def test_they_differ_from_the_toy_in_one_setting_and_are_not_available() -> None:
    toy = model.load("toy", device="cpu").config.to_dict()
    for name in NAMES:
        changed = model.load(FOLDER / name, device="cpu").config.to_dict()
        assert sum(changed[key] != toy[key] for key in toy) == 1, name
        assert name not in model.available()
        assert sum(path.stat().st_size for path in (FOLDER / name).iterdir()) < 500_000


def test_the_figures_are_those_of_the_stored_model() -> None:
    found = variants.read(FOLDER / variants.FILE)
    assert set(found.variants) == {"toy", *NAMES}
    atlas = model.load(FOLDER / "heads-1", device="cpu")
    assert isinstance(atlas, Translator)
    pairs = TASKS["toy"].distinct(found.pairs, seed=2, part="held out")
    first = json.loads((FOLDER / variants.FILE).read_text(encoding="utf-8"))["variants"]["heads-1"]["seeds"][0]
    assert exact.forced(atlas.model, examples(pairs, atlas.tokenizers))[0] == pytest.approx(first["loss"], rel=0.02)
    for variant in found.variants.values():
        assert variant.losses[0] <= variant.loss <= variant.losses[1]
        assert max(length for length, _ in variant.by_length) > found.trained_to


def test_what_the_pages_say_of_them_is_so() -> None:
    of = variants.read(FOLDER / variants.FILE).variants
    assert of["heads-1"].losses[0] > of["toy"].losses[1], "no training with one head came as low as any with four"
    assert 2 * of["toy"].loss < of["heads-1"].loss
    assert 0.2 < of["positions-none"].exact < 0.3
    assert of["positions-rotary"].loss_longer > of["toy"].loss_longer
    assert of["norm-pre"].losses[0] < of["toy"].losses[1], "ranges overlap"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot be read"):
        variants.read(tmp_path / "none.json")


def test_the_best_head_of_each_on_one_pair() -> None:
    toy = model.load("toy", device="cpu")
    assert isinstance(toy, Translator)
    pair = written_pair("toy", "the red cat sees a dog")
    assert pair is not None
    found = variants.best_heads(toy, FOLDER, ("toy", "positions-none"), pair)
    assert {name: head.written for name, head in found.items()} == {
        "toy": pair.target,
        "positions-none": "velo ka miru toba no dase",  # it cannot tell who sees whom
    }
    for name, head in found.items():
        atlas = toy if name == "toy" else model.load(FOLDER / name, device="cpu")
        layer, of, rows = (
            head.choice.layer,
            head.choice.head,
            [token.label for token in atlas.trace(pair.source, pair.target).produced],
        )
        weights = atlas.trace(pair.source, pair.target)[f"decoder.layers.{layer}.cross_attention.weights"].tensor[0, of]
        assert (head.weights == weights).all()
        assert head.choice.row == "produced"
        partners = {target: {s for s, t in pair.links if t == target} for _, target in pair.links}
        assert head.linked == len(partners) == len(rows) - 3  # all but the two particles and the end
        assert head.right == sum(int(weights[row].argmax()) in partners[row] for row in partners)
    assert found["toy"].loss < found["positions-none"].loss
