"""The connector of the source type ``rest``: a document is an item that an API lists.

Without ``{cursor}`` a run reads the whole listing, and takes what has changed by the hash of what the expressions give.
With it only what is newer is read; what is gone is then told by a listing of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence, Set
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from yarl import URL

from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.cursors import basis_of, reached, reached_under, since, under
from connectors.http import HttpClient, HttpOptions, fault_of, shown
from connectors.rest.expressions import ExpressionError, found, is_true
from connectors.rest.items import ItemFault, Items, laid_over
from connectors.rest.options import RestOptions
from connectors.rest.paging import Api, Page
from connectors.rest.templates import with_id
from connectors.rest.times import beginning, written
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)

_NAMELESS = "(items without an id)"
_MOST_FAILING = 5
"""Items in a row whose detail fails, after which the API counts as out of order."""
_FORBIDDEN = frozenset((403,))
"""One item may be closed to us, and the others open; what refuses the credential itself is 401."""
_NOT_THE_RUN = {"headers", "requests_per_second", "max_pages", "max_megabytes"}
"""Settings that change neither what is asked nor what is made of it."""

Found = SourceDocument | Tombstone | Failure


class _ItemRefused(SourceError):
    """One item is closed to us."""


@dataclass(slots=True, kw_only=True)
class _Scan:
    """What a listing came to: the ids that it shows, how many items had none, the newest time, the last page."""

    ids: set[str] = field(default_factory=set)
    nameless: int = 0
    newest: datetime | None = None
    last: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """An item whose detail is to be read, and what the listing tells of it; ``version`` is "" when nobody knows."""

    native: str
    item: Any = field(default_factory=dict)
    version: str = ""


@dataclass(slots=True)
class RestConnector:
    """Reads one API."""

    origin: Origin
    options: RestOptions
    _items: Items = field(init=False)
    _scan: _Scan | None = field(init=False, default=None)
    _failing: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Work out what makes documents of items."""
        self._items = Items(origin=self.origin, options=self.options)

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every item whose version isn't the known one, and those that the API says were deleted."""
        self._scan, self._failing = None, 0
        before, scan = self._kept(cursor), _Scan()
        async with self._api() as api, aclosing(api.pages(self._asked(before))) as pages:
            async for page in pages:
                for told in await asyncio.to_thread(self._told, page, scan, known):
                    yield await self._detailed(api, told) if isinstance(told, _Due) else told
                yield Checkpoint(cursor=cursor)
        for failure in self._nameless(scan):
            yield failure
        if before is None:
            self._scan = scan  # it was all there is
        yield Checkpoint(cursor=self._reached(before, scan))

    def list_ids(self) -> AsyncIterator[str | Failure] | None:
        """Yield the id of every item: those that the run has read, else by a listing; None if it doesn't list all."""
        return self._listing() if self.options.lists_all else None

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[Found]:
        """Yield these items as they are now: each by its own address, else by the listing."""
        self._failing = 0
        wanted = dict.fromkeys(self.origin.native_id(identity) for identity in ids)
        async with self._api() as api:
            if self.options.detail:
                for native in wanted:
                    yield await self._detailed(api, _Due(native=native))
                return
            async with aclosing(api.pages(self._asked(None))) as pages:
                async for page in pages:
                    for told in await asyncio.to_thread(self._told, page, _Scan(), {}, wanted=wanted.keys()):
                        if not isinstance(told, _Due):
                            wanted.pop(self.origin.native_id(told.id))
                            yield told
                    if not wanted:
                        return
        for native in wanted:
            identity = self.origin.document_id(native)
            if self.options.lists_all:
                yield Tombstone(id=identity)
            else:
                yield Failure(id=identity, reason="the listing no longer shows it", mend="name its address by `detail`")

    async def _listing(self) -> AsyncIterator[str | Failure]:
        scan = self._scan
        if scan is None:
            scan = _Scan()
            async with self._api() as api, aclosing(api.pages(self._asked(None))) as pages:
                async for page in pages:
                    await asyncio.to_thread(self._by_id, page, scan)
        for native in scan.ids:
            yield self.origin.document_id(native)
        for failure in self._nameless(scan):
            yield failure

    def _told(
        self, page: Page, scan: _Scan, known: Mapping[str, str], *, wanted: Set[str] | None = None
    ) -> list[Found | _Due]:
        """Return what has changed on a page; of ``wanted``, where they are given, all. Blocking."""
        by_id = self._by_id(page, scan).items()
        told = (
            self._change(native, several, known, is_wanted=wanted is not None)
            for native, several in by_id
            if wanted is None or native in wanted
        )
        return [change for change in told if change is not None]

    def _by_id(self, page: Page, scan: _Scan) -> dict[str, list[Any]]:
        """Return the items of a page by id, and note what they tell; SourceBadReply if none has an id. Blocking."""
        taken: dict[str, list[Any]] = {}
        fault: ItemFault | None = None
        for item in page.items:
            try:
                native = self._items.native(item)
            except ItemFault as error:
                if not self._is_gone(item):
                    fault = error
                    scan.nameless += 1
                continue
            taken.setdefault(native, []).append(item)
        if fault is not None and not taken:
            told = f"{fault}, on every item of {shown(self.options.url)}"
            raise SourceBadReply(told, mend=f"mend `{fault.setting}`")
        scan.last = page.value
        for native, several in taken.items():
            if not all(map(self._is_gone, several)):
                scan.ids.add(native)
            for item in several:
                self._note_time(item, scan)
        return taken

    def _is_gone(self, item: Any) -> bool:
        """Tell whether an item isn't there, or not for us; in doubt it is."""
        try:
            return self._items.is_gone(item)
        except ItemFault:
            return False

    def _note_time(self, item: Any, scan: _Scan) -> None:
        try:
            time = self._items.time(item)
        except ItemFault:
            return
        # A time that is still to come would hide what happens until then.
        if time is not None and time <= datetime.now(UTC) and (scan.newest is None or time > scan.newest):
            scan.newest = time

    def _change(
        self, native: str, several: Sequence[Any], known: Mapping[str, str], *, is_wanted: bool
    ) -> "Found | _Due | None":
        """Return what has changed about the items of one id on one page, None when nothing has."""
        item, version, identity = several[0], "", self.origin.document_id(native)
        try:
            if all(map(self._items.is_gone, several)):
                return Tombstone(id=identity) if is_wanted or identity in known else None
            row = None if self.options.detail else self._items.row(native, item)
            version = self._items.version(item, row)
            if any(self._version(native, other) != version for other in several[1:]):
                raise ItemFault("id", "gives the same for items that differ")
        except ItemFault as fault:
            version = version or self._items.version(item, None)
            failure = self._items.failure(native, fault, version, whole=None if self.options.detail else item)
            return None if known.get(identity) == version else failure
        if known.get(identity) == version:
            return None
        return _Due(native=native, item=item, version=version) if row is None else self._items.change(row, version)

    def _version(self, native: str, item: Any) -> str:
        return self._items.version(item, None if self.options.detail else self._items.row(native, item))

    async def _detailed(self, api: Api, due: _Due) -> Found:
        """Return an item as its own address tells it."""
        native, version, identity = due.native, due.version, self.origin.document_id(due.native)
        try:
            detail = await self._detail(api, native)
        except SourceGone:
            return Tombstone(id=identity)
        except (SourceRateLimited, SourceUnreachable):
            raise
        except SourceError as error:
            return self._refused(identity, error, version)
        self._failing = 0
        try:
            whole = laid_over(due.item, found(self.options.detail_item, detail))
            if is_true(whole) and self._items.is_gone(whole):
                return Tombstone(id=identity)
            version = version or self._items.version(whole, None)
            return self._items.change(self._items.row(native, whole), version)
        except ExpressionError as error:
            return self._items.failure(native, ItemFault("detail_item", f"can't be worked out: {error}"), version)
        except ItemFault as fault:
            return self._items.failure(native, fault, version, whole=whole)

    async def _detail(self, api: Api, native: str) -> Any:
        """Return what an item's own address answers; SourceError, one of its kinds, when it can't be read."""
        url = with_id(self.options.detail, native)
        reply = await api.ask(url, passing=_FORBIDDEN)
        error = fault_of(reply.reply.status, reply.reply.headers, url)
        if error is not None:
            raise error if isinstance(error, SourceRateLimited) else _ItemRefused(error.reason, mend=error.mend)
        return reply.value

    def _refused(self, identity: str, error: SourceError, version: str) -> Failure:
        """Return that one item can't be read; raise when it isn't that item's fault."""
        self._failing += 1
        if self._failing >= _MOST_FAILING or isinstance(error, SourceAuthError):
            raise error
        mend = error.mend or "try again later"
        return Failure(id=identity, reason=error.reason, mend=mend, version=version)

    def _nameless(self, scan: _Scan) -> Iterator[Failure]:
        if scan.nameless:
            count = f"{scan.nameless} item{'s have' if scan.nameless > 1 else ' has'}"
            mend = "mend `id`, or leave such items out in `items`"
            yield Failure(id=self.origin.document_id(_NAMELESS), reason=f"{count} no id by `id`", mend=mend)

    def _asked(self, before: str | None) -> Any:
        """Return what ``{cursor}`` stands for, from what the last run kept."""
        if not self.options.is_incremental:
            return None
        if self.options.cursor:
            return None if before is None else json.loads(before)
        return written(since(before) or beginning(self.options.beginning), self.options.cursor_format)

    def _reached(self, before: str | None, scan: _Scan) -> str | None:
        """Return the cursor after a run: the newest time, or the token that the last page has."""
        if not self.options.is_incremental:
            return None
        kept = before
        if self.options.cursor:
            try:
                token = found(self.options.cursor, scan.last)
            except ExpressionError as error:
                raise SourceBadReply(f"`cursor` can't be worked out: {error}", mend="mend `cursor`") from None
            kept = json.dumps(token) if is_true(token) else before
        else:
            kept = reached(before, scan.newest)
        return under(self._basis(), kept)

    def _kept(self, cursor: str | None) -> str | None:
        """Return the time or token in a cursor, None when it is of other settings."""
        kept = reached_under(self._basis(), cursor)
        if kept is None:
            return None
        try:
            is_good = json.loads(kept) is not None if self.options.cursor else since(kept) is not None
        except ValueError:
            is_good = False
        return kept if is_good else None

    def _basis(self) -> str:
        return basis_of(*sorted(self.options.model_dump(exclude=_NOT_THE_RUN).items()))

    @asynccontextmanager
    async def _api(self) -> AsyncIterator[Api]:
        named = [self.options.url, *([self.options.detail] if self.options.detail else [])]
        settings = HttpOptions(
            headers=self.options.headers,
            trusted=tuple({str(URL(url).origin()) for url in named}),
            # Whoever runs Citebot named these hosts, and no other is asked: they may be of their own network.
            addresses=None,
            interval=1 / self.options.requests_per_second,
        )
        async with HttpClient(settings) as client:
            yield Api(client=client, options=self.options)
