"""Asks for the pages of a feed, one after the other, each only if it has changed."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from connectors.feed.entries import FeedPage
from connectors.feed.json_feed import read_json_feed
from connectors.feed.memory import PageRecord
from connectors.feed.syndication import read_syndication
from connectors.http import HttpClient, Reply, Validators, shown
from ragcore.errors import ParseError, SourceBadReply
from ragcore.parsing.encoding import decode

_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")
_ACCEPTED = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a page's address answered: the page, None when it is as it was; ``validators`` tell its state."""

    url: str
    page: FeedPage | None
    validators: Validators


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads feeds. ``limit`` is in bytes, ``zone`` that of times that tell none."""

    client: HttpClient
    limit: int
    most_pages: int
    zone: ZoneInfo

    async def answers(
        self, feed: str, old: Mapping[str, PageRecord], is_held: Callable[[PageRecord], bool]
    ) -> AsyncGenerator[Answer, None]:
        """Yield what each page answers; the end is a page that leads nowhere new, or the last that may be read.

        Args:
            feed: The feed's address.
            old: The pages that were read before.
            is_held: Whether what stood on a page is all indexed as it was: only then "unchanged" is of use.
        """
        url, seen = feed, set[str]()
        while url and url not in seen and len(seen) < self.most_pages:
            seen.add(url)
            record = old.get(url)
            conditions = record.validators.headers() if record is not None and is_held(record) else {}
            asked = {"Accept": _ACCEPTED, **conditions}
            reply = await self.client.get(url, limit=self.limit, headers=asked, larger="raise `max_megabytes`")
            if reply.status == 304 and record is not None and conditions:
                yield Answer(url=url, page=None, validators=record.validators)
                url = record.next_url
                continue
            page = await asyncio.to_thread(read_page, reply, self.zone)
            yield Answer(url=url, page=page, validators=Validators() if page.fault else Validators.of(reply.headers))
            url = page.next_url


def read_page(reply: Reply, zone: ZoneInfo) -> FeedPage:
    """Return the page of a feed that a reply holds; SourceBadReply when it holds none. Blocking."""
    declared = _DECLARED.search(reply.content[:400])
    try:
        text = decode(reply.content, declared=declared.group(1).decode() if declared else reply.charset).text
    except ParseError:
        raise SourceBadReply(
            f"{shown(reply.url)} answered with something that is no text", mend="check `urls`"
        ) from None
    if not text.strip():
        raise SourceBadReply(f"{shown(reply.url)} answered with nothing", mend="try again later")
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        return read_json_feed(text.lstrip("\ufeff"), reply.url, zone)
    return read_syndication(text, reply.url, zone)
