"""What the servers of Atlassian's products have in common: where they stand, whom they let in, and how they fail."""

import abc
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from tests.servers.serving import served


@dataclass(kw_only=True)
class Site(abc.ABC):
    """Cloud, or a Data Center below ``path``; files of Cloud are on another host, ``media``.

    ``size`` are the entries of a page, ``cut`` ends every list after so many entries.
    """

    path: str
    is_cloud: bool = True
    token: str = "t1"
    size: int = 5
    cut: int = 0
    is_html: bool = False
    is_stranger: bool = False
    twice: set[str] = field(default_factory=set)
    tokens_elsewhere: list[str | None] = field(default_factory=list)
    """What the other host was shown as ``Authorization``."""
    origin: str = ""
    media: str = ""

    @property
    def url(self) -> str:
        return f"{self.origin}{'' if self.is_cloud else self.path}"

    @property
    def credential(self) -> str:
        """What has to stand in ``Authorization``; on Cloud the account is ``ann@x.example``."""
        if self.is_cloud:
            return f"Basic {base64.b64encode(f'ann@x.example:{self.token}'.encode()).decode()}"
        return f"Bearer {self.token}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        app, other = web.Application(), web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        other.router.add_get("/file/{id}", self._elsewhere)
        async with served(app) as place, served(other) as elsewhere:
            self.origin, self.media = f"http://{place}", f"http://{elsewhere}"
            yield self

    @abc.abstractmethod
    async def _answer(self, request: web.Request) -> web.Response: ...

    @abc.abstractmethod
    def _file(self, native: str, asked: Mapping[str, str]) -> bytes: ...

    async def _elsewhere(self, request: web.Request) -> web.Response:
        self.tokens_elsewhere.append(request.headers.get("Authorization"))
        return web.Response(body=self._file(request.match_info["id"], request.query))
