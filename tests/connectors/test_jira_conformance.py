"""The conformance suite on ``jira``: issues of Cloud, and of a Data Center."""

from datetime import timedelta
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.jira import JiraConnector
from tests.connectors.conformance import Conformance
from tests.connectors.jiras import connector
from tests.connectors.served import ServedWorld
from tests.servers.jira import Issue, JiraServer


class IssuesWorld(ServedWorld):
    """A project's issues with a comment each, five to a page."""

    cannot: ClassVar = {
        "rename": "an issue's number is given once; moved or renamed it stays the same document (test_jira.py)",
        "restrict": "Jira tells no addresses of who may read; test_jira.py holds the readers that an operator names",
    }

    def __init__(self, server: JiraServer) -> None:
        super().__init__(server)
        self.things: dict[str, Issue] = {}

    def source(self, origin: Origin, **changes: object) -> JiraConnector:
        return connector(self.server, origin, **changes)

    def is_list(self, asked: str) -> bool:
        return "/search" in asked

    def refusal(self, status: int) -> web.Response:
        said = "Client must be authenticated" if status == 401 else "Server Error"
        return web.json_response({"errorMessages": [said]}, status=status)

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

    async def truncate(self) -> None:
        self.server.cut = 3

    async def skew(self, seconds: int) -> None:
        self.server.now += timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        for issue in [*self.server.issues.values()]:
            issue.is_spoilt = False
            if issue.is_vanishing:
                del self.server.issues[issue.id]


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
