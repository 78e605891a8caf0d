"""From click to painted in a real Chromium, on the real server: the Heads page, another head on it, a new sentence on Translate.

The clock is the browser's: from the time stamp of the click to the one that the attention map writes when it has painted.
"""

import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from playwright.sync_api import Locator, Page

import model
from benchmarks.timing import Figure, alone, run
from tests.browser import application

REPETITIONS, WARM_UP = 9, 2
# Milliseconds by the length of both sentences in tokens. Above 128 the overview is pooled and a head is fetched when opened.
PAGE_GOALS = {16: None, 64: 100, 128: 180, 256: 100}
FRAME = 16
NAME = "en-fr"
SOURCE, TARGET = "the old man and the dog see a small house", "le vieil homme et le chien voient une petite maison"
OTHER_SOURCE = "my friend has a big cat and she reads many books"

# `ready` says whether the map shows what was asked for; the promise gives the milliseconds between click and paint.
WATCH = """(ready) => {
  const isReady = new Function('map', `return ${ready}`);
  const maps = () => [...document.querySelectorAll('*')].map(host => host.shadowRoot?.querySelector('.attention-map'));
  let began = null;
  const began_now = event => { began ??= event.timeStamp; };
  for (const kind of ['click', 'keydown']) document.addEventListener(kind, began_now, { capture: true });
  window.painted = new Promise((resolve, reject) => {
    const end = performance.now() + 60000;
    const look = () => {
      const map = maps().find(Boolean), at = Number(map?.dataset.paintedAt);
      if (began !== null && at > began && isReady(map)) resolve(at - began);
      else if (performance.now() > end) reject(new Error('nothing was painted within a minute'));
      else setTimeout(look, 2);  // not once a frame: a later paint must not be taken for the first
    };
    look();
  }).finally(() => ['click', 'keydown'].forEach(kind => document.removeEventListener(kind, began_now, { capture: true })));
}"""


def figures() -> Iterator[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        application.serve(Path(folder, "server.log"), program="benchmarks.long_texts") as address,
        application.launch() as browser,
    ):
        visit = application.Visit(browser, address)
        for length, goal in PAGE_GOALS.items():
            yield from of_length(visit, length, goal)
        yield new_sentence(visit)
        visit.close()


def of_length(visit: application.Visit, length: int, goal: float | None) -> Iterator[Figure]:
    """The page opened by its link, another sentence on it, another head on it; sources and the first target of `length` tokens.

    The second and third are of the model's own translation. All traces are in the server's cache: what is measured is the way
    from the click through the server to the picture, not the model.
    """
    atlas = model.load(NAME, device="cpu")
    first, second = (
        text_of(length - 1, words, lambda text: len(atlas.tokenizers.source.encode(text))) for words in (SOURCE, OTHER_SOURCE)
    )
    target = text_of(length - 1, TARGET, lambda text: len(atlas.tokenizers.target.encode(text)))
    page = visit.open("", lang="en", model=NAME, text=first, target=target)
    links = page.locator('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')

    def opened() -> float:
        links.first.click()
        page.locator('[data-testid="steps"]').wait_for(state="attached")
        application.settle(page)
        heads = links.and_(page.locator('[href^="heads"]'))
        return seconds_to_paint(page, heads.click, "map.querySelector('[data-testid=overview]')")

    yield alone(f"Heads, its link clicked, L = {length}", repeat(opened), goal)
    application.settle(page)
    texts = cycle([second, first])
    box = page.locator(".st-key-sentence textarea")

    def exchanged() -> float:
        box.fill(next(texts))
        seconds = seconds_to_paint(page, lambda: box.press("Control+Enter"), "map.querySelector('[data-testid=overview]')")
        application.settle(page)
        return seconds

    yield alone(f"Heads, another sentence, L = {length}", repeat(exchanged), goal)
    heads = cycle([(layer, head) for layer in range(atlas.config.decoder_layers) for head in range(atlas.config.num_heads)])

    def switched() -> float:
        layer, head = next(heads)
        button: Locator = page.locator(f'[data-testid="map-decoder.cross_attention-{layer}-{head}"]')
        shown = "map.querySelector('[data-testid=opened]') && map.querySelector('[data-testid=loading]')?.hidden !== false"
        return seconds_to_paint(page, button.click, shown)

    if length <= 128:
        yield alone(f"Heads, another head clicked, L = {length}", repeat(switched), FRAME)
    else:
        yield alone(f"Heads, another head clicked and fetched, L = {length}", repeat(switched), goal)


def new_sentence(visit: application.Visit) -> Figure:
    """Ten words typed that nobody typed before: translated, traced, sent, painted."""
    page = visit.open("", lang="en", model=NAME)
    box = page.locator(".st-key-sentence textarea")
    numbers = iter(range(100, 1000))

    def translated() -> float:
        number = next(numbers)
        box.fill(f"The old man saw {number} big dogs in the garden.")
        painted = f"map.querySelector('[data-testid=text]').textContent.includes('{number}')"
        return seconds_to_paint(page, lambda: box.press("Control+Enter"), painted)

    return alone("Translate, ten new words, text box to picture", repeat(translated), 250)


def text_of(pieces: int, words: str, count: Callable[[str], int]) -> str:
    """A text of exactly so many pieces, made of these words."""
    text = ""
    for word in cycle(words.split()):
        longer = f"{text} {word}".strip()
        if count(longer) <= pieces:
            text = longer
        elif count(text) == pieces:
            return text
        else:
            text += "."
    raise AssertionError("cycle never ends")


def seconds_to_paint(page: Page, act: Callable[[], object], ready: str) -> float:
    """Act, and wait until the map has painted something that is ready."""
    page.evaluate(WATCH, ready)
    act()
    milliseconds: float = page.evaluate("window.painted")
    return milliseconds / 1000


def repeat(once: Callable[[], float]) -> list[float]:
    return [once() for _ in range(WARM_UP + REPETITIONS)][WARM_UP:]


if __name__ == "__main__":
    run(__doc__, figures)
