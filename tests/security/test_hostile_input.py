"""What somebody may send who means harm, against the running server: nothing is interpreted, nothing stops anything."""

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from app.views.anatomy import ORDER
from tests.security.client import Visitor

SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"
MARKDOWN = "[click](javascript:alert(3)) ![](https://example.org/a.png) **b** :material/home:"
FORMULA = r"$\href{javascript:alert(4)}{x}$ \begin{align}"
PATH = "../../../../etc/passwd"
TEMPLATE = "{0.__class__} ${7*7} %(a)s {{7*7}}"
FORMULA_OF_A_TABLE = '=HYPERLINK("http://example.org")'
SHORT = "<b>I</b> **see** $x$"  # of every page: what is long takes the model long
TYPED = (SHORT, SCRIPT, MARKDOWN, FORMULA, TEMPLATE)
ODD = (
    *TYPED,
    PATH,
    "\0\x1b[31m\u202e\u200f",
    "-1",
    "1e999",
    "nan",
    "9" * 400,
    "0x10",
    "true",
    "[1,2]",
    '{"a":1}',
    "٣",
    " ",
    "\\" * 50,
)
# Every parameter of every page: what does not belong to a page is passed over by it.
PARAMETERS = (
    "lang", "model", "text", "target", "beam", "layer", "head", "attention", "step", "row", "cell", "token", "view", "scale",
    "batch_sentence", "find", "given", "machine", "mask", "mistake", "near", "order", "pair", "pe_a", "pe_b", "pe_d", "pe_length",
    "pe_base", "pe_head", "pe_layout", "preset", "purpose", "scope", "seed", "settings", "side", "size", "sizes", "sublayer",
    "table", "temperature", "tied_side", "tied_token", "top_k", "top_p", "unit", "variant", "without", "word", "strategy",
    "prefix", "decoding_head", "edits", "loss_row", "smoothing", "convention", "forced", "studio_sort", "studio_page", "fp32",
    "studio_query", "bf16", "fp8", "bandwidth", "length", "batch", "precision", "slide",
)  # fmt: skip


@pytest.fixture(scope="module")
def visitor(server: str) -> Iterator[Visitor]:
    with Visitor(server) as found:
        found.run()
        yield found


@pytest.mark.parametrize("page", [name for name in ORDER if name != "findings"])  # which measures its own ten sentences
def test_no_parameter_of_an_address_is_interpreted(visitor: Visitor, page: str) -> None:
    """Every parameter of every page at once, each page with other values at the same place."""
    values = cycle(ODD[ORDER.index(page) % len(ODD) :] + ODD[: ORDER.index(page) % len(ODD)])
    asked = dict(zip(PARAMETERS, values, strict=False)) | {"lang": "en", "text": SHORT}
    told = visitor.run(urlencode(asked), page)
    assert not told.marked_up(*TYPED)
    assert not told.broken
    assert "atlas-prose" in told.html


@pytest.mark.parametrize(
    "query",
    [
        "text=%ED%A0%80%FF%C0%AF&lang=%00",  # no letters at all
        "text=a&text=b&text=" + quote(SCRIPT) + "&lang=zh&lang=../en",
        "&&&===&%%%&text",
        "?" * 50,
        "text=" + "%E4%BD%A0" * 3000,
        "model=" + quote(PATH) + "&text=" + quote(MARKDOWN),
        "a" * 60_000,
        "&".join(f"x{index}=1" for index in range(5000)),
    ],
)  # fmt: skip
def test_addresses_that_are_none(visitor: Visitor, query: str) -> None:
    told = visitor.run(query, "heads")
    assert not told.broken
    assert not told.marked_up(*TYPED)


def test_a_long_address_is_told_with_the_limit(visitor: Visitor) -> None:
    assert "32,000" in visitor.run("text=" + "a" * 40_000, "heads").html


def test_a_page_that_is_not_there_is_the_first_page(visitor: Visitor) -> None:
    for page in ("../../etc/passwd", "heads/../../x", SCRIPT, "\0"):
        told = visitor.run("", page)
        assert not told.broken
        assert not told.marked_up(SCRIPT)


TOLD = ("place", "open", "layer", "mask", "ask", "into", "to", "typed", "edit", "gold", "go", "branch")  # by our components
SHAPES: tuple[object, ...] = (
    SCRIPT, -1, [[[-1]]], {"layer": SCRIPT, "head": -1, "attention": PATH, "step": 1e9, "cell": [9e9, -1], "mask": [[2]]},
)  # fmt: skip


def states(element: object, turn: int) -> WidgetState | None:
    """A widget set to what its browser would never send: out of range, of another name, of another shape."""
    kind, found = element.WhichOneof("type"), None  # type: ignore[attr-defined]
    state = WidgetState(id=getattr(getattr(element, kind), "id", ""))
    match kind:
        case "button_group" | "multiselect":
            state.string_array_value.data.extend([SCRIPT, "", PATH])
        case "selectbox" | "radio":
            state.string_value = (SCRIPT, "")[turn % 2]
        case "text_input" | "text_area":
            state.string_value = (SCRIPT, "a" * 12_000)[turn % 2]
        case "slider" if element.slider.type == element.slider.SLIDER:  # type: ignore[attr-defined]
            state.double_array_value.data.extend([(-1, 1e6)[turn % 2]])
        case "number_input":
            state.double_value = (-1e6, 1e6)[turn % 2]
        case "bidi_component":
            state.json_value = json.dumps(dict.fromkeys(TOLD, SHAPES[turn % len(SHAPES)]))
        case _:
            return found
    return state


@pytest.mark.parametrize("page", ["attention", "decoding", "cost"])
def test_values_that_no_widget_offers(server: str, page: str) -> None:
    with Visitor(server) as visitor:
        told = visitor.run("model=toy&lang=en", page)
        for turn in range(ORDER.index(page) % 2, len(SHAPES), 2):
            wrong = [state for element in told.elements if (state := states(element, turn))]
            answer = visitor.run("model=toy&lang=en", page, *wrong)
            assert not answer.marked_up(SCRIPT)
            assert not answer.broken, turn


def test_the_log_holds_no_fault(visitor: Visitor, server_log: Path) -> None:
    """After all of the above; the run ends with an error too where it does."""
    assert "Traceback" not in server_log.read_text(errors="replace")
