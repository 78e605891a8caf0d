"""The attention map on a page as a reader has it, and the numbers that it must show, computed from the trace by NumPy.

`AttentionMap` points, presses, switches and reads; `numbers` says what stands in the picture: nothing in it is shared with
the program that draws it.
"""

import csv
import io
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
from playwright.sync_api import BrowserContext, Dialog, Locator, Page, expect

from app.charts.spreadsheet import plain
from app.text import sentences
from model.alignment import words
from model.trace import Trace
from tests.browser import application

ENCODER, DECODER, CROSS = "encoder.self_attention", "decoder.self_attention", "decoder.cross_attention"
SVG = "{http://www.w3.org/2000/svg}"
ROUNDED = 0.00006  # four decimals of a weight that was sent in 16 bits
PATIENCE = application.PAGE_SECONDS  # seconds, with room for a busy machine


# ----- what must be shown


@dataclass(frozen=True)
class Numbers:
    """One head as a picture shows it: labels and positions of rows and columns, weights, which cells are masked."""

    rows: tuple[str, ...]
    row_places: tuple[str, ...]
    columns: tuple[str, ...]
    column_places: tuple[str, ...]
    weights: np.ndarray
    masked: np.ndarray
    removed: np.ndarray  # of each row, the share that lay on hidden columns
    tolerance: np.ndarray  # four decimals, and what 16 bits a piece leave open: more for words, and for rows scaled up


def numbers(
    trace: Trace,
    attention: str,
    layer: int,
    head: int | Literal["mean"],
    *,
    row: Literal["produced", "read"] = "produced",
    unit: Literal["pieces", "words"] = "pieces",
    hide_special: bool = False,
) -> Numbers:
    """Words: sum over the pieces of a key, mean over those of a query. Hidden: the rest of each row is scaled up to 1."""
    stack, name = attention.split(".")
    path = f"{stack}.layers.{layer}.{name}"
    each = trace[f"{path}.weights"].tensor[0].double().numpy()
    weights = each.mean(0) if head == "mean" else each[head]
    masked = np.isneginf(trace[f"{path}.masked"].tensor[0, 0].numpy())
    query, key = (trace[f"{path}.weights"].spans[axis] for axis in ("query", "key"))
    rows = _groups(trace, "produced" if query == "target" and row == "produced" else query, unit)
    columns = _groups(trace, key, unit)
    weights = np.stack([weights[:, group].sum(1) for _, group, _ in columns], axis=1)
    weights = np.stack([weights[group].mean(0) for _, group, _ in rows])
    masked = np.array([[masked[np.ix_(group, keys)].all() for _, keys, _ in columns] for _, group, _ in rows])
    removed = np.zeros(len(rows))
    if hide_special:
        shown = [not special for _, _, special in columns]
        removed = 1 - weights[:, shown].sum(1) / weights.sum(1)
        kept = [not special for _, _, special in rows]
        weights, masked, removed = weights[kept][:, shown], masked[kept][:, shown], removed[kept]
        weights = weights / weights.sum(1, keepdims=True)
        rows, columns = ([entry for entry in side if not entry[2]] for side in (rows, columns))
    pieces = np.array([len(group) for _, group, _ in columns])
    tolerance = 0.00005 + 0.00001 * pieces[None, :] / (1 - removed)[:, None]
    labels, places = ([tuple(entry[i] for entry in side) for side in (rows, columns)] for i in (0, 1))
    return Numbers(labels[0], _places(places[0]), labels[1], _places(places[1]), weights, masked, removed, tolerance)


def _groups(trace: Trace, side: str, unit: str) -> list[tuple[str, list[int], bool]]:
    """Label, positions and "special" of every item of a side; the label of several pieces is what was typed."""
    tokens = getattr(trace, side)
    if unit == "pieces":
        return [(token.label, [position], token.special) for position, token in enumerate(tokens)]
    text = trace.source_text if side == "source" else trace.target_text
    groups: dict[int, list[int]] = {}
    for position, word in enumerate(words.of_tokens(tokens, text)):
        groups.setdefault(word, []).append(position)
    found = []
    for group in groups.values():
        pieces = [tokens[position] for position in group]
        typed = text[pieces[0].span[0] : pieces[-1].span[1]].strip()
        marked = f"<unk> {typed}" if all(piece.unknown for piece in pieces) else typed
        found.append((marked if len(pieces) > 1 else pieces[0].label, group, all(piece.special for piece in pieces)))
    return found


def _places(groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
    return tuple(f"{group[0]}" if len(group) == 1 else f"{group[0]}\N{EN DASH}{group[-1]}" for group in groups)


# ----- what is shown


def eventually(look: Callable[[], Any], wanted: Any) -> Any:
    """Look until what is wanted is seen (a value, or a condition on it); fail with what was seen last."""
    end = time.monotonic() + PATIENCE
    while True:
        seen = look()
        if wanted(seen) if callable(wanted) else seen == wanted:
            return seen
        if time.monotonic() > end:
            if callable(wanted):
                raise AssertionError(f"not within {PATIENCE} s; seen last: {seen!r}")
            raise AssertionError(f"not within {PATIENCE} s {wanted!r}; seen last: {seen!r}")
        time.sleep(0.02)


def parameters(page: Page) -> dict[str, str]:
    """What stands in the URL."""
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(page.evaluate("location.href")).query, keep_blank_values=True).items()
    }


