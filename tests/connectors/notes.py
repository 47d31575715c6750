"""A server of notes on this machine, as the README's connector reads it, and the ways to break it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from connectors.base import Connector, Origin, SourceType
from tests.connectors.world import World
from tests.servers.serving import served

PAGE = 5
NEW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Note:
    text: str
    at: datetime
    revision: int
    readers: list[str] | None = None
    locked: bool = False
    twice: bool = False
    vanishing: bool = False

    def told(self, native: str) -> dict[str, Any]:
        return {"id": native, "revision": str(self.revision), "updated_at": self.at.isoformat()}


@dataclass
class NotesServer:
    """``GET /changes?since=&page=``, ``/ids?page=``, ``/notes/ID``, all with a token; times are its own clock's."""

    notes: dict[str, Note] = field(default_factory=dict)
    clock: datetime = NEW
    revision: int = 0
    status: int = 0
    wait: int = 0
    token: str = "t1"
    expires: bool = False
    cut: bool = False
    html: bool = False
    requests: int = 0

    def put(self, name: str, text: str, *, at: datetime | None = None, readers: list[str] | None = None) -> None:
        self.revision += 1
        self.clock += timedelta(seconds=1)
        self.notes[name] = Note(text, at or self.clock, self.revision, readers)

    async def answer(self, request: web.Request) -> web.Response:
        self.requests += 1
        page = int(request.query.get("page", "1"))
        if request.headers.get("Authorization") != f"Bearer {self.token}" or (self.expires and page == 2):
            self.token = "another" if self.expires else self.token
            return web.Response(status=401)
        return self._fault(page) or self._served(request, page)

    def _fault(self, page: int) -> web.Response | None:
        if page == 2 and self.wait:
            wait, self.wait = self.wait, 0
            return web.Response(status=429, headers={"Retry-After": str(wait)})
        if page == 2 and self.status:
            return web.Response(status=self.status)
        if self.html:
            return web.Response(text="<html><body>Please log in.</body></html>", content_type="text/html")
        return None

    def _served(self, request: web.Request, page: int) -> web.Response:
        if request.path == "/ids":
            return self._page(list(self.notes), page)
        if request.path == "/changes":
            since = request.query["since"]
            told = sorted(self.notes.items(), key=lambda item: item[1].at)
            found = [note.told(name) for name, note in told if not since or note.at >= datetime.fromisoformat(since)]
            return self._page(found + [note.told(name) for name, note in told if note.twice], page)
        return self._note(request.match_info["native"])

    def _note(self, native: str) -> web.Response:
        if native in self.notes and self.notes[native].vanishing:
            del self.notes[native]
        if native not in self.notes:
            return web.Response(status=404)
        note = self.notes[native]
        more = {"title": "A note", "author": "Ann", "text": note.text, "locked": note.locked, "readers": note.readers}
        return web.json_response(note.told(native) | more)

    def _page(self, items: list[Any], page: int) -> web.Response:
        if self.cut:
            return web.json_response({"items": items[:2], "next": 0})
        more = len(items) > page * PAGE
        return web.json_response({"items": items[(page - 1) * PAGE : page * PAGE], "next": page + 1 if more else 0})

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/notes/{native:.+}", self.answer)
        app.router.add_get("/{what}", self.answer)
        async with served(app) as place:
            yield f"http://{place}"


class NotesWorld(World):
    """The server, in the suite's hand."""

    def __init__(self, kind: SourceType, server: NotesServer, url: str) -> None:
        self.kind, self.server, self.url = kind, server, url
        self.away = False

    def connect(self, origin: Origin) -> Connector:
        # Port 9 takes no connection.
        url = "http://127.0.0.1:9" if self.away else self.url
        return self.kind.create(origin, self.kind.options.model_validate({"url": url, "token": "t1"}))

    async def add(self, name: str, text: str) -> None:
        self.server.put(name, text)

    change = add

    async def delete(self, name: str) -> None:
        del self.server.notes[name]

    async def rename(self, old: str, new: str) -> None:
        self.server.put(new, self.server.notes.pop(old).text)

    async def late(self, name: str, text: str) -> None:
        newest = max(note.at for note in self.server.notes.values())
        self.server.put(name, text, at=newest - timedelta(minutes=4))

    async def duplicate(self, name: str) -> None:
        self.server.notes[name].twice = True

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        before = self.server.notes[name]
        self.server.put(name, before.text, readers=sorted(addresses))
        self.server.notes[name].locked = before.locked

    async def spoil(self, name: str) -> None:
        self.server.notes[name].locked = True

    async def vanish(self, name: str) -> None:
        self.server.notes[name].vanishing = True

    async def break_page(self, status: int = 500) -> None:
        self.server.status = status

    async def rate_limit(self, seconds: int) -> None:
        self.server.wait = seconds

    async def expire_token(self) -> None:
        self.server.expires = True

    async def truncate(self) -> None:
        self.server.cut = True

    async def skew(self, seconds: int) -> None:
        self.server.clock = datetime.now(UTC) + timedelta(seconds=seconds)

    async def break_form(self) -> None:
        self.server.html = True

    async def leave(self) -> None:
        self.away = True

    async def mend(self) -> None:
        server = self.server
        self.away = server.expires = server.cut = server.html = False
        server.status = server.wait = 0
        server.token = "t1"
        for note in server.notes.values():
            note.locked = note.twice = False
