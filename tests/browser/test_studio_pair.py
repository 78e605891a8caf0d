"""One pair in a browser: numbers on hover, links live under every switch, gold edited by keyboard and saved."""

import csv
import io
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.components import alignment
from app.components.alignment import Gold
from model.alignment import joint
from model.alignment.baseline import diagonal
from model.alignment.metrics import Counts
from model.alignment.symmetrize import METHODS, symmetrize
from tests.browser import application, standalone
from tests.browser.conftest import OpenPage
from tests.components import alignments

MODULES = Path(alignment.__file__).parent
Open = Callable[..., Page]


@pytest.fixture
def view(browser: BrowserContext) -> Iterator[Open]:
    pages: list[Page] = []
    problems: list[str] = []

    def view(width: int = 1280, query: dict[str, object] | None = None, **options: Any) -> Page:
        page = standalone.visit(browser, alignments.payload(**options), component=alignment, width=width, query=query)
        page.on("pageerror", lambda error: problems.append(str(error)))
        pages.append(page)
        return page

    yield view
    for page in pages:
        page.evaluate("sessionStorage.clear()")
        page.close()
    assert problems == []


def shown_links(page: Page) -> set[tuple[int, int]]:
    written = page.get_by_test_id("alignment").get_attribute("data-links") or ""
    return {(int(source), int(target)) for source, target in (link.split("-") for link in written.split())}


def send(page: Page, **options: Any) -> None:
    """What the server sends next."""
    page.evaluate("text => { window.send(text); }", standalone.encoded(alignments.payload(**options)))


def sent(page: Page, name: str) -> list[Any]:
    return [value for kind, value in standalone.sent(page) if kind == name]


def in_link(page: Page, name: str) -> str:
    return parse_qs(urlsplit(page.url).query)[name][0]


def test_a_word_lights_its_partners_with_the_weights_of_the_model(view: Open) -> None:
    page = view()
    map_ = alignments.words(alignments.maps()["weights"][1, 0], "produced")
    page.get_by_test_id("target-word-1").hover()
    live = page.get_by_test_id("live")
    best = int(map_[1].argmax())
    expect(live).to_contain_text(f"{map_[1, best]:.4f}")
    expect(live).to_contain_text("vieil")
    for column in range(5):
        partner = page.get_by_test_id(f"source-word-{column}")
        expect(partner).to_have_attribute(
            "data-weight", f"{map_[1, column]:.2f}" if map_[1, column] >= 0.02 else re.compile("^$")
        )
    page.get_by_test_id("source-word-0").focus()
    page.keyboard.press("ArrowRight")  # an equal word further on has a column of its own
    page.keyboard.press("ArrowRight")
    expect(live).to_contain_text("the\u2069” (2)")
    expect(page.get_by_test_id("target-word-3")).to_have_attribute("data-glow", f"{map_[3, 2]:.3f}" if map_[3, 2] > 0.004 else "")
    assert page.get_by_test_id("text").inner_text().replace("\n", "").endswith("“le vieil homme是”")


def test_both_directions_at_once_have_the_links_that_python_finds(view: Open) -> None:
    together = alignments.joint()
    page = view(joint=together, defaults={"second": "joint"})
    for measure in ("weights", "norms"):
        page.get_by_test_id(f"measure-{measure}").click()
        expected = joint.links(joint.mean(together.forward[measure], together.backward[measure]))
        assert expected
        assert shown_links(page) == expected
    expect(page.get_by_test_id("note")).to_contain_text("above 0.45, or above 0.1 and the largest of both")
    expect(page.get_by_test_id("rule-threshold")).to_have_count(0)  # it has a rule of its own
    expect(page.get_by_test_id("control-method")).to_have_count(0)
    page.get_by_test_id("head-mean").click()  # no guided head: it stands for itself
    own = alignments.words(alignments.maps()["norms"][1, 3], "produced")[:, :5].astype("float32")
    assert shown_links(page) == joint.links(joint.mean(own, together.backward["norms"]))
    assert in_link(page, "second") == "joint"


def test_switches_stay_in_the_browser_and_in_the_link(view: Open) -> None:
    page = view()
    given, back = alignments.maps(), alignments.backward().maps
    for name in ("layer-0", "head-mean", "row-read", "measure-norms"):
        page.get_by_test_id(name).click()
    map_ = alignments.words(given["norms"][0, 3], "read")
    assert shown_links(page) == alignments.links(map_)
    page.get_by_test_id("rule-threshold").click()
    assert shown_links(page) == alignments.links(map_, 0.2)
    page.get_by_test_id("threshold").fill("0.31")
    assert shown_links(page) == alignments.links(map_, 0.31)
    page.get_by_test_id("rule-argmax").click()
    page.get_by_test_id("second-reverse").click()
    backward = {(source, target) for target, source in alignments.links(back["norms"], words=4)}
    for method in METHODS:
        page.get_by_test_id("control-method").get_by_text(re.compile(f"^{method}$")).click()
        assert shown_links(page) == symmetrize(alignments.links(map_), backward, method)
    page.get_by_test_id("second-axis").click()
    other = {(source, int(map_[:, source].argmax())) for source in range(5) if map_[:, source].any()}
    assert shown_links(page) == symmetrize(alignments.links(map_), other, METHODS[-1])
    page.get_by_test_id("unit-pieces").click()
    assert shown_links(page) == symmetrize(alignments.links(map_), other, METHODS[-1])  # links are between words
    wanted = {
        "layer": "0",
        "head": "mean",
        "row": "read",
        "measure": "norms",
        "second": "axis",
        "unit": "pieces",
        "threshold": "argmax",
    }
    assert {name: in_link(page, name) for name in wanted} == wanted
    assert standalone.sent(page) == []
    page.reload()
    page.wait_for_selector("[data-testid=alignment][data-painted]")
    assert shown_links(page) == symmetrize(alignments.links(map_), other, METHODS[-1])


