"""A saved page holds what the trace holds, says what it leaves out, and lets nothing that was typed become markup."""

import base64
import gzip
import hashlib
import html
import json
import re
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import model
from model.page import bundle, document, labels
from model.page import view as show
from model.page.attention import unpack
from model.tokenizer import Token
from model.trace import Activation, Trace
from tests.components import synthetic

HOSTILE = "</script><!-- <script>alert(1)</script> ]]> & \u202eשלום"
ROOT = Path(__file__).resolve().parents[2]


class Read(HTMLParser):
    """What a browser makes of a file: elements with their attributes, and the text in each kind."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self.inside = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.inside, []).append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    @property
    def contents(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.texts["script"][0])
        return found


def payload(page: model.Page) -> tuple[dict[str, Any], memoryview]:
    """What the one picture of a page is drawn from."""
    (picture,) = Read(page.html).contents["pictures"]
    assert picture["component"] == "attention_map"
    return unpack(gzip.decompress(base64.b64decode(picture["data"])))


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace(["The", "red", HOSTILE], ["La", "voiture", "שלום", "rouge"], layers=2, heads=3)


def shallow(trace: Trace, attention: str) -> Trace:
    """The same with one layer less of an attention, as an encoder-decoder of unequal depth has."""
    stack, name = attention.split(".")
    kept = {path: found for path, found in trace.items() if not path.startswith(f"{stack}.layers.1.{name}")}
    return replace(trace, activations=kept)


def test_the_file_is_one_and_asks_nobody_for_anything(trace: Trace, tmp_path: Path) -> None:
    file = model.save_html(trace, tmp_path / "a.html", title=HOSTILE, language="zh")
    source = file.read_text("utf-8")
    read = Read(source)
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert not [value for _, attributes in read.elements for name, value in attributes.items() if name in ("src", "href")]
    (policy,) = (given["content"] for tag, given in read.elements if given.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(read.texts["script"][-1].encode()).digest()).decode()
    assert policy
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "connect-src" not in policy
    assert "unsafe-eval" not in policy
    assert ("html", {"lang": "zh"}) in read.elements
    assert read.texts["title"] == [HOSTILE]
    assert read.contents["title"] == HOSTILE
    assert read.contents["notes"] == [labels.labels("saved_page", "zh")["saved_note"]]


def test_the_picture_has_the_weights_and_the_tokens_of_the_trace(trace: Trace) -> None:
    uneven = shallow(trace, "encoder.self_attention")
    header, raw = payload(show.page(uneven, model="tiny"))
    assert [(entry["id"], entry["layers"]) for entry in header["attentions"]] == [
        ("encoder.self_attention", 1), ("decoder.self_attention", 2), ("decoder.cross_attention", 2),
    ]  # fmt: skip
    for side in ("source", "target", "produced"):
        assert header["tokens"][side]["labels"] == [token.label for token in getattr(trace, side)]
    entry = header["attentions"][2]
    weights = np.frombuffer(raw, "<u2", 2 * 3 * 5 * 4, entry["offset"]).reshape(2, 3, 5, 4) / 65535
    for layer in range(2):
        right = trace[f"decoder.layers.{layer}.cross_attention.weights"].tensor[0]
        np.testing.assert_allclose(weights[layer], right, atol=2e-5)


def test_layers_and_attentions_are_chosen_and_keep_their_numbers(trace: Trace) -> None:
    header, raw = payload(show.page(trace, attentions=["decoder.cross_attention"], layers=[1]))
    (entry,) = header["attentions"]
    assert (entry["kept"], entry["layers"]) == ([1], 2)
    first = np.frombuffer(raw, "<u2", 3 * 5 * 4, entry["offset"]).reshape(3, 5, 4) / 65535
    np.testing.assert_allclose(first, trace["decoder.layers.1.cross_attention.weights"].tensor[0], atol=2e-5)
    with pytest.raises(ValueError, match=r"cross.*not in this trace; it holds encoder\.self_attention"):
        show.page(trace, attentions=["cross"])
    with pytest.raises(ValueError, match=r"layers \[7\]"):
        show.page(trace, layers=[7])
    with pytest.raises(ValueError, match="choose one of en, zh"):
        show.page(trace, language="xx")


def test_a_long_text_keeps_every_cell_until_the_file_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    long = synthetic.long_trace(150, layers=1, heads=1)
    whole = show.page(long)
    assert not whole.left_out
    assert payload(whole)[0]["attentions"][0]["stored"] == [150, 150]
    monkeypatch.setattr(show, "LIMIT", 200_000)
    pooled = show.page(long)
    assert "128 × 128 blocks" in pooled.left_out
    assert "0 MB" in pooled.left_out
    assert payload(pooled)[0]["attentions"][0]["stored"] == [75, 75]
    assert len(pooled.html) < len(whole.html)
    assert Read(pooled.html).contents["notes"][0] == pooled.left_out
    with pytest.raises(ValueError, match="513 tokens; a page shows 512"):
        show.page(synthetic.long_trace(513, layers=1, heads=1))


def of_tensor(weights: torch.Tensor, words: list[str], spans: tuple[str, str] = ("target", "target")) -> Trace:
    """Weights that came from elsewhere: no scores, no probabilities, nothing produced."""
    path = "decoder.layers.0.self_attention.weights"
    given = Activation(path, weights, ("batch", "head", "query", "key"), dict(zip(("query", "key"), spans, strict=True)))
    tokens = tuple(Token(word, 0, (0, 0)) for word in words)
    return Trace({path: given}, (), tokens, (), (), "", "")


def test_weights_from_elsewhere_are_shown_and_checked() -> None:
    header, _ = payload(show.page(of_tensor(torch.full((1, 2, 3, 3), 1 / 3), ["a", "a", "b"])))
    assert header["tokens"]["target"]["labels"] == ["a", "a", "b"]
    assert header["attentions"][0]["named"] == "read"
    with pytest.raises(ValueError, match=r"shape \(2, 3, 3\); needed are the four axes"):
        show.page(of_tensor(torch.zeros(2, 3, 3), ["a", "a", "b"]))
    with pytest.raises(ValueError, match="axis 'query' has 3 places, the target has 2 tokens"):
        show.page(of_tensor(torch.zeros(1, 2, 3, 3), ["a", "b"]))
    with pytest.raises(ValueError, match="no attention weights"):
        show.page(replace(of_tensor(torch.zeros(1, 1, 1, 1), ["a"]), activations={}))


def test_a_notebook_has_the_same_page_in_a_frame(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(show.sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[attr-defined]
    page = model.show(trace)
    (frame,) = Read(page._repr_html_()).elements
    assert frame[1]["srcdoc"] == page.html == show.page(trace).html
    assert frame[1]["sandbox"] == "allow-scripts allow-downloads"


def test_a_script_opens_the_browser_or_says_where_the_file_is(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(show.tempfile, "tempdir", str(tmp_path))  # type: ignore[attr-defined]
    monkeypatch.setattr(show.webbrowser, "open", lambda address: not opened.append(address))  # type: ignore[attr-defined]
    monkeypatch.setattr(show, "_has_screen", lambda: True)
    page = model.show(trace)
    assert opened
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(show, "_has_screen", lambda: False)
    model.show(trace)
    printed = Path(capsys.readouterr().out.strip())
    assert printed.parent == tmp_path
    assert printed.read_text("utf-8") == page.html
    assert len(opened) == 1


@settings(deadline=None, max_examples=25)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("<>/!-&\"'script\u2028\x00\ud800")), max_size=40))
def test_any_text_stays_text(typed: str) -> None:
    contents = {"title": typed, "notes": [typed]}
    whole = f'<title>{document._text(typed)}</title><script type="application/json">{document.embedded(contents)}</script>'
    read = Read(whole)
    shown = typed.encode("utf-8", "replace").decode()
    assert [tag for tag, _ in read.elements] == ["title", "script"]
    assert read.contents == {"title": shown, "notes": [shown]}
    assert not re.search(r"</script|<!--", document.embedded(contents), re.IGNORECASE)
    kept = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffd]", "", typed)
    assert html.unescape(document._text(typed)).replace("\ufffd", "") == kept


def test_every_component_is_joined_after_what_it_imports() -> None:
    for component in bundle.components():
        order = bundle.modules(component)
        assert order[-1] == "main"
        assert len(set(order)) == len(order)
        for at, name in enumerate(order):
            for names, other in bundle._IMPORT.findall(bundle._source(component, name)):
                assert other in order[:at], (component, name)
                offered = bundle._EXPORT.findall(bundle._source(component, other))
                assert set(re.findall(r"\w+", names)) <= set(offered), (component, name, other)
    with pytest.raises(FileNotFoundError, match="none of the folders of nothing"):
        bundle.modules("nothing")


def test_a_saved_page_has_the_colours_of_the_app() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    light, dark = (bundle.COMPONENTS / "shared" / "saved.css").read_text("utf-8").split("@media", 1)
    for name, style in (("light", light), ("dark", dark)):
        for ours, theirs in (("background", "backgroundColor"), ("text", "textColor"), ("primary", "primaryColor")):
            assert f"--st-{ours}-color: {theme[name][theirs]};" in style


def test_both_languages_say_what_a_saved_page_says() -> None:
    for language in labels.languages():
        assert set(labels.labels("saved_page", language)) == set(labels.SAVED)
