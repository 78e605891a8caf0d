"""Requests over HTTP: what is answered, with which headers, and what is not."""

import secrets
import socket
from urllib.parse import urlsplit

import pytest

from app import headers
from tests.security.client import Visitor, ask

SAFE = {name.lower(): value for name, value in headers.security_headers().items()}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/heads?text=%3Cscript%3E", 200),
        ("GET", "/_stcore/health", 200),
        ("GET", "/_stcore/host-config", 200),
        ("GET", "/static/nothing.js", 200),  # the page: Streamlit answers so to whatever is no file
        ("GET", "/media/0123.png", 404),
        ("GET", "/component/nothing/x.js", 404),
        ("GET", "/_stcore/bidi-components/nothing/x.js", 404),
        ("GET", "/_stcore/agent/openapi.json", 404),
        ("POST", "/_stcore/agent/interact", 404),
        ("GET", "/_stcore/script-health-check", 200),  # switched off, and so the page too
        ("DELETE", "/_stcore/upload_file/x/y", 403),
        ("POST", "/", 405),
        ("GET", "/heads?text=" + "a" * 40_000, 414),
    ],
)
def test_every_answer_has_the_headers(server: str, method: str, path: str, status: int) -> None:
    given, found, content = ask(server, method, path)
    assert given == status
    wanted = SAFE | (
        {"content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'"} if "/media/" in path else {}
    )
    assert {name: found.get(name) for name in wanted} == wanted
    assert b"<script>" not in content.replace(b"<script>\n      window.prerenderReady", b"")
    assert "access-control-allow-origin" not in found


def test_the_address_that_is_too_long_is_told_in_both_languages(server: str) -> None:
    content = ask(server, "GET", "/heads?text=" + "a" * 40_000)[2].decode()
    assert "40,005" in content
    assert "32,000" in content
    assert "问号" in content


@pytest.mark.parametrize("route", ["/static/", "/media/", "/component/", "/_stcore/bidi-components/", "/app/static/", "/"])
@pytest.mark.parametrize(
    "path",
    ["../../../../../../etc/passwd", "..%2f..%2f..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/app/main.py", "..\\..\\app\\main.py",
     "/etc/passwd", "%00", "//127.0.0.1/share/x", "C:\\Windows\\win.ini", "....//....//app/server.py"],
)  # fmt: skip
def test_no_path_leaves_its_folder(server: str, route: str, path: str) -> None:
    status, _, content = ask(server, "GET", route + path)
    assert status in (200, 400, 404)
    assert b"root:" not in content
    assert b"import " not in content
    assert status != 200 or b"<title>Streamlit</title>" in content  # the page itself, whatever stands behind the address


def test_a_request_that_is_none_is_refused_and_the_next_is_answered(server: str) -> None:
    parts = urlsplit(server)
    for said in (b"\0" * 300, b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", secrets.token_bytes(500)):
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as raw:
            raw.sendall(said + b"\r\n\r\n")
            answer = raw.recv(1000)
        assert not answer or answer.startswith(b"HTTP/1.1 4")
    assert ask(server, "GET", "/_stcore/health")[0] == 200


# ----- files that are brought and taken away


def upload(server: str, session: str, file: bytes, **more: str) -> int:
    """Bring a file as the browser does, but for the headers that are given."""
    token = ask(server, "GET", "/_stcore/health")[1]["set-cookie"].partition(";")[0]
    boundary = "b" * 20
    body = f'--{boundary}\r\nContent-Disposition: form-data; name="x"; filename="../../x.tsv"\r\n\r\n'.encode() + file
    body += f"\r\n--{boundary}--\r\n".encode()
    sent = {
        "Cookie": token,
        "X-Xsrftoken": token.partition("=")[2],
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    } | {name.replace("_", "-"): value for name, value in more.items()}
    return ask(server, "PUT", f"/_stcore/upload_file/{session}/{secrets.token_hex(8)}", body, sent)[0]


def test_files_are_brought_only_to_the_own_session_with_its_token_and_within_the_limit(server: str) -> None:
    with Visitor(server) as visitor:
        visitor.run("", "studio")
        assert upload(server, visitor.session, b"I see\tje vois\n") == 204
        assert upload(server, visitor.session, b"x", X_Xsrftoken="2|00000000|00|1") == 403
        assert upload(server, visitor.session, b"x", Cookie="") == 403
        assert upload(server, "another", b"x") == 400
        assert upload(server, "../" + visitor.session, b"x") == 400
        assert upload(server, visitor.session, b"x" * (6 * 1024**2)) == 413
        assert upload(server, visitor.session, b"x", Content_Type="multipart/form-data") == 400
