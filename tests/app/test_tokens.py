"""What the page of tokens says: labels in order, numbers computed once more, both tokenizers, anything typed."""

import json
import re
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.components.bars.payload import Series
from app.components.bars.payload import pack as pack_bars
from app.components.matrices.payload import unpack
from app.text import section
from app.views import token_cards
from model.analysis import embeddings, vocabulary
from tests.app.conftest import OpenApp, payload, said, shown

TWICE = "The dog saw the dog 1E1 NaN 2024-05-06 caf\u0065\u0301 ☃."


def matrices(app: AppTest, side: str) -> tuple[dict, dict[str, np.ndarray]]:  # type: ignore[type-arg]
    return unpack(payload(app, f"tokens_matrices_{side}"))


def bars(app: AppTest, key: str) -> dict:  # type: ignore[type-arg]
    return dict(json.loads(payload(app, key)))


def minus(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def test_source_and_target_by_numpy_with_labels_in_order(open_app: OpenApp) -> None:
    app = open_app("tokens", text=TWICE, model="en-fr")
    trace, atlas = session.trace("en-fr", TWICE), session.load("en-fr")
    for side in ("source", "target"):
        if side == "target":
            app.segmented_control(key="side").set_value("target").run()
            assert not app.exception
            assert app.query_params["side"] == "target"
        tokens = trace.tokens(side)
        header, values = matrices(app, side)
        labels = {entry["id"]: entry["rows"]["labels"] for entry in header["matrices"]}
        for name in ("one_hot", "looked_up", "scaled", "position", "input"):
            assert labels[name] == [token.label for token in tokens]
        table = atlas.model.get_parameter(f"{side}.table.weight").detach().numpy()
        rows = table[[token.id for token in tokens]]
        angles = np.arange(len(tokens))[:, None] / 10000 ** (np.arange(0, 192, 2) / 192)
        position = np.stack((np.sin(angles), np.cos(angles)), axis=-1).reshape(len(tokens), 192)
        np.testing.assert_array_equal(values["one_hot"] @ values["table"], rows)
        np.testing.assert_array_equal(values["looked_up"], rows)
        np.testing.assert_allclose(values["input"], rows * np.sqrt(192) + position, atol=1e-5)
        assert [scene["id"] for scene in header["scenes"]] == ["lookup", "scaled", "sum"]
        assert header["scenes"][1]["value"] == pytest.approx(np.sqrt(192))
        drawn = labels["table"]
        assert [int(drawn[row].split()[0]) for row in header["scenes"][0]["index"]] == [token.id for token in tokens]
        norms = bars(app, "tokens_norms_caption")
        assert norms["labels"] == [token.label for token in tokens]
        assert norms["series"][0]["values"] == pytest.approx(np.linalg.norm(rows * np.sqrt(192), axis=1).tolist())
        assert norms["series"][1]["values"] == pytest.approx([np.sqrt(96)] * len(tokens))
    assert "one-hot times all 5,000 rows against the look-up, 0;" in shown(app)


def test_cards_and_table_say_id_place_and_what_was_typed(open_app: OpenApp) -> None:
    app = open_app("tokens", text=TWICE, model="en-fr")
    tokens = session.load("en-fr").source_tokens(TWICE)
    cards = re.findall(r'<li class="(\w*)" data-position="(\d+)">(.*?)</li>', said(app))
    assert [int(position) for _, position, _ in cards] == list(range(len(tokens)))
    for (kind, position, card), token in zip(cards, tokens, strict=True):
        words = unescape(re.sub(r"<[^>]+>", " ", card)).split()
        assert words[0] == position
        assert str(token.id) in words
        if token.special:
            assert (kind, words[-1]) == ("special", "added")
        else:
            assert " ".join(words).endswith(f"[{token.span[0]}, {token.span[1]})")
        assert (kind == "unknown") is token.unknown
    marks = re.findall(r"<mark class=\"\w+\">(.*?)</mark>", said(app))
    assert [unescape(re.sub(r"<[^>]+>", "", mark)) for mark in marks] == [token.text for token in tokens if not token.special]
    assert "accents as marks of their own (NFD)noyes" in shown(app)  # it is typed so; NFC is another spelling with the same ids
    assert "accents as one character (NFC)yesyes" in shown(app)


def test_the_text_as_typed_is_one_isolate_so_that_arabic_runs_from_right_to_left() -> None:
    source = "اشتريت 3 كتب <b> IBM"
    shown = token_cards.typed(source, session.load("en-fr").source_tokens(source), "tokens.typed_name")
    assert shown.count("<bdi") == 1
    assert unescape(re.sub(r"</?(p|bdi|mark)[^>]*>", "", shown)) == source


def test_a_word_is_cut_by_the_merges_of_the_tokenizer(open_app: OpenApp) -> None:
    app = open_app("tokens", text="An unbelievable dog.", model="en-fr")
    (word,) = [
        word for word in vocabulary.cut(session.load("en-fr").tokenizers.source, "An unbelievable dog.") if "ble" in word.text
    ]
    assert app.selectbox(key="word").value == "1"
    for merge in word.merges:
        assert f"{merge.rank:,}" in shown(app)
        assert " | ".join(map(vocabulary.visible, merge.pieces)) in shown(app)
    app.selectbox(key="word").select("0").run()
    assert app.query_params["word"] == "0"
    assert "How ␣An is cut" in shown(app)


def test_characters_are_explained_without_merges_in_chinese(open_app: OpenApp) -> None:
    app = open_app("tokens", text="I love you.", model="en-zh", lang="zh")
    app.segmented_control(key="side").set_value("target").run()
    tokenizer = session.load("en-zh").tokenizers.target
    assert f"有编号的字符有 {len(tokenizer) - 4:,} 个" in shown(app)
    assert not [box for box in app.selectbox if box.key == "word"]


def test_search_and_neighbours(open_app: OpenApp) -> None:
    app = open_app("tokens", text="I love you.", model="en-fr")
    tokenizer = session.load("en-fr").tokenizers.source
    app.text_input(key="find").set_value("love").run()
    found = vocabulary.search(tokenizer, "love")
    assert f"{found.total} of 5,000 entries" in shown(app)
    assert app.query_params["find"] == "love"
    id_ = tokenizer.vocabulary[" love"]
    app.selectbox(key="near").select(str(id_)).run()
    near = bars(app, "tokens_near")
    table = session.load("en-fr").model.source.table.weight.detach().double().numpy()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    order = np.argsort(-(unit @ unit[id_]))[1:11]
    assert near["labels"] == [f"{vocabulary.visible(tokenizer.pieces[other])} ({other})" for other in order]
    assert near["series"][0]["values"] == pytest.approx((unit @ unit[id_])[order].tolist())
    for typed in ("<b>*x*</b>$1$", "\u202e\u200b", "☃" * 300, "  ", "[[token]]{x}"):
        app.text_input(key="find").set_value(typed).run()
        assert not app.exception
        assert f"of 5,000 entries; listed: {min(50, vocabulary.search(tokenizer, typed).total)}." in shown(app)


def test_leaving_out_the_factor_or_the_positions_is_measured(open_app: OpenApp) -> None:
    app = open_app("tokens", text="I love you.", model="en-fr")
    atlas, trace = session.load("en-fr"), session.trace("en-fr", "I love you.")
    assert "Choose what the model must do without" in shown(app)
    for variant, measure in (("factor", embeddings.without_factor), ("position", embeddings.without_position)):
        app.segmented_control(key="without").set_value(variant).run()
        assert not app.exception
        assert app.query_params["without"] == variant
        found = measure(atlas, trace)
        assert minus(sum(found.log_probabilities)) in shown(app)
        assert minus(sum(trace.log_probabilities)) in shown(app)
        assert found.written in shown(app)


def test_no_sentence_and_markup_are_text(open_app: OpenApp) -> None:
    app = open_app("tokens", text="   ")
    assert "There is no sentence yet." in shown(app)
    typed = '<script>document.title="x"</script> &lt;b&gt; <s> $5$ _x_'
    app.text_area(key="sentence").set_value(typed).run()
    assert not app.exception
    assert typed in shown(app)
    assert "<script" not in said(app).replace("<style", "")
    app.selectbox(key="model").set_value("en-zh").run()
    assert not app.exception


def test_bars_refuse_what_they_cannot_show() -> None:
    given = {"title": "t", "name": "token", "text": section("bars"), "caption": {}}
    with pytest.raises(ValueError, match="1 values for 2 labels"):
        pack_bars(["a", "a"], [Series("x", "x", [1.0])], **given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not finite"):
        pack_bars(["a"], [Series("x", "x", [float("nan")])], **given)  # type: ignore[arg-type]


@pytest.mark.usefixtures("pre_norm")
def test_a_rotary_model_adds_no_position_and_none_can_be_left_out(open_app: OpenApp) -> None:
    app = open_app("tokens", model="en-fr", text="I love you.", without="position")
    assert app.segmented_control(key="without").options == ["without √d_model"]
    assert not any("PE" in formula.value for formula in app.latex)
    assert "No position is added here." in shown(app)
    assert "How long the rows are" in shown(app)
    assert "the word, or its position" not in shown(app)
    app.segmented_control(key="without").set_value("factor").run()
    assert "No position is added here that could drown a word" in shown(app)
    app.segmented_control(key="without").set_value(None).run()
    assert "bag of words" not in shown(app)
    assert "Choose what the model must do without." in shown(app)
