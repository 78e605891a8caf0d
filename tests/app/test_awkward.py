"""Every page of the group Inside with text and links that no page of its own was made for."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson

from app import session
from tests.app.conftest import OpenApp, said

TYPED = (
    "☃ :red[x] $5 or $6, *stars* <u>x</u> &lt; 1E1 2024-05-06 NaN שלום 42 cafe\u0301 a\u200bb \U0001f468\u200d\U0001f469 the the"
)
NO_NUMBER = "9" * 2_000  # none of these is so large, and an address with all of them is still read
OUR_ELEMENTS = "nav|a|p|b|i|code|br|div|span|bdi|button|h2|h3|ol|ul|li|small|mark|table|thead|tbody|tr|th|td|caption"
# Where what a visitor typed may stand: none of these reads it as markdown; a link holds it in its address.
PLAIN = ("html", "bidi_component", "text_area", "text_input", "selectbox", "page_link")
PARAMETERS = {
    "architecture": ("settings", "shapes"),
    "tokens": ("side", "without", "word", "find", "near"),
    "attention": ("row", "sizes", "edits", "variant", "renormalise", "step", "cell"),
    "heads": ("look", "norms", "agreement", "importance", "several", "off", "roles"),
    "masks": ("mask", "scope", "kind", "third", "hidden", "side", "batch_sentence", "forget"),
    "three_attentions": ("purpose", "step", "cell"),
    "layers": ("stack", "sublayer", "token", "unit", "depth", "gradient", "curves", "memory", "batch_norm", "lens_all"),
    "training": (
        "loss_row",
        "smoothing",
        "convention",
        "width",
        "warmup",
        "factor",
        "last",
        "updates",
        "tied_side",
        "tied_token",
        "mistake",
    ),
}


def asked(page: str, value: str) -> dict[str, str]:
    return dict.fromkeys((*PARAMETERS[page], "attention", "layer", "head"), value)


def elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        yield from elements(child) if hasattr(child, "children") else (child,)


def label_lists(part: Any) -> Iterator[list[str]]:
    """All lists of text in what a component was given."""
    if isinstance(part, dict):
        for value in part.values():
            yield from label_lists(value)
    elif isinstance(part, list) and part and all(isinstance(value, str) for value in part):
        yield part
    elif isinstance(part, list):
        for value in part:
            yield from label_lists(value)


def header(payload: bytes) -> Any:
    """What stands before the numbers: all of it, or as many bytes as its first four say (of which the last is 0)."""
    return json.loads(payload[4 : 4 + int.from_bytes(payload[:4], "little")] if payload[3] == 0 else payload)


@pytest.mark.parametrize("page", PARAMETERS)
def test_text_of_any_kind_stays_text_and_labels_stay_in_order(open_app: OpenApp, page: str) -> None:
    app = open_app(page, text=TYPED, target=TYPED, model="en-fr", **asked(page, NO_NUMBER))
    trace = session.trace("en-fr", TYPED, TYPED)
    expected = [[token.label for token in tokens] for tokens in (trace.source, trace.target, trace.produced)]
    assert "<" not in re.sub(rf"<style>.*?</style>|</?(?:{OUR_ELEMENTS})\b[^>]*>", "", said(app), flags=re.DOTALL)
    for element in elements(app._tree):
        if element.type not in PLAIN:
            assert "☃" not in MessageToJson(element.proto, ensure_ascii=False), element.type
    drawn = [labels for component in app.get("bidi_component") for labels in label_lists(header(component.proto.bytes))]
    found = [labels for labels in drawn if "<unk> ☃" in labels]
    assert found
    for labels in found:
        assert any(labels == tokens[: len(labels)] for tokens in expected), labels


@pytest.mark.parametrize("page", PARAMETERS)
def test_a_link_whose_parameters_say_nothing_opens_the_page(open_app: OpenApp, page: str) -> None:
    app = open_app(page, text="I love you.", model="en-fr", **asked(page, ""))
    assert app.get("bidi_component")
