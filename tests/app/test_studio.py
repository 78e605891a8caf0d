"""Alignment studio: what a visitor brings, what the page understood of it, the work, the list; every session by itself."""

import re
import threading
import time
from collections.abc import Callable
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session, text
from app.components.pair_list import unpack
from app.session import limits, studio_reading, studio_work
from app.session.common_words import may_be
from app.session.studio_study import File, Reading, Study
from app.session.studio_work import Alignments, Job
from model.alignment import symmetrize
from model.alignment.corpus import Settings, align
from model.alignment.extract import Choice
from model.alignment.formats import Entry, GoldLinks
from model.alignment.formats.problem import MESSAGES
from model.translator import Translator
from tests.app.conftest import OpenApp, said

PAIRS = (
    ("I love you.", "Je t'aime."),
    ("The cat sleeps.", "Le chat dort."),
    ("I will see you there . The weather is cold today .", "Je te verrai là-bas ."),
    ("He has a small house.", "Il a une petite maison."),
)
TABLE = "".join(f"{source}\t{target}\n" for source, target in PAIRS).encode()


def shown(app: AppTest) -> str:
    return unescape(re.sub(r"<style.*?</style>|<[^>]+>", "", said(app), flags=re.DOTALL))


def bring(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    (box,) = [box for box in app.file_uploader if str(box.key).startswith("studio_files")]  # after a refusal it is another
    box.set_value([(name, content, "text/plain") for name, content in files]).run()
    assert not app.exception, app.exception
    return app


def study_of(app: AppTest) -> Study:
    found: Study = app.session_state["atlas_study"]
    return found


def sides(study: Study) -> list[tuple[str, str]]:
    return [(entry.source, entry.target) for entry in study.entries]


def until(done: Callable[[], bool]) -> None:
    for _ in range(1200):
        if done():
            return
        time.sleep(0.02)
    pytest.fail("the work did not end in time")


def aligned(app: AppTest) -> Study:
    """Begin the work and wait for it."""
    app.button(key="studio_start").click().run()
    found = study_of(app)
    until(lambda: not found.under_way)
    app.run()
    assert not app.exception, app.exception
    assert found.state == "done", found.reason
    return found


def listed(app: AppTest) -> dict[str, object]:
    """What the list of pairs was given."""
    messages = [element.proto.bytes for element in app.get("bidi_component")]
    return next(found for found in map(_json, messages) if found and "opened" in found and "pages" in found)


def _json(message: bytes) -> dict[str, object]:
    try:
        return unpack(message)
    except ValueError:
        return {}


def order(app: AppTest) -> list[int]:
    rows = listed(app)["rows"]
    assert isinstance(rows, list)
    return [row["index"] for row in rows]


# ----- what comes in


def test_an_empty_studio_invites_and_needs_no_sentence(open_app: OpenApp) -> None:
    app = open_app("studio", text="", lang="en")
    assert app.file_uploader(key="studio_files").label.startswith("One file of pairs")
    assert "At most 5 MB a file and 10,000 pairs" in shown(app)
    assert not [box for box in app.text_area if box.key == "sentence"]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        (
            "en",
            [
                "pairs.tsv: table with tabs (TSV).",
                "Encoding: UTF-8.",
                "Pairs: 4, from English to French",
                "which do not look like translations of each other: 1 of 4 pairs",
            ],
        ),
        ("zh", ["pairs.tsv：制表符分隔的表格（TSV）。", "4 对，从英语到法语", "4 对中有 1 对两侧长度相差很大"]),
    ],
)
def test_a_preview_says_what_was_understood_and_what_looks_wrong(open_app: OpenApp, lang: str, words: list[str]) -> None:
    app = bring(open_app("studio", lang=lang, model="en-fr"), ("pairs.tsv", TABLE))
    said_now = shown(app).replace("\N{WORD JOINER}", "")
    for word in words:
        assert word in said_now
    assert "Jet'aime." in said_now.replace(" ", "")
    assert app.button(key="studio_start").label


