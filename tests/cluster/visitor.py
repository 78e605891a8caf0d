"""A visitor as nginx sees one: a browser's cookies, its requests, and the websocket of one open page."""

import http.client
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

PATIENCE = 20.0
XSRF = "_streamlit_xsrf"


@dataclass
class Answer:
    """What a request came to. Names of headers are small letters."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        return [value for given, value in self.headers if given == name]

    def one(self, name: str) -> str:
        (value,) = self.all(name)
        return value


@dataclass
class Visitor:
    """`address`: of nginx."""

    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    session: str = ""
    page: str = ""
    query: str = ""  # of the address bar
    file: str = ""  # the number of the file that was brought last
    elements: dict[str, Any] = field(default_factory=dict)  # what is drawn, by the kind and the end of the widget's id
    socket: ClientConnection | None = None
    _opened: ExitStack = field(default_factory=ExitStack)

    @property
    def replica(self) -> str:
        return self.cookies["atlas_replica"]

    def shown(self, name: str) -> str:
        """The value of a parameter in the address bar."""
        return parse_qs(self.query).get(name, [""])[0]

    # Requests

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, self._cookie() | sent)
            answer = connection.getresponse()
            found = [(name.lower(), value) for name, value in answer.getheaders()]
            self._keep([value for name, value in found if name == "set-cookie"])
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def _cookie(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}

    def _keep(self, given: list[str]) -> None:
        for cookie in given:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value

    def upload(self, name: str, content: bytes) -> Answer:
        """Bring a file to this session as a browser does, and nothing more: the page is not told of it."""
        boundary = uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        self.file = str(uuid4())
        return self.ask(
            f"/_stcore/upload_file/{self.session}/{self.file}",
            "PUT",
            head.encode() + content + f"\r\n--{boundary}--\r\n".encode(),
            Content_Type=f"multipart/form-data; boundary={boundary}",
            X_Xsrftoken=self.cookies[XSRF],
        )

    # The open page

    def come(self, page: str = "", **parameters: str) -> "Visitor":
        """Open a page by its address, as a browser: the page, whether the server is well, the websocket, the first run."""
        self.leave()
        self.session, self.page, self.query = "", page, urlencode(parameters)
        assert self.ask(f"/{page}?{self.query}").status == 200
        return self.connect()

    def connect(self) -> "Visitor":
        """Open the websocket, again after it broke: with the session's number, as Streamlit's page does."""
        assert self.ask("/_stcore/health").status == 200
        host = urlsplit(self.address).netloc
        upgraded = connect(
            f"ws://{host}/_stcore/stream",
            origin=Origin(f"http://{host}"),
            subprotocols=[Subprotocol(part) for part in ("streamlit", self.cookies[XSRF], self.session) if part],
            additional_headers=self._cookie(),
            max_size=None,
            compression=None,
        )
        self.leave()
        self.socket = self._opened.enter_context(upgraded)
        assert self.socket.response is not None
        self._keep(self.socket.response.headers.get_all("Set-Cookie"))
        self.run()
        return self

    def run(self, *states: WidgetState, fragment: str = "") -> None:
        """One run of the page, to its end."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name, asked.fragment_id = self.query, self.page, fragment
        asked.widget_states.widgets.extend(states)
        if not fragment:  # the whole page is drawn again, and its files get other numbers
            self.elements.clear()
        self.send(message)
        while not self.take().HasField("script_finished"):
            pass

    def send(self, message: BackMsg) -> None:
        assert self.socket is not None
        self.socket.send(message.SerializeToString())

    def take(self) -> ForwardMsg:
        """The next thing that the server says."""
        assert self.socket is not None
        message = ForwardMsg.FromString(self.socket.recv(PATIENCE, decode=False))
        if message.HasField("new_session") and message.new_session.initialize.session_id:
            self.session = message.new_session.initialize.session_id
        if message.HasField("page_info_changed"):
            self.query = message.page_info_changed.query_string
        if message.HasField("delta") and message.delta.HasField("new_element"):
            element = message.delta.new_element
            kind = element.WhichOneof("type")
            drawn = getattr(element, kind)
            self.elements[f"{kind} {getattr(drawn, 'id', '').split('-', 2)[-1]}"] = drawn
        return message

    def type(self, sentence: str) -> None:
        """Type into the box for the sentence."""
        self.run(WidgetState(id=self.elements["text_area sentence"].id, string_value=sentence))

    def drop(self, name: str, content: bytes) -> Answer:
        """Drop a file into the box for files: bring it, and tell the page."""
        answer = self.upload(name, content)
        (box,) = (drawn for kind, drawn in self.elements.items() if kind.startswith("file_uploader "))
        state = WidgetState(id=box.id)
        info = state.file_uploader_state_value.uploaded_file_info.add(name=name, size=len(content), file_id=self.file)
        info.file_urls.file_id = self.file
        self.run(state)
        return answer

    def download(self) -> Answer:
        """Click the first button of the page that saves a file; most files are made only then."""
        button = next(drawn for kind, drawn in self.elements.items() if kind.startswith("download_button "))
        if not button.deferred_file_id:
            return self.ask(button.url)
        message = BackMsg()
        request = message.backend_operation_request
        request.request_id, request.session_id = str(uuid4()), self.session
        request.deferred_file.file_id = button.deferred_file_id
        self.send(message)
        while not (said := self.take()).HasField("backend_operation_response"):
            pass
        assert not said.backend_operation_response.error_msg, said
        return self.ask(said.backend_operation_response.deferred_file.url)

    def lost(self) -> bool:
        """Whether the websocket was closed on us (waits for it a moment)."""
        assert self.socket is not None
        try:
            while True:
                self.socket.recv(2)
        except ConnectionClosed:
            return True
        except TimeoutError:
            return False

    def leave(self) -> None:
        """Close the tab. What the browser holds stays."""
        self._opened.close()
