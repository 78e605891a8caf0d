"""The matrices component alone: the law of a cell with its numbers, steps, keyboard, link, files, and what it sends back."""

import csv
import io
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import BrowserContext, Locator, Page, expect

from app.components import matrices as component
from app.components.matrices import Axis, Matrix, Scene, pack
from tests.browser import standalone
from tests.browser.application import number

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
TARGET = Axis("target", ["le", "le", "1E1", "<b>x</b>"], "target")
SOURCE = Axis("source", ["the", "the", "2024-05-06"], "source")
WIDTH, D_K = Axis("d_model"), Axis("d_k")
CAPTION = {"model": "tiny", "source": "the the", "target": "le le"}


def drawn(size: tuple[int, int], seed: int) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


X, W_Q, BIAS, KEY = drawn((4, 6), 1), drawn((6, 5), 2), drawn((1, 5), 3), drawn((3, 5), 4)
QUERY = X @ W_Q + BIAS
SCORES = QUERY @ KEY.T
MASK = torch.tensor([[False, True, True], [False, False, True], [False, False, False], [True, True, True]])
WEIGHTS = torch.where(MASK, 0.0, torch.where(MASK, -torch.inf, SCORES).softmax(-1))


TEXT = tomllib.loads((ROOT / "assets/text/en/matrices.toml").read_text("utf-8"))["matrices"]


def payload() -> bytes:
    shown = [
        Matrix("x", X, TARGET, WIDTH, "X"),
        Matrix("w_q", W_Q, WIDTH, D_K, "W_Q", "query"),
        Matrix("b_q", BIAS, Axis("bias"), D_K, "b_Q", "query"),
        Matrix("query", QUERY, TARGET, D_K, "Q", "query"),
        Matrix("key_t", KEY.T, D_K, SOURCE, "Kᵀ", "key"),
        Matrix("scores", SCORES, TARGET, SOURCE, "scores", "scores", before=SCORES - torch.eye(4, 3), editable=True),
        Matrix("masked", torch.where(MASK, -torch.inf, SCORES), TARGET, SOURCE, "masked", "scores", masked=MASK),
        Matrix("weights", WEIGHTS, TARGET, SOURCE, "weights", "weights", "unit", masked=MASK),
    ]
    scenes = [
        Scene("project", "project", ["x", "×", "w_q", "+", "b_q", "=", "query"], "product"),
        Scene("score", "score", ["query", "×", "key_t", "=", "scores"], "product", cell=(1, 2)),
        Scene("softmax", "softmax", ["masked", "→", "weights"], "softmax"),
    ]
    return pack(scenes, shown, text=TEXT, caption=CAPTION, place={"attention": "decoder.cross_attention", "layer": 1, "head": 0})


@pytest.fixture(scope="module")
def page(browser: BrowserContext) -> Iterator[Page]:
    opened = standalone.visit(browser, payload(), component=component)
    yield opened
    opened.close()


@pytest.fixture
def root(page: Page) -> Locator:
    page.get_by_test_id("step-project").click()
    return page.get_by_test_id("matrices")


def press(page: Page, matrix: str, *keys: str) -> None:
    page.get_by_test_id(f"matrix-{matrix}").focus()
    for key in keys:
        page.keyboard.press(key)


def terms(page: Page) -> list[list[float]]:
    return [[number(part) for part in term.split("×")] for term in page.locator(".term").all_text_contents()]


def test_a_cell_is_the_sum_of_the_terms_that_are_listed(page: Page, root: Locator) -> None:
    press(page, "query", "Control+Home", "ArrowDown", "ArrowDown", "ArrowRight")
    assert root.get_attribute("data-cell") == "2,1"
    expected = torch.stack((X[2], W_Q[:, 1]), dim=1)
    torch.testing.assert_close(torch.tensor(terms(page)), expected, atol=6e-4, rtol=0)
    total = number(page.get_by_test_id("total").inner_text())
    assert total == pytest.approx(float(QUERY[2, 1]), abs=6e-5)
    live = page.get_by_test_id("live").inner_text()
    assert "1E1" in live
    assert live.endswith(page.get_by_test_id("total").inner_text())


