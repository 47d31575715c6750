"""A web server on loopback whose pages a test writes, and which remembers what it was asked.

    async with Website() as site:
        site.page("/", '<a href="/leave">Leave</a>')
        ... HttpClient(...).get(site.url("/"), limit=1_000_000)
        site.asked == ["/"]

A page has an ETag of its content and answers ``If-None-Match`` with 304, unless told otherwise.
"""

import asyncio
import email.utils
import hashlib
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.fakes.ports import free_port

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(kw_only=True)
class Page:
    """What one address answers with; ``etag`` of None means one of the content, "" none."""

    content: bytes
    media_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    modified: float | None = None

    @property
    def validators(self) -> dict[str, str]:
        """The headers that tell the page's state."""
        etag = f'"{hashlib.sha256(self.content).hexdigest()[:16]}"' if self.etag is None else self.etag
        found = {"ETag": etag} if etag else {}
        if self.modified is not None:
            found["Last-Modified"] = email.utils.formatdate(self.modified, usegmt=True)
        return found


@dataclass
class Website:
    """Pages by path (with query); ``requests`` holds what was asked, ``asked`` the paths alone."""

    tls: ssl.SSLContext | None = None
    pages: dict[str, Page | Handler] = field(default_factory=dict)
    requests: list[web.Request] = field(default_factory=list)
    busy: int = 0
    busiest: int = 0
    delay: float = 0.0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        self.port = free_port()
        await self.come()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def come(self) -> None:
        """Listen, at the same port as before."""
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self.tls, reuse_address=True)
        await self._site.start()

    async def leave(self) -> None:
        """Listen no more."""
        await self._site.stop()

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"{self.origin}{path}"

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, but for robots.txt."""
        return [request.raw_path for request in self.requests if request.raw_path != "/robots.txt"]

    def page(self, path: str, content: str | bytes = "", **how: Any) -> Page:
        """Put a page at a path."""
        page = Page(content=content.encode() if isinstance(content, str) else content, **how)
        self.pages[path] = page
        return page

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        self.page(path, status=status, headers={"Location": target})

    def raises(self, path: str, status: int, **headers: str) -> None:
        self.page(path, "no", status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            if self.delay:
                await asyncio.sleep(self.delay)
            page = self.pages.get(request.raw_path)
            if page is None:
                return web.Response(status=404, text="not found")
            return self._page(request, page) if isinstance(page, Page) else await page(request)
        finally:
            self.busy -= 1

    def _page(self, request: web.Request, page: Page) -> web.Response:
        headers = {**page.validators, **page.headers} if page.status == 200 else dict(page.headers)
        asked = request.headers.get("If-None-Match"), request.headers.get("If-Modified-Since")
        is_same = asked[0] == headers.get("ETag") if asked[0] else asked[1] == headers.get("Last-Modified")
        if page.status == 200 and any(asked) and is_same:
            return web.Response(status=304, headers=headers)
        if page.media_type:
            headers.setdefault("Content-Type", page.media_type)
        return web.Response(status=page.status, body=page.content, headers=headers)
