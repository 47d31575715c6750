"""The gateway: sessions that are identified, resumed, hidden from and closed, over a websocket."""

import asyncio
import contextlib
import json
import time
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from tests.servers.discord.world import Json

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 0, 1 << 9, 1 << 12, 1 << 15
PRIVILEGED = MESSAGE_CONTENT | 1 << 1 | 1 << 8
_SENDS_A_MINUTE = 120


@dataclass(kw_only=True)
class Session:
    """What one shard has been told; kept when its connection drops, so that it can be resumed."""

    id: str
    shard: tuple[int, int]
    intents: int
    socket: "Socket | None" = None
    sequence: int = 0
    events: deque[tuple[int, Json]] = field(default_factory=lambda: deque(maxlen=1000))

    def takes(self, intent: int) -> bool:
        return bool(self.intents & intent)

    async def dispatch(self, name: str, data: Json) -> None:
        """Tell of an event: now, or when the session is resumed."""
        self.sequence += 1
        event = {"op": 0, "s": self.sequence, "t": name, "d": data}
        self.events.append((self.sequence, event))
        if self.socket is not None:
            await self.socket.send(event)


class Socket:
    """One connection; compressed the way it asked for."""

    def __init__(self, socket: web.WebSocketResponse, *, compressed: bool) -> None:
        self._socket = socket
        self._stream = zlib.compressobj() if compressed else None
        self.received: deque[float] = deque()

    async def send(self, payload: Json) -> None:
        text = json.dumps(payload)
        with contextlib.suppress(ConnectionError):
            if self._stream is None:
                await self._socket.send_str(text)
            else:
                packed = self._stream.compress(text.encode()) + self._stream.flush(zlib.Z_SYNC_FLUSH)
                await self._socket.send_bytes(packed)

    async def close(self, code: int, why: str = "") -> None:
        await self._socket.close(code=code, message=why.encode())

    def break_off(self) -> None:
        """Let the connection vanish without a word."""
        if self._socket._req is not None and self._socket._req.transport is not None:
            self._socket._req.transport.abort()

    def too_fast(self) -> bool:
        now = time.monotonic()
        self.received.append(now)
        while self.received[0] < now - 60:
            self.received.popleft()
        return len(self.received) > _SENDS_A_MINUTE


class Gateway:
    """All sessions of one bot."""

    def __init__(
        self,
        *,
        token: str,
        ready: Callable[[Session], Json],
        guilds: Callable[[Session], list[Json]],
    ) -> None:
        self.token = token
        self.url = ""
        self.sessions: dict[str, Session] = {}
        self.identified: list[Json] = []
        self.resumed: list[str] = []
        self.forbidden_intents = 0
        """Privileged intents that are not switched on in the portal."""
        self.heartbeat_ms = 41_250
        self._ready = ready
        self._guilds = guilds
        self._sockets: set[Socket] = set()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        raw = web.WebSocketResponse()
        await raw.prepare(request)
        socket = Socket(raw, compressed=request.query.get("compress") == "zlib-stream")
        self._sockets.add(socket)
        session: Session | None = None
        try:
            await socket.send({"op": 10, "s": None, "t": None, "d": {"heartbeat_interval": self.heartbeat_ms}})
            async for message in raw:
                if message.type is not aiohttp.WSMsgType.TEXT:
                    continue
                if socket.too_fast():
                    await socket.close(4008, "Rate limited.")
                    break
                session = await self._take(json.loads(message.data), socket, session)
        finally:
            self._sockets.discard(socket)
            if session is not None and session.socket is socket:
                session.socket = None
        return raw

    async def _take(self, said: Json, socket: Socket, session: Session | None) -> Session | None:
        match said["op"]:
            case 1:
                await socket.send({"op": 11, "s": None, "t": None, "d": None})
            case 2:
                return await self._identify(said["d"], socket)
            case 6:
                return await self._resume(said["d"], socket)
            case _ if session is None:
                await socket.close(4003, "Not authenticated.")
            case _:
                pass
        return session

    async def _identify(self, said: Json, socket: Socket) -> Session | None:
        self.identified.append(said)
        if said["token"] != self.token:
            await socket.close(4004, "Authentication failed.")
            return None
        if said["intents"] & PRIVILEGED & self.forbidden_intents:
            await socket.close(4014, "Disallowed intent(s).")
            return None
        shard = tuple(said.get("shard", (0, 1)))
        session = Session(id=f"session{len(self.identified)}", shard=(shard[0], shard[1]), intents=said["intents"])
        session.socket = socket
        self.sessions[session.id] = session
        await session.dispatch("READY", self._ready(session))
        for guild in self._guilds(session):
            await session.dispatch("GUILD_CREATE", guild)
        return session

    async def _resume(self, said: Json, socket: Socket) -> Session | None:
        session = self.sessions.get(said["session_id"])
        if session is None or said["token"] != self.token:
            await socket.send({"op": 9, "s": None, "t": None, "d": False})
            return None
        if said["seq"] > session.sequence:
            await socket.close(4007, "Invalid seq.")
            return None
        self.resumed.append(session.id)
        for sequence, event in list(session.events):
            if sequence > said["seq"]:
                await socket.send(event)
        session.socket = socket
        await session.dispatch("RESUMED", {})
        return session

    # What goes wrong

    async def close_all(self, code: int) -> None:
        """Close every connection with a code."""
        for socket in list(self._sockets):
            await socket.close(code)

    async def ask_to_reconnect(self) -> None:
        """Ask every connection to come again (op 7), as the real one does several times a day."""
        for session in list(self.sessions.values()):
            if session.socket is not None:
                await session.socket.send({"op": 7, "s": None, "t": None, "d": None})

    def break_off(self) -> None:
        """Let every connection vanish."""
        for socket in list(self._sockets):
            socket.break_off()

    async def forget(self) -> None:
        """Forget all sessions: who comes to resume has to identify anew."""
        self.sessions.clear()
        await self.close_all(4000)

    async def settled(self) -> None:
        """Let what was sent go out."""
        await asyncio.sleep(0)
