"""The shipped nginx.conf by itself: what it passes on, keeps, refuses; with a certificate; with one process more."""

import gzip
import http.client
import json
import re
import shutil
import ssl
import subprocess
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cluster.cluster import Cluster, Nginx, free_port
from tests.cluster.visitor import Visitor


class StandIn(ThreadingHTTPServer):
    """In the place of a process of the app: says what it was asked, and counts it."""

    def __init__(self, port: int = 0) -> None:
        self.asked: Counter[str] = Counter()
        super().__init__(("127.0.0.1", port), self.Handler)
        self.port = int(self.server_address[1])
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert isinstance(self.server, StandIn)
            self.server.asked[self.path] += 1
            heard = {name.lower(): value for name, value in self.headers.items()}
            said = json.dumps({"port": self.server.port, "headers": heard}).encode()
            self.send_response(200)
            self.send_header("Cache-Control", "public, immutable, max-age=31536000")
            if not self.path.startswith("/static/"):
                self.send_header("Set-Cookie", "_streamlit_xsrf=2|a; Path=/; SameSite=Lax")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *arguments: object) -> None:
            """Not on the screen."""


@pytest.fixture
def stand_ins() -> Iterator[tuple[StandIn, StandIn]]:
    pair = StandIn(), StandIn()
    yield pair
    for one in pair:
        one.shutdown()
        one.server_close()


@pytest.fixture
def nginx(tmp_path: Path, stand_ins: tuple[StandIn, StandIn]) -> Iterator[Nginx]:
    made = Nginx(tmp_path, (stand_ins[0].port, stand_ins[1].port))
    made.start()
    yield made
    made.stop()


def test_the_app_s_headers_come_through_once(cluster: Cluster) -> None:
    visitor, direct = Visitor(cluster.address), f"http://127.0.0.1:{cluster.replicas['1'].port}/"
    answer = visitor.ask("/")
    with urllib.request.urlopen(direct) as found:
        for name in ("content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy", "cache-control"):
            assert answer.all(name) == found.headers.get_all(name), name
    assert answer.all("server") == ["nginx"]  # without a version
    (cookie,) = [value for value in answer.all("set-cookie") if value.startswith("atlas_replica=")]
    assert set(cookie.split("; ")[1:]) == {"Path=/", "HttpOnly", "SameSite=Lax"}


def test_scripts_come_compressed_to_be_kept_for_a_year(cluster: Cluster) -> None:
    visitor = Visitor(cluster.address)
    page = visitor.ask("/", Accept_Encoding="gzip")
    script = re.search(rb'src="\.?(/static/js/[^"]+\.js)"', gzip.decompress(page.body))
    assert script is not None
    path = script[1].decode()
    for replica in cluster.replicas:  # kept by nginx once, whoever was asked
        visitor.cookies["atlas_replica"] = replica
        answer = visitor.ask(path, Accept_Encoding="gzip")
        assert answer.one("content-encoding") == "gzip"
        assert "accept-encoding" in " ".join(answer.all("vary")).lower()
        assert answer.one("cache-control") == "public, immutable, max-age=31536000"
        assert answer.all("set-cookie") == []
        plain = visitor.ask(path).body
        assert gzip.decompress(answer.body) == plain
        assert len(answer.body) < len(plain) / 2


def test_a_script_is_asked_of_the_processes_once(nginx: Nginx, stand_ins: tuple[StandIn, StandIn]) -> None:
    for replica in "1", "2", "1", "2":
        visitor = Visitor(nginx.address, {"atlas_replica": replica})
        visitor.ask("/static/js/index.abc.js")
        visitor.ask("/media/abc.csv")
    asked = stand_ins[0].asked + stand_ins[1].asked
    assert asked == {"/static/js/index.abc.js": 1, "/media/abc.csv": 4}  # and a visitor's own file is never kept


def test_a_process_hears_who_asks_whatever_they_say_of_themselves(nginx: Nginx, stand_ins: tuple[StandIn, StandIn]) -> None:
    visitor = Visitor(nginx.address, {"atlas_replica": "2"})
    said = json.loads(visitor.ask("/", X_Forwarded_For="203.0.113.9", X_Forwarded_Proto="https").body)
    assert said["port"] == stand_ins[1].port
    assert said["headers"]["x-forwarded-for"] == "127.0.0.1"
    assert said["headers"]["x-forwarded-proto"] == "http"
    assert said["headers"]["host"] == urlsplit(nginx.address).netloc
    assert "upgrade" not in said["headers"]
    upgraded = json.loads(visitor.ask("/_stcore/stream", Connection="Upgrade", Upgrade="websocket").body)["headers"]
    assert (upgraded["connection"], upgraded["upgrade"]) == ("upgrade", "websocket")


