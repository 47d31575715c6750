"""A Confluence on this machine, as Cloud or as Data Center, by the interfaces that their documentation tells.

Cloud: https://developer.atlassian.com/cloud/confluence/rest/v2/intro/ and .../v1/intro/; Data Center:
https://developer.atlassian.com/server/confluence/rest/.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web

from tests.servers.atlassian import Site
from tests.servers.serving import LOGIN

_CQL = re.compile(r'^(?:space = "([^"]+)"|container = (\d+)) and type (?:= (\w+)|in \(([\w, ]+)\))$')


@dataclass
class Person:
    """An account: ``address`` of "" is one that keeps its address to itself."""

    name: str
    address: str = ""
    active: bool = True

    def told(self, is_cloud: bool) -> dict[str, Any]:
        if is_cloud:
            native = f"id-{self.name}" if self.name else None
            return {"type": "known", "accountId": native, "displayName": self.name, "email": self.address}
        return {"type": "known", "username": self.name, "userKey": f"key-{self.name}", "displayName": self.name}


@dataclass
class Thing:
    """A page, blog post, folder, comment or attachment."""

    id: str
    kind: str
    title: str
    body: str = ""
    space: str = "HR"
    parent: "Thing | None" = None
    on: "Thing | None" = None
    number: int = 1
    at: datetime = datetime(2026, 3, 1, 10, tzinfo=UTC)
    status: str = "current"
    author: str = "ann"
    users: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    selection: str = ""
    media_type: str = ""
    data: bytes = b""
    past: dict[int, bytes] = field(default_factory=dict)
    is_spoilt: bool = False
    is_vanishing: bool = False

    @property
    def above(self) -> list["Thing"]:
        return [*self.parent.above, self.parent] if self.parent else []


@dataclass
class ConfluenceServer(Site):
    """Serves below ``/wiki`` as Cloud does, or below ``path`` as a Data Center.

    ``fault`` may answer a request in Confluence's place: it is given its path with query. ``blind`` are ids whose restrictions the search doesn't tell, ``closed`` those that it may not,
    ``unseen`` those whose restrictions name nobody whom the account may see.
    """

    path: str = "/confluence"
    spaces: dict[str, str] = field(default_factory=lambda: {"HR": "global"})
    things: dict[str, Thing] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    hidden_groups: set[str] = field(default_factory=set)
    blind: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    forbidden: set[str] = field(default_factory=set)
    unsearched: set[str] = field(default_factory=set)
    fault: Callable[[str], web.Response | None] | None = None
    asked: list[str] = field(default_factory=list)
    _last: int = 100

    def person(self, name: str, address: str = "", **how: Any) -> Person:
        self.people[name] = Person(name, address, **how)
        return self.people[name]

    def page(self, title: str, body: str = "<p>Text</p>", *, kind: str = "page", **how: Any) -> Thing:
        return self._thing(kind, title, body, **how)

    def comment(self, on: Thing, body: str, **how: Any) -> Thing:
        return self._thing("comment", f"Re: {on.title}", body, on=on, space=on.space, **how)

    def attach(self, on: Thing, name: str, data: bytes, **how: Any) -> Thing:
        return self._thing("attachment", name, on=on, space=on.space, data=data, **how)

    def edit(self, thing: Thing, body: str) -> None:
        thing.body, thing.number, thing.at = body, thing.number + 1, thing.at + timedelta(minutes=1)

    def replace(self, file: Thing, data: bytes) -> None:
        file.past[file.number] = file.data
        file.data, file.number = data, file.number + 1

    def drop(self, thing: Thing) -> None:
        del self.things[thing.id]

    def _thing(self, kind: str, title: str, body: str = "", **how: Any) -> Thing:
        self._last += 1
        native = f"att{self._last}" if kind == "attachment" else str(self._last)
        self.things[native] = Thing(native, kind, title, body, **how)
        return self.things[native]

    @property
    def base(self) -> str:
        return f"{self.origin}{'/wiki' if self.is_cloud else self.path}"

    def _file(self, native: str, asked: Mapping[str, str]) -> bytes:
        file = self.things[native]
        return file.past.get(int(asked.get("version", 0)), file.data)

    async def _answer(self, request: web.Request) -> web.Response:  # noqa: PLR0911
        path = request.path_qs.removeprefix("" if self.is_cloud else self.path)
        self.asked.append(path)
        fault = self.fault(path) if self.fault else None
        if fault is not None:
            return fault
        if request.headers.get("Authorization") != self.credential:
            return web.json_response({"message": "Unauthorized"}, status=401)
        if self.is_html:
            return web.Response(text=LOGIN, content_type="text/html")
        place = path.partition("?")[0]
        if self.is_cloud and place.startswith("/wiki/api/v2/"):
            return self._second(place.removeprefix("/wiki/api/v2/"), request)
        prefix = "/wiki/rest/api/" if self.is_cloud else "/rest/api/"
        if place.startswith(prefix):
            return self._first(place.removeprefix(prefix), request)
        if place.startswith("/download/attachments/") and not self.is_cloud:
            return web.Response(body=self._file(request.query["id"], request.query))
        return _missing()

    # The first interface.

    def _first(self, place: str, request: web.Request) -> web.Response:  # noqa: PLR0911
        if place == "user/current":
            if self.is_stranger:
                return web.json_response({"type": "anonymous", "username": "anonymous", "displayName": "Anonymous"})
            me = Person("ann").told(self.is_cloud)
            return web.json_response(me | {"_links": {"base": self.base}})
        if place == "user":
            return self._person(request.query)
        if place == "content/search":
            return self._search(request)
        if found := re.fullmatch(r"content/(\w+)/restriction/byOperation/read", place):
            return self._restriction(found[1], request)
        if found := re.fullmatch(r"group/([^/]+)/(membersByGroupId|member)", place):
            return self._members(found[1], found[2], request)
        if self.is_cloud:
            if found := re.fullmatch(r"content/(\w+)/child/attachment/(\w+)/download", place):
                return web.Response(
                    status=302, headers={"Location": f"{self.media}/file/{found[2]}?{request.query_string}"}
                )
            return web.json_response({"message": "This deprecated endpoint has been removed"}, status=410)
        if place == "space":
            told = [{"id": at, "key": key, "name": key, "type": kind} for at, (key, kind) in self._spaces()]
            return self._paged(told, request, "/rest/api/space")
        if place == "content":
            wanted = [one for one in self._live(request.query["type"]) if one.space == request.query["spaceKey"]]
            return self._paged([self._content(one, request) for one in wanted], request, "/rest/api/content")
        found = re.fullmatch(r"content/(\w+)", place)
        thing = self._seen(found[1]) if found else None
        if thing is None:
            return _missing()
        if thing.id in self.forbidden:
            return web.json_response({"message": "not permitted"}, status=403)
        return self._one(thing, self._content(thing, request))

    def _spaces(self) -> list[tuple[int, tuple[str, str]]]:
        return list(enumerate(self.spaces.items(), 1))

    def _live(self, *kinds: str) -> list[Thing]:
        live = [one for one in self.things.values() if one.kind in kinds and one.status == "current"]
        return [one for one in live for _ in range(2 if one.id in self.twice else 1)]

    def _seen(self, native: str) -> Thing | None:
        thing = self.things.get(native)
        return None if thing is None or thing.is_vanishing else thing

    def _one(self, thing: Thing, told: dict[str, Any]) -> web.Response:
        return web.Response(text="{", content_type="application/json") if thing.is_spoilt else web.json_response(told)

    def _search(self, request: web.Request) -> web.Response:
        asked = _CQL.match(request.query["cql"])
        if asked is None:
            return web.json_response({"message": "Could not parse cql"}, status=400)
        space, container, kind, kinds = asked.groups()
        found = [
            one
            for one in self._live(*((kind,) if kind else kinds.split(", ")))
            if one.id not in self.unsearched
            and (one.space == space if space else one.on is not None and one.on.id == container)
        ]
        return self._paged([self._content(one, request) for one in found], request, "/rest/api/content/search")

    def _content(self, thing: Thing, request: web.Request) -> dict[str, Any]:
        """Return what the first interface tells of a thing: what is asked for by ``expand`` alone."""
        expand = request.query.get("expand", "").split(",")
        told: dict[str, Any] = {"id": thing.id, "type": thing.kind, "status": thing.status, "title": thing.title}
        author = self.people.get(thing.author, Person(thing.author)).told(self.is_cloud)
        told["_links"] = {"webui": self._webui(thing)}
        if thing.kind == "attachment":
            name = quote(thing.title, safe="")
            told["_links"]["download"] = (
                f"/download/attachments/{thing.on.id}/{name}?id={thing.id}&version={thing.number}"  # type: ignore[union-attr]
            )
            told["extensions"] = {"mediaType": thing.media_type, "fileSize": len(thing.data)}
        if "version" in expand:
            told["version"] = {"number": thing.number, "when": thing.at.isoformat(), "by": author}
        if "history" in expand:
            told["history"] = {"createdBy": author, "createdDate": thing.at.isoformat()}
        if "ancestors" in expand:
            told["ancestors"] = [{"id": one.id, "type": one.kind} for one in thing.above]
        if "container" in expand and thing.on:
            told["container"] = {"id": thing.on.id, "type": thing.on.kind, "title": thing.on.title}
        if "space" in expand:
            told["space"] = {"key": thing.space, "id": 1}
        if "body.storage" in expand:
            told["body"] = {"storage": {"value": thing.body, "representation": "storage"}}
        if "extensions.inlineProperties" in expand and thing.selection:
            told["extensions"] = {"location": "inline", "inlineProperties": {"originalSelection": thing.selection}}
        if "restrictions.read.restrictions.user" in expand and thing.id not in self.blind:
            told["restrictions"] = {"read": {"operation": "read", "restrictions": self._named(thing, 0, self.size)}}
        return told

    def _webui(self, thing: Thing) -> str:
        on = thing.on or thing
        page = f"/spaces/{on.space}/pages/{on.id}" if self.is_cloud else f"/pages/viewpage.action?pageId={on.id}"
        if thing.kind == "comment":
            return f"{page}{'?' if self.is_cloud else '&'}focusedCommentId={thing.id}"
        return f"{page}#{thing.id}" if thing.kind == "attachment" else page

    def _named(self, thing: Thing, start: int, limit: int) -> dict[str, Any]:
        users = [self.people.get(name, Person(name)).told(self.is_cloud) for name in sorted(thing.users)]
        groups = [{"type": "group", "name": name, "id": f"g-{name}"} for name in sorted(thing.groups)]
        return {
            key: {
                "results": [] if thing.id in self.unseen else found[start : start + limit],
                "start": start,
                "limit": limit,
                "size": len(found),
            }
            for key, found in (("user", users), ("group", groups))
        }

    def _restriction(self, native: str, request: web.Request) -> web.Response:
        thing = self.things.get(native)
        if thing is None or native in self.closed:
            return _missing()
        start, limit = int(request.query.get("start", 0)), min(int(request.query.get("limit", 100)), 100)
        return web.json_response({"operation": "read", "restrictions": self._named(thing, start, limit)})

    def _members(self, group: str, how: str, request: web.Request) -> web.Response:
        if (how == "membersByGroupId") != self.is_cloud:
            return _missing()
        name = group.removeprefix("g-") if self.is_cloud else group
        if name in self.hidden_groups:
            return web.json_response({"message": "not permitted"}, status=403)
        if name not in self.groups:
            return _missing()
        people = [self.people.get(one, Person(one)).told(self.is_cloud) for one in self.groups[name]]
        return self._paged(people, request, f"/rest/api/group/{group}/{how}")

    def _person(self, asked: Any) -> web.Response:
        native = (asked.get("accountId") or "").removeprefix("id-") or (asked.get("key") or "").removeprefix("key-")
        found = self.people.get(native)
        return web.json_response(found.told(self.is_cloud)) if found else _missing()

    # The second interface.

    def _second(self, place: str, request: web.Request) -> web.Response:
        if place == "spaces":
            wanted = request.query.get("keys", "").split(",")
            told = [
                {"id": str(at), "key": key, "name": key, "type": kind, "status": "current"}
                for at, (key, kind) in self._spaces()
                if key in wanted or wanted == [""]
            ]
            return self._paged(told, request, "/wiki/api/v2/spaces")
        if found := re.fullmatch(r"spaces/(\d+)/(page|blogpost)s", place):
            key = dict(self._spaces())[int(found[1])][0]
            listed = [one for one in self._live(found[2]) if one.space == key]
            return self._paged([self._page(one, "") for one in listed], request, f"/wiki/api/v2/{place}")
        found = re.fullmatch(r"(page|blogpost|folder|attachment)s/(\w+)", place)
        thing = self._seen(found[2]) if found else None
        if thing is None or found is None or thing.kind != found[1] or thing.id in self.closed:
            return _missing()
        if thing.id in self.forbidden:
            return web.json_response({"errors": [{"title": "not permitted"}]}, status=403)
        return self._one(thing, self._page(thing, request.query.get("body-format", "")))

    def _page(self, thing: Thing, form: str) -> dict[str, Any]:
        key = next(str(at) for at, (key, _) in self._spaces() if key == thing.space)
        told: dict[str, Any] = {
            "id": thing.id,
            "status": thing.status,
            "title": thing.title,
            "spaceId": key,
            "parentId": thing.parent.id if thing.parent else None,
            "parentType": thing.parent.kind if thing.parent else None,
            "authorId": f"id-{thing.author}",
            "version": {"number": thing.number, "createdAt": thing.at.isoformat(), "authorId": f"id-{thing.author}"},
            "_links": {"webui": self._webui(thing), "base": self.base},
        }
        if thing.kind == "attachment" and thing.on:
            told |= {f"{'blogPost' if thing.on.kind == 'blogpost' else 'page'}Id": thing.on.id}
            told |= {"mediaType": thing.media_type, "fileSize": len(thing.data)}
        return told | ({"body": {form: {"value": thing.body, "representation": form}}} if form else {"body": {}})

    def _paged(self, told: Sequence[dict[str, Any]], request: web.Request, path: str) -> web.Response:
        """Return a page of a list: on Cloud by a cursor, on Data Center by where it begins."""
        name = "cursor" if self.is_cloud else "start"
        start = int(request.query.get(name, "0"))
        size = min(int(request.query.get("limit", self.size)), self.size)
        end = start + size
        links: dict[str, str] = {"base": self.base}
        if end < len(told) and not self.cut:
            query = {key: value for key, value in request.query.items() if key != name} | {name: str(end)}
            links["next"] = f"{path}?{urlencode(query)}"
        shown = told[start : min(end, self.cut or end)]
        return web.json_response({"results": shown, "start": start, "limit": size, "size": len(shown), "_links": links})


def _missing() -> web.Response:
    return web.json_response({"message": "Not found"}, status=404)
