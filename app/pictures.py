"""The scripts of the pictures, each served once under an address that holds a hash of its content: a browser keeps it for good.

Streamlit would send a component's script and style as text with every element of every run, uncompressed, and a browser would
compile each anew. Only our server serves them; elsewhere (`streamlit run app/main.py`, tests) they are sent as text.
"""

import asyncio
import hashlib
import json
import zlib
from functools import cache

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

SHARED = "shared"
FOLDER = "static/pictures"  # below the app's own address, and below what a proxy keeps (deploy/nginx.conf)
AS_GZIP = 16 + zlib.MAX_WBITS
HEADERS = {"Cache-Control": "public, immutable, max-age=31536000", "Vary": "Accept-Encoding"}

_chosen: list[bool] = []


def serve() -> None:
    """Say that this process serves the scripts; before any component is imported."""
    _chosen.append(True)


def served() -> bool:
    return bool(_chosen)


class Pictures:
    """Answers for the scripts of the pictures; whatever else is asked for goes on to the app, which lies at `base`."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        self.below = "/".join(["", *filter(None, [base.strip("/"), FOLDER]), ""])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or not scope["path"].startswith(self.below):
            await self.app(scope, receive, send)
            return
        name = scope["path"].removeprefix(self.below)
        answer = await asyncio.to_thread(_answer, name, Headers(scope=scope))  # in a thread: the first one makes them all
        await answer(scope, receive, send)


def _answer(name: str, headers: Headers) -> Response:
    if name not in files():
        return PlainTextResponse("Not Found", 404, {"Cache-Control": "no-store"})
    if "gzip" not in headers.get("accept-encoding", ""):
        return Response(files()[name], headers=HEADERS, media_type="text/javascript")
    return Response(_compressed(name), headers=HEADERS | {"Content-Encoding": "gzip"}, media_type="text/javascript")


@cache
def _compressed(name: str) -> bytes:
    return zlib.compress(files()[name], level=9, wbits=AS_GZIP)


def opening(component: str) -> str:
    """What Streamlit sends instead of a component's script: a module that gets it, and asks once more if the network fails.

    It is compiled from text and so has no place of its own: addresses are those that the page has.
    """
    wanted = ", ".join(json.dumps(f"{FOLDER}/{_names()[name]}") for name in (component, SHARED))
    return f"""const load = name => {{
  const address = new URL(name, document.baseURI).href;
  return import(address).catch(() => import(`${{address}}?again`));
}};
const [{{ default: draw }}] = await Promise.all([{wanted}].map(load));
export default draw;
"""


@cache
def files() -> dict[str, bytes]:
    """The scripts by name."""
    return {_names()[component]: text.encode() for component, text in _texts().items()}


@cache
def _names() -> dict[str, str]:
    return {component: _name(component, text) for component, text in _texts().items()}


@cache
def _texts() -> dict[str, str]:
    from model.page import bundle  # not when the server starts: it comes with the models, which take seconds

    shared = bundle.shared()
    address = f"./{_name(SHARED, shared)}"
    scripts = {name: _styled(bundle.linked(name, address), bundle.style(name)) for name in bundle.components()}
    return {SHARED: shared} | scripts


def _name(component: str, text: str) -> str:
    return f"{component}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.js"


def _styled(script: str, style: str) -> str:
    """A component's script that brings its style: one sheet for all its elements."""
    drawing = script.replace("\nexport default ", "\nconst $$draw = ")
    return f"""{drawing}
const $$sheet = new CSSStyleSheet();
$$sheet.replaceSync({json.dumps(style, ensure_ascii=False)});
export default given => {{
  const root = given.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes($$sheet)) root.adoptedStyleSheets.push($$sheet);
  return $$draw(given);
}};
"""
