"""A decoder-only model on every page: each opens, says what it can show and why it cannot show the rest; numbers checked."""

import math
import re
from pathlib import Path

import pytest
import torch

from app import session, text
from app.views.anatomy import ORDER
from model.translator import LanguageModel
from tests.app.conftest import OpenApp, said, shown

PROMPT = "The red 12"


@pytest.fixture(scope="module")
def writer(both_families: Path) -> LanguageModel:
    """A tiny language model in place of the shipped one."""
    atlas = session.load("en-lm")
    assert isinstance(atlas, LanguageModel)
    return atlas


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", [page for page in ORDER if page not in ("families", "rotary", "positions")])
def test_every_page_opens(open_app: OpenApp, writer: LanguageModel, page: str, lang: str) -> None:
    app = open_app("" if page == "translate" else page, model="en-lm", lang=lang, text=PROMPT)
    text.use(lang, writes_on=True)
    assert app.main.title[0].value == text.text(f"{page}.title")
    tries = text.numbered(f"{page}.try")
    assert re.sub(r"\[\[\w+\|?|\]\]|\*\*|`", "", text.text(tries[0]))[:12] in shown(app)


def test_the_score_is_that_of_the_continuation_alone(open_app: OpenApp, writer: LanguageModel) -> None:
    app = open_app(model="en-lm", lang="en", text=PROMPT)
    ids = torch.tensor([[token.id for token in writer.source_tokens(PROMPT)]])
    total = 0.0
    own = session.translation("en-lm", PROMPT)
    for _ in own.produced:  # greedy by hand, without a cache
        likely = writer.model(ids)[0, -1].double().log_softmax(dim=-1)
        total += float(likely.max())
        ids = torch.cat((ids, likely.argmax().view(1, 1)), dim=1)
        if ids[0, -1] == writer.config.end:
            break
    assert math.isclose(own.score, total, rel_tol=1e-4)
    assert f"{own.score:.2f}".replace("-", "\N{MINUS SIGN}") in shown(app) or f"{own.score:.2f}" in shown(app)
    assert f'<span class="prompt">{PROMPT}</span>' in said(app)


def test_a_page_about_three_attentions_says_which_are_missing(open_app: OpenApp, writer: LanguageModel) -> None:
    app = open_app("three_attentions", model="en-lm", lang="en", text=PROMPT)
    assert shown(app).count("Missing:") == 2
    (way,) = [button for button in app.button if button.key == "three"]
    way.click().run()
    assert not app.exception
    assert app.session_state["atlas_selection"].model == "en-fr"


def test_a_place_of_another_family_becomes_one_that_is_there(writer: LanguageModel) -> None:
    assert session.attentions(writer) == ("decoder.self_attention",)
    place = session.checked_place(writer, "decoder.cross_attention", 9, 2)
    assert place.parameters() == {"attention": "decoder.self_attention", "layer": "1", "head": "2"}


def test_limits_hold_for_prompt_and_continuation(writer: LanguageModel) -> None:
    refusals = [session.refused(writer, *pair) for pair in (("love " * 201,), ("love", "car " * 201), ("  ",), ("love", "car"))]
    assert [refusal and refusal.key for refusal in refusals] == [
        "limits.source_tokens",
        "limits.target_tokens",
        "limits.empty",
        None,
    ]
    assert len(session.translation("en-lm", "love " * 150).produced) <= session.MAX_TOKENS


def test_altered_models_read_the_one_attention(writer: LanguageModel) -> None:
    for variant in ("even", session.head_off(1, 0), "mean:decoder.self_attention"):
        altered = session.altered("en-lm", PROMPT, None, 1, variant)
        trace = session.trace("en-lm", PROMPT)
        assert len(altered) == len(trace.produced)
        assert altered != trace.log_probabilities
        assert session.altered_translation("en-lm", PROMPT, variant).startswith(PROMPT)


def test_a_sentence_said_of_language_models_asks_for_nothing_else() -> None:
    def asked(sentence: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", sentence))

    for language in text.LANGUAGES:
        known = text.sentences(language)
        for key in (key for key in known if key.startswith(f"{text.INSTEAD}.")):
            replaced = key.removeprefix(f"{text.INSTEAD}.")
            assert asked(known[key]) <= asked(known[replaced]), key
