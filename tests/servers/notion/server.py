"""The server: who may ask what, page by page, and faults.

https://developers.notion.com/reference
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from tests.servers.notion.world import Json, Workspace
from tests.servers.serving import LOGIN, served

VERSIONS = ("2026-03-11",)


class Problem(Exception):
    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers


@dataclass
class NotionServer:
    """``largest`` is how many entries a page has at most, ``most`` how many one question is answered with at all.

    ``hidden`` are ids that search doesn't show, ``lost`` those that the integration isn't shared with. ``cut``: lists
    end after three entries, and what they left out is lost. ``vanishing`` goes into the trash when its blocks are asked
    for, ``garbled`` has blocks of no known form, ``twice`` is shown twice. ``lacking`` are the first parts of paths that
    the integration lacks the capability for. ``fault`` may answer in Notion's place, by the path.
    """

    space: Workspace = field(default_factory=Workspace)
    token: str = "ntn_t1"
    largest: int = 100
    most: int = 10_000
    hidden: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    lacking: set[str] = field(default_factory=set)
    vanishing: set[str] = field(default_factory=set)
    garbled: set[str] = field(default_factory=set)
    twice: set[str] = field(default_factory=set)
    cut: bool = False
    is_html: bool = False
    fault: Callable[[str], web.Response | None] | None = None
    asked: list[tuple[str, Json]] = field(default_factory=list)
    origin: str = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["NotionServer"]:
        app = web.Application()
        app.router.add_route("*", "/v1/{path:.*}", self._handle)
        async with served(app) as place:
            self.origin = f"http://{place}"
            yield self

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    async def _handle(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        body = await request.json() if request.method == "POST" else dict(request.query)
        self.asked.append((path, body))
        response = self.fault(path) if self.fault else None
        if response is None:
            response = self._answered(request, path, body)
        response.headers["Date"] = format_datetime(self.space.clock.now, usegmt=True)
        return response

    def _answered(self, request: web.Request, path: str, body: Json) -> web.Response:
        try:
            if request.headers.get("Authorization") != f"Bearer {self.token}":
                raise Problem(401, "unauthorized", "API token is invalid.")
            if request.headers.get("Notion-Version") not in VERSIONS:
                raise Problem(400, "missing_version", "Notion-Version header failed validation.")
            if path.split("/", maxsplit=1)[0] in self.lacking and path != "users/me":
                raise Problem(403, "restricted_resource", "Insufficient permissions for this endpoint.")
            if self.is_html:
                return web.Response(text=LOGIN, content_type="text/html")
            found = self._posted(path, body) if request.method == "POST" else self._got(path, body)
            return web.json_response(found)
        except Problem as problem:
            said = {
                "object": "error",
                "status": problem.status,
                "code": problem.code,
                "message": problem.message,
                "request_id": "1",
            }
            return web.Response(
                status=problem.status,
                text=json.dumps(said),
                content_type="application/json",
                headers=problem.headers,
            )

    def _posted(self, path: str, body: Json) -> Json:
        parts = path.split("/")
        if path == "search":
            return self._page(self._search(body), body)
        if parts[0] == "data_sources" and parts[2:] == ["query"]:
            self._there(self.space.sources, parts[1], "data source")
            return self._page(self._query(parts[1], body), body)
        raise Problem(400, "invalid_request_url", "Invalid request URL.")

    def _got(self, path: str, query: Json) -> Json:  # noqa: PLR0911 - one for each address
        space = self.space
        match path.split("/"):
            case ["pages", identity]:
                if identity in space.databases or identity in space.sources:
                    raise Problem(400, "validation_error", f"Provided ID {identity} is a database, not a page.")
                return self._there(space.pages, identity, "page")
            case ["pages", identity, "properties", name]:
                return self._page(self._items(identity, name), query)
            case ["databases", identity]:
                return self._there(space.databases, identity, "database")
            case ["data_sources", identity]:
                return self._there(space.sources, identity, "data source")
            case ["blocks", identity]:
                return self._there(space.by_id, identity, "block")
            case ["blocks", identity, "children"]:
                return self._page(self._children(identity), query)
            case ["users", "me"]:
                return {"object": "user", "id": "bot", "type": "bot", "name": "Citebot", "avatar_url": None, "bot": {}}
            case ["users", identity]:
                return self._there(space.users, identity, "user")
            case ["comments"]:
                return self._page(space.comments.get(query["block_id"], []), query)
        raise Problem(400, "invalid_request_url", "Invalid request URL.")

    def _there(self, held: dict[str, Json], identity: str, kind: str) -> Json:
        if identity not in held or identity in self.lost or (self.cut and identity not in self._shown()):
            text = f"Could not find {kind} with ID: {identity}. Make sure it is shared with your integration."
            raise Problem(404, "object_not_found", text)
        return held[identity]

    def _children(self, identity: str) -> list[Json]:
        space = self.space
        if identity in self.vanishing:
            space.trash(identity)
            raise Problem(404, "object_not_found", "Could not find block.")
        if identity in self.garbled:
            return [{"object": "block", "type": "paragraph", "paragraph": {"rich_text": "none"}, "id": identity}]
        if identity in space.pages:
            self._there(space.pages, identity, "block")
        else:
            self._there(space.by_id, identity, "block")
        return space.blocks.get(identity, [])

    def _alive(self) -> list[Json]:
        everything = [*self.space.pages.values(), *self.space.sources.values()]
        return [one for one in everything if not one["in_trash"] and one["id"] not in self.lost]

    def _shown(self) -> set[str]:
        return {one["id"] for one in self._alive()[:3]}

    def _search(self, body: Json) -> list[Json]:
        sort = body.get("sort") or {}
        if sort.get("timestamp", "last_edited_time") != "last_edited_time":
            raise Problem(400, "validation_error", 'body.sort.timestamp should be "last_edited_time".')
        found = [one for one in self._alive() if one["id"] not in self.hidden]
        found.sort(key=lambda one: one["last_edited_time"], reverse=sort.get("direction") == "descending")
        again = [one for one in found if one["id"] in self.twice]
        return found + again

    def _query(self, source: str, body: Json) -> list[Json]:
        rows = [one for one in self._alive() if one["parent"].get("data_source_id") == source]
        for condition in (body.get("filter") or {}).get("and", []):
            name = condition["timestamp"]
            start = datetime.fromisoformat(condition[name]["on_or_after"])
            rows = [one for one in rows if datetime.fromisoformat(one[name]) >= start]
        return sorted(rows, key=lambda one: one["created_time"])

    def _items(self, identity: str, name: str) -> list[Json]:
        whole = self._there(self.space.pages, identity, "page")["properties"]
        told = next((one for one in whole.values() if one["id"] == name), None)
        if told is None:
            raise Problem(404, "object_not_found", "Could not find property.")
        kind = told["type"]
        values = told.get("all", told[kind])
        return [{"object": "property_item", "id": name, "type": kind, kind: one} for one in values]

    def _page(self, found: list[Json], asked: Json) -> Json:
        size = int(asked.get("page_size", 100))
        if not 1 <= size <= 100:
            raise Problem(400, "validation_error", "page_size should be at most 100.")
        start = 0
        if asked.get("start_cursor"):
            marks = [f"c{number}" for number in range(len(found) + 1)]
            if asked["start_cursor"] not in marks:
                raise Problem(400, "validation_error", "The start_cursor provided is invalid.")
            start = marks.index(asked["start_cursor"])
        all_told = min(len(found), self.most)
        if self.cut:
            shown = self._shown()
            found = [one for one in found if one["object"] not in {"page", "data_source"} or one["id"] in shown]
            all_told = len(found)
        end = min(start + min(size, self.largest), all_told)
        has_more = end < all_told
        told: dict[str, Any] = {
            "object": "list",
            "results": found[start:end],
            "has_more": has_more,
            "next_cursor": f"c{end}" if has_more else None,
        }
        is_cut = not has_more and all_told < len(found)
        told["request_status"] = {"type": "incomplete" if is_cut else "complete"}
        if is_cut:
            told["request_status"]["incomplete_reason"] = "query_result_limit_reached"
        return told
