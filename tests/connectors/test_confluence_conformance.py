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
from tests.connectors.world import World
from tests.servers.confluence import ConfluenceServer, Thing


class PagesWorld(World):
    """A space's pages, five to a list's page, with a comment each."""

    cannot: ClassVar = {
        "rename": "a page's number is given once; what is renamed stays the same document (test_confluence.py)",
    }
    places = ("/spaces/1/pages?", "/rest/api/content?")

    def __init__(self, server: ConfluenceServer) -> None:
        self.server = server
        self.things: dict[str, Thing] = {}
        self.skewed = timedelta()
        self.is_away = False

    def connect(self, origin: Origin) -> ConfluenceConnector:
        found = connector(self.server, origin)
        if self.is_away:
            found.options = found.options.model_copy(update={"url": "http://127.0.0.1:9"})
        return found

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

    async def break_page(self, status: int = 500) -> None:
        self._break(lambda: web.json_response({"message": "Server Error"}, status=status))

    async def rate_limit(self, seconds: int) -> None:
        def once() -> web.Response:
            self.server.fault = None
            return web.Response(status=429, headers={"Retry-After": str(seconds)})

        self._break(once)

    async def expire_token(self) -> None:
        def expired() -> web.Response:
            self.server.token = "another"
            return web.json_response({"message": "Unauthorized"}, status=401)

        self._break(expired)

    async def truncate(self) -> None:
        self.server.cut = 3

    async def skew(self, seconds: int) -> None:
        self.skewed = timedelta(seconds=seconds)

    async def break_form(self) -> None:
        self.server.is_html = True

    async def leave(self) -> None:
        self.is_away = True

    async def mend(self) -> None:
        server = self.server
        server.token, server.fault, server.cut = "t1", None, 0
        server.is_html = self.is_away = False
        server.twice.clear()
        for thing in [*server.things.values()]:
            thing.is_spoilt = False
            if thing.is_vanishing:
                server.drop(thing)

    def _break(self, answer) -> None:
        asked = 0

        def fault(path: str) -> web.Response | None:
            nonlocal asked
            is_list = any(place in path for place in self.places)
            asked += is_list
            return answer() if is_list and asked >= 2 else None

        self.server.fault = fault


class ServerPagesWorld(PagesWorld):
    """The same on a Data Center, which tells no addresses: they follow from the names."""

    def connect(self, origin: Origin) -> ConfluenceConnector:
        found = super().connect(origin)
        found.options = found.options.model_copy(update={"username_email": "{username}"})
        return found


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
