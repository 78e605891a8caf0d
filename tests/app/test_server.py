"""The application is sent with headers that keep a browser safe, and its warm-up survives a damaged model."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
import streamlit as st
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

import model.checkpoint
import model.translator
from app import headers, session, text


def test_headers() -> None:
    sent = headers.security_headers()
    assert sent["X-Content-Type-Options"] == "nosniff"
    assert sent["X-Frame-Options"] == "DENY"
    assert sent["Referrer-Policy"] == "same-origin"
    policy = dict(part.strip().split(" ", 1) for part in sent["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert "unsafe" not in policy["script-src"]
    assert not re.search(r"https?:|wss?:|\*", sent["Content-Security-Policy"])


def test_inline_scripts_of_the_page_are_allowed_by_their_hash() -> None:
    page = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    scripts = [script for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL) if script.strip()]
    expected = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert set(expected) <= set(headers.inline_script_hashes())


@pytest.mark.anyio
async def test_middleware_adds_headers_to_answers_and_keeps_those_that_are_there() -> None:
    sent = []

    async def application(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"SAMEORIGIN")]})  # type: ignore[operator]

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await headers.SecurityHeaders(application)({"type": "http", "path": "/"}, None, send)  # type: ignore[arg-type]
    found = sent[0]["headers"]
    assert isinstance(found, list)
    assert [value for name, value in found if name == b"x-frame-options"] == [b"SAMEORIGIN"]
    assert (b"x-content-type-options", b"nosniff") in found


def test_the_first_page_is_found_by_its_name_too() -> None:
    from app import server

    scope = {"type": "http", "method": "GET", "path": "/translate", "query_string": b"model=en-fr&text=%0d%0aX:1", "headers": []}
    answer = server.first_page(Request(scope))
    assert answer.headers["location"] == "./?model=en-fr&text=%0d%0aX:1"
    assert [route.path for route in server.app._user_routes] == ["/translate", "/favicon.png"]


def test_warm_up_without_any_model_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model.checkpoint, "SHIPPED", tmp_path)
    monkeypatch.setattr(model.translator, "SHIPPED", tmp_path)
    session.warm_up()


def test_warm_up_leaves_the_models_in_the_cache_of_the_pages() -> None:
    session.warm_up()
    session.warm_up_further()
    assert session.load("en-fr") is session.load("en-fr")
    assert session.trace("en-fr", session.first_example("en-fr")) is session.trace("en-fr", session.first_example("en-fr"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_fault_in_a_page_is_told_in_the_visitors_language_and_logged(
    language: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The way that Streamlit goes with an exception of a page: the log has its traceback, the page a sentence and a number."""

    def page(language: str) -> None:
        from streamlit.error_util import handle_user_script_exception

        from app import server, text

        text.use(language)
        try:
            raise RuntimeError("secret of the machine: /srv/atlas")
        except RuntimeError as error:
            handle_user_script_exception(error, server.told)

    found = AppTest.from_function(page, kwargs={"language": language}).run(timeout=30)
    text.use(language)
    (said,) = [one.body for one in found.get("html")]
    assert not found.exception
    assert "/srv/atlas" not in said
    assert text.text("rates.broken", number="").partition("  ")[0][:20] in said
    number = re.findall(r"\b[0-9a-f]{6}\b", said)[0]
    assert f"number {number}" in caplog.text
    assert any(record.exc_info and "/srv/atlas" in str(record.exc_info[1]) for record in caplog.records)
