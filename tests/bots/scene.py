"""What the tests of each platform set up: the platform connected to its local server, and what it is given to show."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from bots.platform import Button, Inbox, View
from bots.rendering.parse import parse_markdown, parse_partial
from tests.fakes.inbox import Kept

REFERENCE = "0123abcd"

ServerT = TypeVar("ServerT")
PlatformT = TypeVar("PlatformT")


class Serving(Protocol):
    """A platform that tells when it is connected."""

    connected: asyncio.Event

    async def serve(self, inbox: Inbox) -> None: ...


@dataclass(kw_only=True)
class Scene(Generic[ServerT, PlatformT]):
    """A local server, the platform on it, and what it has handed over."""

    server: ServerT
    platform: PlatformT
    inbox: Kept


@contextlib.asynccontextmanager
async def connected(platform: Serving, inbox: Inbox) -> AsyncIterator["asyncio.Task[None]"]:
    """Let a platform serve, connected, until left; yields what serves. What ends it before it is connected is raised."""
    serving = asyncio.create_task(platform.serve(inbox))
    connecting = asyncio.create_task(platform.connected.wait())
    await asyncio.wait({serving, connecting}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if serving.done():
            await serving
        yield serving
    finally:
        serving.cancel()
        connecting.cancel()
        await asyncio.gather(serving, connecting, return_exceptions=True)


async def answered(scene: Scene[Any, Any], *buttons: Button, prompts: tuple[str, ...] = ()) -> None:
    """Let an answer with these buttons stand under the newest question that was handed over."""
    incoming = (await scene.inbox.wait())[-1]
    (part,) = scene.platform.render(view("Five.", *buttons, prompts=prompts))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)


def view(text: str, *buttons: Button, prompts: tuple[str, ...] = ()) -> View:
    """Return a finished text as it is handed to a platform."""
    return View(document=parse_markdown(text), reference=REFERENCE, buttons=buttons, prompts=prompts)


def partial(text: str) -> View:
    """Return a text that is still being written."""
    return View(document=parse_partial(text), reference=REFERENCE, buttons=(Button.STOP,))
