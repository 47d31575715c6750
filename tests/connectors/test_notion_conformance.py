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
from tests.connectors.served import ServedWorld
from tests.servers.notion import NotionServer, block


class NotionWorld(ServedWorld):
    """A workspace; what search shows is broken from its second page on."""

    cannot: ClassVar = {
        "restrict": "Notion tells nobody who may read; test_notion.py holds the readers that an operator names",
        "rename": "a page keeps its id whatever its title (test_notion.py)",
    }

    def __init__(self, server: NotionServer) -> None:
        super().__init__(server)
        self.space = server.space
        server.largest = 5
        self.ids: dict[str, str] = {}

    def source(self, origin: Origin, **changes: object) -> NotionConnector:
        return connector(self.server, origin, **changes)

    def is_list(self, asked: str) -> bool:
        return asked == "search"

    def refusal(self, status: int) -> web.Response:
        code = {401: "unauthorized", 429: "rate_limited"}.get(status, "x")
        said = {"object": "error", "status": status, "code": code, "message": "No."}
        return web.Response(status=status, text=json.dumps(said))

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

    async def skew(self, seconds: int) -> None:
        self.space.clock.now += timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        self.server.garbled.clear()


class TestPages(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with NotionServer().serving() as server:
            yield NotionWorld(server)
