"""What the server refuses before any page runs: foreign hosts and sites, too many visitors, messages that no page of ours sends.

Streamlit and the web server have limits of their own (docs/security.md lists them); this stands in front of both.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from app.bucket import Bucket
from app.server_profile import Profile
from app.text import LANGUAGES, filled, sentences

LOCAL = ("127.0.0.1", "::1", "localhost")
STREAM = "/_stcore/stream"
# Of what a browser may tell the server, what the pages need. Not among them: emptying the caches of all visitors, asking for
# the state of the source code, writing files beside the app, stopping the server.
HEARD = ("rerun_script", "stop_script", "app_heartbeat", "backend_operation_request", "file_urls_request")
OPERATIONS = ("deferred_file",)  # a file that is made when it is asked for
MESSAGES, FILES = 600, 60  # of one connection a minute, at most as many at once; what comes faster waits
LONGEST_ADDRESS = 65_536  # characters: no browser comes here by a longer one, see docs/security.md

logger = logging.getLogger(__name__)


class Guard:
    """Lets through what the pages need. `host_allowed` is asked of every Host; `origins` are other sites that may connect."""

    def __init__(
        self, app: ASGIApp, profile: Profile, host_allowed: Callable[[str], bool], origins: Callable[[], set[str]], base: str = ""
    ) -> None:
        self.app, self.profile, self.host_allowed, self.origins = app, profile, host_allowed, origins
        self.base = f"/{base.strip('/')}" if base.strip("/") else ""
        self.connected = 0
        self.connections = Bucket(profile.connections)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refused(scope)
            await (refusal or self.app)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    # ----- requests

    def _refused(self, scope: Scope) -> Response | None:
        path, headers = scope["path"].removeprefix(self.base), Headers(scope=scope)
        if not self.host_allowed(headers.get("host", "")):
            return PlainTextResponse("Misdirected Request", 421)
        if (given := len(scope["query_string"])) > self.profile.max_link:
            return page_of("rates.long_link", 414, given=f"{given:,}", limit=f"{self.profile.max_link:,}")
        if path.startswith("/_stcore/upload_file/") and not self.profile.max_upload:
            return PlainTextResponse("Forbidden", 403)
        if path.startswith("/_stcore/agent") or (path == "/_stcore/metrics" and not _is_local(scope)):
            return PlainTextResponse("Not Found", 404)
        if self.connected >= self.profile.sessions and scope["method"] == "GET" and is_page(path):
            return page_of("rates.full", 503, limit=f"{self.profile.sessions:,}")
        return None

    # ----- connections

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal := self._refused_connection(scope):
            logger.warning("connection refused: %s", refusal)
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        self.connections.take()
        self.connected += 1
        try:
            connection = Connection(receive, send, self.profile.max_message)
            await self.app(scope, connection.receive, connection.send)
        finally:
            self.connected -= 1

    def _refused_connection(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if scope["path"].removeprefix(self.base) != STREAM:
            return "unknown path"
        if not self.host_allowed(host):
            return "foreign host"
        if origin is not None and _site(origin) != host and origin not in self.origins():
            return "foreign site"
        if self.connected >= self.profile.sessions:
            return "server full"
        if self.connections.wait(time.monotonic()):
            return "too often"
        return ""


class Connection:
    """The messages of one browser: each looked at before it is heard; after a wrong one nothing more is heard or said."""

    def __init__(self, receive: Receive, send: Send, longest: int) -> None:
        self._receive, self._send, self.longest = receive, send, longest
        self.closed = False
        self.messages, self.files = Bucket(MESSAGES), Bucket(FILES)

    async def send(self, message: Message) -> None:
        """To a browser that has gone nothing more is said; that it has gone is heard next, as of any other."""
        if not self.closed:
            try:
                await self._send(message)
            except OSError:  # passed on, it would make Streamlit close what is closed, and the log would tell of an error
                self.closed = True

    async def receive(self) -> Message:
        """The next message that a page needs; the others are passed over, and a wrong one ends the connection."""
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            await _paced(self.messages)
            code = judged(message.get("bytes"), self.longest)
            if code == MAKE_FILE:
                await _paced(self.files)
            if code in (HEAR, MAKE_FILE):
                return message
            if code != PASS_OVER:
                await self._send({"type": "websocket.close", "code": code})
                self.closed = True
                return {"type": "websocket.disconnect", "code": code}


async def _paced(bucket: Bucket) -> None:
    if wait := bucket.wait(time.monotonic()):
        await asyncio.sleep(wait)
    bucket.take()


HEAR, PASS_OVER, MAKE_FILE = 0, 1, 2
NOT_BINARY, NOT_OURS, TOO_BIG = 1003, 1002, 1009  # how a websocket is closed


def judged(data: bytes | None, longest: int) -> int:
    """What to do with a message: HEAR, PASS_OVER, MAKE_FILE (and hear), or the code to close with."""
    if data is None:
        return NOT_BINARY
    if len(data) > longest:
        return TOO_BIG
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return NOT_OURS
    if len(message.rerun_script.query_string) > LONGEST_ADDRESS:
        return TOO_BIG
    if not all(map(math.isfinite, _numbers(message))):
        return NOT_OURS
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return MAKE_FILE if message.backend_operation_request.WhichOneof("payload") in OPERATIONS else PASS_OVER
    return HEAR if kind in HEARD else PASS_OVER


def _numbers(message: BackMsg) -> Iterator[float]:
    """The numbers that boxes and sliders hold; what is none is sent by no page of ours."""
    for state in message.rerun_script.widget_states.widgets:
        yield state.double_value
        yield from state.double_array_value.data


def page_of(key: str, status: int, **values: object) -> Response:
    """A page that says one sentence in every language, for a visitor whom the app cannot serve."""
    said = "".join(f'<p lang="{name}">{escape(filled(sentences(name)[key], values))}</p>' for name in LANGUAGES)
    page = f'<!doctype html><html><head><meta charset="utf-8"><title>{status}</title></head><body>{said}</body></html>'
    return HTMLResponse(page, status, {"Retry-After": "60"} if status == 503 else None)


def is_page(path: str) -> bool:
    """Whether a path is one of a page, not of a file or of something that a page asks for."""
    return "." not in path and not path.startswith(("/_stcore", "/static", "/media", "/component"))


def _is_local(scope: Scope) -> bool:
    address, _ = scope.get("client") or ("", 0)
    return address in LOCAL


def _site(origin: str) -> str:
    """The host and port of an Origin; empty where it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
