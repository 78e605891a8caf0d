"""The scripts of the front end are sent compressed, once made, to whoever can take them so."""

import gzip
from pathlib import Path

import pytest
import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from app.delivery import Compressed

FOLDER = Path(st.__file__).parent / "static" / "static"
SCRIPT = next(file for file in sorted((FOLDER / "js").glob("*.js")) if file.stat().st_size > 10_000)
FONT = next((FOLDER / "media").glob("*.woff2"))


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"the app, {Request(scope).url.path}")(scope, receive, send)


@pytest.fixture
def client() -> TestClient:
    return TestClient(Compressed(app))


def test_a_script_is_compressed_and_never_asked_for_again(client: TestClient) -> None:
    for _ in range(2):
        with client.stream("GET", f"/static/js/{SCRIPT.name}", headers={"Accept-Encoding": "gzip"}) as answer:
            sent = b"".join(answer.iter_raw())
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.headers["content-type"].startswith("text/javascript")
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["vary"] == "Accept-Encoding"
            assert int(answer.headers["content-length"]) == len(sent) < SCRIPT.stat().st_size / 2
            assert gzip.decompress(sent) == SCRIPT.read_bytes()


def test_what_is_compressed_already_is_sent_as_it_is(client: TestClient) -> None:
    answer = client.get(f"/static/media/{FONT.name}", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers
    assert answer.content == FONT.read_bytes()
    assert answer.headers["content-type"] == "font/woff2"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (f"/static/js/{SCRIPT.name}", {"Accept-Encoding": "identity"}),
        (f"/static/js/{SCRIPT.name}", {"Range": "bytes=0-9"}),
        (f"/static/js/{SCRIPT.name}", {"If-None-Match": '"known"'}),
        ("/static/js/../../index.html", {}),
        ("/static/js/none.js", {}),
        ("/heads", {}),
    ],
)
def test_whatever_else_is_asked_for_is_the_affair_of_the_app(client: TestClient, path: str, headers: dict[str, str]) -> None:
    assert client.get(path, headers={"Accept-Encoding": "gzip"} | headers).text.startswith("the app")