def type_sentence(page: Page, sentence: str) -> None:
    """Type it into the text box and wait until the page has answered."""
    box = page.locator(".st-key-sentence textarea")
    box.fill(sentence)
    box.press("Control+Enter")
    eventually(lambda: parameters(page).get("text"), sentence)
    application.settle(page)


def choose(page: Page, box: str, option: str) -> None:
    """Choose from a list of Streamlit (`box` is its key) the option that begins so, and wait for the answer."""
    page.locator(f".st-key-{box} input").click()
    page.get_by_role("option").filter(has_text=re.compile(rf"^{re.escape(option)}(?![\w-])")).click()


class AttentionMap:
    """The attention map on the page."""

    def __init__(self, page: Page, lang: str = "en") -> None:
        self.page = page
        self.text = sentences(lang)
        self.root = page.get_by_test_id("attention-map")
        expect(self.root).to_have_attribute("data-painted", re.compile(r"^\d+$"))

    def get(self, name: str) -> Locator:
        """A part of the map by its test id."""
        return self.root.get_by_test_id(name)

    # ----- what it says

    def said(self) -> str:
        """The live region: what a screen reader speaks."""
        return (self.get("live").text_content() or "").translate({0x2068: None, 0x2069: None})

    def labels(self, side: Literal["source", "target"]) -> list[str]:
        """The words of a sentence on Translate, in order."""
        names = self.root.locator(f'[data-testid^="{side}-"]').evaluate_all(
            "buttons => buttons.map(button => [button.getAttribute('aria-label'), button.dataset.testid])"
        )
        assert [name for _, name in names] == [f"{side}-{index}" for index in range(len(names))]
        return [label for label, _ in names]

    def table(self) -> list[list[str]]:
        """The table twin: a line of columns, then a line for each row, labels without their positions."""
        details = self.get("table")
        if details.get_attribute("open") is None:
            details.locator("summary").click()
        details.locator("tbody tr").first.wait_for()
        return details.locator("table").evaluate(
            """table => [...table.rows].map(row => [...row.cells].map(cell => (cell.querySelector("bdi") ?? cell).textContent))"""
        )

    # ----- what a reader does

    def pick(self, control: str, value: object) -> None:
        """One of a row of buttons: pick("head", 2), pick("row", "read")."""
        button = self.get(f"{control}-{value}")
        button.click()
        expect(button).to_have_attribute("aria-checked", "true")

    def cursor(self, row: int, column: int) -> str:
        """Move the keyboard cursor to a cell; what is then said."""
        self.get("matrix").focus()
        self.page.keyboard.press("Control+Home")
        for key, times in (("ArrowDown", row), ("ArrowRight", column)):
            for _ in range(times):
                self.page.keyboard.press(key)
        expect(self.get("live")).to_have_attribute("data-query", str(row))
        expect(self.get("live")).to_have_attribute("data-key", str(column))
        return self.said()

    def point(self, x: float, y: float) -> tuple[int, int] | None:
        """Move the pointer to a place in the matrix; the row and column that the map says it is on, if it is on a cell."""
        box = self.get("matrix").locator("canvas").bounding_box()
        assert box
        self.page.mouse.move(box["x"] + x, box["y"] + y)
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        live = self.get("live")
        query, key = live.get_attribute("data-query"), live.get_attribute("data-key")
        return None if query is None or key is None else (int(query), int(key))

    def colour(self, x: float, y: float) -> list[int]:
        """The pixel of the matrix at a place: red, green, blue."""
        pixel = """(canvas, [x, y]) => {
            const ratio = canvas.width / canvas.clientWidth;
            return [...canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data];
        }"""
        return self.get("matrix").locator("canvas").evaluate(pixel, [x, y])[:3]

    def boxes(self, side: Literal["source", "target"]) -> list[tuple[float, float, float, float]]:
        """Where the words of a sentence stand on Translate: left, top, right, bottom."""
        return [
            tuple(box)
            for box in self.root.locator(f'[data-testid^="{side}-"]').evaluate_all(
                "all => all.map(node => node.getBoundingClientRect()).map(box => [box.left, box.top, box.right, box.bottom])"
            )
        ]

    def picture(self, name: str) -> str:
        """The pixels of a canvas, to compare."""
        return self.get(name).locator("canvas").first.evaluate("canvas => canvas.toDataURL()")

    def save(self, kind: str) -> bytes:
        """Press an export button and read the file that the browser saved."""
        with self.page.expect_download() as saved:
            self.get(kind).click()
        return saved_bytes(saved.value)

    # ----- against what must be shown

    def check_cell(self, said: str, shown: Numbers, row: int, column: int, layer: int, head: int | Literal["mean"]) -> None:
        """Whether a sentence names this cell, with its tokens, positions, layer, head and exact weight."""
        values: dict[str, Any] = {
            "query": shown.rows[row],
            "query_position": shown.row_places[row],
            "key": shown.columns[column],
            "key_position": shown.column_places[column],
            "layer": layer + 1,
            "head": self.text["attention_map.head_mean"]
            if head == "mean"
            else self.text["attention_map.head_number"].format(head=head + 1),
        }
        if shown.masked[row, column]:
            assert said == self.text["attention_map.cell_masked"].format(**values)
            return
        weight = self.number_in(said, "cell", "weight", values)
        assert abs(weight - shown.weights[row, column]) <= shown.tolerance[row, column], (said, shown.weights[row, column])

    def number_in(self, said: str, key: str, name: str, values: dict[str, Any]) -> float:
        """The number that a sentence of the map says at {name}, all else being as it must."""
        sentence = self.text[f"attention_map.{key}"].format(**values, **{name: "\ue000"})
        pattern = re.escape(sentence).replace("\ue000", r"(\d\.\d{4})")
        match = re.match(pattern, said)
        assert match, f"{said!r} does not match {pattern!r}"
        return float(match[1])

    def check_table(self, shown: Numbers) -> None:
        """Whether the table twin holds these labels and these weights."""
        head, *lines = self.table()
        assert tuple(head[1:]) == shown.columns
        assert tuple(line[0] for line in lines) == shown.rows
        for row, line in enumerate(lines):
            for column, cell in enumerate(line[1:]):
                if shown.masked[row, column]:
                    assert cell == "\N{EN DASH}"
                else:
                    assert abs(float(cell) - shown.weights[row, column]) <= shown.tolerance[row, column]


