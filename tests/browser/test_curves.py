"""Curves alone on a page: points in their order, exact values by pointer and keyboard, files, links."""

import csv
import io
import math
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.components import curves
from app.components.curves import Chart, Series, pack
from app.components.curves.payload import Mark
from app.text import section, use
from tests.browser import standalone
from tests.browser.attention import SVG, saved_bytes

LABELS = ("1E1", "2024-05-06", "the", "the", "NaN", "<b>", "0.5", "the")
FIRST = (1.0, 2.5, -0.75, 3.25, None, 0.5, 100_000.0, 0.0001)
SECOND = (0.5, 0.25, 0.125, math.nan, 1.0, 2.0, 3.0, 4.0)


def chart(**changes: object) -> bytes:
    use("en")
    given: dict[str, object] = {
        "title": "A chart", "x_name": "token", "y_name": "length", "labels": LABELS, "path": "encoder.layers.0",
        "series": (Series("first", FIRST), Series("second", SECOND, "bar")),
    }  # fmt: skip
    caption = {"model": "m", "source": "<i>a</i>", "target": "b"}
    return pack(Chart(**(given | changes)), text=section("curves"), caption=caption, name="try")  # type: ignore[arg-type]


def get(page: Page, name: str):  # type: ignore[no-untyped-def]
    return page.get_by_test_id("curves").get_by_test_id(name)


def saved(page: Page, kind: str) -> bytes:
    with page.expect_download() as download:
        get(page, kind).click()
    return saved_bytes(download.value)


def test_points_keep_their_order_and_their_labels(browser: BrowserContext) -> None:
    page = standalone.visit(browser, chart(), component=curves, query={"try.point": 2})
    live = get(page, "live")
    expect(live).to_have_text("token the: first \u22120.7500; second 0.1250")
    get(page, "plot").focus()
    page.keyboard.press("ArrowRight")
    expect(live).to_have_text("token the: first 3.2500; second no value")
    page.keyboard.press("Home")
    expect(live).to_have_text("token 1E1: first 1.0000; second 0.5000")
    page.keyboard.press("ArrowLeft")
    expect(live).to_have_text("token 1E1: first 1.0000; second 0.5000")
    page.keyboard.press("End")
    expect(live).to_have_text("token the: first 1.00 × 10⁻⁴; second 4.0000")
    assert page.url.endswith("try.point=7")
    page.keyboard.press("Escape")
    expect(live).to_be_empty()
    assert "point" not in page.url
    box = get(page, "plot").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 100)
    expect(live).to_contain_text("second 4.0000")

    page.locator("summary").click()
    rows = [[cell.inner_text() for cell in row.locator("th, td").all()] for row in page.locator("tbody tr").all()]
    assert [row[0] for row in rows] == list(LABELS)
    assert rows[4][1:] == ["no value", "1.0000"]
    lines = list(csv.reader(io.StringIO(saved(page, "csv").decode("utf-8-sig"))))
    assert [line[1] for line in lines[1:]] == list(LABELS)
    assert [line[2] for line in lines[1:]] == ["1", "2.5", "-0.75", "3.25", "", "0.5", "100000", "0.0001"]
    assert "<i>a</i>" in lines[1][-1]
    svg = saved(page, "svg").decode()
    texts = [node.text for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert [text for text in texts if text in LABELS] == list(LABELS)
    assert saved(page, "png").startswith(b"\x89PNG")
    page.close()


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show(browser: BrowserContext) -> None:
    values = (1e-12, 1e-6, 0.0, -1.0, 1.0, 10.0, 100.0, 1e3)
    page = standalone.visit(
        browser, chart(logarithmic=True, series=(Series("gradient", values),), marked=2), component=curves, width=390, dark=True
    )
    expect(get(page, "live")).to_have_text("token the: gradient no value")
    svg = saved(page, "svg").decode()
    assert "10⁻¹²" in svg
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


def test_no_turned_label_is_cut_off_at_the_edge(browser: BrowserContext) -> None:
    labels = ("input", *(f"layer {place} cross-attention" for place in range(1, 14)))
    series = (Series("length", [1.0] * len(labels)),)
    page = standalone.visit(browser, chart(labels=labels, series=series), component=curves, width=390)
    edges = page.evaluate(
        """svg => {
            document.body.innerHTML = svg;
            const edge = node => node.getBoundingClientRect().left, left = edge(document.querySelector("svg"));
            return [...document.querySelectorAll("text")].map(text => [text.textContent, edge(text) - left]);
        }""",
        saved(page, "svg").decode(),
    )
    assert any(label.startswith("layer ") for label, _ in edges)
    assert [(label, left) for label, left in edges if left < 0] == []
    page.close()


def test_counts_are_read_as_whole_numbers(browser: BrowserContext) -> None:
    counts = Series("counts", (1, 20_000_000, 3 * 10**12, 0, 5, 6, 7, 8))
    page = standalone.visit(browser, chart(series=(counts, Series("second", SECOND))), component=curves, query={"try.point": 1})
    expect(get(page, "live")).to_have_text("token 2024-05-06: counts 20,000,000; second 0.2500")
    page.get_by_test_id("curves").get_by_test_id("table").locator("summary").click()
    assert get(page, "table").locator("tbody tr").nth(2).inner_text().split("\t")[1].strip() == "3.00\u00a0×\u00a010¹²"


def test_decades_and_named_places_are_drawn_where_they_are(browser: BrowserContext) -> None:
    places = [10.0**power for power in range(8)]
    marks = (Mark(1e6, "a million"), Mark(1e4, "a < b"), Mark(2e4, "beside it, and long"))
    page = standalone.visit(browser, chart(places=places, places_logarithmic=True, marks=marks), component=curves)
    svg = ElementTree.fromstring(saved(page, "svg"))
    at = {element.text: (float(element.get("x", 0)), float(element.get("y", 0))) for element in svg.iter(f"{SVG}text")}
    assert at["a < b"][0] == pytest.approx(at["10⁴"][0], abs=1)
    assert at["a million"][0] == pytest.approx(at["10⁶"][0], abs=1)
    assert at["beside it, and long"][1] > at["a < b"][1]  # in a row of its own, since both have no room in one
    assert at["10⁵"][0] - at["10⁴"][0] == pytest.approx(at["10⁴"][0] - at["10³"][0], abs=1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"series": (Series("a", (1.0,)),)}, "1 values for 8 points"),
        ({"places": (1.0,)}, "1 places for 8 points"),
        ({"places": (0.0,) * 8, "places_logarithmic": True}, "places, all above 0"),
        ({"labels": [""] * 6000, "series": (Series("a", [0.0] * 6000),)}, "draw a matrix"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        chart(**changes)
