"""The connector of the source type ``web``: a document is a page, and its id is the page's address.

Each run is a crawl, and the crawl is the listing. A cursor remembers for each address its validators, its version and
its links, so that a page which hasn't changed is asked for once, and not read, and its links are followed all the same.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from yarl import URL

from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.http import AddressRule, HttpClient, HttpOptions
from connectors.http.robots import Robots
from connectors.http.urls import normalised
from connectors.web.addresses import Scope
from connectors.web.crawl import Crawl
from connectors.web.options import WebOptions
from connectors.web.site import Site
from connectors.web.state import Memory
from ragcore.errors import SourceError, SourceRateLimited

_BATCH = 64  # addresses between two checkpoints
_GROWTH = 8  # a cursor is written anew once a crawl has grown by a part of this many
_SILENCE = 60.0  # seconds after which something is said

T = TypeVar("T")


@dataclass(slots=True)
class WebConnector:
    """Reads one site."""

    origin: Origin
    options: WebOptions
    _finished: Crawl | None = field(init=False, default=None)
    _limited: set[str] = field(init=False, default_factory=set)

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every page whose version isn't the known one, as the crawl comes to it."""
        async with self._site(known) as site:
            log = _Log(cursor=cursor)
            crawl = self._crawl(site, await asyncio.to_thread(Memory.from_cursor, cursor, self.options.basis()))
            try:
                async for _ in crawl.read_maps():
                    if log.is_silent():
                        yield log.said(Checkpoint(cursor=log.cursor))
                async with aclosing(crawl.changes()) as found:
                    async for change in found:
                        if change is not None:
                            yield log.said(change)
                        if log.is_due():
                            yield await log.written(crawl)
            except SourceRateLimited:
                if crawl.news:
                    yield await log.written(crawl, at_once=True)
                raise
            except SourceError:
                yield Checkpoint(cursor=log.cursor)
                raise
            self._finished = crawl
            yield await log.written(crawl, is_finished=True)

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every page that the run's crawl found; without one, of a crawl of its own."""
        crawl = self._finished
        if crawl is None:
            async with self._site({}) as site:
                crawl = self._crawl(site, Memory(basis=""))
                async for _ in crawl.read_maps():
                    pass
                async for _ in crawl.changes():
                    pass
        for url in crawl.pages():
            yield self.origin.document_id(url)
        # A crawl that knows what was there has asked for what it didn't find; another can't say what it missed, nor one
        # that may ask no more.
        is_unsure = crawl.is_blind and (not crawl.site.known or crawl.is_full)
        hidden = self.origin.document_id("") if is_unsure else ""
        for failure in crawl.failures.values():
            yield Failure(id=failure.id, reason=failure.reason, mend=failure.mend, covers=hidden)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these pages as they are now."""
        async with self._site({}) as site:
            for identity in dict.fromkeys(ids):
                url = self.origin.native_id(identity)
                if site.scope.page(url) != url:
                    yield Tombstone(id=identity)
                    continue
                visit = await site.ask(url)
                if visit.error is not None:
                    yield site.failure(url, visit.error)
                else:
                    yield visit.document or Tombstone(id=identity)

    @asynccontextmanager
    async def _site(self, known: Mapping[str, str]) -> AsyncIterator[Site]:
        options = self.options
        named = (*options.start_urls, *options.sitemaps)
        settings = HttpOptions(
            headers=options.headers,
            trusted=tuple({str(URL(url).origin()) for url in named}),
            addresses=AddressRule.of(options.networks),
            user_agent=options.user_agent,
            interval=1 / options.requests_per_second,
            connections=options.connections,
        )
        scope = Scope.of(options.include, options.exclude, options.ignore_query)
        for url in options.start_urls:
            scope.widen(normalised(url))
        for url in options.sitemaps:
            scope.widen(normalised(url), whole_host=True)
        async with (
            HttpClient(settings) as client,
            aclosing(Robots(client, options.user_agent, options.robots)) as robots,
        ):
            yield Site(origin=self.origin, options=options, scope=scope, client=client, robots=robots, known=known)

    def _crawl(self, site: Site, memory: Memory) -> Crawl:
        starts = [normalised(url, ignored=site.scope.ignored) for url in self.options.start_urls]
        return Crawl(site=site, memory=memory, starts=starts, limited=self._limited)


@dataclass(slots=True)
class _Log:
    """When to write down how far a crawl is: what is written is new each time, and it is never silent for long."""

    cursor: str | None
    _since: int = 0
    _news: int = 0
    _spoke: float = field(default_factory=time.monotonic)

    def is_silent(self) -> bool:
        """Tell whether nothing has been said for a while."""
        return time.monotonic() - self._spoke >= _SILENCE

    def said(self, change: T) -> T:
        """Take note that something is said."""
        self._spoke = time.monotonic()
        return change

    def is_due(self) -> bool:
        """Tell, once for each address, whether a checkpoint is due."""
        self._since += 1
        return self._since >= _BATCH or self.is_silent()

    async def written(self, crawl: Crawl, *, is_finished: bool = False, at_once: bool = False) -> Checkpoint:
        """Return a checkpoint; its cursor is a new one if that is worth it, for it grows with the site."""
        self._since = 0
        growth = max(_BATCH // 2, len(crawl.found) // _GROWTH)
        if is_finished or at_once or crawl.news - self._news >= growth:
            self._news = crawl.news
            self.cursor = await asyncio.to_thread(lambda: crawl.remembered(is_finished=is_finished).to_cursor())
        return self.said(Checkpoint(cursor=self.cursor))
