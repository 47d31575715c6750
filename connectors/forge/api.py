"""Questions to the REST interface of a forge, with replies of a checked form."""

import re
from collections.abc import AsyncGenerator, Callable, Set
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from connectors.http import HttpClient, checked, malformed, moment, shown
from ragcore.errors import SourceBadReply

LIMIT = 50_000_000
"""Bytes of one reply; a tree of GitHub has 7 MB at most."""
_NEXT = re.compile(r'<([^>]+)>;[^,]*\brel="?next"?')

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Got(Generic[T]):
    """A reply: ``value`` is None when nothing has changed (304), or the status was let pass."""

    value: T | None
    status: int
    etag: str
    url: str
    next: str = ""
    """Where the next page is, "" after the last one."""
    total: int | None = None
    """How many entries the whole list has, where that is told."""
    date: datetime | None = None
    """The forge's own time of the reply."""

    @property
    def is_unchanged(self) -> bool:
        """Whether it is still what the ETag stands for."""
        return self.status == 304


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A forge's interface: ``address`` makes a whole address of a path, or of one that a reply told."""

    forge: str
    client: HttpClient
    address: Callable[[str], str]
    accept: str = "application/json"

    async def get(self, kind: TypeAdapter[T], path: str, *, etag: str = "", passing: Set[int] = frozenset()) -> Got[T]:
        """Ask for JSON.

        Args:
            kind: The form of the reply.
            path: Below the address of the API, or a whole address, such as that of a next page.
            etag: What an earlier reply was known by: then only a change is answered.
            passing: Statuses from 400 on that are no fault.

        Raises:
            SourceError: One of its kinds.
        """
        headers = {"Accept": self.accept}
        if etag:
            headers["If-None-Match"] = etag
        found = await self.client.json(self.address(path), headers=headers, limit=LIMIT, passing=passing)
        reply = found.reply
        is_there = reply.status not in {304, *passing}
        following, total = _NEXT.search(reply.headers.get("Link", "")), reply.headers.get("X-Total", "")
        return Got(
            value=self.checked(kind, found.value, reply.url) if is_there else None,
            status=reply.status,
            etag=reply.headers.get("ETag", "") or etag * (reply.status == 304),
            url=reply.url,
            next=following[1] if following else "",
            total=int(total) if total.isascii() and total.isdigit() else None,
            date=moment(reply.headers.get("Date", "")),
        )

    async def pages(self, kind: TypeAdapter[list[T]], path: str) -> AsyncGenerator[list[T], None]:
        """Yield every page of a list, as ``replies`` does."""
        async with aclosing(self.replies(kind, path)) as replies:
            async for got in replies:
                yield got.value or []

    async def replies(
        self, kind: TypeAdapter[list[T]], path: str, *, passing: Set[int] = frozenset()
    ) -> AsyncGenerator[Got[list[T]], None]:
        """Yield the reply of every page of a list; ``passing`` is for the first.

        Raises:
            SourceBadReply: They lead back to one that was read, so that the list isn't whole.
        """
        url, seen = self.address(path), set[str]()
        while url:
            seen.add(url)
            got = await self.get(kind, url, passing=frozenset() if len(seen) > 1 else passing)
            yield got
            url = self.address(got.next) if got.next else ""
            if url in seen:
                raise SourceBadReply(f"the pages of {shown(url)} lead in a circle", mend="try again later")

    def checked(self, kind: TypeAdapter[T], value: object, url: str) -> T:
        """Return a reply's value in its form; SourceBadReply when it has another one."""
        return checked(kind, value, url, server=self.forge)

    def malformed(self, url: str) -> SourceBadReply:
        """Return the fault of a reply in another form."""
        return malformed(url, server=self.forge)
