"""A link reopens what its sender saw; the selection follows to every page; limits hold on the server."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from app import session
from model.training import toy_language
from tests.app.conftest import OpenApp, said


def test_a_first_visit_opens_with_an_example_and_puts_it_into_the_url(open_app: OpenApp) -> None:
    app = open_app()
    assert app.query_params["lang"] == "en"
    assert app.query_params["model"] == "en-fr"
    assert app.query_params["text"] == session.first_example("en-fr")


@pytest.mark.parametrize(
    ("locale", "language"), [("zh-CN", "zh"), ("zh_TW", "zh"), ("fr-FR", "en"), ("en-GB", "en"), (None, "en")]
)
def test_language_of_a_first_visit_is_the_browsers(open_app: OpenApp, locale: str | None, language: str) -> None:
    assert open_app(locale=locale).query_params["lang"] == language


@pytest.mark.parametrize(
    ("locale", "typed", "name"),
    [
        ("zh-CN", None, "zh-en"),
        ("zh-CN", "I love you.", "en-zh"),
        ("zh-CN", "Elle est dans le jardin.", "fr-en"),
        ("en-GB", "我爱你。", "zh-en"),
        ("en-GB", "Tom, 3.5", "en-fr"),
        ("fr-FR", "Je ne sais pas.", "fr-en"),
    ],
)
def test_a_first_visitor_meets_a_model_that_reads_what_they_write(
    open_app: OpenApp, locale: str, typed: str | None, name: str
) -> None:
    app = open_app(locale=locale, **({} if typed is None else {"text": typed}))
    assert app.query_params["model"] == name
    assert app.query_params["text"] == (session.first_example(name) if typed is None else typed)


def test_a_sentence_in_another_language_is_told_and_the_model_that_reads_it_is_a_click_away(open_app: OpenApp) -> None:
    app = open_app(model="en-zh", text="我们明天见吧。")
    assert "knows no Chinese character" in said(app)
    app.button(key="read_with").click().run()
    assert (app.query_params["model"], app.query_params["text"]) == ("zh-en", "我们明天见吧。")
    assert "guess" not in said(app)
    app.text_area(key="sentence").set_value("See you tomorrow.").run()
    assert "no Chinese character" in said(app)
    app.button(key="read_with").click().run()
    assert (app.query_params["model"], app.query_params["text"]) == ("en-zh", "See you tomorrow.")
    app.selectbox(key="model").set_value("zh-en").run()  # by hand, with a sentence that it cannot read
    assert app.query_params["text"] == session.first_example("zh-en")


def test_french_is_told_from_english_and_the_model_that_reads_it_is_a_click_away(open_app: OpenApp) -> None:
    app = open_app(model="en-fr", text="Il est dans la maison.")
    assert "seems to be in French" in said(app)
    app.button(key="read_with").click().run()
    assert (app.query_params["model"], app.query_params["text"]) == ("fr-en", "Il est dans la maison.")
    assert "guess" not in said(app)
    app.text_area(key="sentence").set_value("He is in the house.").run()
    assert "seems to be in English" in said(app)
    app.button(key="read_with").click().run()
    assert (app.query_params["model"], app.query_params["text"]) == ("en-fr", "He is in the house.")
    app.text_area(key="sentence").set_value("Bonjour !").run()  # of which nothing is known
    assert "guess" not in said(app)
    app.selectbox(key="model").set_value("fr-en").run()
    assert app.query_params["text"] == "Bonjour !"
    app.text_area(key="sentence").set_value(session.first_example("fr-en")).run()
    app.selectbox(key="model").set_value("en-fr").run()  # by hand: what was made for the other model does not stay
    assert app.query_params["text"] == session.first_example("en-fr")


def test_the_url_beats_the_browser(open_app: OpenApp) -> None:
    app = open_app(locale="zh-CN", lang="en")
    assert app.title[0].value == "Translate"


def test_a_link_reopens_sentence_model_target_and_beam(open_app: OpenApp) -> None:
    link = {"lang": "zh", "model": "en-zh", "text": "I love you.", "target": "我爱你。", "beam": "4"}
    app = open_app(**link)
    assert app.text_area(key="sentence").value == "I love you."
    assert app.text_area(key="target").value == "我爱你。"
    assert app.selectbox(key="model").value == "en-zh"
    assert {name: app.query_params[name] for name in link} == link


def test_parameters_of_the_component_are_left_alone(open_app: OpenApp) -> None:
    app = open_app(layer="2", head="mean", something="else")
    assert [app.query_params[name] for name in ("layer", "head", "something")] == ["2", "mean", "else"]
    app.text_area(key="sentence").set_value("Good night.").run()
    assert app.query_params["text"] == "Good night."
    assert app.query_params["layer"] == "2"


def test_the_selection_follows_to_another_page_that_drops_the_url(open_app: OpenApp) -> None:
    app = open_app(text="Good morning.", lang="zh")
    for name in list(app.query_params):
        del app.query_params[name]
    app.switch_page("views/heads.py").run()
    assert not app.exception
    assert app.query_params["text"] == "Good morning."
    assert app.query_params["lang"] == "zh"
    assert app.text_area(key="sentence").value == "Good morning."


def test_a_changed_url_wins_over_the_session(open_app: OpenApp) -> None:
    app = open_app(text="Good morning.")
    app.query_params["text"] = "Good night."
    app.run()
    assert app.text_area(key="sentence").value == "Good night."


def test_nonsense_in_the_url_falls_back_and_is_told(open_app: OpenApp) -> None:
    app = open_app(lang="xx", model="<b>zz</b>", beam="many")
    assert app.query_params["lang"] == "en"
    assert app.query_params["model"] == "en-fr"
    assert "There is no model" in said(app)
    assert "&lt;b&gt;zz&lt;/b&gt;" in said(app)


def test_another_sentence_drops_the_target_written_by_hand(open_app: OpenApp) -> None:
    app = open_app(text="I love you.", target="Je t'aime.")
    app.text_area(key="sentence").set_value("Good night.").run()
    assert "target" not in app.query_params


def test_a_trace_is_computed_once_and_shared() -> None:
    first = session.trace("en-fr", "I love you.")
    assert session.trace("en-fr", "I love you.") is first
    assert session.trace("en-fr", "I love you.", "Je t'aime.") is not first


def test_many_visitors_at_once_get_their_own_traces() -> None:
    sentences = [f"I have {number} books." for number in range(8)]
    alone = [session.load("en-fr").trace(sentence) for sentence in sentences]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda sentence: session.trace("en-fr", sentence), sentences))
    for one, other in zip(alone, together, strict=True):
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-5)
        path = "decoder.layers.0.cross_attention.weights"
        torch.testing.assert_close(one[path].tensor, other[path].tensor)


@pytest.mark.parametrize("typed", ["", "   ", "\n\t ", "\u3000\u00a0", "\u200b", "\u200b \u00ad\ufeff"])
def test_no_sentence_is_refused(typed: str) -> None:
    refusal = session.refused(session.load("en-fr"), typed)
    assert refusal
    assert refusal.key in ("limits.empty", "limits.no_token")


@pytest.mark.parametrize("side", ["source", "target"])
def test_two_hundred_tokens_are_the_limit(side: str) -> None:
    atlas = session.load("en-fr")

    def refused(words: int) -> session.Remark | None:
        long = " ".join(["a"] * words)
        return session.refused(atlas, long) if side == "source" else session.refused(atlas, "I love you.", long)

    assert refused(200) is None
    over = refused(201)
    assert over
    assert over.key == f"limits.{side}_tokens"
    assert over.values == {"limit": 200, "given": 201}


def test_a_huge_text_is_refused_before_it_is_cut_into_tokens() -> None:
    refusal = session.refused(session.load("en-fr"), "a" * 1_000_000)
    assert refusal
    assert refusal.values == {"limit": session.MAX_CHARACTERS, "given": 1_000_000}


def test_longer_than_learned_is_told_in_words() -> None:
    atlas = session.load("en-fr")
    longest = session.longest_words(atlas)
    assert longest > 0
    assert session.remarks(atlas, " ".join(["a"] * longest)) == []
    (remark,) = session.remarks(atlas, " ".join(["a"] * (longest + 1)))
    assert remark.values == {"longest": longest, "given": longest + 1}
    by_character = session.load("zh-en")
    longest = session.longest_words(by_character)
    (remark,) = session.remarks(by_character, "我" * (longest + 1))
    assert remark == session.Remark("limits.longer_than_learned_characters", {"longest": longest, "given": longest + 1})


def test_a_switched_off_head_and_even_attention_change_the_score() -> None:
    before = session.trace("en-fr", "I love you.")
    for variant in ("even", session.head_off(0, 0), "mean:decoder.cross_attention", "mean:encoder.self_attention"):
        altered = session.altered("en-fr", "I love you.", None, 1, variant)
        assert len(altered) == len(before.log_probabilities)
        assert altered != before.log_probabilities
    assert session.load("en-fr").trace("I love you.").log_probabilities == pytest.approx(before.log_probabilities, abs=1e-5)


@pytest.mark.parametrize("name", ["en-fr", "fr-en", "en-zh", "zh-en"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_examples_are_many_different_and_within_what_the_model_learned(name: str, language: str) -> None:
    found = session.examples(name, language)
    atlas = session.load(name)
    assert len({example.source for example in found}) >= 12
    for example in found:
        assert example.look.strip()
        assert session.refused(atlas, example.source) is None
        assert session.remarks(atlas, example.source) == []


def test_doubts_are_told_with_the_numbers_and_the_threshold_that_they_come_from() -> None:
    sure, unsure = (session.Selection("en", "en-fr", text) for text in ("I love you.", "Can a zorglub dance the flumpo?"))
    assert session.doubts(sure) == []
    (remark,) = session.doubts(unsure)
    own = session.translation("en-fr", unsure.text)
    usual = session.load("en-fr").card["doubt"]["usual"]
    assert remark.values["nats"] == round(-own.score / len(own.produced), 2)
    assert remark.values["usual"] == round(usual, 2)
    assert remark.values["limit"] == round(2 * usual, 2)
    assert -own.score / len(own.produced) >= 2 * usual
    assert session.doubts(session.Selection("en", "en-fr", unsure.text, "Bonjour.")) == []  # nobody's doubt but the writer's
    assert session.doubts(session.Selection("en", "en-fr", "  ")) == []


def test_what_is_usual_stands_on_the_card_as_measured_on_the_examples() -> None:
    atlas = session.load("toy")
    sources = [example.source for example in session.examples("toy", "en")]
    means = sorted(-each.score / len(each.produced) for each in map(atlas.translate, sources))  # type: ignore[union-attr]
    assert atlas.card["doubt"]["sentences"] == len(means) == 6
    assert atlas.card["doubt"]["usual"] == pytest.approx((means[2] + means[3]) / 2, abs=6e-5)
    assert all("doubt" in session.load(name).card for name in session.models() if session.examples(name, "en"))


class TestASmallLanguage:
    """The toy: a closed vocabulary, languages from its card, a sentence of its own when the visitor's is not in it."""

    def test_it_opens_with_a_sentence_of_its_own(self, open_app: OpenApp) -> None:
        app = open_app(model="toy", lang="en")
        assert app.query_params["text"] == session.first_example("toy") == "the red cat sees a dog"
        assert session.languages("toy") == ("en", "art")
        assert not app.warning

    def test_other_texts_are_told_word_by_word_and_another_model_is_offered(self) -> None:
        atlas = session.load("toy")
        assert session.remarks(atlas, "the cat sees a dog") == []
        (remark,) = session.remarks(atlas, "the cat sees a unicorn .")
        assert (remark.values["words"], remark.values["count"], remark.model) == ("unicorn .", 2, "")
        (remark,) = session.remarks(atlas, "I love you.")
        assert remark.model == "en-fr"

    def test_a_text_of_another_model_does_not_stay(self, open_app: OpenApp) -> None:
        app = open_app(model="en-fr", lang="en", text="I love you.")
        app.selectbox(key="model").select("toy").run()
        assert app.query_params["text"] == session.first_example("toy")
        app.selectbox(key="model").select("en-fr").run()
        assert app.query_params["text"] == session.first_example("toy"), "English it is"

    def test_our_translations_follow_its_rules(self) -> None:
        for source, reference in session.example_pairs("toy"):
            written = toy_language.read(source.split())
            assert written is not None, source
            assert " ".join(written.target) == reference