def test_a_link_that_holds_much_comes_through(nginx: Nginx) -> None:
    link = "/masks?painted=" + "01" * 15_000
    assert Visitor(nginx.address, {"atlas_replica": "1"}).ask(link, Referer=nginx.address + link).status == 200


def test_a_cookie_that_no_process_has_is_as_none(nginx: Nginx) -> None:
    for value in "3", "atlas_1", "", "../1", "1" * 2000:
        visitor = Visitor(nginx.address, {"atlas_replica": value})
        assert visitor.ask("/").status == 200
        assert visitor.replica in ("1", "2")


def test_what_is_for_those_who_look_after_the_server_stays_inside(nginx: Nginx, stand_ins: tuple[StandIn, StandIn]) -> None:
    for path in (
        "metrics",
        "metrics?families=active_sessions",
        "%6detrics",
        "../_stcore//metrics",
        "script-health-check",
        "agent/mcp",
    ):
        assert Visitor(nginx.address).ask(f"/_stcore/{path}").status == 404, path
    assert not stand_ins[0].asked + stand_ins[1].asked


def test_where_no_process_answers_a_page_says_so_and_looks_again(tmp_path: Path) -> None:
    nginx = Nginx(tmp_path, (free_port(), free_port()))
    nginx.start()
    try:
        for path in "/", "/heads", "/_stcore/health":
            answer = Visitor(nginx.address).ask(path)
            assert answer.status == 503
            assert answer.one("retry-after") == "5"
            assert answer.all("set-cookie") == []
            assert answer.one("content-type") == "text/html; charset=utf-8"
            assert "default-src 'none'" in answer.one("content-security-policy")
            assert "is starting" in answer.body.decode()
            assert "正在启动" in answer.body.decode()
    finally:
        nginx.stop()


def test_with_a_certificate_cookies_are_for_https_alone(tmp_path: Path, stand_ins: tuple[StandIn, StandIn]) -> None:
    openssl = shutil.which("openssl")
    assert openssl, "openssl makes the certificate of this test: apt-get install openssl"
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    made += f" -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}"
    subprocess.run(made.split(), check=True, capture_output=True)
    nginx = Nginx(tmp_path, (stand_ins[0].port, stand_ins[1].port))
    with_tls = re.sub(r"^    listen .*;$", "", nginx.site.read_text("utf-8"), flags=re.MULTILINE).replace("#tls ", "")
    for before, after in {
        "listen 443 ssl http2;": f"listen 127.0.0.1:{nginx.port} ssl http2;",
        "listen [::]:443 ssl http2;": "",
        "/etc/ssl/certs/attention-atlas.pem": str(certificate),
        "/etc/ssl/private/attention-atlas.key": str(key),
    }.items():
        assert before in with_tls
        with_tls = with_tls.replace(before, after)
    nginx.site.write_text(with_tls, "utf-8")
    nginx.check()
    nginx.start()
    try:
        trusting = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", nginx.port, context=trusting, timeout=10)
        connection.request("GET", "/")
        answer = connection.getresponse()
        said = json.loads(answer.read())
        connection.close()
    finally:
        nginx.stop()
    assert said["headers"]["x-forwarded-proto"] == "https"
    cookies = answer.headers.get_all("set-cookie") or []
    assert len(cookies) == 2
    assert all("secure" in cookie.lower().split("; ") for cookie in cookies)


def test_a_third_process_is_added_as_the_file_says(tmp_path: Path, stand_ins: tuple[StandIn, StandIn]) -> None:
    third = StandIn()
    nginx = Nginx(tmp_path, (stand_ins[0].port, stand_ins[1].port))
    nginx.site.write_text(nginx.site.read_text("utf-8").replace("#3 ", "").replace("8503", str(third.port)), "utf-8")
    nginx.check()
    nginx.start()
    ports = {"1": stand_ins[0].port, "2": stand_ins[1].port, "3": third.port}
    try:
        visitors = [Visitor(nginx.address) for _ in range(9)]
        for visitor in visitors:
            visitor.ask("/")
        assert Counter(visitor.replica for visitor in visitors) == {"1": 3, "2": 3, "3": 3}
        for visitor in visitors:
            assert json.loads(visitor.ask("/heads").body)["port"] == ports[visitor.replica]
    finally:
        nginx.stop()
        third.shutdown()
        third.server_close()