def test_two_files_and_links_are_told_apart_by_what_they_hold(open_app: OpenApp) -> None:
    sources, targets = (b"the red car\nhello\n", b"la voiture rouge\nbonjour\n")
    app = bring(
        open_app("studio", lang="en", model="en-fr"), ("x.fr", targets), ("gold", b"0-0 1-2 2-1\n0p0\n"), ("x.en", sources)
    )
    found = study_of(app)
    assert [(entry.source, entry.target) for entry in found.entries] == [
        ("the red car", "la voiture rouge"),
        ("hello", "bonjour"),
    ]
    assert found.gold == [
        GoldLinks(frozenset({(0, 0), (1, 2), (2, 1)}), frozenset({(0, 0), (1, 2), (2, 1)})),
        GoldLinks(frozenset(), frozenset({(0, 0)})),
    ]
    assert not found.split_punctuation  # links count the words of the file
    assert "Gold links from gold: Pharaoh, words counted from 0; pairs that have them: 2" in shown(app)


def test_links_alone_join_the_pairs_that_are_there(open_app: OpenApp) -> None:
    app = bring(open_app("studio", model="en-fr"), ("pairs.tsv", TABLE))
    before = study_of(app).entries
    bring(app, ("gold.align", b"0-0\n\n\n0-0 1-1\n"))
    found = study_of(app)
    assert found.entries == before
    assert found.gold[3] == GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)}))


def test_the_reading_is_corrected(open_app: OpenApp) -> None:
    table = b"a,English,French\n1,Good evening,Bonsoir\n2,Thank you,Merci\n"
    app = bring(open_app("studio", lang="en", model="en-fr"), ("t.csv", table))
    app.selectbox(key="studio_source_column").set_value(2).run()
    assert study_of(app).pairs.columns == (2, 1)
    assert study_of(app).entries[0].source == "Bonsoir"
    app.toggle(key="studio_swap").set_value(True).run()
    assert study_of(app).entries[0].source == "Good evening"
    app.toggle(key="studio_header").set_value(False).run()
    assert study_of(app).total == 3
    assert not app.exception


def test_an_encoding_is_corrected(open_app: OpenApp) -> None:
    app = bring(open_app("studio", lang="en", model="en-fr"), ("short.tsv", "déjà vu\tdéjà vu\n".encode("windows-1252")))
    assert study_of(app).entries[0].source == "déjà vu"
    app.selectbox(key="studio_encoding").set_value("koi8-r").run()
    assert study_of(app).entries[0].source == "déjà vu".encode("windows-1252").decode("koi8-r")


def test_problems_are_told_by_line_and_text_of_files_stays_text(open_app: OpenApp) -> None:
    name = "<img src=x onerror=alert(1)>.txt"
    content = b"<b>bold</b> $5 _x_ ||| <i>gras</i> *y*\nno bars here\nhello ||| bonjour\n"
    app = bring(open_app("studio", lang="en", model="en-fr"), (name, content))
    assert f"{name}, line 2: The line has no ' ||| '" in shown(app)
    assert "<img" not in said(app)
    assert "<i>gras" not in said(app)
    assert "<b>bold</b>" in shown(app)
    found = aligned(app)
    assert found.results[0].source == "<b>bold</b> $5 _x_"


def test_a_model_is_chosen_by_the_languages_of_the_pairs(open_app: OpenApp) -> None:
    chinese = "我爱你。\tI love you.\n你好。\tHello.\n".encode("gb18030")
    app = bring(open_app("studio", lang="en", model="en-fr"), ("zh.tsv", chinese))
    assert study_of(app).model == "zh-en"
    assert study_of(app).pairs.encoding == "gb18030"
    app.selectbox(key="studio_model").set_value("en-zh").run()
    assert study_of(app).model == "en-zh"
    assert study_of(app).flags[0] == {"source_language", "target_language"}
    assert "Sources that do not look like English, which en-zh reads: 2 of 2" in shown(app)


