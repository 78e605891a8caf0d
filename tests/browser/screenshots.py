"""Pictures for looking at: every page x two widths x light and dark x English and Chinese, into screenshots/.

make screenshots
python -m tests.browser.screenshots --pages translate heads --widths 1280 --languages zh
"""

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page

from tests.browser import application

ROOT = application.ROOT
HEIGHTS = {1280: 900, 390: 844}
LOOKS = 20  # at the height, until it is still
HINT = "note: no Chinese font on this machine; Chinese text will be boxes (Debian, Ubuntu: apt-get install fonts-noto-cjk)"


def pages(browser: BrowserContext, address: str) -> list[str]:
    """The paths in the URL of all pages, in the order in which the sidebar links to them."""
    visit = application.Visit(browser, address)
    links = visit.open().locator('[data-testid="stSidebar"] a[href]')
    links.first.wait_for(state="attached")
    addresses = (urlsplit(link.get_attribute("href") or "") for link in links.all())
    found = dict.fromkeys(link.path.strip("/") for link in addresses if link.netloc in ("", urlsplit(address).netloc))
    visit.close()
    return list(found)


def take(browser: BrowserContext, address: str, path: str, width: int, dark: bool, lang: str, folder: Path) -> list[str]:
    """One picture of the whole page, as tall as it is; what went wrong on it."""
    visit = application.Visit(browser, address, width=width, height=HEIGHTS.get(width, 900), dark=dark)
    page = visit.open(path, lang=lang)
    fit(page, width)
    file = folder / f"{path or 'first'}-{width}-{'dark' if dark else 'light'}-{lang}.png"
    page.screenshot(path=file)
    wider = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    visit.close()
    return [f"{file.name}: {problem}" for problem in [*visit.problems, *["scrolls sideways"] * bool(wider)]]


def fit(page: Page, width: int) -> None:
    """A window as tall as the content, for Streamlit scrolls inside it, once that grows no more: parts come, canvases paint."""
    before = 0
    for _ in range(LOOKS):
        page.wait_for_timeout(400)
        height = int(page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollHeight"))
        if height == before:
            return
        page.set_viewport_size({"width": width, "height": max(HEIGHTS.get(width, 900), height)})
        before = height


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__.splitlines()[0])
    parser.add_argument("--pages", nargs="*", help="paths in the URL (all pages)")
    parser.add_argument("--widths", nargs="*", type=int, default=sorted(HEIGHTS, reverse=True))
    parser.add_argument("--themes", nargs="*", choices=["light", "dark"], default=["light", "dark"])
    parser.add_argument("--languages", nargs="*", default=["en", "zh"])
    parser.add_argument("--output", type=Path, default=ROOT / "screenshots")
    options = parser.parse_args()
    if not has_chinese_font():
        print(HINT)
    options.output.mkdir(parents=True, exist_ok=True)
    problems = []
    with (
        tempfile.TemporaryDirectory() as temporary,
        application.serve(Path(temporary, "server.log")) as address,
        application.launch() as browser,
    ):
        paths = options.pages or pages(browser, address)
        every = itertools.product(paths, options.widths, options.themes, options.languages)
        for path, width, theme, lang in every:
            problems += take(browser, address, path, width, theme == "dark", lang, options.output)
    print(f"{len(list(options.output.glob('*.png')))} pictures in {options.output}")
    if problems:
        sys.exit("\n".join(problems))


def has_chinese_font() -> bool:
    """True where fontconfig knows one, and where there is no fontconfig to ask."""
    if not shutil.which("fc-list"):
        return True
    return bool(subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True).stdout.strip())


if __name__ == "__main__":
    main()
