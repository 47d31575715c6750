"""One address before several processes: each request goes to the next of them that takes it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientError, ClientSession, web


class Balancer:
    """What stands before the processes; use ``balancer``."""

    def __init__(self) -> None:
        self.url = ""
        self.behind: list[str] = []
        self.taken: dict[str, int] = {}
        """Requests that each address answered with 200."""

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OWN}
        for _ in range(len(self.behind)):
            address = self.behind[0]
            self.behind.append(self.behind.pop(0))
            try:
                async with (
                    ClientSession() as session,
                    session.post(f"{address}{request.path}", data=body, headers=headers) as answer,
                ):
                    self.taken[address] = self.taken.get(address, 0) + (answer.status == 200)
                    return web.Response(status=answer.status, body=await answer.read())
            except (ClientError, OSError):
                continue
        return web.Response(status=502)


_OWN = frozenset({"host", "content-length", "connection", "transfer-encoding"})


@asynccontextmanager
async def balancer() -> AsyncIterator[Balancer]:
    """Listen on a free port until left; add to ``behind`` what takes the requests."""
    made = Balancer()
    app = web.Application()
    app.router.add_post("/{path:.*}", made.pass_on)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}"
    try:
        yield made
    finally:
        await runner.cleanup()
