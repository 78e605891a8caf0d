"""The masks page says what its functions find, in both languages, for ordinary and for awkward sentences."""

import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

import model
from app import session
from app.components.mask_painter import unpack
from app.components.matrices import unpack as unpack_matrices
from app.session import premeasured
from app.text import sentences
from model.analysis import cheating, masking
from model.analysis.cheating import learned
from tests.app.conftest import OpenApp, payloads, rows_of, shown

SENTENCE = "I don't know her name."
PLACE = {"attention": "decoder.self_attention", "layer": "1", "head": "2"}
AWKWARD = "1E1 NaN the the <b> 2024-05-06 $x$ _a_"


def row_labels(app: AppTest, matrix: str) -> list[str]:
    """What the rows of this matrix are called, wherever it is drawn."""
    headers = [unpack_matrices(payload)[0] for payload in payloads(app) if b'"scenes"' in payload]
    (labels,) = [entry["rows"]["labels"] for header in headers for entry in header["matrices"] if entry["id"] == matrix]
    assert isinstance(labels, list)
    return labels


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_has_its_whole_frame(open_app: OpenApp, lang: str) -> None:
    app = open_app("masks", lang=lang, model="en-fr", text=SENTENCE, conventions="true")
    said_ = shown(app, " ")
    for key in ("batch_title", "ways_title", "formats_title", "conventions_title", "cheat_title", "effect_title", "try.4"):
        assert sentences(lang)[f"masks.{key}"] in said_
    assert len(app.code) == 4  # the conventions
    assert len([box for box in app.expander if box.label.startswith("`model.")]) == 7  # the functions behind the page
    assert len(app.latex) == 4
    assert sentences(lang)["three_attentions.title"] in app.main.get("page_link")[-1].proto.label


def test_leaks_are_those_of_numpy_and_formats_those_of_torch(open_app: OpenApp) -> None:
    app = open_app("masks", lang="en", model="en-fr", text=SENTENCE, formats="true", **PLACE)
    trace = session.trace("en-fr", SENTENCE)
    scores = trace["decoder.layers.1.self_attention.scores"].tensor[0, 2].double().numpy()
    exponentials = np.exp(scores)
    allowed = np.tril(np.ones_like(scores))
    leaked = (1 - allowed).sum(-1) / ((1 - allowed).sum(-1) + (exponentials * allowed).sum(-1))
    kept = (exponentials * allowed).sum(-1) / exponentials.sum(-1)
    table = rows_of(app, sentences("en")["masks.ways_caption"])
    assert [row[1] for row in table] == [token.label for token in trace.target]
    assert [row[2] for row in table] == [str(count) for count in range(1, len(scores) + 1)]
    np.testing.assert_allclose([float(row[3]) for row in table], leaked, atol=0.0006)
    np.testing.assert_allclose([float(row[4]) for row in table], kept, atol=0.0006)
    assert {row[6] for row in table} == {"1.000"}

    # The textbook example and the number formats, on the same page.
    table = rows_of(app, "Scores [1, 2, 900]")
    assert [row[1] for row in table] == [
        "[0.269, 0.731, 0.000]",
        "[0.245, 0.665, 0.090]",
        "[0.000, 0.000, 0.000]",
        "[0/0, 0/0, 0/0]",
    ]
    formats = {row[0]: row[1:] for row in rows_of(app, sentences("en")["masks.formats_caption"])}
    sixteen, _, thirty_two, sixty_four = formats["adding −1e9"]
    assert "NaN" in sixteen
    assert "uniform" in thirty_two
    assert "unmasked" in sixty_four
    assert "[0.09, 0.24, 0.67]" in sixty_four
    assert "without overflow" in shown(app, " ")
    app.number_input(key="third").set_value(3.0).run()
    assert rows_of(app, "Scores [1, 2, 3]")[3][1] == "[0.269, 0.731, 0.000]"


def test_a_painted_mask_from_a_link_is_drawn_and_measured(open_app: OpenApp) -> None:
    """The loss under "only itself" in one layer, again by hand: softmax over one key is 1 there."""
    app = open_app("masks", lang="en", model="en-fr", text=SENTENCE, mask="itself", **PLACE)
    app.segmented_control(key="scope").set_value("layer").run()
    atlas, trace = model.load("en-fr"), session.trace("en-fr", SENTENCE)
    alone = {"decoder.layers.1.self_attention.weights": lambda weights: torch.eye(weights.shape[-1]).expand_as(weights).clone()}
    by_hand = atlas.trace(SENTENCE, session.translation("en-fr", SENTENCE), alone).log_probabilities
    assert f"to {-sum(by_hand) / len(by_hand):.3f} nats" in shown(app, " ")
    table = rows_of(app, sentences("en")["masks.by_token"])
    assert [row[1] for row in table] == [token.label for token in trace.produced]
    np.testing.assert_allclose([float(row[3].replace("−", "-")) for row in table], by_hand, atol=0.006)
    header = unpack(payloads(app)[0])
    assert header["mask"] == "itself"
    assert header["rows"] == [token.label for token in trace.target]
    assert header["produced"] == [token.label for token in trace.produced]
    assert header["own"] == "causal"
    assert header["names"] == header["produced"]  # rows are named as on Attention, and otherwise when the visitor says so
    assert row_labels(app, "after") == row_labels(app, "zero_before") == header["produced"]
    app.segmented_control(key="row").set_value("read").run()
    assert unpack(payloads(app)[0])["names"] == header["rows"]
    assert row_labels(app, "after") == row_labels(app, "zero_before") == header["rows"]
    assert torch.equal(masking.from_link(header["presets"]["itself"]), torch.eye(len(trace.target)).bool())


