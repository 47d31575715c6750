"""The connector of the source type ``feed``: a document is an entry of one of its feeds.

Every page of every feed is asked for in every run, only if it has changed. What a feed no longer shows is kept, dated,
or counts as gone, as the settings say.
"""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from yarl import URL

from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.cursors import basis_of
from connectors.feed.entries import Entry, FeedPage, feed_name
from connectors.feed.linked import LinkedPages, PageRefused
from connectors.feed.memory import Memory, PageRecord
from connectors.feed.options import LISTED, FeedOptions
from connectors.feed.reader import Answer, Reader
from connectors.http import AddressRule, HttpClient, HttpOptions
from connectors.http.robots import Robots
from ragcore.errors import SourceAuthError, SourceError, SourceRateLimited

_NAMELESS = "(entries without an id and a link)"
_MOST_LEFT = 5_000  # entries that left, remembered where they are kept for ever: to know that they were once there

Found = SourceDocument | Tombstone | Failure


@dataclass(slots=True, kw_only=True)
class _Scan:
    """What reading the feeds came to. ``is_whole``: every feed was read to its end."""

    shown: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    faults: dict[str, Failure] = field(default_factory=dict)
    is_whole: bool = True
    nameless: int = 0


@dataclass(slots=True)
class FeedConnector:
    """Reads feeds."""

    origin: Origin
    options: FeedOptions
    _zone: ZoneInfo = field(init=False)
    _scan: _Scan | None = field(init=False, default=None)
    _memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        """Work out the zone; nothing is remembered yet."""
        self._zone = ZoneInfo(self.options.timezone)
        self._memory = Memory(basis=self._basis())

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every entry whose version isn't the known one, and what is gone."""
        self._scan = None
        memory = self._memory = Memory.from_cursor(cursor, self._basis())
        before, scan, pages = set(memory.shown()), _Scan(), dict[str, PageRecord]()
        async with self._reading() as (reader, linked), aclosing(self._read(reader, memory, known, scan)) as answers:
            async for feed, answer in answers:
                record, entries = self._recorded(feed, answer, memory, scan)
                for native in entries:
                    version = record.shown[native]
                    if native not in scan.shown and known.get(self.origin.document_id(native)) != version:
                        yield await self._document(native, entries[native], version, linked)
                scan.shown |= record.shown.keys()
                scan.gone |= set(record.gone)
                memory.pages[answer.url] = pages[answer.url] = record
                yield Checkpoint(cursor=memory.to_cursor())
        for gone in self._gone(memory, scan, before, known):
            yield gone
        for failure in self._failures(scan):
            yield failure
        if scan.is_whole:
            memory.pages = pages  # those of feeds that were taken out of the settings go
        self._scan = scan
        yield Checkpoint(cursor=memory.to_cursor())

    def list_ids(self) -> AsyncIterator[str | Failure] | None:
        """Yield what the feeds show now if nothing else is to be kept; else a feed lists nothing."""
        return self._listing() if self.options.keep == LISTED else None

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[Found]:
        """Yield these entries as the feeds show them now."""
        wanted = dict.fromkeys(self.origin.native_id(identity) for identity in ids)
        scan = _Scan()
        async with self._reading() as (reader, linked):
            empty = Memory(basis="")
            async with aclosing(self._read(reader, empty, {}, scan)) as answers:
                async for feed, answer in answers:
                    record, entries = self._recorded(feed, answer, empty, scan)
                    scan.gone |= set(record.gone)
                    for native, entry in entries.items():
                        if native in wanted:
                            del wanted[native]
                            yield await self._document(native, entry, record.shown[native], linked)
        faults = {self.origin.native_id(failure.id): failure for failure in self._failures(scan)}
        seen = {*self._memory.shown(), *self._memory.left}
        for native in wanted:
            identity = self.origin.document_id(native)
            if native in faults:
                yield faults[native]
            elif native in scan.gone or self.options.keep == LISTED or (native not in seen and scan.is_whole):
                yield Tombstone(id=identity)
            else:
                mend = "its last good version stays; `citebot sync --full` lets go of it"
                yield Failure(id=identity, reason="the feed no longer shows it", mend=mend)

    async def _listing(self) -> AsyncIterator[str | Failure]:
        scan = self._scan
        if scan is None:
            scan = _Scan()
            async with self._reading() as (reader, _):
                empty = Memory(basis="")
                async with aclosing(self._read(reader, empty, {}, scan)) as answers:
                    async for feed, answer in answers:
                        record, _ = self._recorded(feed, answer, empty, scan)
                        scan.shown |= record.shown.keys()
        for native in scan.shown:
            yield self.origin.document_id(native)
        for failure in self._failures(scan):
            hidden = "" if scan.is_whole else self.origin.document_id("")
            yield Failure(id=failure.id, reason=failure.reason, mend=failure.mend, covers=hidden)

    async def _read(
        self, reader: Reader, memory: Memory, known: Mapping[str, str], scan: _Scan
    ) -> AsyncGenerator[tuple[str, Answer], None]:
        """Yield the pages of all feeds. One of several feeds that can't be read is named, and the others are."""

        def is_held(record: PageRecord) -> bool:
            return all(known.get(self.origin.document_id(native)) == record.shown[native] for native in record.shown)

        first: SourceError | None = None
        failed = 0
        for feed in self.options.urls:
            try:
                async with aclosing(reader.answers(feed, memory.pages, is_held)) as answers:
                    async for answer in answers:
                        yield feed, answer
            except (SourceAuthError, SourceRateLimited):
                raise
            except SourceError as error:
                first, failed, scan.is_whole = first or error, failed + 1, False
                self._blame(scan, feed, error.reason, error.mend)
        if first is not None and failed == len(self.options.urls):
            raise first

    def _recorded(
        self, feed: str, answer: Answer, memory: Memory, scan: _Scan
    ) -> tuple[PageRecord, Mapping[str, Entry | Failure]]:
        """Return what a page says, and its entries by native id; none when it is as it was."""
        page = answer.page
        if page is None:
            return memory.pages[answer.url], {}
        if page.fault:
            self._blame(scan, feed, page.fault, "mend the feed, or try again later")
            scan.is_whole = scan.is_whole and not page.breaks_off
        entries = self._by_id(feed, page, scan)
        return PageRecord(
            validators=answer.validators,
            next_url=page.next_url,
            shown={
                native: entry.version(self.options.read) if isinstance(entry, Entry) else entry.version
                for native, entry in entries.items()
            },
            gone=tuple(set(page.gone) - entries.keys()),
        ), entries

    def _by_id(self, feed: str, page: FeedPage, scan: _Scan) -> dict[str, Entry | Failure]:
        """Return the entries of a page, of several with one id the newest; a failure where these are different ones."""
        found: dict[str, list[Entry]] = {}
        for entry in page.entries:
            native = entry.native_id(feed, by_link=self.options.identify_by == "link")
            scan.nameless += not native
            if native:
                found.setdefault(native, []).append(entry)
        return {native: self._one(native, several) for native, several in found.items()}

    def _one(self, native: str, several: Sequence[Entry]) -> Entry | Failure:
        links = {entry.url for entry in several if entry.url}
        if len(links) <= 1:
            return max(several, key=lambda entry: entry.updated_at or datetime.min.replace(tzinfo=UTC))
        told = sorted(entry.version(self.options.read) for entry in several)
        return Failure(
            id=self.origin.document_id(native),
            reason=f"the feed gives its id to {len(links)} entries with different links",
            mend='mend the feed, or set identify_by = "link"',
            version=hashlib.sha256("".join(told).encode()).hexdigest()[:24],
        )

    async def _document(self, native: str, entry: Entry | Failure, version: str, linked: LinkedPages) -> Found:
        if isinstance(entry, Failure):
            return entry
        identity = self.origin.document_id(native)
        content, name, media_type, url = entry.text or entry.title, "", entry.media_type, entry.url
        data = content.encode("utf-8", "replace")
        if self.options.read == "page" and url:
            try:
                page = await linked.read(url)
            except PageRefused as error:
                return Failure(id=identity, reason=error.reason, mend=error.mend, version=version)
            if page is not None:
                data, name, media_type, url = page.content, page.name, page.media_type, page.url
            elif not content:
                return Tombstone(id=identity)
        return SourceDocument(
            id=identity,
            source=self.origin.source,
            content=data,
            name=name,
            media_type=media_type,
            title=entry.title,
            url=url,
            author=entry.author,
            version=version,
            updated_at=entry.updated_at,
            metadata={"tags": ", ".join(entry.tags)} if entry.tags else {},
        )

    def _gone(self, memory: Memory, scan: _Scan, before: set[str], known: Mapping[str, str]) -> Iterator[Tombstone]:
        """Yield what the feeds say is gone, and what they haven't shown for as long as it is kept; date what left."""
        scan.gone -= scan.shown
        for native in scan.gone:
            if self.origin.document_id(native) in known or native in before:
                yield Tombstone(id=self.origin.document_id(native))
        if not scan.is_whole:
            return
        now, kept_for = datetime.now(UTC), self.options.kept_for
        missed = (before | memory.left.keys()) - scan.shown - scan.gone
        if kept_for is not None:
            missed |= {self.origin.native_id(identity) for identity in known} - scan.shown - scan.gone
        left = {native: memory.left.get(native) or now.isoformat() for native in sorted(missed)}
        if kept_for is not None:
            for native, since in list(left.items()):
                if now - datetime.fromisoformat(since) >= kept_for:
                    del left[native]
                    yield Tombstone(id=self.origin.document_id(native))
        newest = sorted(left, key=left.__getitem__)[-_MOST_LEFT:] if kept_for is None else left
        memory.left = {} if self.options.keep == LISTED else {native: left[native] for native in newest}

    def _failures(self, scan: _Scan) -> Iterator[Failure]:
        """Yield what concerns no single entry."""
        yield from scan.faults.values()
        if scan.nameless:
            yield Failure(
                id=self.origin.document_id(_NAMELESS),
                reason=f"{scan.nameless} of the entries have neither id nor link",
                mend="mend the feed",
            )

    def _blame(self, scan: _Scan, feed: str, reason: str, mend: str) -> None:
        identity = self.origin.document_id(feed_name(feed))
        scan.faults[identity] = Failure(id=identity, reason=reason, mend=mend or "try again later")

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[tuple[Reader, LinkedPages]]:
        options = self.options
        limit = int(options.max_megabytes * 1_000_000)
        settings = HttpOptions(
            headers=options.headers,
            trusted=tuple({str(URL(url).origin()) for url in options.urls}),
            addresses=AddressRule.of(options.networks),
            user_agent=options.user_agent,
            interval=1 / options.requests_per_second,
        )
        async with (
            HttpClient(settings) as client,
            aclosing(Robots(client, options.user_agent, options.robots)) as robots,
        ):
            yield (
                Reader(client=client, limit=limit, most_pages=options.max_pages, zone=self._zone),
                LinkedPages(client=client, robots=robots, limit=limit),
            )

    def _basis(self) -> str:
        return basis_of(self.options.read, self.options.identify_by, self.options.timezone)