def saved_bytes(download: Any) -> bytes:
    """The file that a browser saved."""
    return Path(download.path()).read_bytes()


def check_csv(content: bytes, shown: Numbers, *captions: str) -> None:
    """Whether a CSV file holds these numbers, a line a cell, and a caption that names all of `captions`."""
    lines = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert len(lines) == shown.weights.size
    for index, line in enumerate(lines):
        row, column = divmod(index, shown.weights.shape[1])
        assert (line["query"], line["query_position"]) == (plain(shown.rows[row]), shown.row_places[row])
        assert (line["key"], line["key_position"]) == (plain(shown.columns[column]), shown.column_places[column])
        assert line["masked"] == str(int(shown.masked[row, column]))
        if shown.masked[row, column]:
            assert line["weight"] == ""
        else:
            assert abs(float(line["weight"]) - shown.weights[row, column]) <= shown.tolerance[row, column]
    for caption in captions:
        assert caption in lines[0]["caption"]


def csv_caption(content: bytes) -> str:
    """What a CSV file says of itself."""
    return next(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))["caption"]


def drawn(svg: bytes) -> list[tuple[str, float, float]]:
    """Every text of an SVG picture in the order in which it is drawn, with its place (of a turned one where it turns)."""
    found = []
    for node in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        place = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", node.get("transform", ""))
        x, y = place.groups() if place else (node.get("x", "nan"), node.get("y", "nan"))
        found.append((node.text or "", float(x), float(y)))
    return found


# ----- who looks


class Visitor(application.Visit):
    """A visitor who does one thing after another in one tab; counts the messages that the page sends to the server."""

    def __init__(self, browser: BrowserContext, address: str) -> None:
        super().__init__(browser, address)
        self._sent = 0
        self.page.on("websocket", lambda socket: socket.on("framesent", self._count))
        self.page.on("dialog", self._dialog)

    def sent(self) -> int:
        """How many messages were sent until now, once what the page has begun is done."""
        self.page.wait_for_timeout(50)
        return self._sent

    def at_first(self, **choices: object) -> AttentionMap:
        """The map by piece, rows as produced, special tokens shown, nothing marked: whatever was done before.

        `choices` are switches of the map and their values.
        """
        page = self.page
        shown = AttentionMap(page)
        page.mouse.move(0, 0)
        now = parameters(page)
        for control, value in {"row": "produced", "unit": "pieces", "scale": "unit", **choices}.items():
            if now.get(control) != str(value):
                shown.pick(control, value)
        shown.get("control-special").uncheck()
        return shown

    def _count(self, frame: object) -> None:
        self._sent += 1

    def _dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()


@contextmanager
def visitor(browser: BrowserContext, address: str, path: str = "", **values: object) -> Iterator[Visitor]:
    """One visitor for several tests, since opening a page takes longer than most of them; asked at the end what went wrong."""
    visitor = Visitor(browser, address)
    visitor.open(path, **values)
    yield visitor
    visitor.close()
    assert visitor.problems == []
