"""A Jira on this machine, as Cloud or as Data Center, by the interfaces that their documentation tells.

Cloud: https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/; Data Center:
https://developer.atlassian.com/server/jira/platform/rest/.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web

from tests.servers.atlassian import Site
from tests.servers.serving import LOGIN

NAMES = {"customfield_1": "Cause", "environment": "Environment"}
_UPDATED = re.compile(r' AND updated >= "(\d{4}/\d\d/\d\d \d\d:\d\d)"')


def doc(text: str) -> dict[str, Any]:
    """Return a text as Cloud tells it: a paragraph a line."""
    lines = [{"type": "paragraph", "content": [{"type": "text", "text": line}]} for line in text.split("\n") if line]
    return {"type": "doc", "version": 1, "content": lines}


@dataclass
class Comment:
    id: str
    text: str
    author: str
    at: datetime
    more: dict[str, Any] = field(default_factory=dict)


@dataclass
class Issue:
    """An issue; ``more`` are further fields, as they are told."""

    id: str
    key: str
    summary: str
    text: str
    at: datetime
    comments: list[Comment] = field(default_factory=list)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    security: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    is_spoilt: bool = False
    is_vanishing: bool = False


@dataclass
class JiraServer(Site):
    """Serves at its root as Cloud does, or below ``path`` as a Data Center.

    ``now`` is its clock, ``zone`` that of the account, by which JQL reads times. ``shown`` is how many comments a search
    tells of an issue. ``fault`` may answer a request in Jira's place: it is given its path, and the body.
    """

    path: str = "/jira"
    zone: str = "America/New_York"
    told_zone: bool = True
    now: datetime = datetime(2026, 3, 1, 10, 0, 30, tzinfo=UTC)
    issues: dict[str, Issue] = field(default_factory=dict)
    scope: Callable[[Issue], bool] = lambda issue: True
    shown: int = 3
    fault: Callable[[str, Any], web.Response | None] | None = None
    asked: list[tuple[str, Any]] = field(default_factory=list)
    _last: int = 10_000

    def open(self, summary: str, text: str = "Text", *, key: str = "", **how: Any) -> Issue:
        native = self._next()
        self.issues[native] = Issue(native, key or f"AB-{self._last - 10_000}", summary, text, self._tick(), **how)
        return self.issues[native]

    def edit(self, issue: Issue, text: str) -> None:
        issue.text, issue.at = text, self._tick()

    def comment(self, issue: Issue, text: str, author: str = "Ann", **more: Any) -> Comment:
        issue.at = self._tick()
        issue.comments.append(Comment(self._next(), text, author, issue.at, more))
        return issue.comments[-1]

    def attach(self, issue: Issue, name: str, content: bytes) -> str:
        issue.at = self._tick()
        native = self._next()
        issue.files[native] = (name, content)
        return native

    def _next(self) -> str:
        self._last += 1
        return str(self._last)

    def _tick(self) -> datetime:
        self.now += timedelta(seconds=7)
        return self.now

    def searches(self, since: int = 0) -> list[dict[str, Any]]:
        """Return what was searched for, after so many requests."""
        return [body for path, body in self.asked[since:] if "/search" in path]

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path_qs.removeprefix("" if self.is_cloud else self.path)
        body = await request.json() if request.method == "POST" else None
        self.asked.append((path, body))
        fault = self.fault(path, body) if self.fault else None
        if fault is not None:
            return fault
        if request.headers.get("Authorization") != self.credential:
            return web.json_response({"errorMessages": ["Client must be authenticated"]}, status=401)
        if self.is_html:
            return web.Response(text=LOGIN, content_type="text/html")
        return self._routed(path.partition("?")[0], request, body)

    def _routed(self, path: str, request: web.Request, body: Any) -> web.Response:
        prefix = "/rest/api/3/" if self.is_cloud else "/rest/api/2/"
        place = path.removeprefix(prefix)
        if place == "myself":
            who = {"accountId": "id-ann"} if self.is_cloud else {"name": "ann", "key": "ann"}
            zone = {"timeZone": self.zone} if self.told_zone else {}
            return web.json_response({} if self.is_stranger else who | zone | {"displayName": "Ann"})
        if place == "serverInfo":
            return web.json_response({"baseUrl": self.url})
        if place == ("search/jql" if self.is_cloud else "search") and body is not None:
            return self._search(body)
        if self.is_cloud and place == "search":
            return web.json_response({"errorMessages": ["The requested API has been removed"]}, status=410)
        if found := re.fullmatch(r"issue/(\d+)(/comment)?", place):
            return self._issue(found[1], bool(found[2]), request)
        return self._download(path)

    def _issue(self, native: str, is_comments: bool, request: web.Request) -> web.Response:
        issue = self.issues.get(native)
        if issue is None or issue.is_vanishing:
            return web.json_response({"errorMessages": ["Issue does not exist"]}, status=404)
        if is_comments:
            if issue.is_spoilt:
                return web.Response(text="{", content_type="application/json")
            start, most = int(request.query.get("startAt", 0)), min(int(request.query.get("maxResults", 50)), self.size)
            asked = request.query.get("expand", "")
            told = [self._comment(one, asked) for one in issue.comments[start : start + most]]
            said = {"comments": told, "startAt": start, "maxResults": most, "total": len(issue.comments)}
            return web.json_response(said)
        names = {"names": NAMES} if request.query.get("expand") == "names" else {}
        return web.json_response(self._told(issue, request.query["fields"].split(",")) | names)

    def _download(self, path: str) -> web.Response:
        if found := re.fullmatch(
            r"/rest/api/3/attachment/content/(\d+)" if self.is_cloud else r"/secure/attachment/(\d+)/.*", path
        ):
            if self.is_cloud:
                return web.Response(status=303, headers={"Location": f"{self.media}/file/{found[1]}"})
            return web.Response(body=self._file(found[1], {}))
        return web.json_response({"errorMessages": ["no such resource"]}, status=404)

    def _file(self, native: str, asked: Mapping[str, str]) -> bytes:
        return next(issue.files[native][1] for issue in self.issues.values() if native in issue.files)

    def _search(self, body: dict[str, Any]) -> web.Response:
        asked, _, order = str(body["jql"]).partition(" ORDER BY ")
        since, only = _UPDATED.search(asked), re.match(r"id = (\d+) AND ", asked)
        found = [one for one in self.issues.values() if self.scope(one) and (only is None or one.id == only[1])]
        if since:
            start = datetime.strptime(since[1], "%Y/%m/%d %H:%M").replace(tzinfo=ZoneInfo(self.zone))
            found = [one for one in found if one.at.replace(second=0) >= start]
        if order == "updated ASC":
            found.sort(key=lambda one: one.at)
        found = [one for one in found for _ in range(2 if one.id in self.twice else 1)]
        start = int(body.get("nextPageToken", "t0")[1:]) if self.is_cloud else int(body.get("startAt", 0))
        end = start + min(int(body["maxResults"]), self.size)
        shown = found[start : min(end, self.cut or end)]
        told: dict[str, Any] = {"issues": [self._told(one, body["fields"]) for one in shown]}
        has_more = end < len(found) and not self.cut
        if self.is_cloud:
            told |= {"isLast": not has_more} | ({"nextPageToken": f"t{end}"} if has_more else {})
        else:
            told |= {"startAt": start, "maxResults": end - start, "total": len(shown) if self.cut else len(found)}
        if "names" in body.get("expand", ()):
            told["names"] = NAMES
        return web.json_response(told)

    def _text(self, text: str) -> Any:
        return doc(text) if self.is_cloud else text

    def _person(self, name: str) -> dict[str, Any]:
        return ({"accountId": f"id-{name}"} if self.is_cloud else {"name": name.lower()}) | {"displayName": name}

    def _comment(self, one: Comment, asked: str = "") -> dict[str, Any]:
        """Return a comment; its properties, where those are asked for."""
        at = one.at.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
        told = {"id": one.id, "author": self._person(one.author), "body": self._text(one.text)}
        more = {key: value for key, value in one.more.items() if key != "properties" or key in asked}
        return told | {"created": at, "updated": at} | more

    def _told(self, issue: Issue, fields: list[str]) -> dict[str, Any]:
        """Return an issue with the fields that are asked for."""
        comments = [self._comment(one) for one in issue.comments[: self.shown]]
        said: dict[str, Any] = {
            "summary": issue.summary,
            "description": self._text(issue.text),
            "updated": issue.at.strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
            "security": {"id": "1", "name": issue.security} if issue.security else None,
            "comment": {"comments": comments, "total": len(issue.comments), "maxResults": self.shown},
            "attachment": [
                {
                    "id": native,
                    "filename": name,
                    "size": len(content),
                    "mimeType": "text/plain",
                    "created": "2026-03-01T10:00:00.000+0000",
                    "content": f"{self.url}/secure/attachment/{native}/{name}",
                }
                for native, (name, content) in issue.files.items()
            ],
        } | issue.more
        told = {name: value for name, value in said.items() if name in fields}
        return {"id": issue.id, "key": issue.key, "fields": told}
