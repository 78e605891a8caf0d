"""What a page shows as one file: the zip holds its pictures and its numbers, the saved page works from disk without a server."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

import model
from app.session import version
from model.trace import Trace
from model.translator import Translator
from tests.browser.accessible import severe
from tests.browser.attention import CROSS, numbers
from tests.browser.conftest import OpenPage
from tests.components import synthetic

SENTENCE, TARGET = "The red </script> car.", "La voiture <!-- rouge."
HOSTILE = ["</script><b>", "<!--", "שלום", "=1+1"]


@pytest.fixture(scope="module")
def trace(french: Translator) -> Trace:
    return french.trace(SENTENCE, TARGET)


@pytest.fixture
def from_disk(browser: BrowserContext) -> Iterator[Page]:
    """A tab that may read files and nothing else; what it asked for or complained of fails the test."""
    page, problems = browser.new_page(), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "blob:", "data:")) else problems.append(asked.url))
    yield page
    page.close()
    assert problems == []


def taken(page: Page, kind: str) -> tuple[str, Path]:
    """Press the button; the name that the file gets, and where it is."""
    with page.expect_download() as event:
        page.get_by_test_id(f"take-{kind}").press("Enter")
    expect(page.get_by_test_id("take-said")).to_contain_text(event.value.suggested_filename)
    return event.value.suggested_filename, Path(event.value.path())


def cell(page: Page, query: int, key: int) -> str:
    """What is said of a cell that the arrow keys walk to."""
    shown = page.get_by_test_id("attention-map")
    shown.get_by_test_id("matrix").press("Control+Home")
    for key_pressed, count in (("ArrowDown", query), ("ArrowRight", key)):
        for _ in range(count):
            shown.get_by_test_id("matrix").press(key_pressed)
    live = shown.get_by_test_id("live")
    expect(live).to_have_attribute("data-query", str(query))
    expect(live).to_have_attribute("data-key", str(key))
    return live.text_content() or ""


def test_a_page_is_taken_away_as_a_zip_and_as_a_page(open_page: OpenPage, from_disk: Page, trace: Trace, tmp_path: Path) -> None:
    link = {"model": "en-fr", "text": SENTENCE, "target": TARGET, "attention": CROSS, "layer": 1, "head": 2, "row": "read"}
    page = open_page("heads", **link)
    expect(page.get_by_test_id("opened-title")).to_be_visible()
    name, file = taken(page, "zip")
    assert name == "heads-en-fr-layer1-head2.zip"
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as pack:
        assert pack.testzip() is None
        names = pack.namelist()
        assert all(name.isascii() for name in names)
        opened = "1-en-fr-decoder.cross_attention-layer1-head2"
        assert {"caption.txt", "numbers.npz", "1-en-fr-heads.png", "1-en-fr-heads.svg"} < set(names)
        assert pack.read(f"{opened}.png")[:8] == b"\x89PNG\r\n\x1a\n"
        assert b"&lt;/s" in pack.read(f"{opened}.svg")
        assert pack.read(f"{opened}.csv").startswith(b"\xef\xbb\xbfquery_position,query,")
        caption = pack.read("caption.txt").decode("utf-8")
        with np.load(io.BytesIO(pack.read("numbers.npz"))) as found:
            path = "decoder.layers.1.cross_attention.weights"
            np.testing.assert_allclose(found[path], trace[path].tensor[0], atol=1e-6)
    for said in (
        version(),
        SENTENCE,
        TARGET,
        "decoder.layers.1.cross_attention.weights[0, 2]",
        "named by the token that the row reads",
    ):
        assert said in caption
    assert page.url in caption

    name, file = taken(page, "html")
    assert name == "heads-en-fr-layer1-head2.html"
    saved = tmp_path / name
    saved.write_bytes(file.read_bytes())
    from_disk.goto(saved.as_uri())
    shown = numbers(trace, CROSS, 1, 2, row="read")
    expect(from_disk.get_by_test_id("opened-title").first).to_have_text("Cross-attention, layer 2, head 3")
    assert f"{shown.weights[2, 1]:.4f}" in cell(from_disk, 2, 1)
    expect(from_disk.get_by_test_id("step-into")).to_be_hidden()


def test_a_page_from_python_works_from_disk(from_disk: Page, tmp_path: Path) -> None:
    trace = synthetic.trace(HOSTILE, HOSTILE[1:], layers=2, heads=2)
    kept = {path: found for path, found in trace.items() if not path.startswith("encoder.layers.1")}
    uneven = replace(trace, activations=kept)
    file = model.save_html(uneven, tmp_path / "a.html", language="zh", title="<i>标题</i> & “שלום”")
    from_disk.emulate_media(color_scheme="dark")
    from_disk.set_viewport_size({"width": 390, "height": 900})
    from_disk.goto(file.as_uri())
    expect(from_disk.locator("h1")).to_have_text("<i>标题</i> & “שלום”")
    assert from_disk.title() == "<i>标题</i> & “שלום”"
    assert from_disk.get_by_test_id("map-encoder.self_attention-1-0").count() == 0
    from_disk.get_by_test_id(f"map-{CROSS}-1-1").click()
    said = cell(from_disk, 1, 0)
    assert f"{numbers(uneven, CROSS, 1, 1).weights[1, 0]:.4f}" in said
    assert HOSTILE[0] in said
    expect(from_disk.get_by_test_id("attention-map")).to_have_attribute("data-theme", "dark")
    assert from_disk.evaluate("document.documentElement.scrollWidth") <= 390
    assert severe(from_disk) == []
    assert from_disk.locator("b, i, script").evaluate_all("found => found.map(node => node.tagName)") == ["SCRIPT", "SCRIPT"]
    from_disk.get_by_test_id("table").locator("summary").click()
    expect(from_disk.get_by_test_id("table").locator("tbody tr")).to_have_count(len(uneven.produced))
    with from_disk.expect_download() as event:
        from_disk.get_by_test_id("csv").click()
    assert "'=1+1" in Path(event.value.path()).read_text("utf-8")
    address = from_disk.url
    assert "layer=1" in address
    from_disk.reload()  # it opens where it was
    expect(from_disk.get_by_test_id(f"map-{CROSS}-1-1")).to_have_attribute("aria-pressed", "true")
