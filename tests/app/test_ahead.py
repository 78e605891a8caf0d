"""A page names the scripts that it will ask for, so that a browser has them when the server is warm."""

import asyncio
import re

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Message, Scope

from app.ahead import EVERYWHERE, FOLDER, Ahead

PAGE = "<!DOCTYPE html><html><head><title>é</title></head><body></head></body></html>"


def sent(answer: Response, method: str = "GET") -> tuple[dict[str, str], str]:
    """Headers and text of this answer as a browser gets them."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def ask() -> None:
        scope: Scope = {"type": "http", "method": method, "path": "/", "headers": []}
        await Ahead(answer)(scope, None, send)  # type: ignore[arg-type]

    asyncio.run(ask())
    headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return headers, b"".join(message.get("body", b"") for message in messages[1:]).decode()


def test_every_page_names_what_it_will_ask_for_and_what_that_imports() -> None:
    headers, page = sent(HTMLResponse(PAGE))
    named = re.findall(r'<link rel="modulepreload" crossorigin href="./static/js/([^"]+)">', page)
    assert int(headers["content-length"]) == len(page.encode())
    assert page.endswith("</head><body></head></body></html>")
    assert {name.split(".")[0] for name in named} >= {name.split(".")[0] for name in EVERYWHERE}
    assert len(named) == len(set(named)) > len(EVERYWHERE)
    own = (FOLDER.parents[1] / "index.html").read_text("utf-8")
    for name in named:
        assert (FOLDER / name).is_file()
        assert name not in own  # which names it already


def test_what_is_no_whole_page_goes_through_as_it_is() -> None:
    assert sent(PlainTextResponse(PAGE))[1] == PAGE
    assert sent(HTMLResponse(PAGE), method="HEAD")[0]["content-length"] == str(len(PAGE.encode()))
    assert sent(HTMLResponse(PAGE, headers={"content-encoding": "br"}))[1] == PAGE
