"""The conformance suite on ``confluence``: pages of Cloud, and of a Data Center."""

from datetime import UTC, datetime, timedelta
from html import escape
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.confluence import ConfluenceConnector
from tests.connectors.confluences import connector
from tests.connectors.conformance import Conformance
from tests.connectors.served import ServedWorld
from tests.servers.confluence import ConfluenceServer, Thing


class PagesWorld(ServedWorld):
    """A space's pages, five to a list's page, with a comment each."""

    cannot: ClassVar = {
        "rename": "a page's number is given once; what is renamed stays the same document (test_confluence.py)",
    }
    places = ("/spaces/1/pages?", "/rest/api/content?")

    def __init__(self, server: ConfluenceServer) -> None:
        super().__init__(server)
        self.things: dict[str, Thing] = {}
        self.skewed = timedelta()

    def source(self, origin: Origin, **changes: object) -> ConfluenceConnector:
        return connector(self.server, origin, **changes)

    def is_list(self, asked: str) -> bool:
        return any(place in asked for place in self.places)

    def refusal(self, status: int) -> web.Response:
        return web.json_response({"message": "Unauthorized" if status == 401 else "Server Error"}, status=status)

    def identity(self, name: str) -> str:
        return f"page/{self.things[name].id if name in self.things else 9_999}"

    async def add(self, name: str, text: str) -> None:
        self.things[name] = self.server.page(name, f"<p>{escape(text)}</p>")
        self.things[name].at = datetime.now(UTC) + self.skewed
        self.server.comment(self.things[name], "<p>Thank you.</p>")

    async def change(self, name: str, text: str) -> None:
        self.server.edit(self.things[name], f"<p>{escape(text)}</p>")
        self.things[name].at = datetime.now(UTC) + self.skewed

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        self.things[name].at -= timedelta(minutes=4)

    async def delete(self, name: str) -> None:
        self.things[name].status = "trashed"

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.things[name].id)

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        for address in addresses:
            self.server.person(address, address)
        self.things[name].users = set(addresses)

    async def spoil(self, name: str) -> None:
        self.things[name].is_spoilt = True

    async def vanish(self, name: str) -> None:
        self.things[name].is_vanishing = True

    async def truncate(self) -> None:
        self.server.cut = 3

    async def skew(self, seconds: int) -> None:
        self.skewed = timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        for thing in [*self.server.things.values()]:
            thing.is_spoilt = False
            if thing.is_vanishing:
                self.server.drop(thing)


class ServerPagesWorld(PagesWorld):
    """The same on a Data Center, which tells no addresses: they follow from the names."""

    def source(self, origin: Origin, **changes: object) -> ConfluenceConnector:
        return super().source(origin, username_email="{username}", **changes)


class TestCloudPages(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with ConfluenceServer().serving() as server:
            yield PagesWorld(server)


class TestServerPages(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with ConfluenceServer(is_cloud=False).serving() as server:
            yield ServerPagesWorld(server)
