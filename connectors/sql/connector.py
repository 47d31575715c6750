"""The connector of the source type ``sql``: a document is a row of the query.

What the query gives is read to its end in one read-only transaction, and what has changed, by the hash of the row, is
put aside; the transaction is over before the first document is handed on. With `:since` only what is newer than the
cursor is read, and of the rest the ids.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.cursors import OVERLAP, basis_of, reached, reached_under, since, under
from connectors.rows import Reading, Row, moment, native_id
from connectors.sql.link import IDS, Link, reading
from connectors.sql.options import SqlOptions
from connectors.sql.query import BEGINNING, Query, can_be_looked_up
from connectors.sql.rows import check_columns, column_names
from connectors.sql.spool import Spool

_PAGE = 400  # ids in one statement; some databases take no more than 1,000
_PAGES = 10  # from more on the whole query is read instead
_SIGN = 10_000  # ids between two signs of life
_NAMELESS = "(a row without an id)"
_NO_TEXT = ("its text is NULL", "give it a text, or leave it out: WHERE text IS NOT NULL")


@dataclass(slots=True, kw_only=True)
class _Scan:
    """What rows came to: the ``versions`` by id, which ids were ``told`` and which ``doubled``, the newest time."""

    spool: Spool
    versions: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)
    nameless: int = 0
    newest: datetime | None = None


@dataclass(slots=True)
class SqlConnector:
    """Reads one query."""

    origin: Origin
    options: SqlOptions
    _query: Query = field(init=False)
    _zone: ZoneInfo = field(init=False)
    _reading: Reading = field(init=False)
    _listed: tuple[set[str], int] | None = field(init=False, default=None)
    """The ids that the run's reading found, and how many rows had none."""

    def __post_init__(self) -> None:
        """Work out the query, the zone, and what makes documents of rows."""
        self._query = Query(self.options.query)
        self._zone = ZoneInfo(self.options.timezone)
        self._reading = Reading(origin=self.origin, options=self.options, zone=self._zone, no_text=_NO_TEXT)

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every row whose version isn't the known one."""
        self._listed = None
        before = reached_under(self._basis(), cursor)
        scan = _Scan(spool=Spool())
        try:
            async with aclosing(self._read(scan, before, known)) as progress:
                async for estimate in progress:
                    yield estimate
            async for batch in self._unspooled(scan):
                for change in batch:
                    yield change
                yield Checkpoint(cursor=cursor)
        finally:
            await asyncio.to_thread(scan.spool.close)
        for nameless in self._nameless(scan.nameless):
            yield nameless
        time = reached(before, scan.newest) if self._query.is_incremental else None
        yield Checkpoint(cursor=under(self._basis(), time))

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every row: those that the run has read, else of a query of its own."""
        if self._listed is not None:
            ids, nameless = self._listed
            for native in ids:
                yield self.origin.document_id(native)
        else:
            nameless = 0
            async with reading(self.options, self.origin.folder) as link, aclosing(self._ids(link)) as listing:
                async for native, _ in listing:
                    nameless += not native
                    if native:
                        yield self.origin.document_id(native)
        for failure in self._nameless(nameless):
            yield failure

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these rows as they are now."""
        wanted = dict.fromkeys(self.origin.native_id(identity) for identity in ids)
        scan = _Scan(spool=Spool())
        try:
            async with reading(self.options, self.origin.folder) as link:
                async with aclosing(self._ids(link)) as listing:
                    values = {native: value async for native, value in listing if native in wanted}
                async with aclosing(self._some(link, values)) as batches:
                    async for rows in batches:
                        await asyncio.to_thread(self._keep, scan, rows, {})
            async for batch in self._unspooled(scan):
                for change in batch:
                    wanted.pop(self.origin.native_id(change.id), None)
                    yield change
        finally:
            await asyncio.to_thread(scan.spool.close)
        for native in wanted:
            yield Tombstone(id=self.origin.document_id(native))

    async def _read(self, scan: _Scan, cursor: str | None, known: Mapping[str, str]) -> AsyncGenerator[Estimate, None]:
        """Read what the query gives now, telling how much of it has changed so far, as a sign of life."""
        start = self._start(cursor)
        async with reading(self.options, self.origin.folder) as link:
            async with aclosing(self._rows(link, start or BEGINNING)) as batches:
                async for rows in batches:
                    await asyncio.to_thread(self._keep, scan, rows, known)
                    yield Estimate(documents=scan.spool.count)
            if start is None:
                self._listed = set(scan.versions), scan.nameless
                return
            ids, nameless, lacking = set[str](), 0, dict[str, Any]()
            async with aclosing(self._ids(link)) as listing:
                async for native, value in listing:
                    nameless += not native
                    is_new = native not in scan.versions and self.origin.document_id(native) not in known
                    if native and (is_new or native in ids):  # or twice: whether they are the same, the rows tell
                        lacking[native] = value
                    ids.add(native)
                    if len(ids) % _SIGN == 0:
                        yield Estimate(documents=scan.spool.count)
            async with aclosing(self._some(link, lacking)) as batches:
                async for rows in batches:
                    await asyncio.to_thread(self._keep, scan, rows, known)
                    yield Estimate(documents=scan.spool.count)
            scan.nameless = nameless
            self._listed = ids - {""}, nameless

    def _keep(self, scan: _Scan, rows: Sequence[Row], known: Mapping[str, str]) -> None:
        """Put aside what has changed among these rows. Blocking."""
        now = datetime.now(UTC)
        for row in rows:
            native = native_id(row["id"])
            if not native:
                scan.nameless += 1
                continue
            time = moment(row.get("updated_at"), self._zone)
            # A time that is still to come would hide what happens until then.
            if time is not None and time <= now and (scan.newest is None or time > scan.newest):
                scan.newest = time
            version = self._reading.version(row)
            earlier = scan.versions.setdefault(native, version)
            if earlier != version:
                scan.doubled.add(native)
            elif native not in scan.told and known.get(self.origin.document_id(native)) != version:
                scan.told.add(native)
                scan.spool.put(self._reading.change(row, version))

    async def _rows(self, link: Link, start: datetime) -> AsyncGenerator[list[Row], None]:
        statement = self._query.rows(start, dialect=link.dialect, zone=self._zone)
        async with aclosing(link.rows(statement)) as batches:
            async for columns, batch in batches:
                names = column_names(columns)
                check_columns(names, is_incremental=self._query.is_incremental)
                yield [dict(zip(names, row, strict=True)) for row in batch]

    async def _ids(self, link: Link) -> AsyncGenerator[tuple[str, Any], None]:
        """Yield each id as text, and as it came."""
        statement = self._query.ids(dialect=link.dialect, zone=self._zone)
        async with aclosing(link.rows(statement, batch=IDS)) as batches:
            async for _, batch in batches:
                for (value,) in batch:
                    yield native_id(value), value

    async def _some(self, link: Link, values: Mapping[str, Any]) -> AsyncGenerator[list[Row], None]:
        """Yield the rows with these ids: looked up, or where that can't be done, by reading the whole query."""
        left, ids = set(values), list(values.values())
        if can_be_looked_up(ids) and len(ids) <= _PAGE * _PAGES:
            for first in range(0, len(ids), _PAGE):
                page = self._query.some(ids[first : first + _PAGE], dialect=link.dialect, zone=self._zone)
                async with aclosing(link.rows(page)) as batches:
                    async for columns, batch in batches:
                        names = column_names(columns)
                        rows: list[Row] = [dict(zip(names, row, strict=True)) for row in batch]
                        left -= {native_id(row["id"]) for row in rows}
                        yield rows
        if left:  # also what compares otherwise than it is told, as CHAR(n) does
            async with aclosing(self._rows(link, BEGINNING)) as everything:
                async for rows in everything:
                    yield [row for row in rows if native_id(row["id"]) in left]

    def _start(self, cursor: str | None) -> datetime | None:
        """Return the time that the query is asked from, None: from the beginning."""
        if not self._query.is_incremental:
            return None
        # Where clocks are set back an hour of times comes twice, and can't be told apart without a zone.
        doubtful = timedelta() if self.options.timezone == "UTC" else timedelta(hours=1)
        return since(cursor, overlap=OVERLAP + doubtful)

    def _basis(self) -> str:
        options = self.options
        return basis_of(options.query, options.timezone, options.url.get_secret_value())

    def _doubled(self, native: str) -> Failure:
        return Failure(
            id=self.origin.document_id(native),
            reason="the query gives its id more than once, with different content",
            mend="give each row an id of its own, or GROUP BY it",
        )

    def _nameless(self, count: int) -> Iterator[Failure]:
        if count:
            yield Failure(
                id=self.origin.document_id(_NAMELESS),
                reason=f"{count} row{'s have' if count > 1 else ' has'} no id",
                mend="give them one, or leave them out: WHERE id IS NOT NULL",
            )

    async def _unspooled(self, scan: _Scan) -> AsyncGenerator[list[SourceDocument | Failure], None]:
        """Yield what was put aside; of an id that came twice only that it did."""
        batches, none = scan.spool.batches(), list[SourceDocument | Failure]()
        doubled = {self.origin.document_id(native) for native in scan.doubled}
        while batch := await asyncio.to_thread(next, batches, none):
            yield [change for change in batch if change.id not in doubled]
        if scan.doubled:
            yield [self._doubled(native) for native in sorted(scan.doubled)]
