"""The server answers at once and warms up meanwhile: a browser fetches its scripts while models are loaded.

What needs the models waits until they are there: connections, over which pages are run, and the question whether the server is
well, which a browser asks before it connects, and a proxy before it sends anybody. So do scripts of pictures, for which a tab
asks that was open before: they are made by modules that the warm-up is importing, and two threads that import them break both.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from app.pictures import FOLDER

HEALTH = "/_stcore/health"


class Opening:
    """The warm-up of a server, in a thread beside the one that answers."""

    def __init__(self) -> None:
        self.warm: asyncio.Task[None] | None = None

    def begin(self, warm_up: Callable[[], None]) -> None:
        self.warm = asyncio.create_task(asyncio.to_thread(warm_up))

    async def over(self) -> None:
        """Wait until the server is warm; an error of the warm-up is raised here, for everybody who waits."""
        if self.warm is not None:
            await asyncio.shield(self.warm)

    async def then(self, work: Callable[[], None], seconds: float) -> None:
        """Do what can wait, so long after the warm-up."""
        await self.over()
        await asyncio.sleep(seconds)
        await asyncio.to_thread(work)


class Waiting:
    """Lets those wait who need the models; whatever else is asked for goes on to the app."""

    def __init__(self, app: ASGIApp, opening: Opening) -> None:
        self.app, self.opening = app, opening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" or (scope["type"] == "http" and _needs_models(scope["path"])):
            await self.opening.over()
        await self.app(scope, receive, send)


def _needs_models(path: str) -> bool:
    return path.endswith(HEALTH) or f"/{FOLDER}/" in path
