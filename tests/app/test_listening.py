"""What is sent leaves at once, in one piece: no answer waits for the browser's acknowledgement of the message before it."""

import asyncio
import socket
from typing import Any, cast

from app.listening import ENOUGH, Together, send_at_once


def test_connections_accepted_later_send_at_once() -> None:
    with socket.socket() as listening, socket.socket(socket.AF_UNIX) as other:  # made as Streamlit makes it
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        send_at_once()
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert other.fileno() > 0  # a socket of another kind is left alone, and open


class Wire:
    """What a transport is for those who write to it."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))

    def close(self) -> None:
        self.written.append(b"closed")

    def get_extra_info(self, name: str) -> str:
        return f"about {name}"


def test_what_one_turn_of_the_loop_has_is_written_once() -> None:
    wire = Wire()

    async def write() -> None:
        together = Together(cast(Any, wire))
        for word in (b"one ", b"two "):
            together.write(word)
        assert wire.written == []
        await asyncio.sleep(0)
        together.write(b"next turn")
        await asyncio.sleep(0)
        assert wire.written == [b"one two ", b"next turn"]
        together.write(b"x" * (ENOUGH + 1))
        assert len(wire.written[-1]) == ENOUGH + 1
        together.write(b"last")
        together.close()
        await asyncio.sleep(0)
        assert wire.written[-2:] == [b"last", b"closed"]
        assert together.get_extra_info("peername") == "about peername"

    asyncio.run(write())
