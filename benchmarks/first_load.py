"""What a first visit loads, page by page: kilobytes over the wire in a Chromium that has never been here, beside the goal.

Compressed as sent, with headers; what comes over the WebSocket is counted as it is. `--files` lists what is largest.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession

from app.views.anatomy import ORDER
from tests.browser import application

GOAL = 2000  # kB


def measured(browser: BrowserContext, address: str, page: str) -> tuple[dict[str, float], float]:
    """Kilobytes of each file, and of the messages, until a page is drawn by a browser without anything of it."""
    visit = application.Visit(browser, address)
    session = browser.new_cdp_session(visit.page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    files, messages = watched(session, address)
    visit.open("" if page == "translate" else page, lang="en")
    visit.page.wait_for_timeout(1500)  # fonts and pictures that come last
    visit.close()
    return files, sum(messages)


def watched(session: CDPSession, address: str) -> tuple[dict[str, float], list[float]]:
    """Kilobytes by path, and of each message; both grow while the page loads."""
    names: dict[str, str] = {}
    files: dict[str, float] = {}
    messages: list[float] = []

    def asked(event: Any) -> None:
        names[event["requestId"]] = event["request"]["url"]

    def finished(event: Any) -> None:
        url = names.get(str(event["requestId"]), "")
        if url.startswith(address):
            path = url.removeprefix(address).partition("?")[0]
            files[path] = files.get(path, 0) + float(event["encodedDataLength"]) / 1000

    session.on("Network.requestWillBeSent", asked)
    session.on("Network.loadingFinished", finished)
    session.on(  # binary messages are told as base64
        "Network.webSocketFrameReceived", lambda event: messages.append(0.75 * len(event["response"]["payloadData"]) / 1000)
    )
    return files, messages


def lines(listed: int) -> Iterator[str]:
    yield f"{'page':<20}{'files':>8}{'scripts':>12}{'fonts':>12}{'other':>12}{'messages':>12}{'goal':>14}"
    with (
        tempfile.TemporaryDirectory() as folder,
        application.serve(Path(folder, "server.log")) as address,
        application.launch() as browser,
    ):
        for page in ORDER:
            files, messages = measured(browser, address, page)
            scripts = sum(size for path, size in files.items() if path.endswith(".js"))
            fonts = sum(size for path, size in files.items() if path.endswith(".woff2"))
            whole = sum(files.values())
            sizes = "".join(f"{size:>9.0f} kB" for size in (scripts, fonts, whole - scripts - fonts, messages))
            verdict = "met" if whole + messages < GOAL else "MISSED"
            yield f"{page:<20}{len(files):>8}{sizes}{f'< {GOAL}':>9} kB  {whole + messages:.0f} kB: {verdict}"
            for path, size in sorted(files.items(), key=lambda item: -item[1])[:listed]:
                yield f"    {size:>8.0f} kB  {path}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=0, help="how many of the largest files of each page are listed")
    for line in lines(parser.parse_args().files):
        print(line, flush=True)


if __name__ == "__main__":
    main()
