"""Names in the page itself what every page will ask for, so that a browser fetches it while the server still loads its models.

Streamlit's front end asks for the script of a kind of element when the first such element arrives, and then for what that script
imports: after a start, when everything is there but these, a second of waiting.
"""

import asyncio
import re
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.guard import is_page

EVERYWHERE = (
    "BidiComponent", "Button", "ButtonGroup", "DownloadButton", "Html", "PageLink", "Selectbox", "TextArea", "rehype-katex",
)  # fmt: skip
"""Scripts of elements that all pages have: names of files without the hash of their content."""

FOLDER = Path(st.__file__).parent / "static" / "static" / "js"
IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")  # not import(...), which is for later


class Ahead:
    """Adds the names to every page that is sent whole; all else goes through as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not is_page(scope["path"]):
            await self.app(scope, receive, send)
            return
        tags, begun = await asyncio.to_thread(_tags), list[Message]()

        async def with_names(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_document(message):
                begun.append(message)
                return
            if begun:
                start = begun.pop()
                if not message.get("more_body"):
                    message = {**message, "body": message.get("body", b"").replace(b"</head>", tags + b"</head>", 1)}
                    start = {**start, "headers": [*_kept(start), (b"content-length", b"%d" % len(message["body"]))]}
                await send(start)
            await send(message)

        await self.app({**scope, "headers": _uncompressed(scope)}, receive, with_names)


@cache
def _tags() -> bytes:
    """One element for each script."""
    return "".join(f'<link rel="modulepreload" crossorigin href="./static/js/{name}">' for name in scripts()).encode()


def scripts() -> list[str]:
    """The scripts and whatever they import; empty where Streamlit's front end has other names."""
    found: dict[str, None] = {}
    wanted = [file.name for name in EVERYWHERE for file in FOLDER.glob(f"{name}.*.js")]
    while wanted:
        name = wanted.pop(0)
        if name not in found and (FOLDER / name).is_file():
            found[name] = None
            wanted += IMPORTED.findall((FOLDER / name).read_text("utf-8"))
    page = (FOLDER.parents[1] / "index.html").read_text("utf-8")
    return [name for name in found if name not in page]  # the others it names itself


def _is_document(start: Message) -> bool:
    kind: bytes = dict(start["headers"]).get(b"content-type", b"")
    return start["status"] == 200 and kind.startswith(b"text/html")


def _kept(start: Message) -> list[tuple[bytes, bytes]]:
    """The headers but for what is said of the page as it was, by which a browser would keep one that names nothing."""
    return [(name, value) for name, value in start["headers"] if name.lower() not in OF_THE_FILE]


OF_THE_FILE = (b"content-length", b"etag", b"last-modified")


def _uncompressed(scope: Scope) -> list[tuple[bytes, bytes]]:
    """What is asked for as text, some 10 kB, and whole: Streamlit compresses every page but the first."""
    asked = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
    return [(name, value) for name, value in scope["headers"] if name not in asked]
