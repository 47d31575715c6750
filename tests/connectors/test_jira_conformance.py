"""The conformance suite on ``jira``: issues of Cloud, and of a Data Center."""

from datetime import timedelta
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.jira import JiraConnector
from tests.connectors.conformance import Conformance
from tests.connectors.jiras import connector
from tests.connectors.world import World
from tests.servers.jira import Issue, JiraServer


class IssuesWorld(World):
    """A project's issues with a comment each, five to a page."""

    cannot: ClassVar = {
        "rename": "an issue's number is given once; moved or renamed it stays the same document (test_jira.py)",
        "restrict": "Jira tells no addresses of who may read; test_jira.py holds the readers that an operator names",
    }

    def __init__(self, server: JiraServer) -> None:
        self.server = server
        self.things: dict[str, Issue] = {}
        self.is_away = False

    def connect(self, origin: Origin) -> JiraConnector:
        found = connector(self.server, origin)
        if self.is_away:
            found.options = found.options.model_copy(update={"url": "http://127.0.0.1:9"})
        return found

    def identity(self, name: str) -> str:
        return f"issue/{self.things[name].id if name in self.things else 9_999}"

    async def add(self, name: str, text: str) -> None:
        self.things[name] = self.server.open(name, text)
        for number in range(self.server.shown + 1):  # more than a search tells
            self.server.comment(self.things[name], f"Thank you {number}.")

    async def change(self, name: str, text: str) -> None:
        self.server.edit(self.things[name], text)

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        self.things[name].at -= timedelta(minutes=4)

    async def delete(self, name: str) -> None:
        del self.server.issues[self.things[name].id]

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.things[name].id)

    async def spoil(self, name: str) -> None:
        self.things[name].is_spoilt = True

    async def vanish(self, name: str) -> None:
        self.things[name].is_vanishing = True

    async def break_page(self, status: int = 500) -> None:
        self._break(lambda: web.json_response({"errorMessages": ["Server Error"]}, status=status))

    async def rate_limit(self, seconds: int) -> None:
        def once() -> web.Response:
            self.server.fault = None
            return web.Response(status=429, headers={"Retry-After": str(seconds)})

        self._break(once)

    async def expire_token(self) -> None:
        def expired() -> web.Response:
            self.server.token = "another"
            return web.json_response({"errorMessages": ["Client must be authenticated"]}, status=401)

        self._break(expired)

    async def truncate(self) -> None:
        self.server.cut = 3

    async def skew(self, seconds: int) -> None:
        self.server.now += timedelta(seconds=seconds)

    async def break_form(self) -> None:
        self.server.is_html = True

    async def leave(self) -> None:
        self.is_away = True

    async def mend(self) -> None:
        server = self.server
        server.token, server.fault, server.cut = "t1", None, 0
        server.is_html = self.is_away = False
        server.twice.clear()
        for issue in [*server.issues.values()]:
            issue.is_spoilt = False
            if issue.is_vanishing:
                del server.issues[issue.id]

    def _break(self, answer) -> None:
        asked = 0

        def fault(path: str, body: object) -> web.Response | None:
            nonlocal asked
            asked += "/search" in path
            return answer() if "/search" in path and asked >= 2 else None

        self.server.fault = fault


class TestCloudIssues(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with JiraServer().serving() as server:
            yield IssuesWorld(server)


class TestServerIssues(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with JiraServer(is_cloud=False).serving() as server:
            yield IssuesWorld(server)
