"""While the server warms up scripts are sent, and what needs the models waits."""

import asyncio
import threading

import pytest
from starlette.types import Receive, Scope, Send

from app.opening import Opening, Waiting

WAITING = (
    ("http", "/below/_stcore/health"),
    ("websocket", "/_stcore/stream"),
    ("http", "/static/pictures/bars-0123456789abcdef.js"),  # of a tab that was open before the server started
)


async def asked(middleware: Waiting, kind: str, path: str) -> None:
    async def nothing(*_: object) -> None: ...

    await middleware({"type": kind, "path": path}, nothing, nothing)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_pages_wait_for_the_warm_up_and_scripts_do_not() -> None:
    answered: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answered.append(scope["path"])

    models_are_there, done = threading.Event(), []
    opening = Opening()
    middleware = Waiting(app, opening)
    opening.begin(lambda: models_are_there.wait(10) and None)
    later = asyncio.create_task(opening.then(lambda: done.append("later"), 0))
    waiting = [asyncio.create_task(asked(middleware, kind, path)) for kind, path in WAITING]
    await asked(middleware, "http", "/")
    await asked(middleware, "http", "/static/js/index.js")
    await asyncio.sleep(0)
    assert answered == ["/", "/static/js/index.js"]
    assert not done
    models_are_there.set()
    await asyncio.gather(*waiting, later)
    assert set(answered[2:]) == {path for _, path in WAITING}
    assert done == ["later"]


@pytest.mark.anyio
async def test_a_warm_up_that_fails_is_told_to_everybody_who_waits() -> None:
    opening = Opening()

    def fails() -> None:
        raise RuntimeError("no memory")

    opening.begin(fails)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no memory"):
            await opening.over()


@pytest.mark.anyio
async def test_without_a_warm_up_nobody_waits() -> None:
    await Opening().over()
