"""A study while its work runs and its settings change: nothing is lost, and what is taken away says what it was made with."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from app import session
from app.session import limits, studio_export, studio_reading, studio_rivals
from app.session.studio_study import File, Reading, Study
from app.session.studio_work import Job, work
from model.alignment.corpus import Settings
from model.alignment.extract import Choice
from model.alignment.formats import GoldLinks
from model.translator import Translator
from tests.app.conftest import shipping
from tests.model import tiny

TABLE = "".join(f"{source}\t{target}\n" for source, target in (("I love you.", "Je t'aime."), ("Yes.", "Oui.")))


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder: Path = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "en-fr-rotary"):
        tiny.save_checkpoint(folder / name)
        (folder / name / "card.toml").write_text(f'name = "{name}"\n', encoding="utf-8")
    with shipping(folder):
        yield


@pytest.fixture
def study() -> Study:
    """Two pairs, aligned; punctuation is a word of its own."""
    found = studio_reading.read(studio_reading.upload_of([File("pairs.tsv", TABLE.encode())]), Reading(), "en-fr")
    atlas = session.load(found.model)
    assert isinstance(atlas, Translator)
    assert work(Job("", found, atlas), lambda: True)
    found.state = "done"
    return found


def test_links_made_by_hand_belong_to_the_words_that_they_join(study: Study) -> None:
    """Split or not, the same position is another word."""
    hand = GoldLinks(frozenset({(3, 3)}), frozenset({(3, 3)}))  # the full stops
    study.edits[0] = hand
    split = study.settings
    study.use(replace(split, split_punctuation=False))
    assert study.words_split, "the results that are there still count as before"
    assert study.gold_of(0) == hand
    study.begin_again()
    assert study.gold_of(0) is None, "their words are others now"
    study.use(split)
    assert study.gold_of(0) == hand


def test_what_is_taken_away_names_the_model_that_made_it(study: Study) -> None:
    made = studio_export.caption_of(study)
    assert (made["model"], made["words"]) == ("en-fr", "split")
    study.change_model("en-fr-rotary", None, replace(study.settings, split_punctuation=False), study.flags)
    assert study.stale()
    assert studio_export.caption_of(study) == made
    assert session.links_ending(study, "pharaoh") == "links.zip", "with the text that these links count"
    study.change_model("en-fr", None, replace(study.settings, choice=Choice(0, 1, "read"), split_punctuation=True), study.flags)
    assert studio_export.caption_of(study)["layer"] == "1", "these links need no model"


def test_links_whose_weight_is_not_known_are_taken_away_without_one(study: Study) -> None:
    study.use(replace(study.settings, choice=Choice(0, 1, "read")))
    links = {link[:2] for one in study.results for link in one.links}
    assert links
    for format in studio_export.LINK_FILES:
        assert b"nan" not in session.links_file(study, format).lower()
    for table in (True, False):
        assert b"nan" not in session.results_file(study, table=table).lower()
    assert b'"weight"' not in session.links_file(study, "json")


def test_numbers_of_sentences_that_leap_are_read_in_no_time(study: Study) -> None:
    """Where a pair was left out, links may be in step with lines or with pairs: they are counted to know, but not for ever."""
    table = File("pairs.tsv", (TABLE.replace("Yes", "left out\nYes") + "No.\tNon.\n").encode())
    far = File("far.wa", "".join(f"{1 + 90_000 * step} 1 1\n" for step in range(4_000)).encode())
    found = studio_reading.read(studio_reading.upload_of([table, far]), Reading(), "en-fr")
    assert found.total == 3
    assert found.gold_of(0) == GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0)}))


def test_from_a_threshold_to_both_directions_and_back(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joint has no threshold beside its own; whoever chooses it need not take the threshold away first."""
    monkeypatch.setitem(st.session_state, "atlas_study", study)
    study.use(replace(study.settings, threshold=0.2))
    session.choose(symmetrize="joint")
    assert (study.settings.symmetrize, study.settings.threshold) == ("joint", None)
    session.choose(symmetrize=None)
    assert study.settings.symmetrize is None


def test_the_time_left_goes_by_the_pairs_of_this_run(study: Study) -> None:
    """Half were done before: they took no time now."""
    study.entries *= 2
    study.state, study.began, study.begun_with = "running", time.monotonic() - 10, 0
    assert study.seconds_left == pytest.approx(10, abs=1)
    study.begun_with = 1
    assert study.seconds_left == pytest.approx(20, abs=1)
    study.begun_with = 2
    assert study.seconds_left is None


def test_settings_that_change_while_results_come_in_lose_none(study: Study) -> None:
    one, other = (Settings(choice=Choice(0, head, "produced"), split_punctuation=True) for head in (0, 1))
    more = [replace(study.forward[0], index=index) for index in range(2, 1000)]
    writer = threading.Thread(target=lambda: [study.take([each], []) for each in more])
    writer.start()
    while writer.is_alive():
        study.use(other)
        study.use(one)
    writer.join()
    assert [each.index for each in study.results] == list(range(1000))
    assert {each.links for each in study.results[2:]} == {study.results[0].links}


def test_links_from_a_file_count_the_words_of_the_study(study: Study) -> None:
    sides = study.results[0].source_words, study.results[0].target_words
    assert [words[-1] for words in sides] == [".", "."]
    last = len(sides[0]) - 1, len(sides[1]) - 1
    studio_rivals.add_file(study, File("last.align", b"0-0 %d-%d\n\n" % last))
    rival = studio_rivals.rivals(study)["file:last.align"]
    assert not [problem for problem in rival.problems if problem.message.code == "links_outside"]
    assert rival.sides["file"][0] == {(0, 0), last}


def test_too_large_a_file_of_links_is_refused(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD", 10)
    studio_rivals.add_file(study, File("own.align", b"0-0 " * 100))
    (rival,) = studio_rivals.rivals(study).values()
    assert rival.now == "failed"
    assert [problem.message.code for problem in rival.problems] == ["too_large"]


def test_an_aligner_whose_visitor_was_away_can_be_asked_for_again(study: Study) -> None:
    rival = studio_rivals.rivals(study)["statistical:hmm"] = session.Rival("statistical", "hmm")
    slot = threading.Semaphore(0)  # another one learns
    studio_rivals._learn(rival, [], slot, lambda: False)
    assert studio_rivals.rivals(study) == {}
