"""The pages of a listing, one after the other, by whichever way the API has to ask for the next one."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncGenerator, Set
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from connectors.http import HttpClient, JsonReply, Reply, shown
from connectors.rest.expressions import ExpressionError, found, is_true, kind_of
from connectors.rest.options import RestOptions
from connectors.rest.templates import filled_body, filled_url
from ragcore.errors import SourceBadReply

_LARGEST = 100_000_000  # bytes of one reply
_MOST_REDIRECTS = 5
_LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]*\"|[^\s\";,]+))*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s\";,]+))", re.IGNORECASE)
_KEYS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one page answered, and its list of items."""

    value: Any
    items: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """Asks the hosts that the settings name, and no other."""

    client: HttpClient
    options: RestOptions

    async def ask(
        self, url: str, *, method: str = "GET", body: Any = None, passing: Set[int] = frozenset()
    ) -> JsonReply:
        """Return the JSON at an address of these hosts; ``passing`` are statuses that are returned, not raised.

        Raises:
            SourceError: One of its kinds; SourceBadReply when it leads to another host.
        """
        for _ in range(_MOST_REDIRECTS):
            self.check(url)
            reply = await self.client.json(url, method=method, body=body, limit=_LARGEST, redirects=0, passing=passing)
            target = reply.reply.target
            if not target:
                return reply
            if method != "GET":
                raise SourceBadReply(f"{shown(url)} redirects to {shown(target)}", mend="put that address into `url`")
            url = target
        raise SourceBadReply(f"{shown(url)} redirects more than {_MOST_REDIRECTS} times", mend="check `url`")

    def check(self, url: str) -> None:
        """Raise SourceBadReply when an address isn't of these hosts: neither it nor our credential is its business."""
        try:
            is_ours = str(URL(url).origin()) in self.client.options.trusted
        except ValueError:
            is_ours = False
        if not is_ours:
            raise SourceBadReply(
                f"{shown(self.options.url)} leads to {shown(url)}, which is another host",
                mend="put that host into `url`, if it is meant",
            )

    async def pages(self, cursor: Any) -> AsyncGenerator[Page, None]:
        """Yield each page of the listing.

        Args:
            cursor: What ``{cursor}`` stands for, None for nothing.

        Raises:
            SourceError: A page can't be read, holds no list, leads back to an earlier one, or there are too many.
        """
        walk = _Walk(api=self, cursor=cursor)
        while True:
            page = await walk.page()
            yield page
            if not walk.goes_on(page):
                return


@dataclass(slots=True, kw_only=True)
class _Walk:
    """Where one listing stands."""

    api: Api
    cursor: Any
    _number: int = 0
    _offset: int = 0
    _token: Any = None
    _following: str = ""
    _reply: Reply | None = None
    _asked: set[str] = field(default_factory=set)
    _seen: set[bytes] = field(default_factory=set)

    async def page(self) -> Page:
        """Ask for the next page."""
        options = self.api.options
        values = {
            "page": options.first_page + self._number,
            "offset": self._offset,
            "token": self._token,
            "cursor": self.cursor,
        }
        url = self._following or filled_url(options.url, options.params, values)
        body = filled_body(options.body, values) if options.method == "POST" else None
        self._check_way(url, body)
        reply = await self.api.ask(url, method=options.method, body=body)
        self._reply = reply.reply
        self._number += 1
        items = self._items(reply.value)
        await asyncio.to_thread(self._check_news, items)
        self._offset += len(items)
        return Page(value=reply.value, items=items)

    def goes_on(self, page: Page) -> bool:
        """Tell whether another page is to be asked for, and note how."""
        options = self.api.options
        if options.paging == "none" or (options.more and not is_true(self._found("more", options.more, page.value))):
            return False
        if options.paging == "offset":
            return bool(page.items)
        if options.paging == "page":
            return bool(page.items) or bool(options.more)
        told = self._link() if options.paging == "link" else self._found("next", options.next, page.value)
        if not is_true(told):
            return False
        if options.paging == "token":
            self._token = told
            return True
        if not isinstance(told, str):
            raise self._bad("next", f"gives {kind_of(told)} where an address is due")
        self._following = self._joined(told)
        return True

    def _joined(self, target: str) -> str:
        base = self._reply.url if self._reply else self.api.options.url
        try:
            return str(URL(base).join(URL(target)).with_fragment(None))
        except ValueError:
            raise self._bad("next", "gives what is no address") from None

    def _link(self) -> str:
        """Return the target of the ``Link`` header's "next" (RFC 8288, section 3)."""
        for header in self._reply.headers_named("Link") if self._reply else ():
            for target, parameters in _LINK.findall(header):
                relation = _REL.search(parameters)
                if relation and "next" in (relation.group(1) or relation.group(2) or "").lower().split():
                    return str(target)
        return ""

    def _items(self, value: Any) -> list[Any]:
        items = self._found("items", self.api.options.items, value)
        if isinstance(items, list):
            return items
        keys = f"; it has {', '.join(map(str, list(value)[:_KEYS]))}" if isinstance(value, dict) and value else ""
        raise self._bad("items", f"gives {kind_of(items)} where a list is due{keys}")

    def _found(self, setting: str, expression: str, value: Any) -> Any:
        try:
            return found(expression, value)
        except ExpressionError as error:
            raise self._bad(setting, f"can't be worked out: {error}") from None

    def _bad(self, setting: str, why: str) -> SourceBadReply:
        where = shown(self.api.options.url)
        return SourceBadReply(f"`{setting}` {why}, on what {where} answered", mend=f"mend `{setting}`")

    def _check_way(self, url: str, body: Any) -> None:
        asked = f"{url} {json.dumps(body, sort_keys=True, default=str)}"
        where, most = shown(self.api.options.url), self.api.options.max_pages
        if asked in self._asked:
            told = f"the pages of {where} lead in a circle: page {self._number + 1} is one that was read already"
            raise SourceBadReply(told, mend="check `paging` and `next`, or tell the end by `more`")
        if self._number >= most:
            raise SourceBadReply(
                f"{where} has more than {most:,} pages",
                mend="check `paging`; if there really are as many, raise max_pages",
            )
        self._asked.add(asked)

    def _check_news(self, items: list[Any]) -> None:
        if not items:
            return
        digest = hashlib.sha256(json.dumps(items, sort_keys=True).encode("utf-8", "replace")).digest()
        if digest in self._seen:
            told = f"page {self._number} of {shown(self.api.options.url)} repeats an earlier one"
            raise SourceBadReply(told, mend="check `paging` and the name of its parameter, or tell the end by `more`")
        self._seen.add(digest)
