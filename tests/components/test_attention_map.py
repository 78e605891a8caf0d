"""What the attention map is sent: labels by index, four true decimals, masks told apart from zeros, no larger than needed."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.page.attention import LABELS, LARGEST, LEVELS, pack, pack_detail, unpack
from model.trace import Activation, Trace
from tests.components import synthetic

TEXT = {name: name for name in LABELS}
CAPTION = {"model": "en-fr", "source": "a", "target": "b"}
ROUNDING = 1.5 / LEVELS + 1e-7  # the neighbour of the nearest level, and the last bit of a float32
PAIR = (["the", "the", "cat", "1E1"], ["le", "chat", "dort"])


def message(trace: Trace, **changes: Any) -> bytes:
    options: dict[str, Any] = {
        "view": "heads", "attentions": synthetic.IDENTIFIERS, "words": {}, "text": TEXT, "caption": CAPTION,
    }  # fmt: skip
    return pack(trace, **(options | changes))


def stored(entry: dict[str, Any], raw: memoryview) -> np.ndarray:
    """The weights of one attention as the browser reads them."""
    shape = (entry["layers"], entry["heads"], *entry["stored"])
    levels = np.frombuffer(raw, "<u2", math.prod(shape), entry["offset"]).reshape(shape)
    return levels.astype(float) * entry["unit"] / LEVELS


def masks(entry: dict[str, Any], raw: memoryview) -> np.ndarray:
    shape = tuple(entry["stored"]) if entry["masks"] == "shared" else (entry["layers"], entry["heads"], *entry["stored"])
    return np.frombuffer(raw, "u1", math.prod(shape), entry["mask"]).reshape(shape).astype(bool)


def recorded(trace: Trace, identifier: str, kind: str = "weights") -> np.ndarray:
    stack, name = identifier.split(".")
    paths = [path for path in trace if path.startswith(f"{stack}.layers.") and path.endswith(f".{name}.{kind}")]
    return np.stack([trace[path].tensor[0].numpy() for path in paths])


def replaced(trace: Trace, path: str, tensor: torch.Tensor) -> Trace:
    old = trace[path]
    activations = dict(trace.activations) | {path: Activation(path, tensor, old.axes, old.spans)}
    return Trace(**{**vars(trace), "activations": activations})


def test_every_weight_arrives_with_four_true_decimals() -> None:
    trace = synthetic.long_trace(24)
    header, raw = unpack(message(trace))
    assert [entry["id"] for entry in header["attentions"]] == list(synthetic.IDENTIFIERS)
    for entry in header["attentions"]:
        weights = recorded(trace, entry["id"])
        assert (entry["layers"], entry["heads"], entry["queries"], entry["keys"]) == weights.shape
        assert [f"{value:.4f}" for value in stored(entry, raw).flat] == [f"{value:.4f}" for value in weights.flat]
        assert np.abs(stored(entry, raw) - weights).max() <= ROUNDING


def test_maps_may_be_rectangular_and_know_their_sentences() -> None:
    header, _ = unpack(message(synthetic.trace(*PAIR)))
    cross = header["attentions"][2]
    assert (cross["query"], cross["queries"]) == ("target", 4)
    assert (cross["key"], cross["keys"]) == ("source", 5)
    assert cross["path"].format(layer=1) == "decoder.layers.1.cross_attention.weights"


def test_labels_are_kept_by_index_as_typed() -> None:
    header, _ = unpack(message(synthetic.trace(["the", "the", "<b>", "1E1", "[zorglub]", "中"], ["le"])))
    source = header["tokens"]["source"]
    assert source["labels"] == ["the", "the", "<b>", "1E1", "<unk> zorglub", "中", "</s>"]
    assert source["special"] == [0, 0, 0, 0, 0, 0, 1]


def test_target_rows_have_both_names() -> None:
    header, _ = unpack(message(synthetic.trace(*PAIR)))
    assert header["tokens"]["target"]["labels"] == ["<s>", "le", "chat", "dort"]
    assert header["tokens"]["produced"]["labels"] == ["le", "chat", "dort", "</s>"]


def test_probabilities_belong_to_the_produced_tokens() -> None:
    trace = synthetic.trace(*PAIR)
    header, _ = unpack(message(trace))
    assert header["probabilities"] == pytest.approx([math.exp(value) for value in trace.log_probabilities])


def test_masked_cells_are_not_zeros() -> None:
    header, raw = unpack(message(synthetic.trace(*PAIR)))
    encoder, decoder, cross = header["attentions"]
    assert not masks(encoder, raw).any()
    assert not masks(cross, raw).any()
    assert (masks(decoder, raw) == ~np.tril(np.ones((4, 4), dtype=bool))).all()


def test_a_row_that_may_read_nothing_is_masked_as_a_whole() -> None:
    header, raw = unpack(message(synthetic.trace(*PAIR, dead_query=2)))
    cross = header["attentions"][2]
    assert masks(cross, raw).all(axis=1).tolist() == [False, False, True, False]
    assert not stored(cross, raw)[:, :, 2].any()


def test_masks_that_differ_between_heads_are_all_sent() -> None:
    trace = synthetic.trace(*PAIR)
    path = "decoder.layers.1.cross_attention.masked"
    scores = trace[path].tensor.clone()
    scores[0, 2, 0, 0] = -math.inf
    header, raw = unpack(message(replaced(trace, path, scores)))
    cross = header["attentions"][2]
    assert cross["masks"] == "each"
    assert np.argwhere(masks(cross, raw)).tolist() == [[1, 2, 0, 0]]


def test_weights_without_scores_are_not_masked() -> None:
    trace = synthetic.trace(*PAIR)
    only = {path: value for path, value in trace.activations.items() if path.endswith("weights")}
    header, raw = unpack(message(Trace(**{**vars(trace), "activations": only})))
    assert not any(masks(entry, raw).any() for entry in header["attentions"])


@pytest.mark.parametrize("length", [2, 64, LARGEST])
def test_a_head_takes_at_most_two_bytes_a_cell(length: int) -> None:
    layers, heads = 2, 4
    _, raw = unpack(message(synthetic.long_trace(length, layers=layers, heads=heads)))
    cells = length * length
    assert len(raw) <= 3 * (layers * heads * 2 * cells + cells) + 8 * 3


def test_blocks_are_aligned_for_typed_arrays() -> None:
    for words in (["a"], ["a", "b"], ["a", "b", "中"]):
        data = message(synthetic.trace(words, ["x", "y"], heads=1))
        header, _ = unpack(data)
        assert len(data) % 4 == 0
        assert all(entry["offset"] % 4 == 0 and entry["mask"] % 4 == 0 for entry in header["attentions"])


def test_a_long_sentence_is_pooled_by_the_largest_weight() -> None:
    trace = synthetic.long_trace(200, layers=1, heads=2)
    header, raw = unpack(message(trace))
    cross = header["attentions"][2]
    assert (cross["block"], cross["stored"], cross["queries"]) == ([2, 2], [100, 100], 200)
    blocks = recorded(trace, cross["id"]).reshape(1, 2, 100, 2, 100, 2)
    assert np.abs(stored(cross, raw) - blocks.max(axis=(3, 5))).max() <= ROUNDING
    decoder = header["attentions"][1]
    assert (masks(decoder, raw) == ~np.tril(np.ones((100, 100), dtype=bool))).all()


def test_pooling_fills_up_the_last_block() -> None:
    header, raw = unpack(message(synthetic.long_trace(131, layers=1, heads=1)))
    assert header["attentions"][0]["stored"] == [66, 66]
    assert not masks(header["attentions"][0], raw).any()


@pytest.mark.parametrize("head", [1, "mean"])
def test_an_opened_head_is_exact(head: Any) -> None:
    trace = synthetic.long_trace(140, layers=2, heads=3)
    detail, raw = unpack(pack_detail(trace, "decoder.self_attention", 1, head))
    weights = recorded(trace, "decoder.self_attention")[1]
    expected = weights.mean(axis=0) if head == "mean" else weights[head]
    values = np.frombuffer(raw, "<f4", 140 * 140).reshape(140, 140)
    assert (values == expected).all()
    hidden = np.frombuffer(raw, "u1", 140 * 140, 4 * 140 * 140).reshape(140, 140).astype(bool)
    assert (hidden == ~np.tril(np.ones((140, 140), dtype=bool))).all()
    assert detail["trace"] == unpack(message(trace))[0]["trace"]


def test_words_group_their_pieces_and_are_written_as_typed() -> None:
    trace = synthetic.trace(
        ["un", "believ", "able", "!"], ["in", "croy", "able"], source_text="unbelievable!", target_text="incroyable"
    )
    header, _ = unpack(message(trace, words={"source": (0, 0, 0, 1, 2), "target": (0, 1, 1, 1), "produced": (0, 0, 0, 1)}))
    words = {side: [(word["label"], word["tokens"]) for word in tokens["words"]] for side, tokens in header["tokens"].items()}
    assert words["source"] == [("unbelievable", [0, 1, 2]), ("!", [3]), ("</s>", [4])]
    assert words["target"] == [("<s>", [0]), ("incroyable", [1, 2, 3])]
    assert words["produced"] == [("incroyable", [0, 1, 2]), ("</s>", [3])]


def test_a_side_without_words_shows_its_pieces() -> None:
    header, _ = unpack(message(synthetic.trace(*PAIR)))
    source = header["tokens"]["source"]
    assert [word["label"] for word in source["words"]] == source["labels"]
    assert [word["tokens"] for word in source["words"]] == [[0], [1], [2], [3], [4]]


def test_words_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"words\['source'\] has 2 entries, the trace 5 tokens"):
        message(synthetic.trace(*PAIR), words={"source": (0, 1)})


def test_a_missing_label_is_an_error() -> None:
    with pytest.raises(KeyError, match="no_key"):
        message(synthetic.trace(*PAIR), text={name: name for name in LABELS if name != "no_key"})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_languages_have_every_label_and_no_other(language: str) -> None:
    assert len(set(LABELS)) == len(LABELS)
    assert set(labels_of(language)) == set(LABELS)


def labels_of(language: str) -> dict[str, str]:
    file = Path(__file__).resolve().parents[2] / "assets" / "text" / f"{language}.toml"
    found: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))["attention_map"]
    return found


def test_an_unknown_attention_is_named() -> None:
    with pytest.raises(KeyError, match=r"decoder\.something"):
        message(synthetic.trace(*PAIR), attentions=["decoder.something"])


@pytest.mark.parametrize(("layer", "head"), [(2, 0), (-1, 0), (0, 3)])
def test_a_head_that_is_not_there_is_refused(layer: int, head: int) -> None:
    with pytest.raises(ValueError, match="counted from 0"):
        pack_detail(synthetic.trace(*PAIR), "encoder.self_attention", layer, head)


def test_weights_that_are_no_numbers_are_refused() -> None:
    trace = synthetic.trace(*PAIR)
    path = "encoder.layers.0.self_attention.weights"
    with pytest.raises(ValueError, match="finite"):
        message(replaced(trace, path, trace[path].tensor * math.nan))


def test_weights_above_one_keep_their_size() -> None:
    """A wrong variant (dropout left on) may have them; they are scaled to fit, not cut."""
    trace = synthetic.trace(*PAIR)
    path = "encoder.layers.0.self_attention.weights"
    changed = replaced(trace, path, trace[path].tensor * 1.25)
    header, raw = unpack(message(changed))
    encoder = header["attentions"][0]
    assert np.abs(stored(encoder, raw)[0] - changed[path].tensor[0].numpy()).max() < 5e-5


def test_the_same_pass_has_the_same_fingerprint() -> None:
    first, again, other = (unpack(message(synthetic.trace(*PAIR, seed=seed)))[0] for seed in (0, 0, 1))
    assert first["digest"] == again["digest"] != other["digest"]
    assert first["trace"] == again["trace"] != other["trace"]


def test_guided_heads_belong_to_the_cross_attention_unless_they_say_otherwise() -> None:
    guided = [
        {"layer": 1, "head": 0, "row": "read"},
        {"layer": 0, "head": 1, "row": "produced", "attention": "encoder.self_attention"},
    ]
    header, _ = unpack(message(synthetic.trace(*PAIR), guided=guided))
    assert [entry["attention"] for entry in header["guided"]] == ["decoder.cross_attention", "encoder.self_attention"]
