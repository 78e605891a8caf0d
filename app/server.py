"""The app as an ASGI application: warm before anyone comes, with the headers that a browser needs to stay safe.

`streamlit run app/server.py`, or `make run`.
"""

import asyncio
import contextlib
import gc
import hashlib
import hmac
import importlib
import math
import pkgutil
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

if (root := str(Path(__file__).resolve().parents[1])) not in sys.path:  # streamlit puts app/ on the path, not the root
    sys.path.insert(0, root)

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse
from starlette.routing import Route
from streamlit import config, runtime
from streamlit.runtime import memory_media_file_storage
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from app import pictures
from app.ahead import Ahead
from app.delivery import Compressed
from app.guard import Guard
from app.headers import SecurityHeaders, broken
from app.listening import send_at_once, write_together
from app.opening import Opening, Waiting
from app.server_profile import ProfileError, profile

try:
    profile()
except ProfileError as error:
    sys.exit(f"Attention Atlas does not start. {error}")

opening = Opening()


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[dict[str, object]]:
    """Answer at once and warm up meanwhile: a browser fetches its scripts while models are loaded, and pages wait for these."""
    send_at_once()
    write_together()
    opening.begin(warm_up)
    later = [asyncio.create_task(work) for work in (opening.then(finish, AFTER), collect_now_and_then())]
    yield {}
    for task in later:
        task.cancel()


AFTER = 3.0  # seconds in which the first visitor has their page before the rest is made


def warm_up() -> None:
    """Import what is heavy and load the first model; then keep all that out of garbage collection.

    Frozen objects are not looked at again, and what the caches hold later is looked at now and then instead of after every run
    of a page: that keeps thirty visitors quick (docs/decisions). The model is loaded by the pages' own loader, so that the
    first visitor gets it.
    """
    sys.setswitchinterval(0.001)  # a fifth of the usual: what a visitor waits for needs Python's lock for moments, many times
    gc.disable()  # to collect while modules grow would make the start longer, and find nothing
    try:
        from app import session

        session.warm_up()
    finally:
        gc.freeze()
        gc.enable()


def finish() -> None:
    """What a second visitor finds ready: every model, a translation with each, and the modules of all pages."""
    from app import session, views
    from app.views import anatomy

    session.warm_up_further()
    for module in pkgutil.iter_modules(views.__path__):
        if module.name not in anatomy.ORDER:  # pages are scripts, run by Streamlit
            importlib.import_module(f"{views.__name__}.{module.name}")
    gc.collect()
    gc.freeze()


COLLECT = 5.0  # seconds; a collection of what is new takes some 20 ms, and everybody waits for it
COLLECT_ALL = 600.0, 60.0  # seconds until all is looked at, a second or two: while visitors are there, and while nobody is


async def collect_now_and_then() -> None:
    """Collect garbage, also when nobody is there to cause it. (Streamlit's own collection after every run is switched off.)

    What was looked at once is mostly in a cache, or belongs to somebody who is there: it is looked at again seldom.
    """
    looked = time.monotonic()
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(COLLECT)
            if time.monotonic() - looked > COLLECT_ALL[nobody_is_there()]:
                gc.unfreeze()
                looked = time.monotonic()
            gc.collect()
            gc.freeze()


def nobody_is_there() -> bool:
    return not runtime.exists() or not runtime.get_instance()._session_mgr.list_active_sessions()


def told(error: Exception) -> bool:
    """Tell the visitor of an error in a page; the log has the traceback."""
    from app.views.told import broken

    return broken(error)


def keep_limits() -> None:
    """Give Streamlit those limits of the profile that it checks itself, in megabytes."""
    config.set_option("server.maxUploadSize", max(1, math.ceil(profile().max_upload / 1024**2)))
    config.set_option("server.maxWidgetStateSize", profile().max_message // 10**6)


def hide_addresses_of_files() -> None:
    """Let the address of a file that somebody takes away hold a secret of this process.

    Streamlit's is a hash of the content, of a large file only of parts: who guesses a content could ask whether somebody has it.
    """
    secret = secrets.token_bytes()

    def address(data: bytes, mimetype: str, filename: str | None = None) -> str:
        parts = (data, mimetype.encode(), (filename or "").encode())
        return hmac.new(secret, b"".join(hashlib.sha256(part).digest() for part in parts), "sha256").hexdigest()

    memory_media_file_storage._calculate_file_id = address


def first_page(request: Request) -> RedirectResponse:
    """The first page stands at the root alone; whoever writes its name, as that of any other page, gets there too."""
    return RedirectResponse(f"./?{request.url.query}")


def icon(request: Request) -> FileResponse:
    """The icon of a tab, in the place of Streamlit's; given to each page, it would be read anew in every run."""
    return FileResponse(ICON)


ICON = Path(__file__).resolve().parents[1] / "assets" / "icon.png"

keep_limits()
hide_addresses_of_files()
pictures.serve()
base = str(config.get_option("server.baseUrlPath") or "").strip("/")
root_path = base and f"/{base}"
guard = Middleware(
    Guard,
    profile=profile(),
    host_allowed=is_host_allowed,
    origins=lambda: set(config.get_option("server.corsAllowedOrigins")),
    base=base,
)
app = st.App(
    Path(__file__).with_name("main.py"),
    lifespan=lifespan,
    routes=[Route(f"{root_path}/translate", first_page), Route(f"{root_path}/favicon.png", icon)],
    middleware=[
        Middleware(SecurityHeaders),
        guard,
        Middleware(Waiting, opening=opening),
        Middleware(pictures.Pictures, base=base),
        Middleware(Compressed),
        Middleware(Ahead),
    ],
    exception_handlers={Exception: broken},
    on_script_error=told,
)
