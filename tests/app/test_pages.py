"""What the pages say, in both languages, for ordinary and for awkward sentences. (What is drawn is tested in a browser.)"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import model.checkpoint
import model.translator
from app import session
from app.session import loading
from app.text import sentences
from model.page.attention import unpack
from model.tokenizer import printable
from tests.app.conftest import OpenApp, code_of, said, shown

SENTENCE = "I love you."


def picture(app: AppTest) -> dict[str, object]:
    """The header of what the attention map was given."""
    (component,) = app.get("bidi_component")
    header, _ = unpack(component.proto.bytes)
    return header


def labels(app: AppTest, side: str) -> list[str]:
    tokens = picture(app)["tokens"]
    assert isinstance(tokens, dict)
    found: list[str] = tokens[side]["labels"]
    return found


def test_translate_opens_with_an_example_already_translated(open_app: OpenApp) -> None:
    app = open_app()
    example = session.first_example("en-fr")
    translation = session.translation("en-fr", example)
    assert app.title[0].value == "Translate"
    assert app.text_area(key="sentence").value == example
    assert translation.text in shown(app)
    assert f"{translation.score:.2f}".replace("-", "\N{MINUS SIGN}") in shown(app)
    assert "What to look for." in shown(app)
    assert labels(app, "source") == [token.label for token in translation.source]
    assert labels(app, "produced") == [token.label for token in translation.produced]
    assert labels(app, "target")[0] == "<s>"


@pytest.mark.parametrize(
    ("page", "lang", "words"),
    [
        ("", "en", ["What if", "Things to try", "Terms on this page", "The code", "Shapes", "numbers of this example"]),
        ("", "zh", ["如果……会怎样", "动手试试", "本页术语", "代码", "张量形状", "代入本例的数字"]),
        ("heads", "en", ["mean over heads", "Things to try", "Terms on this page", "guided head"]),
        ("heads", "zh", ["各头的平均", "动手试试", "本页术语", "受引导的头"]),
    ],
)
def test_every_page_has_the_whole_frame_in_both_languages(open_app: OpenApp, page: str, lang: str, words: list[str]) -> None:
    app = open_app(page, lang=lang, text=SENTENCE, model="en-fr")
    for word in words:
        assert word in shown(app)
    assert len(app.get("download_button")) >= 1
    assert not app.code  # what colours it is loaded with the first box that is opened
    assert "def forward" in code_of(app, "model.attention.MultiHeadAttention.forward")
    assert app.latex
    assert app.main.get("page_link")[-1].value.startswith(("Next: ", "下一页："))


def test_the_formula_adds_up_to_the_score(open_app: OpenApp) -> None:
    app = open_app(text=SENTENCE)
    trace = session.trace("en-fr", SENTENCE)
    numbers = app.latex[1].value
    assert f"= {sum(trace.log_probabilities):.2f}" in numbers
    assert f"{trace.log_probabilities[0]:.2f}" in numbers


def test_heads_draws_all_three_attentions_and_names_the_guided_heads(open_app: OpenApp) -> None:
    app = open_app("heads", text=SENTENCE)
    attentions = picture(app)["attentions"]
    assert isinstance(attentions, list)
    assert [entry["id"] for entry in attentions] == [
        "encoder.self_attention",
        "decoder.self_attention",
        "decoder.cross_attention",
    ]
    for entry in session.load("en-fr").card["guided"]:
        verb = {"produced": "produces", "read": "reads"}[entry["row"]]
        assert f"layer {entry['layer'] + 1}, head {entry['head'] + 1} in the row that {verb}" in shown(app)
    assert shown(app).count("All other heads were left alone") == 1


def test_a_target_by_hand_is_read_by_the_model_and_there_is_a_way_back(open_app: OpenApp) -> None:
    app = open_app(text=SENTENCE)
    own = session.translation("en-fr", SENTENCE)
    [box] = [box for box in app.text_area if box.label == sentences("en")["translate.target"]]
    box.set_value("Le chien dort.").run()
    assert not app.exception
    assert app.query_params["target"] == "Le chien dort."
    forced = session.load("en-fr").trace(SENTENCE, "Le chien dort.")
    assert labels(app, "produced") == [token.label for token in forced.produced]
    assert own.text in shown(app)
    assert f"{sum(forced.log_probabilities):.2f}".replace("-", "\N{MINUS SIGN}") in shown(app)
    app.button(key="own_again").click().run()
    assert "target" not in app.query_params
    assert labels(app, "produced") == [token.label for token in own.produced]


def test_a_beam_is_chosen_and_stays_in_the_url(open_app: OpenApp) -> None:
    app = open_app(text=SENTENCE)
    app.segmented_control(key="beam").set_value(4).run()
    assert not app.exception
    assert app.query_params["beam"] == "4"
    assert session.translation("en-fr", SENTENCE, 4).text in shown(app)


def test_an_example_becomes_the_sentence(open_app: OpenApp) -> None:
    app = open_app()
    example = session.examples("en-fr", "en")[3]
    app.selectbox(key="example").select(example.source).run()
    assert app.query_params["text"] == example.source
    assert example.look in shown(app)


def test_a_page_that_cannot_show_a_text_offers_the_examples(open_app: OpenApp) -> None:
    app = open_app("heads", text=" ", model="en-fr", lang="en")
    assert sentences("en")["limits.empty"] in shown(app)
    example = session.examples("en-fr", "en")[2]
    app.selectbox(key="example").select(example.source).run()
    assert not app.exception
    assert app.query_params["text"] == example.source
    assert sentences("en")["limits.empty"] not in shown(app)
    assert app.get("bidi_component")


def test_what_if_is_measured_on_this_sentence(open_app: OpenApp) -> None:
    app = open_app(text=SENTENCE)
    assert f"of {len(session.trace('en-fr', SENTENCE).produced) - 1} tokens the answer is another" in shown(app)
    guided = next(entry for entry in session.load("en-fr").card["guided"] if entry["row"] == "produced")
    for variant, name in (("even", "even"), ("head", session.head_off(guided["layer"], guided["head"]))):
        app.segmented_control(key="translate_what_if").set_value(variant).run()
        assert not app.exception
        altered = session.altered("en-fr", SENTENCE, None, 1, name)
        assert f"{sum(altered):.2f}".replace("-", "\N{MINUS SIGN}") in shown(app)
        assert session.altered_translation("en-fr", SENTENCE, name) in shown(app)


def test_averaged_heads_are_measured_and_may_translate(open_app: OpenApp) -> None:
    app = open_app("heads", text=SENTENCE)
    altered = session.altered("en-fr", SENTENCE, None, 1, "mean:decoder.cross_attention")
    loss = sum(altered) - sum(session.trace("en-fr", SENTENCE).log_probabilities)
    assert f"{loss:.2f}".replace("-", "\N{MINUS SIGN}") in shown(app)
    app.button(key="heads_what_if").click().run()
    assert not app.exception
    assert session.altered_translation("en-fr", SENTENCE, "mean:decoder.cross_attention") in shown(app)


def test_switching_the_model_keeps_the_sentence(open_app: OpenApp) -> None:
    app = open_app("heads", text=SENTENCE)
    app.selectbox(key="model").set_value("en-zh").run()
    assert not app.exception
    assert app.query_params["model"] == "en-zh"
    assert labels(app, "source")[-1] == "</s>"
    assert app.text_area(key="sentence").value == SENTENCE


@pytest.mark.parametrize(("page", "typed"), [("", ""), ("heads", "    ")])
def test_no_sentence_gives_a_message_and_keeps_the_text_box(open_app: OpenApp, page: str, typed: str) -> None:
    app = open_app(page, text=typed)
    assert "There is no sentence yet." in shown(app)
    assert not app.get("bidi_component")
    app.text_area(key="sentence").set_value(SENTENCE).run()
    assert app.get("bidi_component")


AWKWARD = (
    "a",
    "the cat and the dog and the bird",
    "2024 3.14 1e5 1E1 007 2024-05-06 12:30 NaN inf 5",
    '<script>document.title="x"</script> &lt;b&gt; </s> <s> <pad>',
    "It costs $5 or $6, snake_case and *stars* :smile: :red[plain] [x] `tick`",
    "I \u2764\ufe0f you \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u05e9\u05dc\u05d5\u05dd world 42",
    "今天早上我遇见了一位老朋友",
    "cafe\u0301 caf\u00e9 a\u200bb \ue000",
)
OUR_ELEMENTS = "p|b|i|code|div|span|bdi|button|h2|h3|ol|ul|li|small|table|thead|tbody|tr|th|td|caption|nav|a"


def test_awkward_sentences_are_drawn_with_their_own_labels(open_app: OpenApp) -> None:
    app = open_app(text=SENTENCE)
    for typed in AWKWARD:
        app.text_area(key="sentence").set_value(typed).run()
        assert not app.exception
        tokens = session.load("en-fr").source_tokens(typed)
        assert labels(app, "source") == [token.label for token in tokens]
        assert all(label.strip() for label in labels(app, "source"))
        assert typed in shown(app)
        for position, token in enumerate(tokens):
            if token.unknown:
                assert f"{printable(token.text)} ({position})" in shown(app)
        assert "<" not in re.sub(rf"<style>.*</style>|</?(?:{OUR_ELEMENTS})\b[^>]*>", "", said(app), flags=re.DOTALL)


def test_lengths_over_the_limit_and_over_what_was_learned_are_told(open_app: OpenApp) -> None:
    longest = session.longest_words(session.load("en-fr"))
    app = open_app(text="a " * (longest + 1))
    assert f"sentences of at most {longest} words; yours has {longest + 1}" in shown(app)
    assert app.get("bidi_component")
    app.text_area(key="sentence").set_value("a " * 201).run()
    assert re.search(r"201 tokens; at most 200.*Shorten it.*Nothing was cut", shown(app))
    assert not app.get("bidi_component")


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """One sound model and one whose weights end in the middle."""
    for name in ("en-fr", "en-zh"):
        shutil.copytree(model.checkpoint.SHIPPED / name, tmp_path / name)
    weights = tmp_path / "en-zh" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    monkeypatch.setattr(model.checkpoint, "SHIPPED", tmp_path)
    monkeypatch.setattr(model.translator, "SHIPPED", tmp_path)
    st.cache_resource.clear()
    yield "en-zh"
    st.cache_resource.clear()


def test_a_damaged_checkpoint_names_the_file_and_the_way_out_and_other_models_work(open_app: OpenApp, damaged: str) -> None:
    app = open_app(model=damaged, text=SENTENCE)
    assert "model.safetensors" in shown(app)
    assert "Restore the file" in shown(app)
    assert not app.get("bidi_component")
    app.selectbox(key="model").set_value("en-fr").run()
    assert not app.exception
    assert session.translation("en-fr", SENTENCE).text in shown(app)


def test_a_damaged_model_is_not_read_again_until_its_files_change(
    open_app: OpenApp, damaged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, really = [], model.load

    def load(name: str) -> Any:
        read.append(name)
        return really(name)

    monkeypatch.setattr(model, "load", load)
    names = ("en-fr", damaged)
    assert [list(session.loaded(names)) for _ in range(3)] == [["en-fr"]] * 3
    app = open_app("masks", model=damaged, text=SENTENCE)
    assert "model.safetensors" in shown(app.run())
    assert read == ["en-fr", damaged]
    file = f"{damaged}/model.safetensors"
    shutil.copy(model.checkpoint.ROOT / "assets" / "checkpoints" / file, model.checkpoint.SHIPPED / file)
    monkeypatch.setattr(loading, "LOOKED", 0.0)  # a second later
    assert list(session.loaded(names)) == ["en-fr", damaged]


def test_no_model_at_all_says_what_to_do(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model.checkpoint, "SHIPPED", tmp_path)
    monkeypatch.setattr(model.translator, "SHIPPED", tmp_path)
    st.cache_resource.clear()
    assert "git checkout -- assets/checkpoints" in shown(open_app())
    st.cache_resource.clear()


@pytest.mark.parametrize("page", ["translate", "tokens"])
def test_a_link_to_a_model_that_is_not_here_says_so(open_app: OpenApp, page: str) -> None:
    app = open_app(page, model="nope", text=SENTENCE)
    assert "There is no model nope here. You see en-fr" in shown(app)


def test_a_card_is_read_in_chinese(open_app: OpenApp) -> None:
    card = session.card_facts(session.load("en-fr"), "zh")
    assert ("card.data", {"name": session.load("en-fr").card["data"]["name_zh"]}) in card
    assert "位置编码：正弦；归一化：后置（post-norm）" in shown(open_app(lang="zh"))