def test_after_a_refused_file_the_box_is_empty_for_the_next(open_app: OpenApp) -> None:
    app = bring(open_app("studio", lang="en"), ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(40)))
    assert "picture.png" in shown(app)
    app.file_uploader(key="studio_files_1").set_value([("pairs.tsv", TABLE, "text/plain")]).run()
    assert sides(study_of(app)) == list(PAIRS)
    assert "picture.png" not in shown(app)


def test_too_large_a_file_is_refused_with_limit_and_a_way_out(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD", 50)
    app = bring(open_app("studio", lang="en", model="en-fr"), ("big.tsv", TABLE))
    assert f"big.tsv: The file has {len(TABLE)} bytes; the limit is 50." in shown(app)
    assert any("python -m model.alignment" in code.value for code in app.code)


def test_too_many_pairs_are_told_and_the_first_are_there(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PAIRS", 3)
    app = bring(open_app("studio", lang="en", model="en-fr"), ("many.tsv", TABLE))
    assert study_of(app).total == 3
    assert "more than 3 pairs; the first 3 are read" in shown(app)


def test_what_cannot_be_read_is_a_message_in_both_languages(open_app: OpenApp) -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "b">]><tmx version="1.4"></tmx>'
    for lang, words in (("en", "document type / entities not allowed"), ("zh", "不允许文档类型声明和实体")):
        assert words in shown(bring(open_app("studio", lang=lang, model="en-fr"), ("bomb.tmx", bomb)))


@pytest.mark.parametrize("lang", text.LANGUAGES)
def test_every_message_is_there_in_every_language_with_its_values(lang: str) -> None:
    sentences = text.sentences(lang)
    for code, message in MESSAGES.items():
        assert f"studio.problem_{code}" in sentences, code
        values = set(re.findall(r"(?<!\{)\{(\w+)", message))
        assert set(re.findall(r"(?<!\{)\{(\w+)", sentences[f"studio.problem_{code}"])) == values, code


def test_pasted_text_is_read_from_one_box_or_two(open_app: OpenApp) -> None:
    app = open_app("studio", lang="en", model="en-fr")
    app.text_area(key="studio_paste").set_value("I love you.\nHello.")
    app.text_area(key="studio_paste_target").set_value("Je t'aime.\nBonjour.")
    app.button(key="studio_read").click().run()
    assert [(entry.source, entry.target) for entry in study_of(app).entries] == [
        ("I love you.", "Je t'aime."),
        ("Hello.", "Bonjour."),
    ]


def test_a_link_to_a_pair_says_that_the_file_is_needed(open_app: OpenApp) -> None:
    assert "This link opens pair 7 of a file" in shown(open_app("studio", lang="en", pair="6"))
    assert "This link opens" not in shown(open_app("studio", lang="en"))


def test_a_link_names_a_sample_of_ours_and_its_pair_until_the_study_is_ended(open_app: OpenApp) -> None:
    app = open_app("studio", lang="en", sample="en-fr-table", pair="2")
    aligned(app)
    assert (listed(app)["opened"], app.query_params["sample"]) == (2, "en-fr-table")
    app.button(key="studio_end").click().run()
    assert not {"sample", "pair"} & set(app.query_params)
    assert "atlas_study" not in app.session_state


def test_sources_alone_are_translated_first(open_app: OpenApp) -> None:
    app = open_app("studio", lang="en", model="en-fr")
    app.text_area(key="studio_paste").set_value("I love you.")
    app.button(key="studio_read").click().run()
    assert "Sources in English without translations: 1. The model en-fr will translate them" in shown(app)
    found = aligned(app)
    assert found.results[0].target == session.translation("en-fr", "I love you.").text
    assert found.translated == {0}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"0-0 1-2\n\n2p1\n", True),
        (b"1:1/1 2:3/0\n", True),
        (b"1 2 2 S\n1 3 4 P\n", True),
        (b"# Sentence pair (1) source length 2\nle chat\nNULL ({ }) the ({ 1 })\n", True),
        (b"0-0 1-x\n0_0\n0-0\n1-1\n", True),  # damaged
        ("0-0\n1-1\n".encode("utf-16"), True),
        (b"pair\tsource\ttarget\n1\t0\t0\n", True),
        (b'[{"links": [[0, 0]]}]', True),
        (b"pair\tsource\ttarget\n1\tHello\tBonjour\n", False),
        (b'[{"en": "Hello", "fr": "Bonjour"}]', False),
        (b"a-b c-d\n", False),
        (b"0-0\nhello\tbonjour\n", False),
        (b"", False),
    ],
)
def test_a_file_of_links_is_known_by_what_it_holds(content: bytes, expected: bool) -> None:
    assert studio_reading.holds_links(File("any", content)) is expected


