"""The conformance suite on ``gitlab``: files of a branch, and issues with their comments."""

from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.gitlab import GitlabConnector
from tests.connectors.conformance import Conformance
from tests.connectors.forges import ForgeFiles, ForgeIssues, ForgeWorld
from tests.connectors.gitlabs import connector
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.server import problem


class GitlabWorld(ForgeWorld):
    """A project."""

    def __init__(self, server: GitlabServer) -> None:
        super().__init__(server, server.project())

    def source(self, origin: Origin, **changes: object) -> GitlabConnector:
        return connector(self.server, origin, kinds=self.kinds, max_megabytes=0.01, **changes)

    def refusal(self, status: int) -> web.Response:
        if status == 401:
            return problem(401, error="invalid_token", error_description="Token is expired.")
        return web.Response(status=status, text="Retry later\n" if status == 429 else "<html>502</html>")

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        project = self.repository
        project.visibility = "private"
        project.members.clear()
        for number, address in enumerate(sorted(addresses)):
            self.server.member(project, f"member{number}", public_email=address)


class FilesWorld(GitlabWorld, ForgeFiles):
    """Files, in trees that come five entries a page."""

    place = "acme/docs/-/blob/"

    def is_list(self, asked: str) -> bool:
        return "/repository/tree?" in asked

    async def truncate(self) -> None:
        self.server.cut = True
        self.repository.commit(force=True)  # so that the branch is listed anew


class IssuesWorld(GitlabWorld, ForgeIssues):
    """Issues with a comment each, told five a page."""

    cannot: ClassVar = {"rename": "an issue's number is given once (test_gitlab_threads.py)"}
    place = "acme/docs/-/issues/"

    def is_list(self, asked: str) -> bool:
        return asked.startswith("/projects/40/issues?")

    def opened(self, title: str, text: str) -> int:
        issue = self.repository.open(title, text)
        self.repository.note(issue, "Thank you.")
        return issue.iid


class TestFiles(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with GitlabServer(tree_page=5).serving() as server:
            yield FilesWorld(server)


class TestIssues(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, monkeypatch):
        monkeypatch.setattr("connectors.gitlab.threads.PER_PAGE", 5)
        async with GitlabServer(prefix="/gitlab", told_origin="http://gitlab.internal").serving() as server:
            yield IssuesWorld(server)
