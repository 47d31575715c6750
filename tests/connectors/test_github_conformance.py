"""The conformance suite on ``github``: files of a branch, and issues with their comments."""

import json
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.github import GithubConnector
from tests.connectors.conformance import Conformance
from tests.connectors.forges import ForgeFiles, ForgeIssues, ForgeWorld
from tests.connectors.githubs import connector
from tests.servers.github import GithubServer

NO_READERS = "GitHub tells no addresses of who may read; test_github.py holds the readers that an operator names"


class GithubWorld(ForgeWorld):
    """A repository."""

    def __init__(self, server: GithubServer) -> None:
        super().__init__(server, server.repo())

    def source(self, origin: Origin, **changes: object) -> GithubConnector:
        return connector(self.server, origin, kinds=self.kinds, max_megabytes=0.01, **changes)

    def refusal(self, status: int) -> web.Response:
        said = {401: "Bad credentials", 429: "You have exceeded a secondary rate limit."}
        return web.Response(status=status, text=json.dumps({"message": said.get(status, "Server Error")}))


class FilesWorld(GithubWorld, ForgeFiles):
    """Files, in trees of which GitHub tells five entries at once, so that each folder is asked for."""

    cannot: ClassVar = {**ForgeFiles.cannot, "restrict": NO_READERS}
    place = "octo/docs/blob/"

    def is_list(self, asked: str) -> bool:
        return "/git/trees/" in asked

    async def truncate(self) -> None:
        self.server.cut = True
        self.repository.write("picture.png", "no document: but the branch has moved, and is listed anew")

    async def mend(self) -> None:
        await super().mend()
        if "picture.png" in self.repository.files:
            self.repository.write("picture.png", None)


class IssuesWorld(GithubWorld, ForgeIssues):
    """Issues with a comment each, told five a page."""

    cannot: ClassVar = {"restrict": NO_READERS, "rename": "an issue's number is given once (test_github_threads.py)"}
    place = "octo/docs/issues/"

    def is_list(self, asked: str) -> bool:
        return asked.startswith("/repos/octo/docs/issues?")

    def opened(self, title: str, text: str) -> int:
        issue = self.repository.open(title, text)
        self.repository.comment(issue, "Thank you.")
        return issue.number

    async def delete(self, name: str) -> None:
        self.repository.drop(self.numbers[name])


class TestFiles(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with GithubServer(tree_limit=5).serving() as server:
            yield FilesWorld(server)


class TestIssues(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, monkeypatch):
        monkeypatch.setattr("connectors.github.threads.PER_PAGE", 5)
        async with GithubServer(prefix="/api/v3").serving() as server:
            yield IssuesWorld(server)
