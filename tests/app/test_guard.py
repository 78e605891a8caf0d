"""What is refused before a page runs, where the running server is not needed: limits that a test does not reach."""

import asyncio
import tomllib
from dataclasses import replace
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from app import guard
from app.guard import Guard
from app.server_profile import FOLDER, read

PROFILE = read("open", tomllib.loads((FOLDER / "open.toml").read_text("utf-8")))


def heartbeat() -> bytes:
    return BackMsg(app_heartbeat=True).SerializeToString()


class Server:
    """A guard before an app that lets everybody stay until `leave` is set."""

    def __init__(self, host: str = "", **limits: int) -> None:
        self.leave, self.came = asyncio.Event(), 0
        self.guard = Guard(
            self.app, replace(PROFILE, **limits), lambda name: not host or name == host, lambda: {"https://ours.test"}
        )

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.came += 1
        if scope["type"] == "websocket":
            await self.leave.wait()
        else:
            await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask(self, path: str = "/", kind: str = "http", **headers: str) -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "websocket.connect"}

        async def send(message: Message) -> None:
            sent.append(message)

        given = {"host": "here", **headers}
        scope: dict[str, Any] = {
            "type": kind, "path": path, "method": "GET", "query_string": b"", "client": ("198.51.100.7", 1),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        await self.guard(scope, receive, send)
        return sent


def status(sent: list[Message]) -> int:
    return int(sent[0]["status"])


def test_when_the_server_is_full_more_are_told_to_come_back() -> None:
    async def told() -> None:
        server = Server(sessions=2)
        inside = [asyncio.create_task(server.ask(guard.STREAM, "websocket")) for _ in range(2)]
        await asyncio.sleep(0)
        assert await server.ask(guard.STREAM, "websocket") == [{"type": "websocket.close", "code": 1008}]
        full = await server.ask("/heads")
        assert status(full) == 503
        assert "2 visitors" in full[1]["body"].decode()
        assert "2 位访客" in full[1]["body"].decode()
        assert status(await server.ask("/_stcore/health")) == 200
        server.leave.set()
        await asyncio.gather(*inside)
        assert status(await server.ask("/heads")) == 200

    asyncio.run(told())


def test_those_who_connect_again_and_again_are_refused_after_a_minutes_worth() -> None:
    async def refused() -> None:
        server = Server(connections=3)
        server.leave.set()
        answers = [await server.ask(guard.STREAM, "websocket") for _ in range(5)]
        assert [bool(answer) for answer in answers] == [False, False, False, True, True]

    asyncio.run(refused())


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [("http://here", True), ("https://here", True), ("https://ours.test", True), ("http://here.test", False), ("null", False)],
)
def test_our_own_site_and_those_that_are_named_may_connect(origin: str, allowed: bool) -> None:
    async def connects() -> None:
        server = Server()
        server.leave.set()
        assert bool(await server.ask(guard.STREAM, "websocket", origin=origin)) != allowed
        assert server.came == allowed

    asyncio.run(connects())


def test_only_hosts_that_are_allowed_are_answered() -> None:
    async def answers() -> None:
        server = Server(host="atlas.test")
        assert status(await server.ask()) == 421
        assert status(await server.ask(host="atlas.test")) == 200
        assert await server.ask(guard.STREAM, "websocket")

    asyncio.run(answers())


def test_counters_are_for_this_machine_and_files_are_not_taken_where_they_are_off() -> None:
    async def answers() -> None:
        server = Server(max_upload=0)
        assert status(await server.ask("/_stcore/metrics")) == 404
        assert status(await server.ask("/_stcore/upload_file/a/b")) == 403

    asyncio.run(answers())


def test_messages_that_come_too_fast_wait_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(guard, "MESSAGES", 3)

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def receive() -> Message:
        return {"type": "websocket.receive", "bytes": heartbeat()}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    async def hears() -> None:
        connection = guard.Connection(receive, send, 1000)
        for _ in range(5):
            assert (await connection.receive())["bytes"] == heartbeat()

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(hears())
    assert len(waited) == 2


def test_a_browser_that_goes_while_it_is_sent_something_is_no_error() -> None:
    sent: list[bytes] = []

    async def receive() -> Message:
        return {"type": "websocket.disconnect", "code": 1006}

    async def send(message: Message) -> None:
        sent.append(message["bytes"])
        raise ConnectionResetError

    async def visit() -> Message:
        connection = guard.Connection(receive, send, 1000)
        for part in (b"one", b"two"):
            await connection.send({"type": "websocket.send", "bytes": part})
        return await connection.receive()

    assert asyncio.run(visit())["type"] == "websocket.disconnect"
    assert sent == [b"one"]
