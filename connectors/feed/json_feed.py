"""JSON Feed (https://www.jsonfeed.org/version/1.1/), versions 1 and 1.1."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from connectors.feed.dates import moment_of
from connectors.feed.entries import Entry, FeedPage, length_of
from connectors.feed.markup import absolute, link_of
from connectors.http import shown
from connectors.rows import clean
from ragcore.errors import SourceBadReply


def read_json_feed(text: str, url: str, zone: ZoneInfo) -> FeedPage:
    """Return a page of a JSON feed; SourceBadReply when it is none.

    Args:
        text: What came.
        url: The address that it came from.
        zone: The zone of times that tell none.
    """
    try:
        feed = json.loads(text)
    except (ValueError, RecursionError):
        raise SourceBadReply(f"{shown(url)} is no JSON, or breaks off", mend="try again later") from None
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        raise SourceBadReply(
            f"{shown(url)} answered with JSON that is no JSON Feed", mend='check `urls`, or use type = "rest"'
        )
    entries = tuple(_entry(item, feed, url, zone) for item in feed["items"] if isinstance(item, dict))
    strays = len(feed["items"]) - len(entries)
    return FeedPage(
        entries=entries,
        next_url=link_of(_text(feed, "next_url"), url) if _text(feed, "next_url") else "",
        fault=f"{strays} of its items are no objects" if strays else "",
    )


def _entry(item: Mapping[str, Any], feed: Mapping[str, Any], url: str, zone: ZoneInfo) -> Entry:
    link = _text(item, "url") or _text(item, "external_url")
    link = link_of(link, url) if link else ""
    told = {
        "text/html": absolute(_text(item, "content_html"), link or link_of(_text(feed, "home_page_url"), url) or url),
        "text/plain": _text(item, "content_text"),
    }
    media_type = max(told, key=lambda kind: length_of(told[kind], kind))
    summary = _text(item, "summary")
    if not length_of(told[media_type], media_type) and summary:
        told, media_type = {"text/plain": summary}, "text/plain"
    return Entry(
        guid=_text(item, "id"),
        url=link,
        title=" ".join(_text(item, "title").split()),
        text=told[media_type],
        media_type=media_type,
        author=", ".join(_authors(item)) or ", ".join(_authors(feed)),
        updated_at=moment_of(_text(item, "date_modified"), zone) or moment_of(_text(item, "date_published"), zone),
        tags=tuple(clean(tag) for tag in _list(item, "tags") if isinstance(tag, str)),
    )


def _authors(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of ``authors``, or of version 1's ``author``."""
    for author in _list(told, "authors") or [told.get("author")]:
        if isinstance(author, dict) and _text(author, "name"):
            yield _text(author, "name")


def _list(told: Mapping[str, Any], key: str) -> list[Any]:
    value = told.get(key)
    return value if isinstance(value, list) else []


def _text(told: Mapping[str, Any], key: str) -> str:
    """Return a text; a number, which some write as an id, as one."""
    value = told.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return clean(value).strip() if isinstance(value, str) else ""
