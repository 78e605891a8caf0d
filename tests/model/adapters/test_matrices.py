"""Matrices that people bring: shown as they are, or refused with the axis, what was given and what is needed."""

import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import model
from model.adapters.matrices import MatrixError, read
from model.alignment import words
from tests.components import synthetic

CROSS = "decoder.layers.{}.cross_attention.weights"


def weights(*shape: int, seed: int = 0) -> np.ndarray:
    """Rows that sum to 1."""
    drawn = np.random.default_rng(seed).random(shape) + 0.01
    return (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)


def encoded(content: Any) -> bytes:
    plain = json.dumps(content, default=lambda array: array.tolist(), ensure_ascii=False)
    return plain.encode()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def one(data: bytes) -> model.Trace:
    (trace,) = read(data).traces
    return trace


def tensor(trace: model.Trace, path: str) -> np.ndarray:
    found = trace[path].tensor
    assert found.shape[0] == 1
    return found[0].numpy()


@pytest.mark.parametrize("kind", ["npz", "json"])
def test_what_the_app_exports_comes_back(kind: str, tmp_path: Path) -> None:
    from app.charts.archive import npz as export

    before = synthetic.trace(["The", "red", "</script>"], ["La", "voiture", "rouge", "1E1"], layers=2, heads=3, dead_query=2)
    data = export(before, {"model": "en-fr"})
    if kind == "json":
        with np.load(io.BytesIO(data)) as opened:
            data = encoded({name: opened[name] for name in opened.files})
    after = one(data)
    weighed = [path for path in before if path.endswith(".weights")]
    assert weighed == [path for path in after if path.endswith(".weights")]
    for path in weighed:
        masked = tensor(after, path.replace("weights", "masked"))
        assert np.isneginf(masked[:, 2]).all()  # the row without a key is none that reads nothing
        assert not np.isneginf(masked[:, 0]).any()
        np.testing.assert_allclose(tensor(after, path), before[path].tensor[0], atol=1e-6)
        assert after[path].axes == before[path].axes
        assert after[path].spans == before[path].spans
    for side in ("source", "target", "produced"):
        assert [token.text for token in getattr(after, side)] == [token.text for token in getattr(before, side)]
    assert after.log_probabilities == pytest.approx(before.log_probabilities, abs=1e-6)
    page = model.save_html(after, tmp_path / "matrices.html")
    assert "<script>alert" not in page.read_text("utf-8")


def test_bertviz_and_inspectus() -> None:
    single = one(
        encoded({"tokens": ["[CLS]", "play", "##ing", "[SEP]"], "attention": [weights(1, 2, 4, 4), weights(1, 2, 4, 4)]})
    )
    assert list(single) == ["encoder.layers.0.self_attention.weights", "encoder.layers.1.self_attention.weights"]
    assert single.source_text == "playing"
    assert [token.special for token in single.source] == [True, False, False, True]
    found = words.of_tokens(single.source, single.source_text)
    assert found[1] == found[2]

    three = {
        "encoder_attention": weights(1, 2, 3, 3), "decoder_attention": weights(2, 2, 2, 2),
        "cross_attention": weights(2, 2, 2, 3),
        "encoder_tokens": ["\u2581go", "\u2581home", "</s>"], "decoder_tokens": ["\u2581nach", "\u2581Hause"],
    }  # fmt: skip
    both = one(encoded(three))
    assert both[CROSS.format(1)].tensor.shape == (1, 2, 2, 3)
    assert "encoder.layers.1.self_attention.weights" not in both
    assert (both.source_text, both.target_text) == ("go home", "nach Hause")

    crossed = one(npz(attention=weights(3, 2, 4, 6), query_tokens=np.array(list("abcd")), key_tokens=np.array(list("uvwxyz"))))
    assert [token.text for token in crossed.source] == list("uvwxyz")
    assert crossed[CROSS.format(2)].spans == {"query": "target", "key": "source"}
    assert one(encoded(weights(2, 5))).source[4].text == "4"  # a bare matrix counts its places


def test_soft_alignments_of_three_systems() -> None:
    rows = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    soft = " ".join(",".join(map(str, row)) for row in rows)
    spaced = "\n".join(" ".join(map(str, row)) for row in rows)
    links = [[t, s, str(rows[i][j]), 0, 0] for i, t in enumerate(("x", "y", "</s>")) for j, s in enumerate(("a", "b", "</s>"))]
    files = {
        "marian": f"a b ||| x y ||| {soft}\n{soft}\n",
        "sockeye": f"0 ||| x y ||| -1.5 ||| a b ||| 3 ||| 3\n{spaced}\n\n1 ||| x y ||| 0 ||| a b ||| 3 3\n{spaced}\n\n\n",
        "nematus-json": json.dumps(links),
        "sockeye-json": json.dumps({"translation": "x y", "source": "a b", "attention_matrix": rows}),
    }
    for format_, text in files.items():
        found = read(text.replace("\n", "\r\n" if format_ == "sockeye" else "\n").encode("utf-8-sig"))
        assert found.format == format_
        assert len(found.traces) == (1 if "json" in format_ else 2)
        trace = found.traces[0]
        assert [token.text for token in trace.source] == ["a", "b", "</s>"]
        assert trace.source[2].special
        assert [token.text for token in trace.produced] == ["x", "y", "</s>"]
        assert [token.text for token in trace.target] == ["<s>", "x", "y"]  # what a row read before it wrote
        np.testing.assert_allclose(tensor(trace, CROSS.format(0))[0], rows, atol=1e-6)


