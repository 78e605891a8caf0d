"""The profile of a server, what may be asked for how often, and what a visitor is told who asks for more."""

import tomllib
from typing import Any

import pytest

from app import server_profile as profile
from app import session, text
from app.server_profile import ProfileError, Rate
from app.session import limits, rates
from tests.app.conftest import OpenApp

OPEN = tomllib.loads((profile.FOLDER / "open.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", profile.names())
def test_every_profile_that_is_shipped_can_be_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(profile.VARIABLE, name)
    assert profile.profile.__wrapped__().name == name


def test_a_class_of_thirty_stays_below_the_rates() -> None:
    """One thing every two seconds each, in the profile of a lesson; four classes on an open server."""
    for name, people in (("classroom", 30), ("open", 120)):
        found = profile.read(name, tomllib.loads((profile.FOLDER / f"{name}.toml").read_text("utf-8")))
        assert found.sessions >= people
        for kind in ("sentence", "what_if"):
            assert found.rate[kind].session > 30
            assert found.rate[kind].server > 30 * people


def test_an_unknown_profile_is_told_with_those_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(profile.VARIABLE, "../open")
    with pytest.raises(ProfileError, match=r"ATLAS_PROFILE='../open': there is no such profile; choose one of classroom, open"):
        profile.profile.__wrapped__()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_tokens": "many"}, r"max_tokens = 'many'; a whole number from 1 to 500 is needed"),
        ({"max_tokens": True}, "max_tokens = True"),
        ({"max_tokens": 0}, "max_tokens = 0"),
        ({"max_message": 1_500_000}, r"from 1,000,000 to 50,000,000 in steps of 1,000,000"),
        ({"colour": 1}, "has colour, which is no field"),
        ({"rate": 3}, r"a table \[rate\] is needed"),
        ({"rate": {**OPEN["rate"], "upload": [5]}}, r"rate.upload = \[5\]; two numbers are needed"),
        ({"rate": {**OPEN["rate"], "upload": [5, 4]}}, "one session may not ask for more than the whole server"),
        ({"rate": {}}, "lacks alignment, load, measurement"),
    ],
)
def test_a_bad_value_is_told_with_what_is_allowed(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        profile.read("mine", {**OPEN, **changes})


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ProfileError, match="lacks sessions"):
        profile.read("mine", {key: value for key, value in OPEN.items() if key != "sessions"})


def test_a_minutes_worth_may_be_asked_for_at_once_and_then_one_after_the_other() -> None:
    found = rates.Rates({"upload": Rate(2, 3)})
    one, other = found.of_one(), found.of_one()

    def asks(own: dict[str, rates.Bucket], now: float) -> session.Remark | None:
        refusal = found.refusal("upload", own, now)
        if refusal is None:
            found.take("upload", own)
        return refusal

    assert asks(one, 100) is None
    assert asks(one, 100) is None
    assert asks(one, 100) == session.Remark("rates.alone_upload", {"limit": 2, "seconds": 30})
    assert asks(other, 100) is None
    assert asks(other, 100) == session.Remark("rates.together_upload", {"limit": 3, "seconds": 20})
    assert asks(other, 121) is None  # one came in for all together meanwhile
    assert asks(one, 131) == session.Remark("rates.together_upload", {"limit": 3, "seconds": 9})
    assert asks(one, 141) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_too_many_sentences_wait_and_nothing_is_lost(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setattr(rates, "_rates", rates.Rates(dict.fromkeys(profile.KINDS, Rate(1, 50))))
    app = open_app("translate", lang=language, model="toy", text=f"the cat sees a dog {language}")
    app.text_area(key="sentence").set_value("the dog sees a cat").run()
    text.use(language)
    waits = [one.body for one in app.get("html") if one.body.startswith('<div class="atlas-notice warning"')]
    told = text.text("rates.alone_sentence", limit=1, seconds="some")  # 60 or, a moment later, 59
    assert told.partition("some")[0][:30] in waits[0]
    assert app.query_params["text"] == "the dog sees a cat"
    monkeypatch.setattr(rates, "_rates", rates.Rates(dict.fromkeys(profile.KINDS, Rate(90, 90))))
    app.session_state[rates._BUCKETS] = rates._rates.of_one()
    app.run()
    assert app.text_area(key="sentence").value == "the dog sees a cat"
    assert not [one for one in app.get("html") if one.body.startswith('<div class="atlas-notice warning"')]


def test_a_long_address_is_refused_before_work(open_app: OpenApp) -> None:
    app = open_app("heads", text="a" * (limits.MAX_LINK + 1), model="toy")
    assert any(f"{limits.MAX_LINK:,}" in one.body for one in app.get("html") if "atlas-notice" in one.body)
    assert app.query_params["model"] != "toy"


def test_live_training_that_is_off_is_said(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TRAININGS", 0)
    app = open_app("training", lang="zh")
    text.use("zh")
    assert any(text.text("rates.no_training")[:12] in one.body for one in app.get("html"))
    assert not [button for button in app.button if button.key == "training_begin"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_files_that_are_off_are_said_and_pasted_text_is_still_read(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD", 0)
    monkeypatch.setattr(session, "MAX_UPLOAD", 0)
    app = open_app("studio", lang=language)
    text.use(language)
    assert any(text.text("rates.no_uploads")[:12] in one.body for one in app.get("html"))
    assert not app.get("file_uploader")
    app.text_area(key="studio_paste").set_value("I see\tje vois\n")
    app.button(key="studio_read").click().run()
    assert [button for button in app.button if button.key == "studio_start"]


def test_a_training_that_is_asked_for_too_often_is_put_off(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is begun, and the page says so beside the button; what was chosen stays."""
    limited = rates.Rates(dict.fromkeys(profile.KINDS, Rate(50, 50)) | {"training": Rate(1, 1)})
    monkeypatch.setattr(rates, "_rates", limited)
    limited.together["training"].take()
    app = open_app("training", lang="en", model="toy")
    app.button(key="training_begin").click().run()
    assert any("1 trainings a minute" in one.body for one in app.get("html"))
    assert session.own_training() is None
    assert [button for button in app.button if button.key == "training_begin" and not button.disabled]