def test_symmetrisation_is_that_of_the_model_package(browser: BrowserContext) -> None:
    """The same rule in two languages: 300 random pairs of directions."""
    generator = random.Random(6)
    cases = []
    for _ in range(300):
        sources, targets = generator.randint(1, 7), generator.randint(1, 7)
        cells = [(source, target) for source in range(sources) for target in range(targets)]
        cases.append([sorted(generator.sample(cells, generator.randint(0, len(cells)))) for _ in range(2)])
    script = (MODULES / "symmetrize.js").read_text("utf-8").replace("export ", "")
    page = browser.new_page()
    found = page.evaluate(
        f"cases => {{ {script}\nreturn cases.map(([one, other]) => METHODS.map(m => symmetrize(one, other, m))); }}", cases
    )
    page.close()
    for (one, other), methods in zip(cases, found, strict=True):
        for method, links in zip(METHODS, methods, strict=True):
            assert [tuple(link) for link in links] == sorted(symmetrize(set(one), set(other), method)), (one, other, method)


def test_a_cell_goes_round_by_keyboard_and_is_saved_as_gold(view: Open) -> None:
    page = view()
    root, scores = page.get_by_test_id("alignment"), page.get_by_test_id("scores")
    links = shown_links(page)

    def agreement(sure: set[tuple[int, int]], possible: set[tuple[int, int]]) -> None:
        counts, plain = Counts.of(links, sure, possible), Counts.of(diagonal(5, 4), sure, possible)
        expect(scores).to_contain_text(
            f"AER {counts.alignment_error_rate:.3f}, precision {counts.precision:.3f}, recall {counts.recall:.3f}"
        )
        expect(scores).to_contain_text(f"AER {plain.alignment_error_rate:.3f}.")

    agreement({(0, 0), (1, 1)}, {(4, 2)})
    page.get_by_test_id("edit").click()
    page.get_by_test_id("matrix").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):  # the first arrow leads to the first cell
        page.keyboard.press(key)
    expect(page.get_by_test_id("live")).to_contain_text("“\u2068vieil\u2069” (1) ← “\u2068<b>\u2069” (3)")
    page.keyboard.press("Enter")
    agreement({(0, 0), (1, 1), (3, 1)}, {(4, 2)})
    page.keyboard.press("Enter")
    agreement({(0, 0), (1, 1)}, {(4, 2), (3, 1)})
    page.keyboard.press("Enter")
    expect(root).to_have_attribute("data-changed", "no")
    page.keyboard.press("u")
    expect(page.get_by_test_id("live")).to_contain_text("Gold: possible.")
    expect(page.get_by_test_id("draft")).to_contain_text("Not saved yet")

    send(page, index=2)  # another pair: the draft waits in this tab
    expect(page.get_by_test_id("pair-title")).to_have_text("Pair 3 of 3")
    expect(root).to_have_attribute("data-changed", "no")
    send(page)
    expect(page.get_by_test_id("draft")).to_contain_text("draft of this pair is back")
    page.get_by_test_id("save-gold").click()
    (gold,) = sent(page, "gold")
    assert gold["sure"] == [[0, 0], [1, 1]]
    assert sorted(map(tuple, gold["possible"])) == [(0, 0), (1, 1), (3, 1), (4, 2)]
    assert gold["index"] == 1
    send(page, gold=Gold({(0, 0), (1, 1)}, {(4, 2), (3, 1)}, hand=True))
    expect(page.get_by_test_id("draft")).to_contain_text("Saved as gold")
    expect(root).to_have_attribute("data-changed", "no")
    assert page.evaluate("sessionStorage.getItem('attention-atlas.alignment-draft')") == "{}"