def test_a_press_on_an_operand_brings_its_row_or_column_into_play(page: Page, root: Locator) -> None:
    press(page, "query", "Control+Home")
    page.get_by_test_id("step-score").click()
    assert root.get_attribute("data-cell") == "0,2"  # the row is kept from the step before, the column is the scene's own
    press(page, "key_t", "Control+Home")
    assert root.get_attribute("data-cell") == "0,0"
    press(page, "query", "Control+End")
    assert root.get_attribute("data-cell") == "3,0"


def test_softmax_shows_its_quotient_and_a_row_without_keys_says_so(page: Page, root: Locator) -> None:
    page.get_by_test_id("step-softmax").click()
    press(page, "weights", "Control+Home", "ArrowDown")
    found = re.search(r"exp\((.+) − (.+)\) ÷ (\S+) = (\S+)\.", page.get_by_test_id("law").inner_text())
    assert found
    score, top, total, weight = (number(part.strip("()")) for part in found.groups())
    assert weight == pytest.approx(float(WEIGHTS[1, 0]), abs=6e-5)
    assert torch.tensor(score - top).exp() / total == pytest.approx(weight, abs=3e-4)
    press(page, "weights", "Control+End")
    assert "no key may be read" in page.get_by_test_id("law").inner_text()
    assert "masked" in page.get_by_test_id("live").inner_text()


def test_steps_by_key_stand_in_the_link_and_the_link_reopens_them(page: Page, root: Locator) -> None:
    press(page, "query", "Control+Home", "ArrowDown", "n", "n")
    assert root.get_attribute("data-step") == "softmax"
    link = page.url
    assert "step=softmax" in link
    assert "layer=1" in link
    page.goto(link)
    page.wait_for_selector("[data-testid=matrices][data-painted]")
    assert root.get_attribute("data-step") == "softmax"
    assert root.get_attribute("data-cell") == page.url.split("cell=")[1].split("&")[0].replace("%2C", ",")
    press(page, "weights", "p")
    assert root.get_attribute("data-step") == "score"


def test_changed_cells_are_told_and_another_value_is_sent(page: Page, root: Locator) -> None:
    page.get_by_test_id("step-score").click()
    press(page, "scores", "Control+Home")
    live = page.get_by_test_id("live").inner_text()
    now, before = (number(found) for found in re.findall(r"[−\d.]+$|(?<=: )[−\d.]+(?=;)", live))
    assert now - before == pytest.approx(1.0, abs=2e-4)
    page.get_by_test_id("edit-value").fill("2.5")
    page.get_by_test_id("edit-apply").click()
    assert standalone.sent(page)[-1] == ["edit", {"matrix": "scores", "row": 0, "column": 0, "value": 2.5}]
    page.get_by_test_id("edit-value").fill("")
    page.get_by_test_id("edit-apply").click()
    assert len(standalone.sent(page)) == 1


def test_table_and_file_hold_every_number_under_its_labels(page: Page, root: Locator) -> None:
    page.get_by_test_id("step-score").click()
    press(page, "scores", "Control+Home")
    page.get_by_test_id("table").locator("summary").click()
    expect(page.get_by_test_id("table").locator("tbody tr")).to_have_count(4)
    rows = page.get_by_test_id("table").locator("tbody tr").all()
    assert [row.locator("th bdi").inner_text() for row in rows] == ["le", "le", "1E1", "<b>x</b>"]
    cells = [[number(cell) for cell in row.locator("td").all_text_contents()] for row in rows]
    torch.testing.assert_close(torch.tensor(cells), SCORES, atol=6e-5, rtol=0)
    with page.expect_download() as download:
        page.get_by_test_id("csv").click()
    lines = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    scores = [line for line in lines if line["matrix"] == "scores"]
    assert [line["row_label"] for line in scores[::3]] == ["le", "le", "1E1", "<b>x</b>"]
    torch.testing.assert_close(torch.tensor([float(line["value"]) for line in scores]).view(4, 3), SCORES, atol=1e-5, rtol=1e-5)


def test_the_vector_file_shows_labels_as_text(page: Page, root: Locator) -> None:
    page.get_by_test_id("step-score").click()
    with page.expect_download() as download:
        page.get_by_test_id("svg").click()
    svg = Path(download.value.path()).read_text("utf-8")
    assert "&lt;b&gt;x&lt;/b&gt;" in svg
    assert svg.count(">le</text>") == 4  # twice at the queries, twice at the scores
    assert "Model tiny" in svg
    assert "Layer 2, head 1 of decoder.cross_attention" in svg


