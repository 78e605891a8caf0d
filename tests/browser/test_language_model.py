"""A visitor lets the language model write on, and reads a weight back: the one that the model computed."""

import model
from model.translator import LanguageModel
from tests.browser.attention import DECODER, AttentionMap, eventually, numbers, type_sentence
from tests.browser.conftest import OpenPage

PROMPT, OTHER = "I don't want to", "Tom said that he"


def test_a_prompt_is_continued_and_a_weight_is_that_of_the_model(open_page: OpenPage) -> None:
    atlas = model.load("en-lm", device="cpu")
    assert isinstance(atlas, LanguageModel)
    page = open_page("", model="en-lm", text=PROMPT)
    type_sentence(page, OTHER)
    trace = atlas.trace(OTHER)
    eventually(lambda: page.locator(".atlas-translation").text_content(), trace.target_text)
    picture, last = AttentionMap(page), atlas.config.decoder_layers - 1
    shown = numbers(trace, DECODER, last, "mean")
    first = atlas.first_written(trace)
    for row, column in ((first, 1), (first, first), (0, first)):  # the last one may not be read
        picture.check_cell(picture.cursor(row, column), shown, row, column, last, "mean")
