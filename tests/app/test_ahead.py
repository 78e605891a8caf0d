"""A page names the scripts that it will ask for, so that a browser has them when the server is warm."""

import asyncio
import re

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Scope
from streamlit.web.server.starlette.starlette_gzip_middleware import SelectiveGZipMiddleware

from app.ahead import EVERYWHERE, FOLDER, Ahead

PAGE = "<!DOCTYPE html><html><head><title>é</title></head><body></head></body></html>"


def sent(answer: ASGIApp, method: str = "GET", path: str = "/heads") -> tuple[dict[str, str], str]:
    """Headers and text of this answer as a browser gets them that takes it compressed and has an older one."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    headers = [(b"accept-encoding", b"gzip"), (b"if-none-match", b"old"), (b"host", b"school")]
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": headers}
    asyncio.run(Ahead(answer)(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return answered, b"".join(message.get("body", b"") for message in messages[1:]).decode()


def test_every_page_names_what_it_will_ask_for_and_what_that_imports() -> None:
    page_of_streamlit = HTMLResponse(PAGE.replace("<body>", f"<body>{'long ' * 300}"), headers={"etag": "old"})
    headers, page = sent(SelectiveGZipMiddleware(page_of_streamlit, minimum_size=1000))
    named = re.findall(r'<link rel="modulepreload" crossorigin href="./static/js/([^"]+)">', page)
    assert int(headers["content-length"]) == len(page.encode())
    assert "etag" not in headers
    assert page.endswith("</head></body></html>")
    assert {name.split(".")[0] for name in named} >= {name.split(".")[0] for name in EVERYWHERE}
    assert len(named) == len(set(named)) > len(EVERYWHERE)
    own = (FOLDER.parents[1] / "index.html").read_text("utf-8")
    for name in named:
        assert (FOLDER / name).is_file()
        assert name not in own  # which names it already


@pytest.mark.parametrize(
    ("answer", "method", "path"),
    [
        (PlainTextResponse(PAGE), "GET", "/"),
        (HTMLResponse(PAGE), "POST", "/"),
        (HTMLResponse(PAGE), "GET", "/media/taken.html"),
        (HTMLResponse(PAGE, 503), "GET", "/heads"),
    ],
)
def test_what_is_no_page_goes_through_as_it_is(answer: Response, method: str, path: str) -> None:
    assert sent(answer, method, path)[1] == PAGE