def test_links_too_many_are_told_and_links_alone_are_no_sentences(open_app: OpenApp) -> None:
    app = open_app("studio", lang="en", model="en-fr")
    assert "g.align: This is a file of links between words" in shown(bring(app, ("g.align", b"0-0\n1-1\n")))
    app = bring(app, ("pairs.tsv", TABLE), ("g.align", b"0-0\n" * 6), ("h.align", b"1-1\n" * 4))
    assert "g.align: Links of 2 pairs more than the 4 that there are" in shown(app)
    assert "2 files of links were given. This one is read; h.align left out." in shown(app)
    assert study_of(app).gold == [GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0)}))] * 4


def test_of_three_languages_those_of_the_model_are_read(open_app: OpenApp) -> None:
    texts = (("en", "Hello"), ("zh-CN", "你好"), ("fr", "Bonjour"))
    unit = "".join(f'<tuv xml:lang="{language}"><seg>{said}</seg></tuv>' for language, said in texts)
    memory = f'<tmx version="1.4"><header srclang="en"/><body><tu>{unit}</tu></body></tmx>'.encode()
    app = bring(open_app("studio", lang="en", model="fr-en"), ("t.tmx", memory))
    assert (study_of(app).model, sides(study_of(app))) == ("fr-en", [("Bonjour", "Hello")])
    app.selectbox(key="studio_model").set_value("en-zh").run()
    assert sides(study_of(app)) == [("Hello", "你好")]


def test_another_script_is_told(open_app: OpenApp) -> None:
    rows = "Я тебя люблю .\tJe t' aime .\nI love you .\t愛してる。\nI have 42 .\tJ' en ai 42 .\n".encode()
    app = bring(open_app("studio", lang="en", model="en-fr"), ("x.tsv", rows))
    assert [sorted(flags) for flags in study_of(app).flags] == [["source_language"], ["target_language"], []]


def test_what_a_file_is_and_what_to_do_is_said_in_the_language_of_the_page(open_app: OpenApp) -> None:
    for lang, words in (("en", "This is a picture, not text; save it as text"), ("zh", "图片。请另存为文本")):
        assert words in shown(bring(open_app("studio", lang=lang, model="en-fr"), ("a.png", b"\x89PNG\r\n\x1a\n\0")))


@pytest.mark.parametrize(
    ("written", "language", "expected"),
    [
        ("The cat is in the house.", "en", True),
        ("Le chat est dans la maison et il dort.", "en", False),
        ("The cat is in the house and it sleeps.", "fr", False),
        ("Paris", "fr", True),
        ("Je ne sais pas.", "en", False),
        ("Marie dit « je sais ».", "en", False),
        ("He said “la vie est belle” to me.", "en", True),
        ("I'll see.", "fr", False),
        ("Caf\u00e9, d\u00e9j\u00e0 vu", "en", True),
        ("42 !", "zh", True),
        ("你好", "en", False),
    ],
)
def test_languages_are_doubted_only_where_there_is_evidence(written: str, language: str, expected: bool) -> None:
    assert may_be(written, language) is expected


