"""What made hosts have in common: an application on the loopback, a page to log in, a stranger to a credential."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

LOGIN = "<!doctype html><html><title>Log in</title></html>"
"""What stands where JSON was due."""


@dataclass(frozen=True)
class Asked:
    """A request: its path with query, whether it came under a condition, and the answer's status."""

    path: str
    is_conditional: bool
    status: int


@asynccontextmanager
async def served(app: web.Application, port: int = 0) -> AsyncIterator[str]:
    """Serve until left, on a port of its own unless one is given; yields ``host:port``."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, bound = runner.addresses[0][:2]
        yield f"{host}:{bound}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def stranger() -> AsyncIterator[tuple[str, list[str | None]]]:
    """Serve a host that no credential is for; yields an address of it, and what it was shown as ``Authorization``."""
    shown: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        shown.append(request.headers.get("Authorization"))
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with served(app) as place:
        yield f"http://{place}/x", shown
