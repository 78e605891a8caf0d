"""The scripts of the pictures: each has an address that a browser may keep for good, and Streamlit sends only that address."""

import gzip
import re

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from app import pictures
from app.components import modules
from model.page import bundle


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"the app, {Request(scope).url.path}")(scope, receive, send)


@pytest.mark.parametrize("base", ["", "atlas", "/school/atlas/"])
def test_each_picture_says_where_its_scripts_are_and_they_are_there(base: str) -> None:
    client = TestClient(pictures.Pictures(app, base))
    page = "/".join(["", *filter(None, base.split("/")), "heads"])
    for component in bundle.components():
        said = re.findall(r'"([^"]+\.js)"', pictures.opening(component))
        assert len(said) == 2
        for address in said:
            answer = client.get(f"{page}/../{address}")
            assert answer.status_code == 200, address
            assert answer.headers["content-type"].startswith("text/javascript")
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["vary"] == "Accept-Encoding"


def test_a_script_imports_what_all_share_from_its_address() -> None:
    client = TestClient(pictures.Pictures(app))
    (shared,) = (name for name in pictures.files() if name.startswith("shared-"))
    offered = set(re.findall(r"\$\w+", client.get(f"/static/pictures/{shared}").text.rpartition("export {")[2]))
    for name in pictures.files().keys() - {shared}:
        script = client.get(f"/static/pictures/{name}").text
        found = re.match(r'import \{ (.+) \} from "\./(.+)";\n', script)
        assert found is not None
        assert found[2] == shared
        assert set(found[1].split(", ")) <= offered
        assert len(re.findall(r"^export default ", script, re.MULTILINE)) == 1


def test_a_script_is_compressed_for_whoever_takes_it_so() -> None:
    client = TestClient(pictures.Pictures(app))
    name, script = max(pictures.files().items(), key=lambda item: len(item[1]))
    with client.stream("GET", f"/static/pictures/{name}", headers={"Accept-Encoding": "gzip"}) as answer:
        sent = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert len(sent) < len(script) / 2
    assert gzip.decompress(sent) == script
    with client.stream("GET", f"/static/pictures/{name}", headers={"Accept-Encoding": "identity"}) as answer:
        assert b"".join(answer.iter_raw()) == script


def test_an_unknown_script_is_not_there_and_whatever_else_is_the_affair_of_the_app() -> None:
    client = TestClient(pictures.Pictures(app))
    missing = client.get("/static/pictures/bars-0000000000000000.js")
    assert missing.status_code == 404
    assert missing.headers["cache-control"] == "no-store"
    assert client.get("/heads").text == "the app, /heads"
    assert client.post("/static/pictures/bars.js").text.startswith("the app")


def test_streamlit_sends_the_whole_script_where_nobody_serves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, str] = {}
    monkeypatch.setattr(modules.st.components.v2, "component", lambda name, **parts: sent.update(parts))
    folder = bundle.COMPONENTS / "bars"
    monkeypatch.setattr(pictures, "_chosen", [])
    modules.component(folder)
    assert sent["js"] == bundle.joined("bars")
    pictures.serve()
    modules.component(folder)
    assert sent["js"] == pictures.opening("bars")
