"""A JSON API on this machine that lists posts, by each way of paging, and the ways to break it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aiohttp import web

from connectors.base import Origin
from connectors.rest import RestConnector, RestOptions
from tests.servers.serving import served

STYLES = ("none", "page", "offset", "token", "next", "link", "post", "more")
FIELDS = {
    "items": "data",
    "id": "id",
    "text": "body",
    "title": "title",
    "link": "links.web",
    "author": "author.name",
    "updated_at": "updated_at",
    "readers": "readers",
}


def post(identity: Any, body: Any = "Text", **more: Any) -> dict[str, Any]:
    told = {"title": "A post", "author": {"name": "Ann"}, "updated_at": "2026-03-10T10:00:00Z", "readers": ["*"]}
    return (
        {"id": identity, "body": body, "links": {"web": f"https://posts.example/{quote(str(identity), safe='')}"}}
        | told
        | more
    )


@dataclass
class Api:
    """``/posts`` and ``/posts/ID``; ``answer_instead`` may answer a request in the place of both."""

    posts: list[dict[str, Any]] = field(default_factory=list)
    size: int = 5
    style: str = "none"
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    answer_instead: Callable[[web.Request, int], Any] = lambda request, page: None
    url: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/posts")

    def options(self, **changes: Any) -> RestOptions:
        ways: dict[str, dict[str, Any]] = {
            "none": {},
            "page": {"paging": "page", "params": {"page": "{page}"}},
            "more": {"paging": "page", "params": {"page": "{page}"}, "more": "page < pages"},
            "offset": {"paging": "offset", "params": {"offset": "{offset}"}},
            "token": {"paging": "token", "params": {"token": "{token}"}, "next": "meta.token"},
            "next": {"paging": "next", "next": "meta.next"},
            "link": {"paging": "link"},
            "post": {
                "paging": "token",
                "method": "POST",
                "body": {"query": "all {posts}", "after": "{token}"},
                "next": "meta.token",
            },
        }
        told = {"url": self.url, "requests_per_second": 1_000} | FIELDS | ways[self.style] | changes
        return RestOptions.model_validate(told)

    def connector(self, **changes: Any) -> RestConnector:
        return RestConnector(Origin(source="s", folder=Path("/")), self.options(**changes))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        body = await request.json() if request.method == "POST" else None
        self.bodies.append(body)
        start = self._start(request, body)
        instead = self.answer_instead(request, start // self.size + 1)
        if instead is not None:
            return instead
        if "native" in request.match_info:
            native = request.match_info["native"]
            found = self.details.get(native)
            return web.json_response(found) if found is not None else web.Response(status=404)
        return self._listing(start)

    def _start(self, request: web.Request, body: Any) -> int:
        asked = request.query
        if self.style in {"page", "more"}:
            return (int(asked.get("page", "1")) - 1) * self.size
        token = (body or {}).get("after") or asked.get("token") or asked.get("offset") or asked.get("at") or "0"
        number = str(token).removeprefix("t")
        return int(number) if number.isdigit() else 0

    def _listing(self, start: int) -> web.Response:
        size = len(self.posts) + 1 if self.style == "none" else self.size
        found, following = self.posts[start : start + size], start + size
        has_more = following < len(self.posts)
        meta = {
            "token": f"t{following}" if has_more else None,
            "next": f"/posts?at={following}" if has_more else None,
        }
        told = {
            "data": found,
            "meta": meta,
            "page": start // self.size + 1,
            "pages": -(-len(self.posts) // self.size),
        }
        links = f'<{self.url}>; rel="self", </posts?at={following}>; title="a, b"; rel="next last"'
        return web.json_response(
            told | self.extra, headers={"Link": links} if has_more and self.style == "link" else {}
        )

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Api"]:
        app = web.Application()
        app.router.add_route("*", "/posts", self.answer)
        app.router.add_get("/posts/{native:.+}", self.answer)
        async with served(app) as place:
            self.url = f"http://{place}/posts"
            yield self