# ----- the list


def test_the_list_is_sorted_filtered_and_searched(open_app: OpenApp) -> None:
    app = bring(open_app("studio", lang="en", model="en-fr"), ("pairs.tsv", TABLE))
    found = aligned(app)
    assert order(app) == [0, 1, 2, 3]
    scores = [one.scores.confidence_percent for one in found.results]
    app.session_state["studio_sort"] = "confidence"
    app.run()
    assert order(app) == list(np.argsort(scores, kind="stable"))
    app.session_state["studio_descending"] = True
    app.run()
    assert order(app) == list(np.argsort([-score for score in scores], kind="stable"))
    app.text_input(key="studio_query").set_value("CHAT").run()
    assert order(app) == [1]
    app.text_input(key="studio_query").set_value("").run()
    app.multiselect(key="studio_flags").set_value(["ratio"]).run()
    assert order(app) == [2]
    app.multiselect(key="studio_flags").set_value([]).run()
    app.slider(key="studio_below").set_value(float(int(min(scores)) + 1)).run()
    assert order(app) == [int(np.argmin(scores))]
    assert "weak proxy of quality" in shown(app)
    assert not app.exception


def test_ten_thousand_pairs_are_paged_and_only_fifty_are_sent(open_app: OpenApp) -> None:
    app = bring(open_app("studio", lang="en", model="en-fr"), ("pairs.tsv", TABLE))
    found = aligned(app)
    found.entries *= 2500
    found.flags *= 2500
    found.results[:] = found.results * 2500
    found.version += 1
    app.session_state["studio_page"] = 199
    app.run()
    assert (listed(app)["total"], listed(app)["pages"], order(app)) == (10_000, 200, list(range(9950, 10_000)))
    app.text_input(key="studio_query").set_value("cat").run()
    assert listed(app)["total"] == 2500
    assert order(app) == list(range(1, 200, 4))


def test_gold_gives_an_error_rate_and_an_edit_goes_before_it(open_app: OpenApp) -> None:
    app = bring(
        open_app("studio", lang="en", model="en-fr"), ("t.tsv", b"I love you\tje vous aime\n"), ("g.align", b"0-0 1-2 2-1\n")
    )
    found = aligned(app)
    links = {(link.source, link.target) for link in found.results[0].links}
    gold = {(0, 0), (1, 2), (2, 1)}
    expected = 1 - 2 * len(links & gold) / (len(links) + len(gold))
    assert f"Against gold links (pairs that have them: 1): AER {expected:.3f}" in shown(app)
    found.edits[0] = GoldLinks(frozenset(links), frozenset(links))
    found.version += 1
    app.run()
    assert "AER 0.000" in shown(app)
    assert "linked by hand" in str(listed(app)["rows"])


# ----- settings


@pytest.fixture(scope="module")
def french() -> Translator:
    atlas = session.load("en-fr")
    assert isinstance(atlas, Translator)
    return atlas


@pytest.fixture
def study(french: Translator) -> Study:
    """A study of four pairs, read without a page."""
    return studio_reading.read(studio_reading.upload_of([File("pairs.tsv", TABLE)]), Reading(), "en-fr")


def test_another_head_needs_no_model_and_gives_the_links_that_it_would(study: Study, french: Translator) -> None:
    assert studio_work.work(Job("", study, french), lambda: True)
    choice = Choice(0, 1, "produced")
    study.use(Settings(choice=choice, split_punctuation=True))
    assert study.stale()
    assert study.links_follow()
    for one, again in zip(study.results, align(french, PAIRS, Settings(choice=choice, split_punctuation=True)), strict=True):
        assert {link[:2] for link in one.links} == {link[:2] for link in again.links}
    study.use(Settings(choice=choice, threshold=0.1, split_punctuation=True))
    assert not study.links_follow()