def test_what_it_writes_stands_beside_what_it_writes_under_its_own_mask(open_app: OpenApp) -> None:
    """Not beside the translation that the visitor typed."""
    app = open_app("masks", lang="en", model="en-fr", text="I love you.", target="Bonjour.", mask="itself", **PLACE)
    app.button(key="masks_write").click().run()
    own = session.translation("en-fr", "I love you.").text
    assert re.search(rf"Under its own mask:\s+{re.escape(own)}", shown(app, " "))


def test_the_map_of_another_sentence_of_the_batch_is_captioned_with_that_sentence(open_app: OpenApp) -> None:
    app = open_app("masks", lang="en", model="en-fr", text="I love you.", **PLACE)
    app.toggle(key="batch").set_value(True).run()
    assert unpack_matrices(payloads(app)[1])[0]["caption"]["source"] == "I love you."
    app.segmented_control(key="batch_sentence").set_value("1").run()
    header = unpack_matrices(payloads(app)[1])[0]
    other = header["caption"]["source"]
    assert other != "I love you."
    assert header["caption"]["target"] == session.translation("en-fr", other).text
    read = [token.label for token in session.trace("en-fr", other).target]
    (alone,) = [entry for entry in header["matrices"] if entry["id"] == "alone"]
    assert alone["rows"]["labels"] == read


def test_labels_keep_their_order_and_a_link_that_is_no_mask_is_told(open_app: OpenApp) -> None:
    app = open_app(
        "masks", lang="en", model="en-fr", text=AWKWARD, mask="<b>", **{**PLACE, "attention": "encoder.self_attention"}
    )
    assert sentences("en")["masks.damaged_link"] in shown(app, " ")
    assert unpack(payloads(app)[0])["mask"] == ""
    trace = session.trace("en-fr", AWKWARD)
    labels = [token.label for token in trace.source]
    app.toggle(key="batch").set_value(True).run()
    header = unpack(payloads(app)[0])
    assert header["rows"] == labels[: masking.LARGEST]
    assert header["produced"] is None
    assert sentences("en")["masks.ways_open"] in shown(app, " ")  # the encoder hides nothing: there is nothing to compare
    batch = rows_of(app, sentences("en")["masks.batch_caption"])
    assert batch[0][1 : 1 + len(labels)] == labels
    assert set(batch[0][1 + len(labels) :]) <= {"<pad>"}
    assert any("<" in label for label in labels)  # and it is a label, in the table above, not an element


def test_padding_changes_nothing_unless_it_is_forgotten(open_app: OpenApp) -> None:
    place = {**PLACE, "attention": "encoder.self_attention"}
    app = open_app("masks", lang="en", model="en-fr", text=SENTENCE, **place)
    app.toggle(key="batch").set_value(True).run()
    number = re.search(r"by more than\s+(\S+)", shown(app, " "))
    assert number
    assert number[1] == "0" or "10⁻" in shown(app, " ")
    header, values = unpack_matrices(payloads(app)[1])
    alone, padded = values["alone"], values["padded"]
    np.testing.assert_allclose(padded[: len(alone), : len(alone)], alone, atol=1e-5)
    assert [scene["id"] for scene in header["scenes"]] == ["maps", "masks"]
    app.toggle(key="forget").set_value(True).run()
    assert "is another sentence" in shown(app, " ")


def test_the_decoder_without_its_mask_and_one_that_learned_to_cheat(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("masks", lang="en", model="en-fr", text="I love you.")
    app.button(key="masks_measure").click().run()
    table = {row[0]: row[1:] for row in rows_of(app, "The loss is over the")}
    right, off = table["−∞ before softmax"], table["no mask at all"]
    trace = session.trace("en-fr", "I love you.")
    assert float(right[0]) == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced), abs=0.0006)
    assert right[1:] == ["0.000", trace.target_text]
    assert float(off[0]) > float(right[0])
    assert float(off[1]) > 0
    assert sentences("en")["masks.off_worse"].split("{")[0][:25] in shown(app, " ")
    brief = [learned(masked, steps=2) for masked in (True, False)]
    monkeypatch.setattr(cheating, "learned", lambda masked: brief[not masked])  # the whole training is tested elsewhere
    monkeypatch.setattr(premeasured, "found", lambda *_: premeasured.NOTHING)  # and what it came to is written down
    app.button(key="masks_cheat").click().run()
    rows = rows_of(app, sentences("en")["masks.cheat_caption"].split("{")[0])
    for row, found in zip(rows, brief, strict=True):
        assert row[1:4] == [f"{found.first:.3f}", f"{found.second:.3f}", f"{found.right:.0%}"]
        assert row[4].split() == [chr(ord("A") + symbol) for symbol in found.given]


def test_a_sentence_that_cannot_be_read_is_refused(open_app: OpenApp) -> None:
    app = open_app("masks", lang="en", model="en-fr", text="")
    assert app.title[0].value == "Masks"
    assert not payloads(app)
