"""The server: who may ask what and how often, conditions, redirects, and faults; what it answers stands in ``rest``."""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from tests.servers.git import Clock
from tests.servers.github.graphql import execute
from tests.servers.github.rest import NotFound, Refused, Rest
from tests.servers.github.world import Repo
from tests.servers.serving import LOGIN, Asked, served

NEW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class GithubServer:
    """Serves below ``prefix``: "" as github.com does, "/api/v3" as a GitHub Enterprise Server.

    ``lacking`` maps a part of a path to the permission that the token lacks for it. ``fault`` may answer a request
    in GitHub's place: it is called with its path, and how often that kind of list was asked since it was set.
    ``hidden`` are numbers that lists leave a gap for, as for what spammers wrote: their pages aren't full.
    ``links_unchanged`` tells whether an answer that nothing has changed names the next page.
    """

    prefix: str = ""
    clock: Clock = field(default_factory=lambda: Clock(NEW))
    repos: dict[str, Repo] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    token: str = "t1"
    limit: int = 5_000
    used: int = 0
    lacking: dict[str, str] = field(default_factory=dict)
    tree_limit: int = 100_000
    folder_limit: int = 100_000
    cut: bool = False
    twice: set[int] = field(default_factory=set)
    vanishing: set[int] = field(default_factory=set)
    garbled: set[int] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    links_unchanged: bool = True
    graphql_errors: list[dict[str, Any]] = field(default_factory=list)
    is_html: bool = False
    fault: Callable[[str], web.Response | None] | None = None
    asked: list[Asked] = field(default_factory=list)
    origin: str = ""

    def repo(self, full_name: str = "octo/docs", **how: Any) -> Repo:
        found = Repo(full_name, clock=self.clock, **how)
        self.repos[full_name.lower()] = found
        return found

    def rename(self, repo: Repo, full_name: str) -> None:
        self.repos[full_name.lower()] = self.repos.pop(repo.full_name.lower())
        self.moved[repo.full_name.lower()] = full_name
        repo.full_name = full_name

    @property
    def html(self) -> str:
        return self.origin if self.prefix else "https://github.com"

    @property
    def url(self) -> str:
        return f"{self.origin}{self.prefix}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["GithubServer"]:
        app = web.Application()
        app.router.add_get(f"{self.prefix}/{{path:.*}}", self._rest)
        app.router.add_post("/graphql" if not self.prefix else "/api/graphql", self._graphql)
        async with served(app) as place:
            self.origin = f"http://{place}"
            yield self

    async def _rest(self, request: web.Request) -> web.Response:
        return self._noted(request, self._limited(request, self._gated) or self._answered(request))

    async def _graphql(self, request: web.Request) -> web.Response:
        body = await request.json()
        if request.headers.get("Authorization") is None:
            return self._noted(request, _problem(403, "API rate limit exceeded for 127.0.0.1."))
        refused = self._limited(request, self._gated)
        if refused is None:
            if self.graphql_errors:
                said: dict[str, Any] = {"data": None, "errors": self.graphql_errors}
            else:
                said = execute(self, body["query"], body.get("variables") or {})
            refused = web.json_response(said)
            self.used += 1
        return self._noted(request, refused)

    def _limited(self, request: web.Request, then: Callable[[web.Request], web.Response | None]) -> web.Response | None:
        if self.used >= self._limit(request):
            return _problem(403, "API rate limit exceeded for user ID 1.")
        return then(request)

    def _gated(self, request: web.Request) -> web.Response | None:
        """Return the answer to a request that isn't let in, or that goes wrong."""
        path = request.path_qs.removeprefix(self.prefix)
        if request.headers.get("Authorization") not in {None, f"Bearer {self.token}"}:
            return _problem(401, "Bad credentials")
        fault = self.fault(path) if self.fault else None
        if fault is not None:
            return fault
        if self.is_html:
            return web.Response(text=LOGIN, content_type="text/html")
        for part, permission in self.lacking.items():
            if part in path:
                said = _problem(403, "Resource not accessible by personal access token")
                said.headers["X-Accepted-GitHub-Permissions"] = permission
                return said
        return None

    def _answered(self, request: web.Request) -> web.Response:
        rest = Rest(self, request)
        try:
            name = re.match(r"/repos/([^/]+/[^/]+)(.*)", request.raw_path.removeprefix(self.prefix))
            if name is None:
                return _problem(404, "Not Found")
            moved = self.moved.get(name[1].lower())
            if moved:
                return web.Response(status=301, headers={"Location": f"{self.url}/repos/{moved}{name[2]}"})
            repo = self.repos.get(name[1].lower())
            if repo is None or (repo.private and "Authorization" not in request.headers):
                raise NotFound
            answer = rest.answer(repo, name[2].partition("?")[0])
        except NotFound:
            return _problem(404, "Not Found")
        except Refused as refused:
            return refused.response
        etag = f'W/"{hashlib.sha256(answer.body + answer.headers.get("Link", "").encode()).hexdigest()}"'
        if request.headers.get("If-None-Match") == etag:
            is_linked = "Link" in answer.headers and self.links_unchanged
            headers = {"ETag": etag} | ({"Link": answer.headers["Link"]} if is_linked else {})
            return web.Response(status=304, headers=headers)
        answer.headers["ETag"] = etag
        return answer

    def _noted(self, request: web.Request, answer: web.Response) -> web.Response:
        """Count a request against the limit, but for what hasn't changed and was asked for with a token."""
        if request.method == "GET" and not (answer.status == 304 and "Authorization" in request.headers):
            self.used += 1
        limit = self._limit(request)
        answer.headers["X-RateLimit-Limit"] = str(limit)
        answer.headers["X-RateLimit-Remaining"] = str(max(0, limit - self.used))
        answer.headers["X-RateLimit-Reset"] = f"{self.clock.now.timestamp() + 1_800:.0f}"
        answer.headers["Date"] = format_datetime(self.clock.now, usegmt=True)
        path = request.path_qs.removeprefix(self.prefix)
        self.asked.append(Asked(path, "If-None-Match" in request.headers, answer.status))
        return answer

    def _limit(self, request: web.Request) -> int:
        return self.limit if "Authorization" in request.headers else min(self.limit, 60)


def _problem(status: int, message: str) -> web.Response:
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return web.Response(status=status, text=json.dumps(body), content_type="application/json")
