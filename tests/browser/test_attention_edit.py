"""Edit and recompute in a browser: a score set by keyboard, what follows against the model, the link, undo; a wrong variant."""

from urllib.parse import unquote

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from model.trace import Trace
from model.translator import Translator
from tests.browser.application import number, settle
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
TEXT, PATH = "The cat sees the other cat.", "decoder.layers.1.cross_attention"
PLACE = {"attention": "decoder.cross_attention", "layer": 1, "head": 2}


def picture(page: Page, key: str = "attention_edit_matrices") -> Locator:
    return page.locator(f".st-key-{key}").get_by_test_id("matrices")


LINK = "w_4_0_0.5"


def edited(french: Translator) -> Trace:
    """The pass with the edit of the link, and with the one that the test makes."""

    def score(scores: torch.Tensor) -> torch.Tensor:
        made = scores.clone()
        made[0, 2, 2, 1] = -6.5
        return made

    def weight(weights: torch.Tensor) -> torch.Tensor:
        made = weights.clone()
        made[0, 2, 4, 0] = 0.5
        return made

    return french.trace(TEXT, edits={f"{PATH}.scores": score, f"{PATH}.weights": weight})


def test_a_link_reopens_an_edit_and_a_score_is_set_by_keyboard(open_page: OpenPage, french: Translator) -> None:
    page = open_page("attention", text=TEXT, model="en-fr", edits=LINK, **PLACE)
    trace, after = french.trace(TEXT), edited(french)
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("The weights of row 4")

    # Row 2, key 1, by keyboard; the box holds what the trace holds.
    picture(page).get_by_test_id("matrix-scores").focus()
    for key in ("Control+Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(picture(page)).to_have_attribute("data-cell", "2,1")
    box = picture(page).get_by_test_id("edit-value")
    assert number(box.input_value()) == pytest.approx(float(trace[f"{PATH}.scores"].tensor[0, 2, 2, 1]), abs=6e-5)
    box.fill("-6.5")
    box.press("Enter")
    expect(page.locator(".st-key-edit_list li")).to_have_count(2)
    settle(page)
    assert f"edits={LINK}~s_2_1_-6.5" in unquote(page.url)
    said = main.inner_text().split("now has log P = ")[1].split(";")[0]
    assert number(said) == pytest.approx(sum(after.log_probabilities), abs=6e-3)

    # The weights of that row, in the picture, are those of the edited pass.
    picture(page).get_by_test_id("matrix-scores").press("n")
    picture(page).get_by_test_id("matrix-weights").focus()
    page.keyboard.press("ArrowRight")
    expect(picture(page)).to_have_attribute("data-cell", "2,2")
    live = picture(page).get_by_test_id("live").inner_text()
    now, before = (number(part.split()[-1].rstrip(".")) for part in live.split(";")[:1] + live.split("before the change")[-1:])
    assert now == pytest.approx(float(after[f"{PATH}.weights"].tensor[0, 2, 2, 2]), abs=6e-5)
    assert before == pytest.approx(float(trace[f"{PATH}.weights"].tensor[0, 2, 2, 2]), abs=6e-5)

    # Undo takes the last back, reset all.
    page.get_by_role("button", name="Undo the last").click()
    expect(page.locator(".st-key-edit_list li")).to_have_count(1)
    page.get_by_role("button", name="Reset", exact=True).last.click()
    expect(main).to_contain_text("Nothing is edited yet")
    settle(page)
    assert "edits=" not in page.url

    # A search finds an edit that changes a word, and makes it.
    page.get_by_role("button", name="Show me an edit that changes a word").click()
    expect(page.locator(".st-key-edit_list li")).to_have_count(1)
    expect(main).to_contain_text("One score is set for you")
    assert int(main.inner_text().split("log P = ")[1].split("At ")[1].split(" of")[0]) > 0
    settle(page)
    assert "edits=s_" in page.url

    # What if: another variant shows its damage, and stands in the URL.
    page.locator(".st-key-attention_variant").get_by_text("softmax ran down the columns").click()
    expect(page.locator(".st-key-what_if")).to_contain_text("Rows should add up to 1.")
    expect(picture(page, "what_if_maps")).to_be_visible()
    settle(page)
    assert "variant=queries" in page.url
