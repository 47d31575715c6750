"""The server: who may ask what, conditions, redirects, and faults; what it answers stands in ``rest``."""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from tests.servers.git import Clock
from tests.servers.gitlab.rest import NotFound, Rest, stamp
from tests.servers.gitlab.world import Account, Project
from tests.servers.serving import LOGIN, Asked, served

NEW = datetime(2026, 1, 1, tzinfo=UTC)
_WANTS_TOKEN = re.compile(r"/(issues|merge_requests)/\d+/discussions|/members/all")


@dataclass
class GitlabServer:
    """Serves below ``prefix`` (a relative URL of an installation) and ``/api/v4``.

    ``counted`` is up to how many entries a list is counted; ``tree_page`` the most entries of a page of a tree;
    ``most_diffs`` the most that a comparison holds. ``is_admin``: the token is an administrator's, who sees addresses.
    ``since``: so long ago was the last that anybody did. ``fault`` may answer a request in GitLab's place. ``told_origin`` is what GitLab believes to be reached by.
    """

    prefix: str = ""
    clock: Clock = field(default_factory=lambda: Clock(NEW, timedelta(milliseconds=250)))
    projects: dict[str, Project] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    people: dict[int, Account] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    token: str = "t1"
    is_admin: bool = False
    has_etags: bool = True
    counted: int = 10_000
    tree_page: int = 100
    most_diffs: int = 1_000
    kept: dict[bytes, bytes] = field(default_factory=dict)
    """What Git LFS holds, by pointer."""
    cut: bool = False
    is_html: bool = False
    since: timedelta = timedelta(minutes=5)
    twice: set[int] = field(default_factory=set)
    vanishing: set[int] = field(default_factory=set)
    garbled: set[int] = field(default_factory=set)
    fault: Callable[[str], web.Response | None] | None = None
    asked: list[Asked] = field(default_factory=list)
    origin: str = ""
    told_origin: str = ""

    def project(self, path: str = "acme/docs", **how: Any) -> Project:
        found = Project(len(self.projects) + 40, path, clock=self.clock, **how)
        self.projects[path.lower()] = found
        parts = path.split("/")[:-1]
        self.groups |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
        return found

    def member(self, project: Project, username: str, **how: Any) -> Account:
        account = Account(len(self.people) + 70, username, **how)
        self.people[account.id] = account
        project.members.append(account)
        return account

    def move(self, project: Project, path: str) -> None:
        self.projects[path.lower()] = self.projects.pop(project.path.lower())
        self.moved[project.path.lower()] = project.id
        project.path = path

    @property
    def url(self) -> str:
        return f"{self.origin}{self.prefix}"

    @property
    def html(self) -> str:
        return "https://gitlab.example.org"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["GitlabServer"]:
        app = web.Application()
        app.router.add_get(f"{self.prefix}/api/v4/{{path:.*}}", self._rest)
        async with served(app) as place:
            self.origin = f"http://{place}"
            self.told_origin = self.told_origin or self.origin
            yield self

    async def _rest(self, request: web.Request) -> web.Response:
        path = request.raw_path.removeprefix(f"{self.prefix}/api/v4")
        answer = self._gated(request, path) or self._answered(request, path)
        answer.headers["Date"] = format_datetime(self.clock.now + self.since, usegmt=True)
        self.asked.append(Asked(path, "If-None-Match" in request.headers, answer.status))
        return answer

    def _gated(self, request: web.Request, path: str) -> web.Response | None:
        """Return the answer to a request that isn't let in, or that goes wrong."""
        given = request.headers.get("Authorization")
        if given not in {None, f"Bearer {self.token}"}:
            return problem(401, message="401 Unauthorized")
        if given is None and _WANTS_TOKEN.search(path):
            return problem(401, message="401 Unauthorized")
        fault = self.fault(path) if self.fault else None
        if fault is None and self.is_html:
            return web.Response(text=LOGIN, content_type="text/html")
        return fault

    def _answered(self, request: web.Request, path: str) -> web.Response:
        rest, bare = Rest(self, request), path.partition("?")[0]
        try:
            if found := re.fullmatch(r"/projects/([^/]+)(.*)", bare):
                name = unquote(found[1]).lower()
                if name in self.moved:
                    location = f"{self.url}/api/v4/projects/{self.moved[name]}{found[2]}"
                    return web.Response(status=301, headers={"Location": location})
                return self._conditional(request, rest.answer(self._there(request, name), found[2]))
            if found := re.fullmatch(r"/groups/([^/]+)/projects", bare):
                return self._conditional(request, self._group(rest, unquote(found[1])))
            if found := re.fullmatch(r"/users/(\d+)", bare):
                return self._conditional(request, self._user(int(found[1])))
        except NotFound:
            pass
        return problem(404, message="404 Not Found")

    def _there(self, request: web.Request, name: str) -> Project:
        if name.isdigit():
            project = next((one for one in self.projects.values() if one.id == int(name)), None)
        else:
            project = self.projects.get(name)
        if project is None or (project.visibility != "public" and "Authorization" not in request.headers):
            raise NotFound
        return project

    def _group(self, rest: Rest, group: str) -> web.Response:
        if group not in self.groups:
            raise NotFound
        is_deep = rest.request.query.get("include_subgroups") == "true"
        found = [one for one in self.projects.values() if one.path.startswith(f"{group}/")]
        found = [one for one in found if is_deep or "/" not in one.path.removeprefix(f"{group}/")]
        return rest.page([rest.project_of(one) for one in sorted(found, key=lambda one: one.id)])

    def _user(self, identity: int) -> web.Response:
        if identity not in self.people:
            raise NotFound
        account = self.people[identity]
        told = {"id": account.id, "username": account.username, "public_email": account.public_email}
        if self.is_admin:
            confirmed = stamp(NEW) if account.is_confirmed else None
            told |= {"email": account.email, "confirmed_at": confirmed}
        return web.Response(text=json.dumps(told), content_type="application/json")

    def _conditional(self, request: web.Request, answer: web.Response) -> web.Response:
        if not self.has_etags or answer.content_type != "application/json":
            return answer
        etag = f'W/"{hashlib.sha256(answer.body).hexdigest()[:32]}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        answer.headers["ETag"] = etag
        return answer


def problem(status: int, **said: str) -> web.Response:
    return web.Response(status=status, text=json.dumps(said), content_type="application/json")
