"""A visitor without a browser: says to the server whatever it likes, and keeps everything that comes back."""

import http.client
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

OURS = ("it is our fault, not yours", "是我们的问题")  # how the pages speak of an error that nobody foresaw
PATIENCE = 30  # seconds for an answer, with room for a busy machine
# Where a string is shown as text by the browser, whatever it holds: what was typed, and the data of our own components.
LITERAL = {
    "text_area.value", "text_area.default", "text_input.value", "text_input.default", "bidi_component.json",
    "bidi_component.mixed", "page_link.query_string", "code.code_text",
}  # fmt: skip


@dataclass
class Told:
    """What came back of one run."""

    messages: list[ForwardMsg] = field(default_factory=list)

    @property
    def elements(self) -> list[Any]:
        return [message.delta.new_element for message in self.messages if message.delta.HasField("new_element")]

    @property
    def html(self) -> str:
        """All HTML of the page."""
        return "\n".join(one.html.body for one in self.elements if one.WhichOneof("type") == "html")

    @property
    def broken(self) -> bool:
        """Whether the page shows an error that nobody foresaw."""
        return any(one.WhichOneof("type") == "exception" for one in self.elements) or any(one in self.html for one in OURS)

    @property
    def widgets(self) -> list[str]:
        """The ids of all that can be set."""
        return [
            found.id
            for element in self.elements
            if (found := getattr(element, element.WhichOneof("type"))) is not None and getattr(found, "id", "")
        ]

    def marked_up(self, *typed: str) -> list[str]:
        """Where any of this would be read as markup: HTML, Markdown, formulas, labels. HTML that shows it character for character
        is fine."""
        found = []
        for path, value in (pair for element in self.elements for pair in strings(element)):
            if ".".join(path.split(".")[-2:]) in LITERAL:
                continue
            found += [f"{path}: {value[:200]}" for one in typed if one in value and one != escape(one)]
        return found


def strings(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text inside a message, with the names that lead to it."""
    for descriptor, value in message.ListFields():
        here = f"{path}.{descriptor.name}" if path else descriptor.name
        many = value if descriptor.is_repeated else [value]
        if descriptor.message_type and descriptor.message_type.GetOptions().map_entry:
            continue
        for one in many:
            if isinstance(one, Message):
                yield from strings(one, here)
            elif isinstance(one, str):
                yield here, one


class Visitor:
    """One connection. `run` asks for a page and waits for its end."""

    def __init__(self, address: str, **options: Any) -> None:
        netloc = urlsplit(address).netloc
        chosen = {"origin": f"http://{netloc}", "subprotocols": ["streamlit"], "max_size": None, "compression": None} | options
        self._connecting = connect(f"ws://{netloc}/_stcore/stream", open_timeout=PATIENCE, **chosen)
        self.socket: ClientConnection
        self.session, self.page_hash = "", ""
        self.states: dict[str, WidgetState] = {}

    def __enter__(self) -> "Visitor":
        self.socket = self._connecting.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._connecting.__exit__(*error)

    def run(self, query: str = "", page: str = "", *states: WidgetState, **more: Any) -> Told:
        """Open a page by its address, with these widgets touched, and wait until it is drawn."""
        self.states |= {state.id: state for state in states}
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        message.rerun_script.widget_states.widgets.extend(self.states.values())
        for name, value in more.items():
            setattr(message.rerun_script, name, value)
        self.send(message.SerializeToString())
        told = self.told()
        for state in states:
            if state.WhichOneof("value") == "trigger_value":
                del self.states[state.id]
        return told

    def send(self, data: bytes | str) -> None:
        self.socket.send(data)

    def told(self) -> Told:
        """What comes until the run that was asked for is at its end."""
        told = Told()
        while True:
            message = ForwardMsg()
            message.ParseFromString(self.socket.recv(PATIENCE, decode=False))
            told.messages.append(message)
            if message.HasField("new_session"):
                self.session = message.new_session.initialize.session_id
            if message.WhichOneof("type") == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                return told

    def address_of_file(self, file_id: str, session: str = "") -> str:
        """Ask for a file that is made when it is asked for; empty where the server has none for us. `session`: as another one."""
        asked = BackMsg()
        asked.backend_operation_request.session_id = session or self.session
        asked.backend_operation_request.request_id = file_id
        asked.backend_operation_request.deferred_file.file_id = file_id
        self.send(asked.SerializeToString())
        message = ForwardMsg()
        while message.WhichOneof("type") != "backend_operation_response":
            message.ParseFromString(self.socket.recv(PATIENCE, decode=False))
        return message.backend_operation_response.deferred_file.url

    def closed_with(self) -> int:
        """The code that the server closes with, after whatever it still says."""
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                self.socket.recv(PATIENCE)
        except ConnectionClosed as error:
            return error.rcvd.code if error.rcvd else 1006


def ask(
    address: str, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """One request over HTTP, its path sent as it is: status, headers (in small letters), content."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=bool(headers and "Host" in headers), skip_accept_encoding=True)
    for name, value in ({"Content-Length": str(len(body))} if body else {} | {}).items():
        connection.putheader(name, value)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders(body or None)
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found
