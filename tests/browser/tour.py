"""The moving picture of the README, taken from the running app: type a sentence, hover a word, open a head, step attention.

make tour
python -m tests.browser.tour --output docs/images/tour.webp
"""

import argparse
import io
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Locator, Page

from tests.browser import application
from tests.browser.attention import type_sentence

SIZE = (1120, 700)
SHOWN = 960  # pixels that the picture is wide
BEFORE, SENTENCE = "Thank you.", "I have a black cat."
ARROW = ((0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12))  # a pointer: a browser without a screen draws none
MOST = 1_500_000  # bytes


@dataclass
class Film:
    """Pictures of a page with the pointer in them, and how long each stands (ms)."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    at: tuple[float, float] = (560.0, 400.0)

    def take(self, milliseconds: int) -> None:
        """One picture of what the window shows."""
        shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        ImageDraw.Draw(shot).polygon([(self.at[0] + x, self.at[1] + y) for x, y in ARROW], fill="black", outline="white")
        self.frames.append(shot.resize((SHOWN, round(SHOWN * SIZE[1] / SIZE[0])), Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def move(self, target: Locator, milliseconds: int = 900, steps: int = 3) -> None:
        """The pointer goes to the middle of an element, and rests there."""
        box = target.bounding_box()
        assert box
        begin, end = self.at, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for step in range(1, steps + 1):
            self.at = tuple(a + (b - a) * step / steps for a, b in zip(begin, end, strict=True))  # type: ignore[assignment]
            self.page.mouse.move(*self.at)
            self.page.wait_for_timeout(60)
            self.take(milliseconds if step == steps else 60)

    def save(self, file: Path) -> None:
        """An animated WebP that goes round."""
        first, *rest = self.frames
        first.save(file, save_all=True, append_images=rest, duration=self.times, loop=0, quality=72, method=4)


def tour(page: Page, film: Film) -> None:
    """What a visitor does in their first minute."""
    box = page.locator(".st-key-sentence textarea")
    box.fill("")
    film.move(box, 300)
    for end in range(2, len(SENTENCE) + 1, 3):
        box.fill(SENTENCE[:end])
        film.take(110)
    type_sentence(page, SENTENCE)
    page.wait_for_timeout(300)
    film.take(1200)
    linked = page.get_by_test_id("attention-map")
    linked.scroll_into_view_if_needed()
    for token in ("target-4", "target-5"):  # chat, noir: the lines cross
        film.move(linked.get_by_test_id(token), 1300)
    heads(page, film)
    attention(page, film)


def heads(page: Page, film: Film) -> None:
    """All heads at once; one is opened, and its cells say their numbers."""
    link = page.locator('[data-testid="stSidebar"]').get_by_role("link", name="Heads", exact=True)
    film.move(link, 300)
    link.click()
    page.wait_for_url("**/heads?*")
    application.settle(page)
    page.wait_for_timeout(500)
    film.take(1800)
    page.goto(f"{page.url}&attention=decoder.cross_attention&layer=1&head=0")
    application.settle(page)
    opened = page.get_by_test_id("attention-map").get_by_test_id("matrix")
    opened.scroll_into_view_if_needed()
    page.wait_for_timeout(400)
    film.take(900)
    film.move(opened, 1500)


def attention(page: Page, film: Film) -> None:
    """One head step by step."""
    link = page.locator('[data-testid="stSidebar"]').get_by_role("link", name="Attention, step by step")
    film.move(link, 300)
    link.click()
    page.wait_for_url("**/attention?*")
    application.settle(page)
    stage = page.locator(".st-key-stage").get_by_test_id("matrices")
    forward = stage.get_by_test_id("next")
    stage.evaluate("element => element.scrollIntoView()")
    page.wait_for_timeout(400)
    film.take(1200)
    film.move(forward, 300)
    for _ in range(8):  # as far as the weighted sum
        forward.click()
        page.wait_for_timeout(250)
        film.take(1000)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.tour", description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=application.ROOT / "docs" / "images" / "tour.webp")
    file: Path = parser.parse_args().output
    with (
        tempfile.TemporaryDirectory() as temporary,
        application.serve(Path(temporary, "server.log")) as address,
        application.launch() as browser,
    ):
        visit = application.Visit(browser, address, width=SIZE[0], height=SIZE[1])
        page = visit.open(lang="en", model="en-fr", text=BEFORE)
        film = Film(page)
        tour(page, film)
        visit.close()
        film.save(file)
    size = file.stat().st_size
    sys.stdout.write(f"{file}: {len(film.frames)} pictures, {sum(film.times) / 1000:.0f} s, {size / 1000:.0f} kB\n")
    if size > MOST:
        raise SystemExit(f"{size} bytes are more than {MOST}; lower the quality or take fewer pictures")


if __name__ == "__main__":
    main()
