"""The app as a process, and its pages in a browser: used by the tests and by `make screenshots`."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 180  # with room for a busy machine; an idle one takes a few
PAGE_SECONDS = 60
HEALTH = "/_stcore/health"
# Opened at /heads, Streamlit first asks for its server below that path, is told 404, and then asks at the root.
PROBE = re.compile(r"/\w+/_stcore/(health|host-config)$")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
SITES = ("http://127.0.0.1/", "http://attention-map.test/")  # of the app, and of components alone (standalone.ADDRESS)

expect.set_options(timeout=1000 * PAGE_SECONDS)


@contextlib.contextmanager
def serve(log: Path, program: str = "streamlit", asked: str = HEALTH) -> Iterator[str]:
    """Start the server as `make run` does, on a free port; yield its address once it is warm.

    `program`: the module whose command line is Streamlit's. `asked`: "/" to have the address as soon as anything answers.
    """
    with run(log, program, asked) as (address, _):
        yield address


@contextlib.contextmanager
def run(log: Path, program: str = "streamlit", asked: str = HEALTH) -> Iterator[tuple[str, int]]:
    """As `serve`, with the number of the process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", program, "run", "app/server.py"]
    options = {"server.port": port, "server.address": "127.0.0.1", "server.headless": "true"}
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until_healthy(address, process, log, asked)
        yield address, process.pid
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_healthy(address: str, process: "subprocess.Popen[bytes]", log: Path, asked: str = HEALTH) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with code {process.returncode}; it said:\n{log.read_text()}")
        if is_healthy(address, asked):
            return
        time.sleep(0.05)
    raise RuntimeError(f"the server was not healthy within {START_SECONDS} s; it said:\n{log.read_text()}")


def is_healthy(address: str, asked: str = HEALTH) -> bool:
    try:
        with urllib.request.urlopen(f"{address}{asked}", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


@contextlib.contextmanager
def launch() -> Iterator[BrowserContext]:
    """A browser that can reach this machine alone."""
    executable = chromium.find()
    if executable is None:
        raise RuntimeError(chromium.ADVICE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*chromium.FLAGS, OFFLINE, "--process-per-site"])
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        context.set_default_timeout(1000 * PAGE_SECONDS)
        for site in SITES:  # an empty tab stays, and with it the process of the site and the scripts that it has compiled
            tab = context.new_page()
            tab.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
            tab.goto(site)
        yield context
        browser.close()


class Visit:
    """One visitor: a tab of their own, and what went wrong in it.

    Tabs share one browser context, and with it the cache: Streamlit's scripts are read and compiled once. A tab's session
    storage and its session at the server are its own.
    """

    def __init__(self, context: BrowserContext, address: str, *, width: int = 1280, height: int = 900, dark: bool = False):
        self.address = address
        self.problems: list[str] = []
        self.page = context.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        self.page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        self.page.on("console", self._console)
        self.page.on("request", self._request)

    def open(self, path: str = "", **parameters: object) -> Page:
        """Go to a page (its path in the URL) with query parameters, and wait until it is drawn."""
        self.page.goto(f"{self.address}/{path.lstrip('/')}?{urlencode(parameters)}")
        settle(self.page)
        return self.page

    def close(self) -> None:
        self.problems += ["an exception on the page"] * self.page.get_by_test_id("stException").count()
        self.page.evaluate("try { localStorage.clear() } catch { }")
        self.page.close()

    def _console(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type == "error" and not PROBE.search(url):
            self.problems.append(f"console: {message.text} ({url})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.problems.append(f"asked another machine for {request.url}")


SETTLED = """() => document.querySelector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    && document.querySelector('[data-testid="stMain"] h1')
    && !document.querySelector('[data-testid$="Skeleton"], [data-stale="true"]')"""


def settle(page: Page) -> None:
    """Wait until the script has run to its end, the page has a heading, and nothing on it is stale or still to come."""
    page.wait_for_function(SETTLED)


def number(text: str) -> float:
    """The number that a text shows, or ends with."""
    return float(text.split()[-1].rstrip(".;").replace("\N{MINUS SIGN}", "-"))


def file(page: Page, button: Locator) -> str:
    """The text file that a button saves."""
    with page.expect_download() as caught:
        button.click()
    return Path(caught.value.path()).read_text("utf-8-sig")
