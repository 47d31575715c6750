"""What every kind of feed is read into: entries, and the page of a feed that they stand on."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from connectors.http import shown

_WORLDWIDE = re.compile(r"(?:https?://|urn:|tag:)\S", re.IGNORECASE)
_LONGEST = 500
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry, with its links and its ``url`` absolute; "" and None for what the feed doesn't tell.

    ``media_type`` is that of ``text``; ``guid`` is the id that the feed gives it.
    """

    guid: str
    url: str
    title: str = ""
    text: str = ""
    media_type: str = "text/plain"
    author: str = ""
    updated_at: datetime | None = None
    tags: tuple[str, ...] = ()

    def version(self, mode: str) -> str:
        """Return what changes with anything that a document of this entry, read in this way, tells."""
        told = (mode, self.url, self.title, self.text, self.media_type, self.author, self.updated_at, self.tags)
        return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:24]

    def native_id(self, feed: str, *, by_link: bool) -> str:
        """Return the id that it has in a source, "" when it tells none.

        An id that is an address is one for all feeds. Another one (``1234``) is the feed's own, and stands behind it.
        """
        told = self.url if by_link else self.guid or self.url
        told = " ".join(told.replace("\0", "").split())
        if len(told) > _LONGEST:
            told = told[:_LONGEST] + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
        return told if not told or _WORLDWIDE.match(told) else f"{feed_name(feed)}#{told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """One page of a feed. ``gone`` are the ids of entries that it says were deleted, ``next_url`` is "" at the end.

    ``fault`` tells, in plain words, what is wrong with it though entries could be read; ``breaks_off``: that there may
    be more entries than those.
    """

    entries: tuple[Entry, ...] = ()
    gone: tuple[str, ...] = ()
    next_url: str = ""
    fault: str = ""
    breaks_off: bool = False


def feed_name(url: str) -> str:
    """Return a feed's address as ids and messages show it: what stands behind its ``?`` may be a secret."""
    query = urlsplit(url).query
    return f"{shown(url)}?{hashlib.sha256(query.encode()).hexdigest()[:8]}" if query else shown(url)


def length_of(text: str, media_type: str) -> int:
    """Return how many characters of a text a reader sees, roughly."""
    return len((_TAG.sub("", text) if media_type == "text/html" else text).strip())
