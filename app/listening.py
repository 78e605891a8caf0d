"""The sockets on which the server waits for browsers, and how it writes to them."""

import asyncio
import contextlib
import os
import socket
import stat
from pathlib import Path
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

ENOUGH = 1 << 18  # bytes that are written although the loop has not turned, so that a connection that takes no more is noticed
OPEN = Path("/dev/fd")  # what this process has open, on Linux and macOS


def send_at_once() -> None:
    """Let whatever is written to a browser leave at once, on every connection that is accepted from now on.

    By default TCP keeps a small packet back until the one before it is acknowledged (RFC 896), and whoever has nothing to say
    acknowledges after 40 ms (RFC 1122, 4.2.3.2, allows 500): a run that answers in 10 ms took 50. Streamlit makes its socket
    in a way that asyncio, which switches this off, does not recognise.
    """
    with contextlib.suppress(OSError):  # no such folder: connections stay as the system makes them
        for number in OPEN.iterdir():
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.fstat(int(number.name)).st_mode):
                    _hasten(int(number.name))


def _hasten(file: int) -> None:
    """Switch it off where the socket is one of TCP that listens; what it accepts inherits that."""
    with socket.socket(fileno=os.dup(file)) as found:
        if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and found.family in (socket.AF_INET, socket.AF_INET6):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Together:
    """A connection that writes at once what one turn of the loop has for it.

    What a run draws is some hundred messages, each a call of the system, and for each of these the loop lets go of Python's
    lock, for which it then has to wait while somebody computes.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self._unwritten = transport, bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self.flush)
        self._unwritten += data
        if len(self._unwritten) > ENOUGH:
            self.flush()

    def flush(self) -> None:
        if self._unwritten:
            written, self._unwritten = self._unwritten, bytearray()
            self._transport.write(written)

    def close(self) -> None:
        self.flush()
        self._transport.close()


_connection_was_made = WebSocketsSansIOProtocol.connection_made


def _connection_made(self: WebSocketsSansIOProtocol, transport: asyncio.Transport) -> None:
    _connection_was_made(self, transport)
    self.transport = Together(transport)  # type: ignore[assignment]


def write_together() -> None:
    """Let every connection over which pages are drawn write so."""
    WebSocketsSansIOProtocol.connection_made = _connection_made  # type: ignore[method-assign,assignment]
