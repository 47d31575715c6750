"""The conformance suite on ``github``: files of a branch, and issues with their comments."""

import json
from datetime import datetime, timedelta
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.github import GithubConnector
from tests.connectors.conformance import Conformance
from tests.connectors.githubs import connector
from tests.connectors.served import ServedWorld
from tests.servers.github import GithubServer

NO_READERS = "GitHub tells no addresses of who may read; test_github.py holds the readers that an operator names"


class GithubWorld(ServedWorld):
    """A repository; the lists that ``is_list`` names are broken from their second page on."""

    def __init__(self, server: GithubServer) -> None:
        super().__init__(server)
        self.repo = server.repo()

    kinds: ClassVar[tuple[str, ...]]

    def source(self, origin: Origin) -> GithubConnector:
        return connector(self.server, origin, kinds=self.kinds, max_megabytes=0.01)

    def refusal(self, status: int) -> web.Response:
        said = {401: "Bad credentials", 429: "You have exceeded a secondary rate limit."}
        return web.Response(status=status, text=json.dumps({"message": said.get(status, "Server Error")}))

    async def skew(self, seconds: int) -> None:
        self.server.clock.now = datetime.now(self.server.clock.now.tzinfo) + timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        self.server.garbled.clear()


class FilesWorld(GithubWorld):
    """Files, in trees of which GitHub tells five entries at once, so that each folder is asked for."""

    cannot: ClassVar = {
        "restrict": NO_READERS,
        "duplicate": "a commit holds a path once",
        "vanish": "a commit holds what it lists, for good",
        "late": "Git's hashes tell what has changed, not times",
    }
    kinds = ("files",)

    def __init__(self, server: GithubServer) -> None:
        super().__init__(server)
        server.tree_limit = 5
        self.spoilt: dict[str, str] = {}

    def is_list(self, asked: str) -> bool:
        return "/git/trees/" in asked

    def identity(self, name: str) -> str:
        return f"octo/docs/blob/{name}"

    async def add(self, name: str, text: str) -> None:
        self.repo.write(name, text)

    change = add

    async def delete(self, name: str) -> None:
        self.repo.write(name, None)

    async def rename(self, old: str, new: str) -> None:
        self.repo.files[new] = self.repo.files.pop(old)
        self.repo.commit()

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = self.repo.files[name].decode()
        self.repo.write(name, "too large " * 2_000)

    async def truncate(self) -> None:
        self.server.cut = True
        self.repo.write("picture.png", "no document: but the branch has moved, and is listed anew")

    async def mend(self) -> None:
        await super().mend()
        for name, text in self.spoilt.items():
            self.repo.write(name, text)
        self.spoilt.clear()
        if "picture.png" in self.repo.files:
            self.repo.write("picture.png", None)


class IssuesWorld(GithubWorld):
    """Issues with a comment each, told five a page."""

    cannot: ClassVar = {"restrict": NO_READERS, "rename": "an issue's number is given once (test_github_threads.py)"}
    kinds = ("issues",)

    def __init__(self, server: GithubServer) -> None:
        super().__init__(server)
        self.numbers: dict[str, int] = {}

    def is_list(self, asked: str) -> bool:
        return asked.startswith("/repos/octo/docs/issues?")

    def identity(self, name: str) -> str:
        return f"octo/docs/issues/{self.numbers.get(name, 9_999)}"

    async def add(self, name: str, text: str) -> None:
        issue = self.repo.open(name, text)
        self.repo.comment(issue, "Thank you.")
        self.numbers[name] = issue.number

    async def change(self, name: str, text: str) -> None:
        self.repo.edit(self.repo.issues[self.numbers[name]], text)

    async def delete(self, name: str) -> None:
        self.repo.drop(self.numbers[name])

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        self.repo.issues[self.numbers[name]].updated -= timedelta(minutes=4)

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.numbers[name])

    async def spoil(self, name: str) -> None:
        self.server.garbled.add(self.numbers[name])

    async def vanish(self, name: str) -> None:
        self.server.vanishing.add(self.numbers[name])

    async def truncate(self) -> None:
        self.server.cut = True


class TestFiles(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with GithubServer().serving() as server:
            yield FilesWorld(server)


class TestIssues(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, monkeypatch):
        monkeypatch.setattr("connectors.github.threads.PER_PAGE", 5)
        async with GithubServer(prefix="/api/v3").serving() as server:
            yield IssuesWorld(server)
