"""Serves an application on the loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


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
