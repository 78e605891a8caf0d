"""One visitor of a running server over its WebSocket, as a browser is one, without drawing anything.

A visitor opens a page, keeps what its widgets hold, and sends that with every action, as Streamlit's own page does: the address,
the page, the fragment, the messages that it has kept. An action lasts from its message to the end of the run that it asked for,
with all that was drawn in between received.
"""

import asyncio
import contextlib
import http.client
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.load.widgets import KINDS, Widget, block_widget, first_state

PATIENCE = 30.0  # seconds after which a run is given up
KEPT = 2  # runs for which a browser keeps a message that was not used again; of a part, runs of that part or of the page
DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


class VisitError(Exception):
    """An action that came to nothing: no answer in time, or the connection gone."""


@dataclass
class Run:
    """What an action came to: seconds, bytes received, whether a fragment was enough, exceptions that the page shows."""

    seconds: float
    received: int
    fragment: bool
    exceptions: list[str] = field(default_factory=list)


@dataclass
class _Kept:
    """A message, and how many runs ago it was used."""

    message: ForwardMsg
    age: int = 0


class Visitor:
    """Use it as a context: `async with Visitor(address) as visitor: await visitor.open("heads", text="I love you.")`."""

    def __init__(self, address: str, locale: str = "en-US") -> None:
        self.address, self.locale = address, locale
        self.session = ""
        self.query, self.page = "", ""  # of the address, and the name of the page in it
        self.pages: dict[str, str] = {}  # hash of each page by its name
        self.widgets: dict[str, Widget] = {}  # of what is drawn, by id
        self.links: dict[str, str] = {}  # query of the link to each page, by its hash
        self.states: dict[str, WidgetState] = {}
        self.exceptions: list[str] = []
        self._hash, self._main = "", ""  # of the page that is open, and of the script that draws what is around it
        self._kept: dict[str, _Kept] = {}  # messages that the server need not send again, by their hash
        self._runs, self._received = 0, 0
        self._waiting: tuple[str, asyncio.Future[None]] | None = None
        self._timers: dict[str, asyncio.Task[None]] = {}  # of fragments that run again by themselves
        self._socket: ClientConnection
        self._reader: asyncio.Task[None]

    async def __aenter__(self) -> "Visitor":
        parts = urlsplit(self.address)
        self._socket = await connect(
            f"ws://{parts.netloc}/_stcore/stream",
            origin=f"http://{parts.netloc}",  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
            open_timeout=PATIENCE,
            compression=None,
        )
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop_timers()
        await self._socket.close()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
            await self._reader

    async def open(self, page: str = "", **parameters: str) -> Run:
        """Come to a page by its address."""
        self.page, self.query = page, urlencode(parameters)
        return await self._ask()

    async def follow(self, page: str) -> Run:
        """Go to another page by its link in the sidebar: what belongs to the page that is left is forgotten."""
        self.page, self._hash = page, self.pages[page]
        self.query = self.links.get(self._hash, "").lstrip("?")
        self.states = {id: state for id, state in self.states.items() if id in self.widgets and self.widgets[id].around}
        return await self._ask()

    async def set(self, widget: Widget, state: WidgetState) -> Run:
        """Use a widget; a trigger is sent once and not kept."""
        kind = state.WhichOneof("value")
        if kind in ("trigger_value", "json_trigger_value"):
            return await self._ask(widget.fragment, (state,))
        self.states[state.id] = state
        return await self._ask(widget.fragment)

    async def upload(self, widget: Widget, name: str, content: bytes) -> Run:
        """Drop a file into a box for files: first the file, then that it is there."""
        file = str(uuid4())
        path = f"/_stcore/upload_file/{self.session}/{file}"
        await asyncio.to_thread(_put, urlsplit(self.address).netloc, path, name, content)
        info = UploadedFileInfo(name=name, size=len(content), file_id=file)
        info.file_urls.file_id, info.file_urls.upload_url, info.file_urls.delete_url = file, path, path
        state = WidgetState(id=widget.id)
        state.file_uploader_state_value.uploaded_file_info.append(info)
        return await self.set(widget, state)

    async def again(self) -> Run:
        """Run the page once more with nothing changed."""
        return await self._ask()

    def change_address(self, **parameters: str) -> None:
        """What a component writes into the address by itself; the server hears of it with the next action."""
        self.query = urlencode({**dict(parse_qsl(self.query, keep_blank_values=True)), **parameters})

    def named(self, key: str) -> Widget | None:
        """The widget on the page that the app calls by this key."""
        return next((widget for widget in self.widgets.values() if widget.key == key), None)

    async def _ask(self, fragment: str = "", triggers: tuple[WidgetState, ...] = ()) -> Run:
        self.exceptions, self._received = [], 0
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting = (fragment, done)
        start = time.perf_counter()
        try:
            await self._send(fragment, triggers)
            await asyncio.wait_for(done, PATIENCE)
        except (TimeoutError, ConnectionClosed) as error:
            raise VisitError(type(error).__name__) from error
        finally:
            self._waiting = None
        return Run(time.perf_counter() - start, self._received, bool(fragment), self.exceptions)

    async def _send(self, fragment: str = "", triggers: tuple[WidgetState, ...] = (), by_itself: bool = False) -> None:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.fragment_id, asked.is_auto_rerun = self.query, fragment, by_itself
        asked.page_script_hash = self._hash
        if not self._hash:
            asked.page_name = self.page
        asked.widget_states.widgets.extend([*self.states.values(), *triggers])
        asked.cached_message_hashes.extend(self._kept)
        about = asked.context_info
        about.timezone, about.locale, about.color_scheme = "UTC", self.locale, "light"
        about.url = f"{self.address}/{self.page}"
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                self._received += len(data)
                self._take(ForwardMsg.FromString(data))
            error: Exception = ConnectionResetError("the server closed the connection")
        except Exception as caught:
            error = caught
        if self._waiting and not self._waiting[1].done():
            self._waiting[1].set_exception(VisitError(f"{type(error).__name__}: {error}"))

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            kept, found = self._kept[message.ref_hash], ForwardMsg()
            found.CopyFrom(kept.message)
            kept.age = 0
            found.metadata.CopyFrom(message.metadata)
            message, kind = found, found.WhichOneof("type")
        elif message.metadata.cacheable:
            self._kept[message.hash] = _Kept(message)
        if kind == "delta":
            self._draw(message)
        elif taker := getattr(self, f"_take_{kind}", None):
            taker(message)

    def _draw(self, message: ForwardMsg) -> None:
        delta, about = message.delta, message.metadata
        what = delta.WhichOneof("type")
        if what == "add_block":
            found = block_widget(delta.add_block)
        elif what == "new_element":
            element = delta.new_element
            kind = element.WhichOneof("type")
            if kind == "exception":
                self.exceptions.append(f"{element.exception.type}: {element.exception.message}"[:200])
            if kind == "page_link":
                self.links[element.page_link.page_script_hash] = element.page_link.query_string
            found = Widget(getattr(element, kind).id, kind, getattr(element, kind)) if kind in KINDS else None
        else:
            return
        if found is None or not found.id:
            return
        found.fragment, found.run = delta.fragment_id, self._runs
        found.around = about.active_script_hash == self._main
        self.widgets[found.id] = found
        if (state := first_state(found, found.id in self.states)) is not None:
            self.states[found.id] = state

    def _take_new_session(self, message: ForwardMsg) -> None:
        begun = message.new_session
        if begun.initialize.session_id:
            self.session = begun.initialize.session_id
        self._runs += 1
        self._main, self._hash = begun.main_script_hash, begun.page_script_hash
        if not message.metadata.run.fragment_ids:
            self._stop_timers()

    def _take_navigation(self, message: ForwardMsg) -> None:
        self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        self._hash = message.navigation.page_script_hash
        self.page = next((name for name, hash in self.pages.items() if hash == self._hash), self.page)

    def _take_page_info_changed(self, message: ForwardMsg) -> None:
        self.query = message.page_info_changed.query_string

    def _take_script_finished(self, message: ForwardMsg) -> None:
        if message.script_finished not in DONE:
            return  # begun again from within: the end is still to come
        ran = set(message.metadata.run.fragment_ids)
        gone = [id for id, one in self.widgets.items() if one.run < self._runs and (one.fragment in ran if ran else True)]
        for id in gone:
            del self.widgets[id]
            self.states.pop(id, None)
        for kept in self._kept.values():
            kept.age += not ran or kept.message.delta.fragment_id in ran
        self._kept = {hash: kept for hash, kept in self._kept.items() if kept.age <= KEPT}
        if self._waiting and not self._waiting[1].done() and (not ran or self._waiting[0] in ran):
            self._waiting[1].set_result(None)

    def _take_auto_rerun(self, message: ForwardMsg) -> None:
        again = message.auto_rerun
        if (before := self._timers.pop(again.fragment_id, None)) is not None:
            before.cancel()
        self._timers[again.fragment_id] = asyncio.create_task(self._again(again.fragment_id, again.interval))

    def _take_stop_auto_rerun(self, message: ForwardMsg) -> None:
        for fragment in message.stop_auto_rerun.fragment_ids:
            if (timer := self._timers.pop(fragment, None)) is not None:
                timer.cancel()

    async def _again(self, fragment: str, interval: float) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(interval)
                await self._send(fragment, by_itself=True)

    def _stop_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


def _put(host: str, path: str, name: str, content: bytes) -> None:
    """Send a file as a form does, with the token that keeps other sites from it."""
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    try:
        connection.request("GET", "/_stcore/health")
        answer = connection.getresponse()
        answer.read()
        cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
        boundary = uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Cookie": cookie,
            "X-Xsrftoken": cookie.partition("=")[2],
        }
        connection.request("PUT", path, body, headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 204:
            raise VisitError(f"upload: {answer.status}")
    finally:
        connection.close()
