"""Search engines of the web on loopback: each speaks as its documentation says, enforces its limits, and misbehaves.

async with EngineServer(style="brave") as engine:
    engine.pages = [found("Leave", "https://a.example/leave", "Thirty days.")]
    engine.trouble = refusing(429, {"Retry-After": "7"})
    engine.asked    # the queries that came
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web

KEY = "right-key"
Style = Literal["tavily", "brave", "searxng"]
Trouble = Callable[[web.Request], Awaitable[web.StreamResponse]]
Found = Mapping[str, Any]


def found(title: str, url: str, text: str, date: str | None = None) -> Found:
    """Return a page that an engine finds."""
    return {"title": title, "url": url, "text": text, "date": date}


@dataclass(kw_only=True)
class EngineServer:
    """One engine; it ``heeds`` how many results are asked for; ``asked`` are the queries that it answered or refused, ``requests`` all that came."""

    style: Style
    pages: list[Found] = field(default_factory=list)
    trouble: Trouble | None = None
    heeds: bool = True
    asked: list[str] = field(default_factory=list)
    requests: list[web.Request] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=100_000)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.seen.append(f"{request.raw_path} {dict(request.headers)} {await request.text()}")
        if self.trouble is not None:
            return await self.trouble(request)
        return await {"tavily": self._tavily, "brave": self._brave, "searxng": self._searxng}[self.style](request)

    async def _tavily(self, request: web.Request) -> web.Response:
        if (request.method, request.path) != ("POST", "/search"):
            return _json({"detail": "Not Found"}, 404)
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return _json({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
        body = await request.json()
        query, count = body["query"], body["max_results"]
        self.asked.append(query)
        if not query or len(query) > 400 or not 0 <= count <= 20 or body["search_depth"] not in ("basic", "advanced"):
            return _json({"detail": {"error": "Bad request"}}, 400)
        rows = [
            {"title": one["title"], "url": one["url"], "content": one["text"], "score": 0.9, "raw_content": None}
            | ({"published_date": one["date"]} if one["date"] else {})
            for one in self.pages[: count if self.heeds else None]
        ]
        return _json({"query": query, "answer": None, "images": [], "results": rows, "response_time": 0.5})

    async def _brave(self, request: web.Request) -> web.Response:
        if (request.method, request.path) != ("GET", "/res/v1/web/search"):
            return _json({}, 404)
        if request.headers.get("X-Subscription-Token") != KEY:
            return _brave_error(422, "SUBSCRIPTION_TOKEN_INVALID")
        query, count = request.query["q"], int(request.query["count"])
        self.asked.append(query)
        is_long = len(query) > 400 or len(query.split()) > 50
        if not query or is_long or not 1 <= count <= 20 or request.headers.get("Cache-Control") != "no-cache":
            return _brave_error(422, "VALIDATION")
        rows = [
            {"type": "search_result", "title": one["title"], "url": one["url"], "description": one["text"]}
            | ({"page_age": one["date"]} if one["date"] else {})
            for one in self.pages[: count if self.heeds else None]
        ]
        answer: dict[str, Any] = {"type": "search", "query": {"original": query}}
        return _json(answer | ({"web": {"type": "search", "results": rows}} if rows else {}))

    async def _searxng(self, request: web.Request) -> web.Response:
        if request.path != "/search":
            return web.Response(status=404, text="<html>not found</html>", content_type="text/html")
        if request.query.get("format") != "json" or request.headers.get("Authorization", f"Bearer {KEY}") != (
            f"Bearer {KEY}"
        ):
            return web.Response(status=403, text="<html>Forbidden</html>", content_type="text/html")
        query = request.query["q"]
        self.asked.append(query)
        if any(word.startswith("!!") for word in query.split()):
            return web.Response(status=302, headers={"Location": "https://elsewhere.example/"})
        if not query:
            return _json({"error": "No query"}, 400)
        rows = [
            {"title": one["title"], "url": one["url"], "content": one["text"], "publishedDate": one["date"]}
            for one in self.pages
        ]
        return _json({"query": query, "number_of_results": 0, "results": rows, "unresponsive_engines": []})


def refusing(status: int, headers: Mapping[str, str] | None = None, said: object = None) -> Trouble:
    """Answer with a status."""

    async def answer(request: web.Request) -> web.Response:
        return _json(said if said is not None else {"detail": "no"}, status, headers)

    return answer


def saying(content: bytes, media_type: str = "application/json", status: int = 200) -> Trouble:
    """Answer with this, whatever it is."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, body=content, headers={"Content-Type": media_type})

    return answer


def without_end(start: bytes = b'{"results": [', piece: bytes = b" " * 65_536, pause: float = 0.0) -> Trouble:
    """Begin an answer, and never end it."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(start)
        while True:
            await response.write(piece)
            await asyncio.sleep(pause)

    return answer


async def hanging(request: web.Request) -> web.StreamResponse:
    """Say nothing for a minute."""
    await asyncio.sleep(60)
    return web.Response()


def _brave_error(status: int, code: str) -> web.Response:
    return _json({"type": "ErrorResponse", "error": {"status": status, "code": code, "detail": "..."}}, status)


def _json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status, text=json.dumps(value), headers={"Content-Type": "application/json", **(headers or {})}
    )
