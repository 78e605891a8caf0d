"""The sockets on which the server waits for browsers."""

import contextlib
import os
import socket
import stat
from pathlib import Path

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
