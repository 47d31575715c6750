"""Questions to Notion's interface, with replies of a checked form.

They are made one after the other, at the pace that Notion allows an integration: 3 a second on average
(https://developers.notion.com/reference/request-limits).
"""

from collections.abc import AsyncGenerator, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic import SecretStr, TypeAdapter

from connectors.http import HttpClient, HttpOptions, Reply, checked, moment
from connectors.notion.faults import explained
from connectors.notion.options import NotionOptions
from connectors.notion.replies import USER, BlockList, CommentList, FoundList, ItemList

PAGE_SIZE = 100
"""Entries of one page, the most that Notion gives (https://developers.notion.com/reference/pagination)."""
VERSION = "2026-03-11"
"""The newest version of the interface: databases of several data sources, as since 2025-09-03, and one name for what is
in the trash (https://developers.notion.com/reference/changes-by-version)."""
ABSENT = frozenset({404})
"""How Notion says that something isn't there, or not shared."""
MISSING = frozenset({400, 404})
"""The same where what is asked for may also be of another kind than it is asked for as, or none that Notion tells."""
_LIMIT = 50_000_000  # bytes of one reply
_SERVER = "Notion"

T = TypeVar("T")
ListT = TypeVar("ListT", FoundList, BlockList, CommentList, ItemList)


@dataclass(slots=True)
class Api:
    """What one integration sees of Notion."""

    options: NotionOptions
    client: HttpClient
    date: datetime = field(init=False, default_factory=lambda: datetime.now(UTC))
    """Notion's own time, as the last reply told it."""
    status: int = field(init=False, default=0)
    """That of the last reply."""

    async def get(self, kind: TypeAdapter[T], path: str, *, passing: Set[int] = frozenset()) -> T | None:
        """Ask for one thing; None when the status is one of ``passing``. Raises SourceError, one of its kinds."""
        url = self._url(path)
        found = await self.client.json(url, limit=_LIMIT, passing=passing)
        self._note(found.reply)
        return None if found.reply.status in passing else checked(kind, found.value, url, server=_SERVER)

    async def pages(
        self, kind: TypeAdapter[ListT], path: str, *, passing: Set[int] = frozenset()
    ) -> AsyncGenerator[ListT, None]:
        """Yield every page of a list; none when the status is one of ``passing``."""
        cursor, seen = "", set[str]()
        while cursor not in seen:  # a list that begins anew has an end, too
            seen.add(cursor)
            asked = {"page_size": str(PAGE_SIZE)} | ({"start_cursor": cursor} if cursor else {})
            page = await self.get(kind, f"{path}{'&' if '?' in path else '?'}{urlencode(asked)}", passing=passing)
            if page is None:
                return
            yield page
            cursor = page.following
            if not cursor:
                return

    async def posted(self, kind: TypeAdapter[ListT], path: str, body: Mapping[str, Any]) -> AsyncGenerator[ListT, None]:
        """Yield every page of a list that is asked for by a question of its own."""
        cursor, seen, url = "", set[str](), self._url(path)
        while cursor not in seen:
            seen.add(cursor)
            asked = {**body, "page_size": PAGE_SIZE} | ({"start_cursor": cursor} if cursor else {})
            found = await self.client.json(url, method="POST", body=asked, limit=_LIMIT)
            self._note(found.reply)
            page = checked(kind, found.value, url, server=_SERVER)
            yield page
            cursor = page.following
            if not cursor:
                return

    async def greet(self) -> None:
        """Ask who the integration is, which needs no right of any kind; raises what is wrong with Notion as a whole."""
        await self.get(USER, "users/me")

    def _url(self, path: str) -> str:
        return f"{self.options.url}/v1/{path}"

    def _note(self, reply: Reply) -> None:
        self.status = reply.status
        self.date = moment(reply.headers.get("Date", "")) or datetime.now(UTC)


def client_of(options: NotionOptions) -> HttpClient:
    """Return a client for the API, to be entered; the token goes to the API's host alone."""
    headers = {
        "Authorization": SecretStr(f"Bearer {options.token.get_secret_value()}"),
        "Notion-Version": SecretStr(VERSION),
    }
    return HttpClient(
        HttpOptions(
            headers=headers,
            trusted=(options.url,),
            # Whoever runs Citebot named the host, so it may also be one of their own network.
            addresses=None,
            interval=1 / options.requests_per_second,
            explain=explained,
        )
    )
