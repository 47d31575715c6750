"""The conformance suite on ``notion``: pages, each with blocks inside another."""

import json
import uuid
from datetime import timedelta
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.notion import NotionConnector
from tests.connectors.conformance import Conformance
from tests.connectors.notions import connector
from tests.connectors.world import World
from tests.servers.notion import NotionServer, block


class NotionWorld(World):
    """A workspace; what search shows is broken from its second page on."""

    cannot: ClassVar = {
        "restrict": "Notion tells nobody who may read; test_notion.py holds the readers that an operator names",
        "rename": "a page keeps its id whatever its title (test_notion.py)",
    }

    def __init__(self, server: NotionServer) -> None:
        self.server, self.space = server, server.space
        server.largest = 5
        self.ids: dict[str, str] = {}
        self.is_away = False

    def connect(self, origin: Origin) -> NotionConnector:
        found = connector(self.server, origin)
        if self.is_away:
            found.options = found.options.model_copy(update={"url": "http://127.0.0.1:9"})
        return found

    def identity(self, name: str) -> str:
        return f"pages/{self.ids.get(name) or uuid.uuid5(uuid.NAMESPACE_URL, name)}"

    async def add(self, name: str, text: str) -> None:
        self.ids[name] = self.space.page(name, block("toggle", "More", block("paragraph", text)))

    async def change(self, name: str, text: str) -> None:
        self.space.write(self.ids[name], block("paragraph", text))

    async def delete(self, name: str) -> None:
        self.space.trash(self.ids[name])

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        page = self.space.pages[self.ids[name]]
        page["last_edited_time"] = page["created_time"] = "2026-01-01T11:56:00.000Z"

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.ids[name])

    async def spoil(self, name: str) -> None:
        self.server.garbled.add(self.ids[name])

    async def vanish(self, name: str) -> None:
        self.server.vanishing.add(self.ids[name])

    async def truncate(self) -> None:
        self.server.cut = True  # as when the integration is no longer shared with the rest

    async def break_page(self, status: int = 500) -> None:
        self._break(lambda: web.Response(status=status, text=json.dumps({"object": "error", "code": "x"})))

    async def rate_limit(self, seconds: int) -> None:
        def once() -> web.Response:
            self.server.fault = None
            said = {"object": "error", "status": 429, "code": "rate_limited", "message": "Slow down."}
            return web.Response(status=429, text=json.dumps(said), headers={"Retry-After": str(seconds)})

        self._break(once)

    async def expire_token(self) -> None:
        def expired() -> web.Response:
            self.server.token = "ntn_another"
            said = {"object": "error", "status": 401, "code": "unauthorized", "message": "API token is invalid."}
            return web.Response(status=401, text=json.dumps(said))

        self._break(expired)

    async def skew(self, seconds: int) -> None:
        self.space.clock.now += timedelta(seconds=seconds)

    async def break_form(self) -> None:
        self.server.is_html = True

    async def leave(self) -> None:
        self.is_away = True

    async def mend(self) -> None:
        server = self.server
        server.token, server.fault = "ntn_t1", None
        server.cut = server.is_html = self.is_away = False
        server.garbled.clear()
        server.twice.clear()

    def _break(self, answer) -> None:
        asked = 0

        def fault(path: str) -> web.Response | None:
            nonlocal asked
            asked += path == "search"
            return answer() if path == "search" and asked >= 2 else None

        self.server.fault = fault


class TestPages(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with NotionServer().serving() as server:
            yield NotionWorld(server)
