"""The app as an ASGI application: warm before anyone comes, with the headers that a browser needs to stay safe.

`streamlit run app/server.py`, or `make run`.
"""

import base64
import gc
import hashlib
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

if (root := str(Path(__file__).resolve().parents[1])) not in sys.path:  # streamlit puts app/ on the path, not the root
    sys.path.insert(0, root)

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[dict[str, object]]:
    """Import what is heavy, load every model, translate once with each; then keep all that out of garbage collection.

    Streamlit collects after every run of a page. Frozen objects are not looked at again, which is what keeps thirty
    visitors quick (docs/decisions). The models are loaded by the pages' own loader, so that the first visitor gets them.
    """
    from app import session

    session.warm_up()
    gc.collect()
    gc.freeze()
    yield {}


class SecurityHeaders:
    """Adds the headers that Streamlit does not send."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = [(name.lower().encode(), value.encode()) for name, value in security_headers().items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                missing = [(name, value) for name, value in self.headers if name not in given]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def security_headers() -> dict[str, str]:
    """Own scripts only (and the page's one inline script, by its hash); no frames from elsewhere; no addresses given away."""
    inline = " ".join(f"'sha256-{digest}'" for digest in inline_script_hashes())
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' {inline} 'wasm-unsafe-eval' blob:",  # components are modules made from text in the browser
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self' ws: wss: data: blob:",
        "worker-src": "'self' blob:",
        "frame-src": "'self' blob:",
        "frame-ancestors": "'self'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "same-origin",
    }


def inline_script_hashes() -> list[str]:
    """The hashes of the scripts that stand inside Streamlit's own page."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    scripts = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page, re.DOTALL)
    return [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts if script.strip()]


app = st.App(Path(__file__).with_name("main.py"), lifespan=lifespan, middleware=[Middleware(SecurityHeaders)])
