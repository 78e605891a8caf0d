"""The scripts of the front end, sent compressed: Streamlit sends them as they are, five megabytes for a first visit.

Each is compressed when it is first asked for, in a thread, and kept. The name of such a file holds a hash of its content, so that
a browser that has it never asks again. (Compressing every answer anew, as a general middleware would, costs more than it saves.)
"""

import asyncio
import mimetypes
import zlib
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

ROUTE = "/static/"  # below the app's own address
TEXT = (".js", ".css")
KEPT_AS_IT_IS = (".woff2",)  # compressed already
AS_GZIP = 16 + zlib.MAX_WBITS
UNCHANGING = "public, immutable, max-age=31536000"  # what Streamlit says of these files


class Compressed:
    """Answers for the files of the front end; whatever else is asked for goes on to the app."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        folder = Path(st.__file__).parent / "static" / ROUTE.strip("/")
        self.files = {
            f"{ROUTE}{file.relative_to(folder).as_posix()}": file
            for file in folder.rglob("*")
            if file.suffix in TEXT + KEPT_AS_IT_IS
        }
        self.answers: dict[str, asyncio.Future[Response]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = self.files.get(_path(scope)) if scope["type"] == "http" and scope["method"] == "GET" else None
        if file is None or not _suits(Headers(scope=scope)):
            await self.app(scope, receive, send)
            return
        answer = await self._answer(file)
        await answer(scope, receive, send)

    async def _answer(self, file: Path) -> Response:
        """The answer for a file, made once, however many ask for it at the same moment."""
        name = str(file)
        if name not in self.answers:
            self.answers[name] = asyncio.ensure_future(asyncio.to_thread(answer_of, file))
        return await asyncio.shield(self.answers[name])


def answer_of(file: Path) -> Response:
    """A file of the front end as it is sent, compressed if it is text."""
    kind = "text/javascript" if file.suffix == ".js" else mimetypes.guess_type(file.name)[0]
    content, headers = file.read_bytes(), {"Cache-Control": UNCHANGING, "Vary": "Accept-Encoding"}
    if file.suffix in TEXT:
        content = zlib.compress(content, wbits=AS_GZIP)
        headers["Content-Encoding"] = "gzip"
    return Response(content, headers=headers, media_type=kind)


def _path(scope: Scope) -> str:
    """What is asked for, from the app's own address on."""
    path: str = scope["path"]
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return path.removeprefix(f"/{base}") if base else path


def _suits(headers: Headers) -> bool:
    """Whether this browser takes compressed answers, and asks for a whole file that it does not have."""
    return "gzip" in headers.get("accept-encoding", "") and "range" not in headers and "if-none-match" not in headers