def test_directions_are_joined_without_the_model_once_both_are_there(study: Study, french: Translator) -> None:
    first = study.settings
    study.use(Settings(choice=first.choice, symmetrize="intersection", split_punctuation=True))
    assert studio_work.work(Job("", study, french, french), lambda: True)  # its own words for the other direction: any model does
    joined = [{link[:2] for link in one.links} for one in align(french, PAIRS, study.settings, french)]
    assert [{link[:2] for link in one.links} for one in study.results] == joined
    study.use(Settings(choice=first.choice, symmetrize="union", split_punctuation=True))
    assert study.links_follow()
    forward = align(french, PAIRS, first)
    backward = align(french, [(target, source) for source, target in PAIRS], Settings(split_punctuation=True))
    for one, there, back in zip(study.results, forward, backward, strict=True):
        both = {link[:2] for link in there.links}, {(link.target, link.source) for link in back.links}
        assert {link[:2] for link in one.links} == symmetrize(*both, "union")


# ----- the work


def test_what_is_done_stays_when_it_is_cancelled_and_the_rest_follows(study: Study, french: Translator) -> None:
    study.entries *= 10
    study.flags *= 10
    assert not studio_work.work(Job("", study, french), lambda: study.done < 4)
    assert study.done == 4
    assert studio_work.work(Job("", study, french), lambda: True)
    assert [one.index for one in study.results] == list(range(40))
    assert [one.source for one in study.results] == [source for source, _ in PAIRS] * 10


def test_one_works_the_next_waits_and_who_is_gone_is_passed_over(study: Study, french: Translator) -> None:
    here = {"one", "two", "gone"}
    now = [0.0]
    all_work = Alignments(1, lambda owner: owner in here, lambda: now[0])
    studies = {name: studio_reading.read(study.upload, Reading(), "en-fr") for name in ("one", "gone", "two")}
    gate = threading.Event()
    waiting = Job("one", studies["one"], french)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studio_work, "work", lambda job, goes_on: gate.wait(20) or job is waiting)
        all_work.submit(waiting)
        for name in ("gone", "two"):
            all_work.submit(Job(name, studies[name], french))
        assert [all_work.place(studies[name]) for name in ("one", "gone", "two")] == [0, 1, 2]
        here.discard("gone")
        now[0] = studio_work.AWAY + 1
        assert all_work.place(studies["two"]) == 1
        gate.set()
        until(lambda: studies["two"].state == "done")
    assert studies["gone"].state == "cancelled"
    all_work.submit(Job("two", studies["two"], french))
    all_work.cancel("two")
    until(lambda: not studies["two"].under_way)


def test_an_error_of_the_work_is_told_and_the_next_begins(
    study: Study, french: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bool:
        raise RuntimeError("no luck")

    monkeypatch.setattr(studio_work, "work", broken)
    all_work = Alignments(1, lambda _: True)
    all_work.submit(Job("", study, french))
    until(lambda: study.state == "failed")
    assert study.reason == "RuntimeError: no luck"


def test_two_sessions_never_see_each_other(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = iter(("one", "two") * 50)
    one, two = open_app("studio", lang="en", model="en-fr"), open_app("studio", lang="en", model="en-fr")
    monkeypatch.setattr(session.studio, "owner", lambda: next(owners))
    bring(one, ("one.tsv", TABLE))
    assert "atlas_study" not in two.session_state
    assert "one.tsv" not in shown(two.run())
    bring(two, ("two.tsv", b"Hello.\tBonjour.\n"))
    assert (study_of(one).name, study_of(two).name) == ("one.tsv", "two.tsv")
    assert [entry.source for entry in study_of(one).entries] == [source for source, _ in PAIRS]
    assert study_of(two).entries == [Entry("Hello.", "Bonjour.", 1)]
