"""Socket Mode: tickets, the sockets of the app, and the envelopes that it acknowledges on them."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

from aiohttp import WSMsgType, web

from tests.servers.slack.rules import Json
from tests.servers.slack.world import World


class Sockets:
    """The sockets that the app holds open."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tickets: set[str] = set()
        self._open: list[web.WebSocketResponse] = []
        self._next = 0
        self._acks: dict[str, asyncio.Future[Json]] = {}

    def ticket(self) -> str:
        """Return the address of a new socket."""
        ticket = f"ticket-{self._world.number()}"
        self._tickets.add(ticket)
        return f"{self._world.url.replace('http', 'ws', 1)}/link?ticket={ticket}"

    async def link(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": len(self._open) + 1})
        self._open.append(socket)
        self._world.opened += 1
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    said = frame.json()
                    waiting = self._acks.get(said.get("envelope_id", ""))
                    if waiting is not None and not waiting.done():
                        waiting.set_result(said.get("payload") or {})
        finally:
            self._open.remove(socket)
        return socket

    async def send(self, kind: str, payload: Json, attempt: int) -> Json | None:
        """Send an envelope over one of the sockets; return what acknowledged it, None when none is open."""
        deadline = time.monotonic() + self._world.ack_seconds
        while not (open_sockets := [socket for socket in self._open if not socket.closed]):
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(0.01)
        self._next += 1
        socket = open_sockets[self._next % len(open_sockets)]
        envelope = f"envelope-{self._world.number()}"
        acknowledged = self._acks[envelope] = asyncio.get_running_loop().create_future()
        frame = {"envelope_id": envelope, "type": kind, "payload": payload, "accepts_response_payload": True}
        retry = {"retry_attempt": attempt, "retry_reason": "timeout"} if attempt else {}
        await socket.send_json({**frame, **retry})
        try:
            async with asyncio.timeout(self._world.ack_seconds):
                return await acknowledged
        finally:
            del self._acks[envelope]

    def drop(self, reason: str) -> list[Coroutine[Any, Any, object]]:
        """Return what closes each socket: an announcement with a reason, else the end."""
        return [
            socket.send_json({"type": "disconnect", "reason": reason}) if reason else socket.close()
            for socket in self._open
        ]

    def cut(self) -> None:
        """Let the connections under the sockets break off, without a word."""
        for socket in self._open:
            if socket._req is not None and socket._req.transport is not None:
                socket._req.transport.abort()

    async def close(self) -> None:
        """Let go of what is connected."""
        for socket in list(self._open):
            await socket.close()
