"""The conformance suite on ``web``: a site that is known by its sitemaps, and one that is crawled."""

import abc
import email.utils
import time
from typing import ClassVar
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from connectors.base import Origin
from connectors.web import WebConnector, WebOptions
from tests.connectors.conformance import Conformance
from tests.connectors.test_web_sitemaps import sitemap
from tests.connectors.webs import linked, options
from tests.connectors.world import World
from tests.fakes.website import Page, Website

PAGE = 5


class SiteWorld(World):
    """A site whose documents stand in lists of five, the last of which may be broken."""

    def __init__(self, site: Website) -> None:
        self.site = site
        self.names: list[str] = []
        self.twice: list[str] = []
        self.broken: dict[str, Page] = {}
        self.skewed: int | None = None
        self.is_here = True
        self.is_whole = True
        self.write()

    @abc.abstractmethod
    def options(self) -> WebOptions: ...

    @abc.abstractmethod
    def write(self) -> None:
        """Write the lists anew."""

    def connect(self, origin: Origin) -> WebConnector:
        return WebConnector(origin, self.options())

    def identity(self, name: str) -> str:
        return self.site.url(self.path(name))

    def path(self, name: str) -> str:
        return f"/docs/{quote(name)}"

    def lists(self) -> list[list[str]]:
        names = [*self.names, *self.twice] if self.is_whole else self.names[:3]
        return [names[first : first + PAGE] for first in range(0, len(names), PAGE)]

    async def add(self, name: str, text: str) -> None:
        self.put(name, text, 0)

    change = add

    async def late(self, name: str, text: str) -> None:
        self.put(name, text, -300)

    def put(self, name: str, text: str, age: int) -> None:
        page = self.site.page(self.path(name), text, media_type="text/markdown; charset=utf-8")
        if self.skewed is not None or age:
            # Dates alone, by the site's own clock.
            now = time.time() + (self.skewed or 0)
            page.etag, page.modified, page.headers = "", now + age, {"Date": email.utils.formatdate(now, usegmt=True)}
        if name not in self.names:
            self.names.append(name)
        self.write()

    async def delete(self, name: str) -> None:
        del self.site.pages[self.path(name)]
        self.names.remove(name)
        self.write()

    async def rename(self, old: str, new: str) -> None:
        self.site.pages[self.path(new)] = self.site.pages.pop(self.path(old))
        self.names[self.names.index(old)] = new
        self.write()

    async def duplicate(self, name: str) -> None:
        self.twice.append(name)
        self.write()

    async def spoil(self, name: str) -> None:
        self.replace(self.path(name), Page(content=b"no", status=500))

    async def vanish(self, name: str) -> None:
        del self.site.pages[self.path(name)]

    async def skew(self, seconds: int) -> None:
        self.skewed = seconds

    async def truncate(self) -> None:
        self.is_whole = False
        self.write()

    async def leave(self) -> None:
        await self.site.leave()
        self.is_here = False

    async def mend(self) -> None:
        if not self.is_here:
            await self.site.come()
        self.is_here = self.is_whole = True
        self.site.pages |= self.broken
        self.broken.clear()
        self.names = [name for name in self.names if self.path(name) in self.site.pages]
        self.write()

    def replace(self, path: str, page: Page) -> None:
        self.broken.setdefault(path, self.site.pages[path])
        self.site.pages[path] = page

    async def limit(self, path: str, seconds: int) -> None:
        kept = self.site.pages[path]

        async def once(request):
            self.site.pages[path] = kept
            return self.site._page(request, Page(content=b"", status=429, headers={"Retry-After": str(seconds)}))

        self.site.pages[path] = once


NO_READERS = "a site doesn't tell who may read a page"


class SitemapWorld(SiteWorld):
    cannot: ClassVar = {"restrict": NO_READERS}

    def options(self) -> WebOptions:
        return options(
            self.site, sitemaps=(self.site.url("/index.xml"),), headers={"Authorization": SecretStr("Bearer x")}
        )

    def write(self) -> None:
        lists = self.lists()
        maps = [f"/map{number}.xml" for number in range(len(lists))]
        for path, names in zip(maps, lists, strict=True):
            self.site.page(path, sitemap(*map(self.identity, names)), media_type="application/xml")
        self.site.page("/index.xml", sitemap(*map(self.site.url, maps), index=True), media_type="application/xml")

    async def break_page(self, status: int = 500) -> None:
        self.replace("/map1.xml", Page(content=b"no", status=status))

    async def expire_token(self) -> None:
        self.replace("/map1.xml", Page(content=b"no", status=401))

    async def rate_limit(self, seconds: int) -> None:
        await self.limit("/map1.xml", seconds)

    async def break_form(self) -> None:
        self.replace("/map1.xml", Page(content=b"<!doctype html><html><title>Log in</title></html>"))


class CrawlWorld(SiteWorld):
    cannot: ClassVar = {
        "restrict": NO_READERS,
        "break_page": "a page of links that fails is one document that fails; test_web_again.py holds what follows",
        "break_form": "a web page is the form that is due",
    }

    def options(self) -> WebOptions:
        return options(self.site, headers={"Authorization": SecretStr("Bearer x")})

    def write(self) -> None:
        lists = self.lists()
        for number, names in enumerate(lists or [[]]):
            further = [f"/list{number + 1}"] if number + 1 < len(lists) else []
            page = linked(*map(self.path, names), *further, head='<meta name="robots" content="noindex">')
            self.site.page(f"/list{number}" if number else "/", page)

    async def expire_token(self) -> None:
        self.replace("/list1", Page(content=b"no", status=401))

    async def rate_limit(self, seconds: int) -> None:
        await self.limit("/list1", seconds)


@pytest.fixture
async def site():
    async with Website() as website:
        yield website


class TestSitemap(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, site):
        return SitemapWorld(site)


class TestCrawl(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, site):
        return CrawlWorld(site)