def test_a_click_edits_and_the_models_links_are_a_start(view: Open) -> None:
    page = view(gold=None)
    root = page.get_by_test_id("alignment")
    expect(page.get_by_test_id("legend")).to_have_text("the model's link")
    page.get_by_test_id("edit").click()
    page.get_by_test_id("start_from_model").click()
    expect(page.get_by_test_id("scores")).to_contain_text("AER 0.000")
    cell, (left, top) = (
        float(root.get_attribute("data-cell") or 0),
        map(float, (root.get_attribute("data-corner") or "").split(",")),
    )
    free = next((source, target) for target in range(4) for source in range(5) if (source, target) not in shown_links(page))
    page.get_by_test_id("matrix").locator("canvas").click(
        position={"x": left + (free[0] + 0.5) * cell, "y": top + (free[1] + 0.5) * cell}
    )
    expect(page.get_by_test_id("live")).to_contain_text("Not linked. Gold: sure.")
    page.get_by_test_id("discard").click()
    expect(root).to_have_attribute("data-changed", "no")
    page.keyboard.press("n")
    assert sent(page, "go") == [2]


def test_a_link_of_another_pair_or_too_much_of_it_falls_back(view: Open) -> None:
    page = view(query={"layer": "9", "head": "7", "threshold": "2e9", "method": "magic", "second": "reverse"}, backward=None)
    wanted = {"layer": "1", "head": "0", "threshold": "argmax", "method": "union", "second": "none"}
    assert {name: in_link(page, name) for name in wanted} == wanted


def test_files_hold_what_is_on_the_screen(view: Open) -> None:
    page = view()
    map_ = alignments.words(alignments.maps()["weights"][1, 0], "produced")
    lines = list(csv.DictReader(io.StringIO(application.file(page, page.get_by_test_id("csv")))))
    assert [float(line["weight"]) for line in lines] == pytest.approx(map_.ravel().tolist(), abs=1e-6)
    assert {(int(x["source_position"]), int(x["target_position"])) for x in lines if x["link"] == "1"} == shown_links(page)
    assert [line["gold"] for line in lines if line["gold"]] == ["S", "S", "P"]
    caption = lines[0]["caption"]
    for part in (
        "Pair 2 of 3",
        "mine_$x$.tsv",
        "tiny",
        "decoder.layers.1.cross_attention.weights[0, 0]",
        "layer 2, head 1",
        "weights",
    ):
        assert part in caption
    for shown in ("matrix", "ribbon"):
        page.get_by_test_id(f"view-{shown}").click()
        picture = ElementTree.fromstring(application.file(page, page.get_by_test_id("svg")))
        said = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        assert said.count("the") == 2
        assert "<b>" in said
        assert "sure, found" in said
    page.get_by_test_id("table").locator("summary").click()
    expect(page.locator("table tbody tr")).to_have_count(4)
    expect(page.locator("table tbody tr").first).to_contain_text("sure")


def test_a_phone_shows_the_text_first_and_nothing_hangs_over(view: Open) -> None:
    page = view(width=390)
    text, switches = page.get_by_test_id("text").bounding_box(), page.get_by_test_id("control-layer").bounding_box()
    assert text
    assert switches
    assert text["y"] + text["height"] <= switches["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_large_pair_asks_for_the_layer_that_is_opened(view: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.components.alignment.payload.LARGEST", 100)
    page = view(opened=("weights", 1))
    page.get_by_test_id("layer-0").click()
    expect(page.get_by_test_id("loading")).to_be_visible()
    (asked,) = sent(page, "open")
    assert (asked["measure"], asked["layer"]) == ("weights", 0)
    send(page, opened=("weights", 0))
    expect(page.get_by_test_id("loading")).to_be_hidden()
    assert shown_links(page) == alignments.links(alignments.words(alignments.maps()["weights"][0, 0], "produced"))
    page.get_by_test_id("layer-1").click()  # has not been forgotten
    assert len(sent(page, "open")) == 1
    assert shown_links(page) == alignments.links(alignments.words(alignments.maps()["weights"][1, 0], "produced"))


def test_on_the_page_gold_is_saved_and_the_next_pair_opens(open_page: OpenPage) -> None:
    page = open_page("studio")
    page.locator(".st-key-studio_samples button").first.click()
    page.locator(".st-key-studio_start button").click()
    root = page.get_by_test_id("alignment")
    root.get_by_test_id("edit").click()
    root.get_by_test_id("clear").click()
    before = root.get_by_test_id("scores").inner_text()
    root.get_by_test_id("start_from_model").click()
    expect(root.get_by_test_id("scores")).to_contain_text("AER 0.000")
    assert root.get_by_test_id("scores").inner_text() != before
    root.get_by_test_id("matrix").focus()
    for key in ("ArrowRight", "End", "ArrowLeft", "Enter", "Enter"):  # a corner where nothing was linked: possible
        page.keyboard.press(key)
    expect(root.get_by_test_id("live")).to_contain_text("Gold: possible.")
    root.get_by_test_id("save-gold").click()
    expect(root.get_by_test_id("scores")).to_contain_text("Gold: made by hand, saved.")
    expect(root.get_by_test_id("draft")).to_contain_text("Saved as gold")
    root.get_by_test_id("next").click()
    expect(root.get_by_test_id("pair-title")).to_contain_text("Pair 2 of")
    expect(root.get_by_test_id("scores")).to_contain_text("Gold: from the file.")
    assert in_link(page, "pair") == "1"
    page.keyboard.press("p")
    expect(root.get_by_test_id("scores")).to_contain_text("Gold: made by hand, saved.")
