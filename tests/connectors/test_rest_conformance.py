"""The conformance suite on ``rest``: an API that lists its texts, and one that tells changes and has details."""

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from aiohttp import web
from pydantic import SecretStr

from connectors.base import Connector, Origin
from connectors.rest import REST, RestConnector, RestOptions
from tests.connectors.apis import Api, post
from tests.connectors.conformance import Conformance
from tests.connectors.notes import NotesServer, NotesWorld
from tests.connectors.world import World


class ListedWorld(World):
    """Posts on pages of five, each with its text."""

    cannot: ClassVar = {"vanish": "an item comes with its text; the other world deletes between the two"}

    def __init__(self, api: Api) -> None:
        self.api = api
        self.texts: dict[str, str] = {}
        self.times: dict[str, str] = {}
        self.skewed = 0
        self.readers: dict[str, list[str]] = {}
        self.twice: list[str] = []
        self.spoilt: set[str] = set()
        self.away = False

    def connect(self, origin: Origin) -> Connector:
        url = "http://127.0.0.1:9/posts" if self.away else self.api.url
        headers = {"Authorization": SecretStr("Bearer x")}
        return RestConnector(origin, self.api.options(url=url, headers=headers))

    def write(self) -> None:
        names = [*self.texts, *self.twice]
        self.api.posts = [
            post(name, self.texts[name], readers=self.readers.get(name, ["*"]), updated_at=self.times[name])
            for name in names
        ]
        for one in self.api.posts:
            if one["id"] in self.spoilt:
                one["body"] = {"blocks": []}

    async def add(self, name: str, text: str, age: int = 0) -> None:
        self.texts[name] = text
        self.times[name] = (datetime.now(UTC) + timedelta(seconds=self.skewed - age)).isoformat()
        self.write()

    change = add

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text, age=300)

    async def delete(self, name: str) -> None:
        del self.texts[name]
        self.write()

    async def rename(self, old: str, new: str) -> None:
        self.texts[new], self.times[new] = self.texts.pop(old), self.times.pop(old)
        self.write()

    async def duplicate(self, name: str) -> None:
        self.twice.append(name)
        self.write()

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        self.readers[name] = sorted(addresses)
        self.write()

    async def spoil(self, name: str) -> None:
        self.spoilt.add(name)
        self.write()

    async def skew(self, seconds: int) -> None:
        self.skewed = seconds

    def on_page_2(self, answer: web.Response) -> None:
        self.api.answer_instead = lambda request, page: answer if page == 2 else None

    async def break_page(self, status: int = 500) -> None:
        self.api.answer_instead = lambda request, page: web.Response(status=status) if page == 2 else None

    async def expire_token(self) -> None:
        await self.break_page(401)

    async def rate_limit(self, seconds: int) -> None:
        def once(request: web.Request, page: int) -> Any:
            if page != 2:
                return None
            self.api.answer_instead = lambda request, page: None
            return web.Response(status=429, headers={"Retry-After": str(seconds)})

        self.api.answer_instead = once

    async def truncate(self) -> None:
        self.api.answer_instead = lambda request, page: web.json_response({"data": self.api.posts[:2], "meta": {}})

    async def break_form(self) -> None:
        self.api.answer_instead = lambda request, page: web.Response(text="<html>Log in", content_type="text/html")

    async def leave(self) -> None:
        self.away = True

    async def mend(self) -> None:
        self.away = False
        self.twice.clear()
        self.spoilt.clear()
        self.api.answer_instead = lambda request, page: None
        self.write()


class DetailedWorld(NotesWorld):
    """The server of notes: changes since a time, oldest first, and each note at an address of its own."""

    def __init__(self, server: NotesServer, url: str) -> None:
        super().__init__(REST, server, url)

    def connect(self, origin: Origin) -> Connector:
        url = "http://127.0.0.1:9" if self.away else self.url
        told = {
            "url": f"{url}/changes",
            "detail": f"{url}/notes/{{id}}",
            "headers": {"Authorization": "Bearer t1"},
            "params": {"since": "{cursor}", "page": "{page}"},
            "paging": "page",
            "more": "next != `0`",
            "items": "items",
            "id": "id",
            "version": "revision",
            "updated_at": "updated_at",
            "text": "[@][?!locked] | [0].text",
            "title": "title",
            "author": "author",
            "readers": "readers || ['*']",
            "requests_per_second": 1_000,
        }
        return RestConnector(origin, RestOptions.model_validate(told))


class TestListed(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with Api(style="token").serving() as api:
            yield ListedWorld(api)


class TestDetailed(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        server = NotesServer()
        async with server.serving() as url:
            yield DetailedWorld(server, url)
