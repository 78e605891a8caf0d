"""The message of the alignment view: exact maps, words by their pieces, gold; and what it refuses."""

import re
from dataclasses import replace

import numpy as np
import pytest

from app.components import alignment
from app.components.alignment import Gold, Sentence, identity, payload, unpack
from model.page.bundle import joined
from tests.components import alignments


def test_maps_arrive_exactly_and_in_order() -> None:
    header, raw = unpack(alignments.payload())
    given, reverse = alignments.maps(), alignments.backward()
    assert header["blocks"] == [["weights", 0], ["weights", 1], ["norms", 0], ["norms", 1]]
    sent = np.frombuffer(raw, dtype="<f4")
    size = given["weights"].size
    np.testing.assert_array_equal(sent[:size], given["weights"].ravel())
    np.testing.assert_array_equal(sent[size : 2 * size], given["norms"].ravel())
    np.testing.assert_array_equal(sent[2 * size :], np.concatenate([reverse.maps[name].ravel() for name in ("weights", "norms")]))
    assert (header["layers"], header["heads"]) == (2, 3)
    assert header["backward"]["columns"] == 5


def test_both_directions_at_once_come_after_the_reverse_model() -> None:
    together = alignments.joint()
    header, raw = unpack(alignments.payload(joint=together))
    sent = np.frombuffer(raw, dtype="<f4")[-4 * 20 :]
    ways = [way[name].ravel() for way in (together.forward, together.backward) for name in ("weights", "norms")]
    np.testing.assert_array_equal(sent, np.concatenate(ways))
    assert header["joint"]["heads"] == [[1, 0, "produced"], [0, 1, "read"]]
    assert unpack(alignments.payload())[0]["joint"] is None


def test_sentences_come_as_they_were_brought() -> None:
    header, _ = unpack(alignments.payload())
    words, gaps = header["source"]["words"], header["source"]["gaps"]
    assert "".join(gap + word for gap, word in zip(gaps, [*words, ""], strict=True)) == "the old the <b> man."
    assert header["pieces"]["read"]["labels"][0] == "<s>"


def test_sure_links_are_possible_too_and_order_does_not_matter() -> None:
    one = unpack(alignments.payload(gold=Gold({(1, 1), (0, 0)}, {(4, 2)})))[0]
    other = unpack(alignments.payload(gold=Gold({(0, 0), (1, 1)}, {(4, 2), (0, 0)})))[0]
    assert one["gold"] == {"sure": [[0, 0], [1, 1]], "possible": [[0, 0], [1, 1], [4, 2]], "hand": False}
    assert one["digest"] == other["digest"]
    assert unpack(alignments.payload(gold=None))[0]["gold"] is None


def test_a_pair_is_known_by_its_place_and_its_words() -> None:
    name = unpack(alignments.payload())[0]["pair"]
    assert name == identity(1, alignments.SOURCE.words, alignments.TARGET.words)
    assert name != unpack(alignments.payload(index=2))[0]["pair"]
    assert name == unpack(alignments.payload(weights=alignments.maps(5), gold=None))[0]["pair"]


def test_of_a_large_pair_one_layer_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "LARGEST", 100)
    header, raw = unpack(alignments.payload(opened=("norms", 1), backward=None))
    assert header["blocks"] == [["norms", 1]]
    np.testing.assert_array_equal(np.frombuffer(raw, dtype="<f4"), alignments.maps()["norms"][1].ravel())


def test_maps_that_do_not_fit_are_refused() -> None:
    wrong = {"weights": alignments.maps()["weights"][:, :, :5]}
    with pytest.raises(ValueError, match=r"weights: maps are \(5, 7\), the pieces \(6, 7\)"):
        alignments.payload(weights=wrong)
    broken = alignments.maps()
    broken["norms"][0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="norms: maps must be finite"):
        alignments.payload(weights=broken)


def test_words_of_a_user_stay_text() -> None:
    awkward = Sentence(("</script>", "\ud800", "=1+1"), ("", " ", " ", ""))
    pieces = {**alignments.PIECES, "source": replace(alignments.PIECES["source"], words=(0, 0, 0, 1, 1, 2, 3))}
    header, _ = unpack(alignments.payload(source=awkward, pieces=pieces, gold=None, diagonal=(), backward=None))
    assert header["source"]["words"] == ["</script>", "?", "=1+1"]


def test_every_label_is_used_in_the_browser() -> None:
    script = joined("alignment")
    switched = re.compile(r"(view|unit|row|measure|rule|second|method|legend)_\w+")
    named = {*re.findall(r"text\.(\w+)", script), *re.findall(r'"(\w+)"', script)}
    assert [label for label in alignment.LABELS if label not in named and not switched.fullmatch(label)] == []
