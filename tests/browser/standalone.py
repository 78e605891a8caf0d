"""A component alone on an empty page, without a server: what Streamlit would hand it comes from Python directly."""

import base64
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from playwright.sync_api import BrowserContext, Page

from app.components import attention_map
from app.components.attention_map import pack
from model.page.bundle import joined, style
from model.trace import Trace
from tests.components.synthetic import IDENTIFIERS

ROOT = Path(__file__).resolve().parents[2]
THEMES = {
    False: {"background-color": "#fbfbf8", "text-color": "#1d2330", "primary-color": "#3b4cca"},
    True: {"background-color": "#14161b", "text-color": "#e9e9e4", "primary-color": "#8f9bff"},
}
ADDRESS = "http://attention-map.test/"

# Streamlit's part: a shadow root with the style, the element and the module; what it sends back is kept in `sent`.
FRAME = """<!doctype html><meta charset="utf-8">
<style>body {{ margin: 0; padding: 16px; {variables} }}</style><div id="host"></div>
<script type="module">
const bytes = text => Uint8Array.from(atob(text), sign => sign.charCodeAt(0));
const address = URL.createObjectURL(new Blob([bytes("{script}")], {{ type: "text/javascript" }}));
const component = (await import(address)).default, shadow = document.getElementById("host").attachShadow({{ mode: "open" }});
shadow.append(document.createElement("style"), document.createElement("div"));
shadow.firstChild.textContent = new TextDecoder().decode(bytes("{style}"));
shadow.lastChild.className = "atlas {name}";
shadow.lastChild.dataset.testid = "{name}";
window.sent = [];
const setStateValue = (...message) => window.sent.push(message), setTriggerValue = setStateValue;
window.send = text => component({{ data: bytes(text), parentElement: shadow, setStateValue, setTriggerValue }});
window.close_map = window.send("{payload}");
</script>"""


def labels(language: str) -> dict[str, str]:
    file = ROOT / "assets" / "text" / f"{language}.toml"
    found: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))["attention_map"]
    return found


def payload(trace: Trace, *, view: str = "heads", language: str = "en", **options: Any) -> bytes:
    attentions: Sequence[str] = IDENTIFIERS if view == "heads" else IDENTIFIERS[2:]
    given: dict[str, Any] = {
        "view": view, "attentions": attentions, "words": {}, "text": labels(language),
        "caption": {"model": "tiny", "source": trace.source_text, "target": trace.target_text},
    }  # fmt: skip
    return pack(trace, **(given | options))


def encoded(data: bytes | str) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def visit(
    browser: BrowserContext,
    data: bytes,
    *,
    component: ModuleType = attention_map,
    width: int = 1280,
    dark: bool = False,
    query: Mapping[str, object] | None = None,
) -> Page:
    """Open the component (its package) with this data; every address of the page answers with the same frame."""
    folder = Path(str(component.__file__)).parent.name
    name = folder.replace("_", "-")
    script, look = encoded(joined(folder)), encoded(style(folder))
    variables = "".join(f"--st-{name}: {value};" for name, value in THEMES[dark].items())
    body = FRAME.format(name=name, variables=variables, script=script, style=look, payload=encoded(data))
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.route(f"{ADDRESS}**", lambda route: route.fulfill(body=body, content_type="text/html; charset=utf-8"))
    page.goto(ADDRESS + "?" + "&".join(f"{name}={value}" for name, value in (query or {}).items()))
    page.wait_for_selector(f"[data-testid={name}][data-painted]")
    return page


def sent(page: Page) -> list[Any]:
    found: list[Any] = json.loads(page.evaluate("JSON.stringify(window.sent)"))
    return found
