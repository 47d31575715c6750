"""The conformance suite on ``gitlab``: files of a branch, and issues with their comments."""

from datetime import datetime, timedelta
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.gitlab import GitlabConnector
from tests.connectors.conformance import Conformance
from tests.connectors.gitlabs import connector
from tests.connectors.served import ServedWorld
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.server import problem


class GitlabWorld(ServedWorld):
    """A project; the lists that ``is_list`` names are broken from their second page on."""

    def __init__(self, server: GitlabServer) -> None:
        super().__init__(server)
        self.project = server.project()

    kinds: ClassVar[tuple[str, ...]]

    def source(self, origin: Origin) -> GitlabConnector:
        return connector(self.server, origin, kinds=self.kinds, max_megabytes=0.01)

    def refusal(self, status: int) -> web.Response:
        if status == 401:
            return problem(401, error="invalid_token", error_description="Token is expired.")
        return web.Response(status=status, text="Retry later\n" if status == 429 else "<html>502</html>")

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        self.project.visibility = "private"
        self.project.members.clear()
        for number, address in enumerate(sorted(addresses)):
            self.server.member(self.project, f"member{number}", public_email=address)

    async def skew(self, seconds: int) -> None:
        self.server.clock.now = datetime.now(self.server.clock.now.tzinfo) + timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        self.server.garbled.clear()


class FilesWorld(GitlabWorld):
    """Files, in trees that come five entries a page."""

    cannot: ClassVar = {
        "duplicate": "a commit holds a path once",
        "vanish": "a commit holds what it lists, for good",
        "late": "Git's hashes tell what has changed, not times",
    }
    kinds = ("files",)

    def __init__(self, server: GitlabServer) -> None:
        super().__init__(server)
        server.tree_page = 5
        self.spoilt: dict[str, str] = {}

    def is_list(self, asked: str) -> bool:
        return "/repository/tree?" in asked

    def identity(self, name: str) -> str:
        return f"acme/docs/-/blob/{name}"

    async def add(self, name: str, text: str) -> None:
        self.project.write(name, text)

    change = add

    async def delete(self, name: str) -> None:
        self.project.write(name, None)

    async def rename(self, old: str, new: str) -> None:
        self.project.files[new] = self.project.files.pop(old)
        self.project.commit()

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = self.project.files[name].decode()
        self.project.write(name, "too large " * 2_000)

    async def truncate(self) -> None:
        self.server.cut = True
        self.project.commit(force=True)  # so that the branch is listed anew

    async def mend(self) -> None:
        await super().mend()
        for name, text in self.spoilt.items():
            self.project.write(name, text)
        self.spoilt.clear()


class IssuesWorld(GitlabWorld):
    """Issues with a comment each, told five a page."""

    cannot: ClassVar = {"rename": "an issue's number is given once (test_gitlab_threads.py)"}
    kinds = ("issues",)

    def __init__(self, server: GitlabServer) -> None:
        super().__init__(server)
        self.numbers: dict[str, int] = {}

    def is_list(self, asked: str) -> bool:
        return asked.startswith("/projects/40/issues?")

    def identity(self, name: str) -> str:
        return f"acme/docs/-/issues/{self.numbers.get(name, 9_999)}"

    async def add(self, name: str, text: str) -> None:
        issue = self.project.open(name, text)
        self.project.note(issue, "Thank you.")
        self.numbers[name] = issue.iid

    async def change(self, name: str, text: str) -> None:
        self.project.edit(self.project.issues[self.numbers[name]], text)

    async def delete(self, name: str) -> None:
        del self.project.issues[self.numbers[name]]

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        self.project.issues[self.numbers[name]].updated -= timedelta(minutes=4)

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
        async with GitlabServer().serving() as server:
            yield FilesWorld(server)


class TestIssues(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, monkeypatch):
        monkeypatch.setattr("connectors.gitlab.threads.PER_PAGE", 5)
        async with GitlabServer(prefix="/gitlab", told_origin="http://gitlab.internal").serving() as server:
            yield IssuesWorld(server)
