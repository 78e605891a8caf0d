"""The Alignment studio in a browser, from a file that is brought to a file that is taken away."""

import io
import re
import zipfile
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Page, expect

from model.alignment.choices import default_choice, default_threshold
from model.alignment.corpus import Settings, align
from model.alignment.formats import GoldLinks, read_alignments
from model.translator import Translator
from tests.browser.application import settle
from tests.browser.conftest import OpenPage

PAIRS = (
    ("I love you .", "Je t' aime ."),
    ("The cat sleeps .", "Le chat dort ."),
    ("He has <b>a small</b> house .", "Il a une petite maison ."),
    ("I will see you there . The weather is cold today .", "Je te verrai là-bas ."),
)


def bring(page: Page, name: str, content: bytes) -> None:
    page.locator("input[type=file]").set_input_files([{"name": name, "mimeType": "text/plain", "buffer": content}])
    page.locator(".st-key-studio_preview").wait_for()
    settle(page)


def links_of(page: Page) -> set[tuple[int, int]]:
    written = page.get_by_test_id("alignment").get_attribute("data-links") or ""
    return {(int(source), int(target)) for source, target in (link.split("-") for link in written.split())}


def test_a_file_is_brought_corrected_sorted_opened_linked_by_hand_and_taken_away(open_page: OpenPage, french: Translator) -> None:
    page = open_page("studio", model="en-fr")
    bring(page, "wrong way <i>.csv", "".join(f"{target};{source}\n" for source, target in PAIRS).encode("windows-1252"))
    preview = page.locator(".st-key-studio_preview")
    expect(preview).to_contain_text("wrong way <i>.csv")
    expect(preview).to_contain_text("WINDOWS-1252")
    page.locator(".st-key-studio_swap label").click()
    expect(preview.locator("table").first).to_contain_text("I love you .")
    expect(preview.locator("tbody tr").nth(2)).to_contain_text("He has < b > a small")  # word by word

    settle(page)  # the model follows the languages: a click before it is drawn would bring the old one back

    page.locator(".st-key-studio_start button").click()
    expect(page.get_by_test_id("stMain")).to_contain_text("Done: en-fr has read every pair (4).")
    settle(page)
    settings = Settings(default_choice(french), threshold=default_threshold(french), split_punctuation=True)
    found = list(align(french, PAIRS, settings))
    scores = [one.scores.confidence_percent for one in found]
    rows = page.get_by_test_id("pair-table").locator("tbody tr")
    expect(rows.first).to_contain_text(f"{scores[0]:.1f} %")
    page.get_by_test_id("sort-confidence").click()
    expect(page.get_by_test_id("sort-confidence").locator("xpath=..")).to_have_attribute("aria-sort", "ascending")
    expected = [str(index) for index in np.argsort(scores, kind="stable")]
    assert [row.get_attribute("data-index") for row in rows.all()] == expected

    page.get_by_test_id("open-1").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("pair-title")).to_have_text("Pair 2 of 4")
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["pair"] == ["1"]
    own = {(link.source, link.target) for link in found[1].links}
    assert links_of(page) == own
    page.get_by_test_id("edit").click()
    page.get_by_test_id("start_from_model").click()
    page.get_by_test_id("matrix").focus()
    page.keyboard.press("ArrowRight")  # to the first cell
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_test_id("save-gold").click()
    expect(page.get_by_test_id("pair-table").locator('tr[data-index="1"]')).to_contain_text("linked by hand")
    settle(page)

    button = page.locator(".st-key-studio_out_gold_pharaoh button:visible")  # of two: one is for narrow screens
    with page.expect_download() as caught:
        button.click()
    gold = frozenset(own | {(3, 0)})
    with zipfile.ZipFile(caught.value.path()) as archive:  # links count the words that were split, so these lie beside them
        saved = read_alignments(io.BytesIO(archive.read("links.align")))
        assert list(saved.rows)[1] == GoldLinks(gold, gold)
        names = archive.namelist()
    assert len(names) == 3


def test_another_visitor_sees_nothing_of_it_and_a_file_of_nothing_is_a_message(open_page: OpenPage) -> None:
    page = open_page("studio", model="en-fr", lang="zh", width=390, dark=True)
    assert page.get_by_test_id("pair-table").count() == 0
    page.locator("input[type=file]").set_input_files(
        [{"name": "空.tmx", "mimeType": "text/xml", "buffer": b"<!DOCTYPE a><tmx/>"}]
    )
    page.get_by_role("alert").wait_for()
    expect(page.get_by_role("alert")).to_contain_text("空.tmx")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("[\u3400-\u9fff]{4}"))
