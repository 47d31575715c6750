"""One crawl: from the starts and the sitemaps on, breadth first, each address once, in an order that stays the same.

Several addresses are asked at once, and looked at in the order in which they were found, so that what a crawl takes
depends on the site alone, and not on which answer was first.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence, Sized
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from yarl import URL

from connectors.base import Failure
from connectors.http import shown
from connectors.web.addresses import twin
from connectors.web.site import Site, Visit
from connectors.web.sitemaps import Sitemaps
from connectors.web.state import Kind, Memory, Record
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)
from ragcore.types import SourceDocument

_MOST_REDIRECTS = 10
_MOST_SILENT = 5
"""Addresses in a row without a connection, after which the host counts as out of reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    url: str
    depth: int
    hops: int = 0
    is_start: bool = False


@dataclass(slots=True, kw_only=True)
class Crawl:
    """A crawl, and what it found. ``memory`` holds what earlier ones did.

    ``limited`` are the addresses at which crawls of this run were asked to wait, which they add to: these come last, so
    that one which always asks to wait keeps no other from being read.
    """

    site: Site
    memory: Memory
    starts: Sequence[str]
    limited: set[str] = field(default_factory=set)
    found: dict[str, Record] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    news: int = 0
    """How many records there are that a crawl before, which was cut off, had not."""
    is_blind: bool = False
    """A page failed whose links nobody knows: pages that are there may not have been found."""
    _listed: dict[str, str] = field(init=False, default_factory=dict)
    """The pages that sitemaps name, with the date that they tell for each."""
    _queue: deque[_Entry] = field(init=False, default_factory=deque)
    _late: deque[_Entry] = field(init=False, default_factory=deque)
    _queued: dict[str, str] = field(init=False, default_factory=dict)
    _addresses: set[str] = field(init=False, default_factory=set)
    _twins: dict[str, list[_Entry]] = field(init=False, default_factory=dict)
    _asked: int = field(init=False, default=0)
    _silent: int = field(init=False, default=0)

    async def read_maps(self) -> AsyncGenerator[str, None]:
        """Read the sitemaps, before all else; yield the address of each.

        Raises:
            SourceError: One of them, or the ``robots.txt`` of its host, can't be read.
        """
        sitemaps = Sitemaps(client=self.site.client, memory=self.memory, found=self.found)
        for url in self.site.options.sitemaps:
            await self.site.robots.allows(url)
        async for url in sitemaps.read(self.site.options.sitemaps):
            yield url
        for url, date in sitemaps.pages.items():
            page = self.site.scope.page(url)
            if page:
                self._listed[page] = date

    async def changes(self) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        """Yield what is new or changed, or failed; None for an address that brought nothing of the kind.

        Raises:
            SourceError: A start can't be read, a host is out of reach, or it asks to wait.
        """
        for url in self.starts:
            self._add(_Entry(url=url, depth=0, is_start=True), exact=True)
        for url in self._listed:
            self._add(_Entry(url=url, depth=self.site.options.max_depth))
        async with aclosing(self._visits()) as visits:
            async for entry, visit in visits:
                yield self._take(entry, visit)
        if self.is_blind:
            async for change in self._unfound():
                yield change
        async for change in self._originals():
            yield change
        for failure in (*self._circles(), *self._capped()):
            yield failure

    def pages(self) -> Iterator[str]:
        """Yield the address of every document that was found."""
        for url, record in self.found.items():
            if record.kind is Kind.PAGE and not self._is_copy(record):
                yield url

    def remembered(self, *, is_finished: bool) -> Memory:
        """Return what to remember: of a finished crawl what it found, else also what the ones before it found.

        One that isn't finished is gone on with: what it has seen isn't asked for again.
        """
        failed = {self.site.origin.native_id(failure.id) for failure in self.failures.values()}
        kept = {url: old for url, old in self.memory.records.items() if not is_finished or url in failed}
        done = set() if is_finished else set(self.found)
        return Memory(basis=self.memory.basis, records=kept | self.found, done=done)

    async def _visits(self) -> AsyncGenerator[tuple[_Entry, Visit], None]:
        running: deque[tuple[_Entry, asyncio.Task[Visit]]] = deque()
        try:
            while self._queue or self._late or running:
                while self._is_next(running) and len(running) < self.site.options.connections and not self.is_full:
                    entry = (self._queue or self._late).popleft()
                    self._asked += 1
                    running.append((entry, asyncio.create_task(self._visit(entry.url))))
                if not running:
                    return
                entry, task = running[0]
                visit = await self._patient(entry, task)
                running.popleft()
                yield entry, visit
        finally:
            for _, task in running:
                task.cancel()
            await asyncio.gather(*(task for _, task in running), return_exceptions=True)

    def _is_next(self, running: Sized) -> bool:
        """Tell whether an address is to be asked now: a late one once nothing else may come."""
        return bool(self._queue or (self._late and not running))

    async def _patient(self, entry: _Entry, task: "asyncio.Task[Visit]") -> Visit:
        """Return a visit; one of an address that asks to wait although it was waited has failed."""
        try:
            return await task
        except SourceRateLimited as error:
            if entry.url not in self.limited or entry.is_start:
                self.limited.add(entry.url)
                raise
            return Visit(url=entry.url, error=SourceError(error.reason, mend="put it into `exclude` if it always does"))

    @property
    def is_full(self) -> bool:
        """Tell whether no more addresses may be asked."""
        return self._asked >= self.site.options.max_pages

    async def _visit(self, url: str) -> Visit:
        old = self.memory.records.get(url)
        is_held = old is not None and self.site.is_held(url, old)
        if is_held and (url in self.memory.done or self._is_told_unchanged(url, old)):
            return Visit(url=url, record=old)  # the crawl that was cut off has seen it, or nobody needs to ask
        return await self.site.ask(url, old)

    def _is_told_unchanged(self, url: str, old: Record | None) -> bool:
        date = self._listed.get(url)
        return self.site.options.trust_lastmod and bool(date) and old is not None and old.told == date

    def _take(self, entry: _Entry, visit: Visit) -> SourceDocument | Failure | None:
        """Take in what an address told, and return what is to be yielded."""
        if entry.is_start:
            _check_start(visit)
            if entry.hops and visit.asks_password:
                raise self._login(visit)
        self._count_silence(visit)
        if visit.error is not None:
            return self._failed(entry, visit.error)
        if visit.record is None:
            for other in self._twins.pop(visit.url, ()):
                self._add(other, exact=True)
            return None
        record = replace(visit.record, told=self._listed.get(visit.url, ""))
        if entry.is_start and record.kind is Kind.PAGE and not self.site.scope.page(visit.url):
            record = Record(kind=Kind.OTHER, links=record.links)
        self.found[visit.url] = record
        self.news += visit.url not in self.memory.done
        if record.kind is Kind.MOVED:
            return self._follow(entry, record.links[0])
        self._add_links(entry, record)
        is_own = record.kind is Kind.PAGE and not record.canonical
        return visit.document if is_own else None

    def _failed(self, entry: _Entry, error: SourceError) -> Failure:
        failure = self.site.failure(entry.url, error)
        self.failures[entry.url] = failure
        old = self.memory.records.get(entry.url)
        if old is not None:
            self._add_links(entry, old)
        elif entry.depth < self.site.options.max_depth:
            self.is_blind = True
        return failure

    def _follow(self, entry: _Entry, target: str) -> Failure | None:
        """Go on where a page has moved to, if that is a page of this source."""
        if entry.hops >= _MOST_REDIRECTS:
            many = SourceBadReply(f"it redirects more than {_MOST_REDIRECTS} times", mend="mend the site")
            return self._failed(entry, many)
        if entry.is_start:
            self._move_start(entry, target)
        else:
            target = self.site.scope.page(target)
        if target:
            self._add(_Entry(url=target, depth=entry.depth, hops=entry.hops + 1, is_start=entry.is_start), exact=True)
        return None

    def _move_start(self, entry: _Entry, target: str) -> None:
        old, new = (URL(url, encoded=True).raw_host or "" for url in (entry.url, target))
        if old.removeprefix("www.") != new.removeprefix("www."):
            raise SourceError(
                f"{shown(entry.url)} leads to {new}", mend=f'name "{shown(target)}" in `start_urls` if it is meant'
            )
        # `/docs` that leads to `/docs/` means that folder, and not the one above it.
        self.site.scope.widen(target, instead_of=entry.url if twin(entry.url) == twin(target) else "")

    def _login(self, visit: Visit) -> SourceError:
        """Return that a start leads to a page to log in: taken for the source, it would take the place of all pages."""
        told = f"`start_urls` leads to {shown(visit.url)}, which asks for a password"
        mend = "give a credential that is still valid in `headers`; if that page is meant, name it in `start_urls`"
        kind = SourceAuthError if self.site.options.headers else SourceError
        return kind(told, mend=mend)

    def _add_links(self, entry: _Entry, record: Record) -> None:
        if record.canonical:
            self._add(_Entry(url=record.canonical, depth=entry.depth), exact=True)
        if entry.depth < self.site.options.max_depth:
            for link in record.links:
                self._add(_Entry(url=link, depth=entry.depth + 1))

    def _add(self, entry: _Entry, *, exact: bool = False) -> None:
        """Queue an address, if it is new; one that differs in a slash at its end only if the first isn't there."""
        if entry.url in self._addresses:
            return
        first = self._queued.setdefault(twin(entry.url), entry.url)
        if first != entry.url and not exact:
            self._twins.setdefault(first, []).append(entry)
            return
        self._addresses.add(entry.url)
        (self._late if entry.url in self.limited and not entry.is_start else self._queue).append(entry)

    def _count_silence(self, visit: Visit) -> None:
        if not isinstance(visit.error, SourceUnreachable):
            self._silent = 0
            return
        self._silent += 1
        if self._silent >= _MOST_SILENT:
            raise visit.error

    async def _unfound(self) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        """Ask for the known pages that were not found: the way to them may lead over the page that failed."""
        for identity in list(self.site.known):
            url = self.site.origin.native_id(identity)
            if url in self._addresses or self.site.scope.page(url) != url or self.is_full:
                continue
            self._addresses.add(url)
            self._asked += 1
            yield self._take(_Entry(url=url, depth=self.site.options.max_depth), await self._visit(url))

    async def _originals(self) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        """Yield the pages whose canonical address turned out not to hold them."""
        for url, record in list(self.found.items()):
            is_own = record.kind is Kind.PAGE and record.canonical and not self._is_copy(record)
            if not is_own or self.site.is_indexed(url, record):
                continue
            visit = await self.site.ask(url)
            if visit.error is not None:
                self.failures[url] = self.site.failure(url, visit.error)
                yield self.failures[url]
            elif visit.record is None:
                del self.found[url]
            elif visit.record.kind is Kind.PAGE:
                self.found[url] = visit.record
                yield visit.document

    def _is_copy(self, record: Record) -> bool:
        """Tell whether a page's canonical address holds it: the same content, or another under the same title."""
        other = self.found.get(record.canonical)
        if other is None or other.kind is not Kind.PAGE or other.canonical:
            return False
        return other.version == record.version or (bool(other.title) and other.title == record.title)

    def _circles(self) -> Iterator[Failure]:
        """Yield a failure for each circle of redirects."""
        told: set[str] = set()
        for url in self.found:
            path: dict[str, None] = {}
            while (record := self.found.get(url)) is not None and record.kind is Kind.MOVED and url not in path:
                path[url] = None
                url = self.site.scope.page(record.links[0])  # noqa: PLW2901
            if url in path and url not in told:
                told |= path.keys()
                circle = SourceBadReply("it redirects in a circle", mend="mend the site, or put it into `exclude`")
                self.failures[url] = self.site.failure(url, circle)
                yield self.failures[url]

    def _capped(self) -> Iterator[Failure]:
        if self._queue or self._late:
            place = (*self.starts, *self.site.options.sitemaps)[0]
            most = self.site.options.max_pages
            yield Failure(
                id=self.site.origin.document_id(f"{place}#max_pages"),
                reason=f"there are more than {most:,} addresses, and the rest was not read",
                mend="raise `max_pages`, or narrow the source with `include` and `exclude`",
            )


def _check_start(visit: Visit) -> None:
    """Raise when a start can't be read: then nothing can be said about the source."""
    if visit.error is not None:
        raise visit.error
    if visit.is_gone:
        raise SourceGone(f"{shown(visit.url)} is not there", mend="mend `start_urls`")
    if visit.is_forbidden:
        raise SourceError(
            f"robots.txt forbids to read {shown(visit.url)}",
            mend="ask the site's owner, or set `robots = false` if the site is yours",
        )
