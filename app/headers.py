"""The headers of every answer: what keeps a browser safe that opens the pages."""

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A file that a visitor takes away is for them alone, and nothing in it is run where it is opened.
OF_FILES = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "private, no-store",
}
# What a page of ours never asks a browser for.
UNUSED = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "geolocation",
    "gyroscope", "hid", "idle-detection", "magnetometer", "microphone", "midi", "payment", "publickey-credentials-get",
    "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip


class SecurityHeaders:
    """Adds the headers that Streamlit does not send."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.of_pages = _sendable(security_headers())
        self.of_files = _sendable({**security_headers(), **OF_FILES})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                wanted = self.of_files if "/media/" in scope["path"] else self.of_pages
                missing = [(name, value) for name, value in wanted if name not in given]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def security_headers() -> dict[str, str]:
    """Own scripts only (and the page's one inline script, by its hash); no frames; no addresses given away; nothing shared."""
    inline = " ".join(f"'sha256-{digest}'" for digest in inline_script_hashes())
    policy = {
        "default-src": "'none'",
        "script-src": f"'self' {inline} blob:",  # components are modules made from text in the browser
        "style-src": "'self' 'unsafe-inline'",  # Streamlit writes its styles into the page
        "img-src": "'self' data: blob:",  # icons inside styles; pictures that a component saves
        "font-src": "'self' data:",  # one font of formulas stands inside a style sheet
        "connect-src": "'self'",  # the websocket of this server too
        "manifest-src": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
        "Referrer-Policy": "same-origin",  # an address holds what somebody typed
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED),
    }


def inline_script_hashes() -> list[str]:
    """The hashes of the scripts that stand inside Streamlit's own page."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    scripts = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page, re.DOTALL)
    return [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts if script.strip()]


async def broken(request: Request, error: Exception) -> Response:
    """The answer where ours fails, which is made outside of all that adds headers; the log has the traceback."""
    return PlainTextResponse("Internal Server Error", 500, security_headers())


def _sendable(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
