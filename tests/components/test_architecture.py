"""What the diagram is given: a sentence for everything it says, and text that survives the way to the browser."""

import json
import re
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest

from app.components.architecture import LABELS, pack
from model.analysis.sketch import sketched
from model.page.bundle import modules
from tests.model import tiny

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "app" / "components" / "architecture"
TEXT = {label: label for label in LABELS}
KINDS = {"add", "add_norm", "norm", "position", "plus", "mask", "linear", "softmax", "produced", "embedding", "relu", "gelu"} | {
    "self_attention",
    "masked_self_attention",
    "cross_attention",
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_is_a_sentence_for_each_label(language: str) -> None:
    written = tomllib.loads((ROOT / "assets" / "text" / language / "architecture.toml").read_text("utf-8"))
    assert set(written["architecture"]["diagram"]) == set(LABELS)


def test_the_browser_asks_for_no_other_label_and_leaves_none_out() -> None:
    source = "".join(
        (FOLDER / f"{name}.js").read_text("utf-8") for name in modules("architecture") if (FOLDER / f"{name}.js").exists()
    )
    asked = set(re.findall(r"\btext\.(\w+)", source)) - {"split"}
    asked |= {"shapes_sizes", "shapes_symbols", "png", "svg", "csv"} | KINDS  # by a name that is put together
    asked |= {"copy_link", "copied", "copy_failed"}  # by the shared button
    assert asked == set(LABELS)


def test_what_a_user_typed_arrives_as_it_is() -> None:
    typed = ["</script>", "\ud800", "1E1", "\N{RIGHT-TO-LEFT OVERRIDE}x", "我"]
    drawn = asdict(sketched(tiny.config(), 5, 2))
    message = pack(drawn, tokens={"encoder:tokens": typed}, opens={}, layer=1, text=TEXT, caption={})
    found = json.loads(message)
    assert found["tokens"]["encoder:tokens"] == typed
    assert [box["id"] for box in found["boxes"]][:2] == ["encoder:tokens", "source"]
    assert found["columns"][1]["layers"] == [f"decoder.layers.{layer}" for layer in range(3)]


def test_a_label_that_is_missing_is_named() -> None:
    rest = {label: sentence for label, sentence in TEXT.items() if label != "keys_values"}
    with pytest.raises(ValueError, match="keys_values"):
        pack({}, tokens={}, opens={}, layer=0, text=rest, caption={})
