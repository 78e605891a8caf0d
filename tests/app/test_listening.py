"""What is sent leaves at once: no answer waits for the browser's acknowledgement of the message before it."""

import socket

from app.listening import send_at_once


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
