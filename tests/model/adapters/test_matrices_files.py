"""Files as people have them: each format's own export, odd encodings, sentences that cannot be read, bombs, reported cases."""

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.charts.archive import npz as export
from model.adapters.matrices import Limits, Matrices, MatrixError, read
from model.adapters.matrices.pairs import between_words
from model.adapters.matrices.samples import SAMPLES
from model.alignment import corpus, results
from model.alignment.extract import Choice, WordWeights, join_pieces, label, of_trace
from tests.components import synthetic
from tests.model.adapters.test_matrices import CROSS, encoded, npz, one, tensor, weights

ROWS = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
STUDIO = {"weights": [[1.0]], "source_words": ["a"], "target_words": ["b"]}
SOFT = " ".join(",".join(map(str, row)) for row in ROWS)


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def texts(tokens: Any) -> list[str]:
    return [token.text for token in tokens]


def codes(found: Matrices) -> list[str]:
    return [doubt.message.code for doubt in found.doubts]


def header(of: str) -> bytes:
    """The beginning of an NPY file, and nothing after it."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(of)) + of.encode()


# ----- our own exports


def aligned(index: int, source: str, target: str) -> corpus.Aligned:
    sides = tuple(source.split()), tuple(target.split())
    return corpus.Aligned(index, source, target, *sides, (), corpus.NO_SCORES, 0.0, np.zeros((1, 1, 2, 1), np.int16))


@pytest.mark.parametrize("choice", [None, Choice(1, 0, "read"), Choice(0, None, "produced")])
def test_the_matrices_of_the_studio_come_back(choice: Choice | None) -> None:
    trace = synthetic.trace(["The", "red", "car"], ["La", "voiture", "rouge"], layers=2, heads=3)
    found: WordWeights = of_trace(trace)
    file = io.BytesIO()
    pairs = [(aligned(4, "The red car", "La voiture rouge"), found), (aligned(7, "The red car", "La voiture rouge"), found)]
    results.matrices_npz(pairs, {"model": "en-fr"}, file, choice)
    read_again = read(file.getvalue())
    assert read_again.format == "atlas-studio"
    assert len(read_again.traces) == 2
    after = read_again.traces[1]
    assert texts(after.source) == ["The", "red", "car", "</s>"]
    assert texts(after.target) == ["La", "voiture", "rouge"]
    if choice is None:
        right = found.produced[1, :3].numpy()  # the heads without their mean, which the picture makes itself
        np.testing.assert_allclose(tensor(after, CROSS.format(1)), right, atol=1e-6)
    else:
        np.testing.assert_allclose(tensor(after, CROSS.format(0))[0], found.at(choice).numpy(), atol=1e-6)
    # Rows are words: of those that produced them there is one name, of those that read them too.
    assert texts(after.produced) == ([] if choice and choice.row == "read" else texts(after.target))


words_ = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Cn", "Co")), min_size=1, max_size=4
).filter(lambda word: not word.startswith(("[", "\u2581", "\u0120", "##")) and "[" not in word and "]" not in word)


@given(st.lists(words_, min_size=1, max_size=4), st.lists(words_, min_size=1, max_size=4), st.integers(1, 2), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_words_come_back_from_our_export(source: list[str], target: list[str], layers: int, by_json: bool) -> None:
    before = synthetic.trace(source, target, layers=layers, heads=2)
    data = export(before, {"model": "x", "source": " ".join(source)})
    if by_json:
        with np.load(io.BytesIO(data)) as opened:
            data = encoded({name: opened[name] for name in opened.files})
    after = one(data)
    for path, activation in before.items():
        if path.endswith("weights"):
            np.testing.assert_allclose(tensor(after, path), activation.tensor[0], atol=1e-6)
    assert [token.label for token in after.produced] == [token.label for token in before.produced]
    assert [token.label for token in after.source] == [token.label for token in before.source]


# ----- arrays


@given(
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from(["<f2", "<f4", ">f8"]),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_arrays_without_names(layers: int, heads: int, queries: int, keys: int, dtype: str, turned: bool) -> None:
    numbers = weights(layers, heads, queries, keys).astype(dtype)
    numbers = np.asfortranarray(numbers) if turned else numbers
    for data, format_ in (
        (npy(numbers), "npy"),
        (npz(arr_0=numbers), "npz"),
        (npz(**{f"arr_{i}": numbers[i] for i in range(layers)}), "npz"),
    ):
        found = read(data)
        (trace,) = found.traces
        path = "encoder.layers.{}.self_attention.weights" if queries == keys else CROSS
        if layers > 1 or format_ != "npz":
            assert found.format == format_
        np.testing.assert_allclose(tensor(trace, path.format(0))[0], numbers[0, 0].astype("f4"), atol=1e-6)
        assert codes(found).count("no_tokens") == (1 if queries == keys else 2)
        assert texts(trace.source) == [str(place) for place in range(keys)]


def test_tokens_of_bytes_and_of_byte_level_pieces() -> None:
    trace = one(npz(attention=weights(1, 1, 2, 2), tokens=np.array(["caf\u00e9".encode(), b"noir"])))
    assert texts(trace.source) == ["caf\u00e9", "noir"]
    pieces = ["Un", "\u0120caf", "\u00c3\u00a9", "\u0120\u00e4\u00bd", "\u0142", "<|endoftext|>"]
    trace = one(encoded({"tokens": pieces, "attention": weights(6, 6)}))
    assert texts(trace.source)[:3] == ["Un", "caf", "\u00e9"]
    assert trace.source_text.startswith("Un caf\u00e9")
    assert trace.source[5].special


def test_what_does_not_fit_its_header_is_not_read() -> None:
    whole = npy(weights(2, 2))
    nothing = header("{'descr': '<U0', 'fortran_order': False, 'shape': (1180591620717411303424,)}")
    huge = whole.replace(b"(2, 2)", b"(9999999, 9999999)").replace(b" " * 12, b"", 1)
    for data in (
        huge,
        whole[:-3],
        whole.replace(b"(2, 2)", b"(-2, 2)"),
        b"\x93NUMPY\x01\x00\xff\xff{",
        header("{'descr': ("),
        nothing,
    ):
        with pytest.raises(MatrixError, match=r"no whole array of numbers"):
            read(data)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("attention.npy", npy(np.zeros((1, 1, 512, 512), "f4")))
    assert len(bomb.getvalue()) < 5_000
    with pytest.raises(MatrixError, match="unpacks to 1,048,704 bytes, at most 1,000,000"):
        read(bomb.getvalue(), limits=Limits(unpacked=1_000_000))
    lying = bytearray(bomb.getvalue())
    at = lying.index(b"PK\x01\x02") + 24
    lying[at : at + 4] = struct.pack("<I", 200)  # the size that the archive names for it
    with pytest.raises(MatrixError, match=r"damaged NPZ|no whole array"):
        read(bytes(lying))
    with pytest.raises(MatrixError, match="It has 5 bytes, at most 4"):
        read(b"[[1]]", limits=Limits(bytes=4))


# ----- text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "gb18030"])
def test_soft_alignments_in_any_encoding(encoding: str) -> None:
    line = (
        f"我 爱 ||| j'ai été ||| {SOFT}\r\n"
        if encoding != "gb18030"
        else f"我 们 都 爱 北 京 ||| x y ||| {' '.join(['0.4,0.1,0.1,0.1,0.1,0.1,0.1'] * 3)}\r\n"
    )
    found = read((line * 3).encode(encoding), "a.txt")
    assert len(found.traces) == 3
    assert texts(found.traces[0].source)[:1] == ["我"]
    assert texts(found.traces[0].produced)[-1] == "</s>"
    assert "bad_bytes" not in codes(found)


def test_marian_alone_n_best_and_one_word() -> None:
    n_best = f"0 ||| x y ||| {SOFT} ||| F0= -1.5 ||| -0.7\n0 ||| x y ||| {SOFT} ||| F0= -2.5 ||| -0.9\n"
    found = read(n_best.encode())
    assert [texts(trace.produced) for trace in found.traces] == [["x", "y", "</s>"]] * 2
    assert codes(found) == ["no_tokens"] * 2  # of the source, which is not printed
    alone = read(f"{SOFT}\n".encode())
    assert texts(alone.traces[0].produced) == texts(alone.traces[0].target) == ["0", "1", "2"]
    assert sorted(doubt.message.values["side"] for doubt in alone.doubts) == ["source", "target"]
    single = read(b"5 ||| cinq ||| 0.9,0.1 0.2,0.8\n")
    assert texts(single.traces[0].source) == ["5", "</s>"]


def test_a_line_that_cannot_be_read_is_left_out_and_told() -> None:
    found = read(f"a b ||| x y ||| {SOFT}\nhello there\na b ||| x y ||| {SOFT}\n".encode())
    assert len(found.traces) == 2
    assert found.numbers == (0, 2)
    (doubt,) = found.doubts
    assert doubt.left_out == ("line", 2)
    assert doubt.message.code == "no_soft"
    with pytest.raises(MatrixError, match="line 1: "):
        read(b"hello there\n" * 3)
    with pytest.raises(MatrixError, match="line 1: "):
        read((f"{SOFT}\n" + "no\n" * 60).replace(f"{SOFT}\n", "").encode())
    with pytest.raises(MatrixError, match="It has 9 sentences, at most 4"):
        read(f"{SOFT}\n".encode() * 9, limits=Limits(sentences=4))


def test_nematus_and_sockeye_blocks_and_json_lines() -> None:
    rows = "\n".join(" ".join(map(str, row)) for row in ROWS)
    block = f"0 ||| x y ||| -1.5 ||| a b ||| 3 3\n{rows}\n\n"
    found = read((block * 2).replace("0.8 0.1 0.1\n", "0.8 0.2\n", 1).encode())
    assert len(found.traces) == 1
    assert found.doubts[0].left_out == ("line", 1)
    assert found.doubts[0].message.code == "row_lengths"
    objects = [{"source": "a b", "translation": "x y", "attention_matrix": ROWS}] * 2
    lines = read("\n".join(map(json.dumps, objects)).encode())
    assert (lines.format, len(lines.traces)) == ("sockeye-json", 2)
    web = {
        "nodes": [],
        "links": [
            {"target": t, "source": s, "value": ROWS[i][j]}
            for i, t in enumerate(("x", "</s>"))
            for j, s in enumerate(("a", "b", "</s>"))
        ],
    }
    trace = one(encoded(web))
    assert texts(trace.produced) == ["x", "</s>"]
    np.testing.assert_allclose(tensor(trace, CROSS.format(0))[0], ROWS[:2], atol=1e-6)


# ----- doubts


def test_what_is_doubtful_is_told_and_shown() -> None:
    found = read(encoded({"tokens": ["a", "b"], "attention": [[0.5, 0.5], [0.9, 0.3]]}))
    (doubt,) = found.doubts
    assert (doubt.message.code, doubt.sentence) == ("sums", 0)
    assert "1 of 2 rows do not sum to 1 but to 1.2 up to 1.2; the first is layer 0, head 0, query 1" in doubt.message
    np.testing.assert_allclose(tensor(found.traces[0], "encoder.layers.0.self_attention.weights")[0, 1], [0.9, 0.3], atol=1e-6)
    empty = read(encoded({"tokens": ["a", "b"], "attention": [[float("nan")] * 2, [0.9, 0.1]]}))
    assert codes(empty) == ["no_key"]
    masked = tensor(empty.traces[0], "encoder.layers.0.self_attention.masked")
    assert np.isneginf(masked[0]).tolist() == [[True, True], [False, False]]
    assert np.isfinite(tensor(empty.traces[0], "encoder.layers.0.self_attention.weights")).all()


# ----- what was reported of comparable software


def test_rows_are_named_by_what_is_produced_and_by_what_is_fed() -> None:
    shifted = {"source": ["a", "b", "</s>"], "decoder_input": ["<s>", "x", "y"], "predicted": ["x", "y", "</s>"]}
    trace = one(encoded({**shifted, "cross_attention": ROWS}))
    assert texts(trace.produced) == ["x", "y", "</s>"]
    assert texts(trace.target) == ["<s>", "x", "y"]
    assert of_trace(trace).produced[0, 0, :, :2].argmax(-1).tolist() == [0, 1]  # x from a, y from b
    guessed = one(encoded({**shifted, "predicted": ["z", "y", "</s>"], "cross_attention": ROWS}))  # the best, not what was forced
    assert [word for word in label(guessed).produced if word < label(guessed).targets] == [2, 3]


def test_pieces_are_joined_to_words() -> None:
    given = {"source": ["\u2581back", "log", "\u2581in"], "target": ["\u2581Auf", "trags", "\u2581in"]}
    pieces = one(encoded({**given, "cross_attention": [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.1, 0.1, 0.8]]}))
    labels = label(pieces)
    joined = join_pieces(pieces[CROSS.format(0)].tensor[0, 0], labels.read, labels.source, labels.targets, labels.sources)
    np.testing.assert_allclose(joined, [[0.8, 0.2], [0.2, 0.8]], atol=1e-6)
    assert (pieces.source_text, pieces.target_text) == ("backlog in", "Auftrags in")


def test_other_files_are_refused_with_what_is_needed() -> None:
    fine = {"tokens": ["Fine", "day"]}
    with pytest.raises(MatrixError, match=r"attention has 1 axes, shape \(2,\); needed are \(query, key\)"):
        read(encoded({**fine, "attention": [0.7, 0.3], "attention_ragged": [[0.7, 0.3], [1.0]]}), "wrong-rank.json")
    with pytest.raises(MatrixError, match="attention is ragged"):
        read(encoded({**fine, "attention": [[0.7, 0.3], [1.0]]}))
    with pytest.raises(MatrixError, match="It names 'key_padding_mask', 'scores'"):
        read(encoded({"key_padding_mask": [[False, True]], "scores": [[1, 2]]}))
    pairs = {f"pair_{pair}_{name}": value for pair in (1, 2) for name, value in STUDIO.items()}
    with pytest.raises(MatrixError, match="It has 2 sentences, at most 1"):
        read(encoded([pairs]))
    with pytest.raises(MatrixError, match="The file is empty"):
        read(b"\x0b\n")
    for text in ("0-0 1-1 2-2\n", "I love you.\tJe t'aime.\n", "a ||| b ||| c\n"):
        with pytest.raises(MatrixError, match="no soft alignment"):
            read(text.encode("utf-16"))


def test_odd_names_and_odd_signs_are_read() -> None:
    found = read(encoded({f"pair_01_{name}": value for name, value in STUDIO.items()}))
    assert found.numbers == (0,)
    half = one(json.dumps({"tokens": ["a\ud800", "b"], "attention": weights(2, 2).tolist()}).encode())
    assert texts(half.source) == ["a\ufffd", "b"]
    links = one(json.dumps([["\ud800", "</s>", "1.0"]]).encode())
    assert texts(links.produced) == ["\ufffd"]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sample_of_each_format_is_what_the_model_computed(name: str) -> None:
    trace = synthetic.trace(["I", "love", "you", "."], ["Je", "t", "'", "aime", "."], layers=2, heads=3)
    found = read(SAMPLES[name].make(trace))
    assert found.format == {"inspectus": "attention"}.get(name, name)
    (after,) = found.traces
    assert not [code for code in codes(found) if code != "no_tokens"]
    for path in after:
        if name in ("marian", "sockeye", "nematus-json"):
            right = trace[CROSS.format(1)].tensor[0].mean(0, keepdim=True).numpy()
            assert texts(after.produced) == ["Je", "t", "'", "aime", ".", "</s>"]
        elif name == "atlas-studio":
            right = of_trace(trace).produced[int(path.split(".")[2]), :3].numpy()
        else:
            right = trace[path].tensor[0].numpy()
        np.testing.assert_allclose(tensor(after, path), right, atol=1e-4)
    assert name == "npy" or texts(after.source) == ["I", "love", "you", ".", "</s>"]


def test_names_that_others_give_are_read() -> None:
    for name in ("attn", "attention_weights", "weights", "mine"):
        trace = one(npz(**{name: weights(2, 3, 2, 2)}, tokens=np.array(["a", "b"])))
        assert texts(trace.source) == ["a", "b"]
    named = one(encoded({"src": "a b", "pred": "x y z", "attn": weights(3, 2)}))
    assert (texts(named.source), texts(named.produced)) == (["a", "b"], ["x", "y", "z"])
    assert texts(one(encoded({"attention": weights(2, 2), "tokens": [["a", "b"]]})).source) == ["a", "b"]
    for first in (0, 1):
        layers = {f"layer_{place + first}": weights(2, 2, seed=place) for place in range(11)}
        trace = one(npz(**dict(sorted(layers.items()))))
        assert tensor(trace, "encoder.layers.10.self_attention.weights").shape == (1, 2, 2)
        for place in range(11):
            path = f"encoder.layers.{place}.self_attention.weights"
            np.testing.assert_allclose(tensor(trace, path)[0], weights(2, 2, seed=place))
    with pytest.raises(MatrixError, match="layer lacks axis 'layer' 1"):
        read(npz(layer_0=weights(2, 2), layer_2=weights(2, 2)))


def test_what_generate_returns_is_put_together() -> None:
    whole = np.tril(weights(3, 2, 5, 5))  # (layer, head, query, key): a prompt of 3 tokens and 2 more steps
    first = [layer[None, :, :3, :3] for layer in whole]
    cached = [first, *([layer[None, :, n - 1 : n, :n] for layer in whole] for n in (4, 5))]
    again = [[layer[None, :, :n, :n] for layer in whole] for n in (3, 4, 5)]
    for steps in (cached, again):
        trace = one(encoded({"attentions": steps, "tokens": list("abcdef")}))  # the last one is written and never read
        assert texts(trace.source) == list("abcde")
        for layer in range(3):
            np.testing.assert_allclose(tensor(trace, f"encoder.layers.{layer}.self_attention.weights"), whole[layer])
    cross = weights(4, 2, 1, 3, 1, 2)
    trace = one(encoded({"cross_attentions": cross, "source": ["a", "b"], "target": ["<s>", "x", "y", "z", "</s>"]}))
    assert texts(trace.produced) == ["x", "y", "z", "</s>"]
    assert texts(trace.target) == ["<s>", "x", "y", "z"]
    np.testing.assert_allclose(tensor(trace, CROSS.format(1)), cross[:, 1, 0, :, 0].transpose(1, 0, 2))
    with pytest.raises(MatrixError, match="with 4 sentences or beams"):
        read(encoded({"cross_attentions": weights(2, 2, 4, 3, 1, 2)}))


def test_tables_of_numbers_are_one_matrix() -> None:
    with pytest.raises(MatrixError, match="table is ragged"):
        read(b"-;0;0.5;1\na;0.5;0.25\n")
    numbers = weights(3, 3)
    file = io.BytesIO()
    np.savetxt(file, numbers)
    trace = one(file.getvalue())
    np.testing.assert_allclose(tensor(trace, "encoder.layers.0.self_attention.weights")[0], numbers, atol=1e-6)
    sheet = '\ufeff,le,"chat, noir",.\r\nthe,0.2,0.3,0.5\r\ncat,0.1,0.1,0.8\r\n'
    for text in (sheet, sheet.replace('"chat, noir"', "chat noir").replace(".\r", "!\r").replace(",", "\t").replace(".", ",")):
        found = read(text.encode("utf-16"))
        (trace,) = found.traces
        assert (found.format, texts(trace.target), len(trace.source)) == ("table", ["the", "cat"], 3)
        np.testing.assert_allclose(tensor(trace, CROSS.format(0))[0], [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], atol=1e-6)
    trace = one(b",0,1\n0,0.9,0.1\n1,0.2,0.8\n")  # the columns and the index of a data frame
    np.testing.assert_allclose(tensor(trace, "encoder.layers.0.self_attention.weights")[0], [[0.9, 0.1], [0.2, 0.8]], atol=1e-6)
    assert read(b"1,0 0,1\n0,1 1,0\n").format == "marian"
    with pytest.raises(MatrixError, match="no percentages"):
        read(b"90;10\n20;80\n")
    with pytest.raises(MatrixError, match="has 100,000 places, at most 512"):
        read(b"0.5 0.5\n" * 100_000)
    for links in (b"0 1\n" + b"1 1\n" * 9, b"1 1 1\n1 2 2\n", b"0 0 0.9\n1 1 0.8\n"):
        with pytest.raises(MatrixError, match="no soft alignment"):
            read(links)


def test_files_of_other_programs_are_called_by_their_kind() -> None:
    saved, other = io.BytesIO(), io.BytesIO()
    for file, name in ((saved, "archive/data.pkl"), (other, "word/document.xml")):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(name, "x")
    picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))
    for data, message in (
        (saved.getvalue(), "This is a pickle"),
        (other.getvalue(), "This ZIP holds no array .* but 'word/document.xml'"),
        (picture, "no NPZ and no text"),
        (b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n", "no NPZ and no text"),
        (b"<!DOCTYPE html><p>head_view", "a web page"),
        (encoded([weights(2, 3), weights(3, 2)]), r"shapes \(2, 3\) and \(3, 2\)"),
    ):
        with pytest.raises(MatrixError, match=message):
            read(data)
    mixed = read(encoded([{"attention": weights(2, 2), "tokens": "a b"}, 5]))
    assert codes(mixed) == ["entry"]


def test_ends_and_languages_that_systems_add_find_no_word() -> None:
    source, target = ["le", "chat", "noir"], ["black", "cat"]
    rows = [[0.1, 0.2, 0.7, 0.0], [0.1, 0.8, 0.1, 0.0], [0.0, 0.0, 0.0, 1.0]]
    alone = one(" ".join(",".join(map(str, row)) for row in rows).encode())  # Marian counts both ends and names nothing
    found = between_words(alone, source, target)
    np.testing.assert_allclose(found.produced[0, 0, :2, :3], np.array(rows)[:2, :3], atol=1e-6)
    for first in ("fra_Latn", "fr_XX", ">>fra<<", "__fr__", "<2fr>"):
        content = {"source": [first, *source], "target": target, "cross_attention": [row[3:] + row[:3] for row in rows[:2]]}
        found = between_words(one(encoded(content)), source, target)
        np.testing.assert_allclose(found.read[0, 0, :2, :3], np.array(rows)[:2, :3], atol=1e-6)
    with pytest.raises(MatrixError, match="axis 'key' has 4 tokens, the pair has 2 source words"):
        between_words(alone, source[:2], target)