WRONG = {
    "rank": ({"tokens": ["Fine", "day"], "attention": [0.7, 0.3]}, r"1 axes, shape \(2,\).*needed are \(query, key\)"),
    "ragged": ({"tokens": ["Fine", "day"], "attention": [[0.7, 0.3], [1.0]]}, "ragged"),
    "seven axes": ({"attention": weights(1, 1, 1, 1, 1, 2, 2)}, "7 axes"),
    "tokens": ({"tokens": ["one"], "attention": weights(2, 2)}, r"axis 'query' has 2 places, the source has 1 tokens"),
    "keys": ({"query_tokens": ["a", "b"], "key_tokens": ["c"], "attention": weights(2, 3)}, "axis 'key' has 3 places"),
    "percent": ({"tokens": ["a", "b"], "attention": [[50, 50], [90, 10]]}, "query 0, key 0 .*is 50; weights are shares of 1"),
    "swapped": ({"tokens": ["a", "b"], "attention": [[0.1, 0.2], [0.9, 0.8]]}, "'query' and 'key' are swapped"),
    "scores": ({"tokens": ["a", "b"], "attention": [[2.0, -1.0], [0.9, 0.1]]}, "query 0, key 1 .*below 0"),
    "nan": ({"tokens": ["a", "b"], "attention": [[float("nan"), 1.0], [0.9, 0.1]]}, "query 0, key 0 .*finite"),
    "text": ({"tokens": ["a"], "attention": [["much"]]}, "needed are numbers"),
    "none": ({"tokens": ["a"], "attention": [None]}, "attn_implementation"),
    "lengths": ({"tokens": [1, 2], "attention": weights(2, 2)}, "list of texts"),
    "a long token": ({"tokens": ["a" * 999], "attention": [[1.0]]}, "a token of 999 characters, at most 200"),
    "names": ({"hidden_states": [[1.0]]}, "names 'hidden_states'; needed is 'attention'"),
    "a layer": ({CROSS.format(1): weights(1, 2, 2)}, "lacks axis 'layer' 0"),
    "empty": ({"attention": weights(2, 0, 3, 3)}, "axis 'key' has 0 places"),
    "long": ({"attention": np.eye(600)[None].tolist()}, "axis 'query' has 600 places, at most 512"),
    "produced": (
        {CROSS.format(0): weights(1, 2, 2), "tokens.produced": ["a"], "tokens.target": ["a", "b"]},
        "tokens.produced has 1 tokens, the target that was read 2",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_attention_is_refused_by_its_axis(name: str) -> None:
    content, message = WRONG[name]
    with pytest.raises(MatrixError, match=message):
        read(encoded(content), "mine.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (pickle.dumps([1.0]), "pickle.*can run code"),
        (npz(attention=np.array([[{}]], dtype=object)), "attention is an array of objects.*can run code"),
        (b"{", "no whole JSON"),
        (b"\xff\xfe\x00\x01\x02\x03\x00\x00\x07" * 3, "no NPZ and no text|no soft"),
        (b"GIF89a\x00\x00\x01\x00\x00" * 9, "no NPZ and no text"),
        (b"0.9,0.1 0.5\n", r"line 1: axis 'key' has 1 places in one row, 2 in another"),
        (b"0.9,0.1 ok\n", "line 1: .*no soft alignment"),
        (b"a b c d ||| x ||| 0.9,0.1\n", "axis 'key' has 2 places, there are 4 words"),
        (b"0 ||| x ||| 0 ||| a ||| 1 1\n", "axis 'query' has 0 rows"),
        (b"0 ||| x ||| 0 ||| a ||| 1 1\nmuch\n", "line 2: .*no list of numbers"),
    ],
)  # fmt: skip
def test_damaged_files_say_what_is_needed(data: bytes, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        read(data, "mine")


def said(data: bytes) -> str | None:
    """What is said of a file, None where it is read."""
    try:
        read(data)
    except MatrixError as error:
        return str(error)
    return None


@given(
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from(["json", "npz", "batch"]),
    st.data(),
)
@settings(max_examples=40)
def test_any_rectangle_is_read_or_refused(
    layers: int, heads: int, queries: int, keys: int, kind: str, data: st.DataObject
) -> None:
    numbers = weights(layers, heads, queries, keys, seed=layers + heads)
    names = {"query_tokens": [f"q{i}" for i in range(queries)], "key_tokens": ["same"] * keys}
    given_as = [layer[None] for layer in numbers] if kind == "batch" else numbers
    made = npz(attention=numbers, **names) if kind == "npz" else encoded({"attention": given_as, **names})
    trace = one(made)
    for layer in range(layers):
        np.testing.assert_allclose(tensor(trace, CROSS.format(layer)), numbers[layer], atol=1e-6)
    assert len(trace.source) == keys
    assert len(trace.target) == queries
    place, byte = data.draw(st.integers(0, len(made) - 1)), data.draw(st.binary(max_size=2))
    for damaged in (made[:place] + byte, made[:place] + byte + made[place + 1 :]):
        assert said(damaged) is None or ";" in str(said(damaged))  # what is wrong; what to do
