"""Find the Chromium that the browser tests drive, or install one.

`python -m tests.browser.chromium` prints its path; with `--install` it first gets one if there is none.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The headless shell draws the same pages in a sixth less processor time: it has no window to keep.
NAMES = ("chromium-headless-shell", "google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome", "msedge")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
ADVICE = (
    "No Chromium was found and none could be installed. Install Chromium or Google Chrome with your system's package "
    "manager, or name one: CHROMIUM=/path/to/chrome make test"
)


def find() -> Path | None:
    """The first Chromium that starts: $CHROMIUM, then the system's, then the one that Playwright downloaded.

    A path in $CHROMIUM that does not start is an error, not a reason to take another.
    """
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        if not starts(Path(chosen)):
            raise SystemExit(f"CHROMIUM={chosen} does not start; name the executable of a Chromium or Google Chrome")
        return Path(chosen)
    return next((path for path in candidates() if starts(path)), None)


def candidates() -> Iterator[Path]:
    for name in NAMES:
        if path := shutil.which(name):
            yield Path(path)
    if platform.system() == "Darwin":
        yield Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    if platform.system() == "Windows":
        for folder in filter(None, map(os.environ.get, ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"))):
            yield Path(folder, "Google", "Chrome", "Application", "chrome.exe")
    if path := playwright_path():
        yield path


def playwright_path() -> Path | None:
    """Where Playwright keeps, or would keep, its own Chromium. None where there is no Playwright."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def starts(path: Path) -> bool:
    """Whether it runs at all: a browser may be there and miss a library, or be a stub that points to a shop."""
    if not path.is_file():
        return False
    if platform.system() == "Windows":  # there `--version` opens a window
        return True
    try:
        done = subprocess.run([path, "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, text=True)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and any(name in done.stdout for name in ("Chrom", "Edge"))


def install() -> Path:
    """Download Playwright's Chromium; where that is not possible and we may, take the system's package."""
    attempts = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        attempts += [
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],  # where there is no such package
        ]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "15000"}
    for command in attempts:
        print("No Chromium yet:", *command, file=sys.stderr, flush=True)
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=environment, timeout=600)
        except subprocess.TimeoutExpired:
            print("gave up after ten minutes", file=sys.stderr)
        if path := find():
            return path
    raise SystemExit(ADVICE)


def main() -> None:
    path = find()
    if path is None and "--install" in sys.argv[1:]:
        path = install()
    if path is None:
        raise SystemExit(ADVICE)
    print(f"Chromium: {path}")


if __name__ == "__main__":
    main()