def test_a_difference_is_drawn_around_0_so_that_falls_are_seen(browser: BrowserContext) -> None:
    before = torch.tensor([[0.5, 0.25, 0.25]] * 4)
    after = before + torch.tensor([-0.375, 0.25, 0.125])
    weights = Matrix("weights", after, TARGET, SOURCE, "weights", "weights", "unit", before=before)
    message = pack([Scene("one", "", ["weights"])], [weights], text=TEXT, caption=CAPTION)
    other = standalone.visit(browser, message, component=component)

    def drawn_as() -> tuple[list[str], set[str]]:
        """The ends of the scale, and the colours of the first row."""
        with other.expect_download() as download:
            other.get_by_test_id("svg").click()
        svg = Path(download.value.path()).read_text("utf-8")
        cells = re.findall(r'<rect [^>]*fill="(rgb[^"]+)"/>', svg.split("clip-path")[1])[:3]
        return re.findall(r">([−\d.]+)</text>", svg), set(cells)

    ends, _ = drawn_as()
    assert ends == ["0", "1"]
    other.get_by_test_id("control-difference").check()
    ends, colours = drawn_as()
    assert ends == ["−0.38", "0.38"]
    assert len(colours) == 3
    other.close()


def test_what_goes_into_the_chosen_cell_is_scrolled_into_sight(browser: BrowserContext) -> None:
    many, wide = (
        Axis("target", [f"word{row}" for row in range(120)], "target"),
        Axis("source", [str(n) for n in range(60)], "source"),
    )
    left, right = drawn((120, 4), 5), drawn((4, 60), 6)
    shown = [
        Matrix("left", left, many, D_K, "Q", "query"),
        Matrix("right", right, D_K, wide, "Kᵀ", "key"),
        Matrix("scores", left @ right, many, wide, "scores", "scores"),
    ]
    scene = Scene("one", "", ["left", "×", "right", "=", "scores"], "product", cell=(110, 55))
    other = standalone.visit(browser, pack([scene], shown, text=TEXT, caption=CAPTION), component=component)

    def top(matrix: str) -> float:
        return float(other.get_by_test_id(f"matrix-{matrix}").evaluate("frame => frame.scrollTop"))

    assert top("left") > 0
    assert top("scores") > 0
    press(other, "scores", "Control+Home")
    assert (top("left"), top("scores")) == (0, 0)
    other.get_by_test_id("matrix-left").evaluate("frame => { frame.scrollTop = 40 }")
    other.get_by_test_id("matrix-scores").hover()  # a pointer alone moves nothing
    assert top("left") == 40
    other.close()


def test_up_to_64_rows_stand_there_whole_and_of_more_none_is_cut(browser: BrowserContext) -> None:
    for count, scrolls in ((23, False), (64, False), (150, True)):
        many = Axis("target", [f"word{row}" for row in range(count)], "target")
        message = pack(
            [Scene("one", "", ["left"])], [Matrix("left", drawn((count, 4), 5), many, D_K, "Q")], text=TEXT, caption=CAPTION
        )
        other = standalone.visit(browser, message, component=component)
        seen, whole = other.get_by_test_id("matrix-left").evaluate("frame => [frame.clientHeight, frame.scrollHeight]")
        assert (whole > seen) == scrolls
        assert seen <= 920
        if scrolls:
            assert (seen - 3) % 12 == 0  # rows of 12 pixels beneath an edge of 3
        other.close()


def test_another_place_left_by_another_page_is_asked_for(browser: BrowserContext) -> None:
    other = standalone.visit(browser, payload(), component=component)
    left = {"attention": "encoder.self_attention", "layer": 0, "head": 1}
    other.evaluate("left => sessionStorage.setItem('attention-atlas.attention-map', JSON.stringify(left))", left)
    other.goto(standalone.ADDRESS)
    other.wait_for_selector("[data-testid=matrices][data-painted]")
    assert standalone.sent(other) == [["place", left]]
    other.close()
