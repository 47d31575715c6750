"""The conformance suite on ``feed``: what an RSS feed lists, and an Atom feed that tells deletions."""

import abc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from connectors.base import Origin
from connectors.feed import FeedConnector
from tests.connectors.conformance import Conformance
from tests.connectors.feeds import Item, atom, options, rss
from tests.connectors.world import World
from tests.fakes.website import Page, Website

PAGE = 5


class FeedWorld(World):
    """A feed on pages of five entries."""

    no_readers = "a feed doesn't tell who may read an entry"
    whole = "an entry stands in the feed with its text; test_feed_pages.py deletes the pages that entries link to"

    keep = ""

    def __init__(self, site: Website) -> None:
        self.site = site
        self.items: dict[str, Item] = {}
        self.twice: list[Item] = []
        self.gone: dict[str, None] = {}
        self.broken: dict[str, Page] = {}
        self.is_here = self.is_whole = True
        self.skewed = 0
        self.write()

    @abc.abstractmethod
    def shown(self, items: list[Item], following: str) -> str: ...

    def connect(self, origin: Origin) -> FeedConnector:
        headers = {"Authorization": SecretStr("Bearer x")}
        return FeedConnector(origin, options(self.site, "/feed0", keep=self.keep, headers=headers))

    def path(self, number: int) -> str:
        return f"/feed{number}"

    def write(self) -> None:
        items = [*self.items.values(), *self.twice] if self.is_whole else list(self.items.values())[:3]
        count = max(1, -(-len(items) // PAGE))
        for number in range(count):
            following = self.path(number + 1) if number + 1 < count else ""
            content = self.shown(items[number * PAGE : number * PAGE + PAGE], following)
            self.site.page(self.path(number), content, media_type="application/xml")

    def item(self, name: str, text: str, age: int) -> Item:
        at = datetime.now(UTC) + timedelta(seconds=self.skewed - age)
        return Item(guid=f"urn:note:{quote(name)}", text=text, title="A note", updated=f"{at:%Y-%m-%dT%H:%M:%SZ}")

    def identity(self, name: str) -> str:
        return f"urn:note:{quote(name)}"

    async def add(self, name: str, text: str, age: int = 0) -> None:
        self.items[name] = self.item(name, text, age)
        self.gone.pop(name, None)
        self.write()

    change = add

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text, age=300)

    async def delete(self, name: str) -> None:
        del self.items[name]
        self.gone[name] = None
        self.write()

    async def rename(self, old: str, new: str) -> None:
        text = self.items[old].text
        await self.delete(old)
        await self.add(new, text)

    async def duplicate(self, name: str) -> None:
        self.twice.append(self.items[name])
        self.write()

    async def spoil(self, name: str) -> None:
        item = self.items[name]
        one, other = (replace(item, link=f"https://news.example/{number}") for number in range(2))
        self.items = {key: value for key, value in self.items.items() if key != name}
        self.items = {name: one, "other": other, **self.items}
        self.write()

    async def break_page(self, status: int = 500) -> None:
        self.replace("/feed1", Page(content=b"no", status=status))

    async def expire_token(self) -> None:
        self.replace("/feed1", Page(content=b"no", status=401))

    async def rate_limit(self, seconds: int) -> None:
        kept = self.site.pages["/feed1"]

        async def once(request):
            self.site.pages["/feed1"] = kept
            return self.site._page(request, Page(content=b"", status=429, headers={"Retry-After": str(seconds)}))

        self.site.pages["/feed1"] = once

    async def break_form(self) -> None:
        self.replace("/feed0", Page(content=b"<!doctype html><html><title>Log in</title></html>"))

    async def leave(self) -> None:
        await self.site.leave()
        self.is_here = False

    async def skew(self, seconds: int) -> None:
        self.skewed = seconds

    async def mend(self) -> None:
        if not self.is_here:
            await self.site.come()
        self.is_here = self.is_whole = True
        self.broken.clear()
        self.items.pop("other", None)
        self.items = {name: replace(item, link="") for name, item in self.items.items()}
        self.write()

    def replace(self, path: str, page: Page) -> None:
        self.broken.setdefault(path, self.site.pages[path])
        self.site.pages[path] = page


class ListedWorld(FeedWorld):
    """A feed that shows all there is."""

    cannot: ClassVar = {"restrict": FeedWorld.no_readers, "vanish": FeedWorld.whole}
    keep = "listed"

    def shown(self, items: list[Item], following: str) -> str:
        return rss(items, following)

    async def truncate(self) -> None:
        self.is_whole = False
        self.write()


class ToldWorld(FeedWorld):
    """A feed whose entries are kept until it tells that they were deleted."""

    cannot: ClassVar = {
        "restrict": FeedWorld.no_readers,
        "vanish": FeedWorld.whole,
        "truncate": "an entry that the feed doesn't show is kept, however many they are: test_feed.py",
    }
    keep = "forever"

    def shown(self, items: list[Item], following: str) -> str:
        return atom(items, following, gone=map(self.identity, self.gone))


@pytest.fixture
async def site():
    async with Website() as website:
        yield website


class TestListed(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, site):
        return ListedWorld(site)


class TestTold(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, site):
        return ToldWorld(site)
