"""RSS and Atom, by feedparser, which is given no more than it needs: text that is decoded, from the root element on.

Without what stands before the root there is no document type, so no entity but XML's own and HTML's is known: nothing
expands, and nothing is fetched.
"""

import logging
import re
import xml.sax
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

from lxml import etree

from connectors.feed.dates import moment_of
from connectors.feed.entries import Entry, FeedPage, length_of
from connectors.feed.markup import absolute, link_of, plain
from connectors.http import shown
from connectors.rows import clean
from ragcore.errors import SourceBadReply

_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z]\w*)")
_FEEDS = frozenset(("rss", "feed", "rdf", "channel"))
_TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"
_BEGINNING = re.compile(r"<(?:item|entry)[\s>]", re.IGNORECASE)
_ENDING = re.compile(r"</(?:item|entry)\s*>", re.IGNORECASE)
_NEXT = ("next", "prev-archive")
_TIMES = ("updated", "published", "created")
# What feedparser lets out where a feed is broken in a way that it didn't foresee.
_BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

_Told = Mapping[str, Any]

log = logging.getLogger(__name__)


def read_syndication(text: str, url: str, zone: ZoneInfo) -> FeedPage:
    """Return a page of a feed; SourceBadReply when nothing of it can be read as one.

    Args:
        text: What came, decoded.
        url: The address that it came from.
        zone: The zone of times that tell none.
    """
    import feedparser

    body = _from_root(text)
    found = _ROOT.match(body)
    root = found.group(1).lower() if found else ""
    if root not in _FEEDS:
        what = "a web page" if root == "html" or "<html" in body[:2_000].lower() else "something else"
        raise SourceBadReply(
            f"{shown(url)} answered with {what} where a feed was due",
            mend="check `urls`; where a page to log in came, check the credential",
        )
    headers = {"content-type": "application/xml; charset=utf-8", "content-location": url}
    try:
        told = feedparser.parse(
            BytesIO(body.encode("utf-8", "replace")),
            response_headers=headers,
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except _BROKEN:
        raise SourceBadReply(f"{shown(url)} is no feed that can be read", mend="mend the feed") from None
    is_whole = not isinstance(told.get("bozo_exception"), xml.sax.SAXException)
    breaks_off = not is_whole and not re.search(
        rf"</(?:[\w.-]+:)?{root}\s*>\s*(?:<!--|$)", body[-2_000:], re.IGNORECASE
    )
    feed = _Feed(told=dict(told["feed"]), url=url, zone=zone, is_atom=root == "feed")
    entries = [feed.entry(dict(entry)) for entry in told["entries"]]
    if breaks_off and entries and _is_cut(body):
        entries.pop()  # a part of it would be taken for all of it
    if not is_whole and not entries and not breaks_off:
        raise SourceBadReply(f"{shown(url)} is broken: no entry in it can be read", mend="mend the feed")
    if not is_whole:
        log.info("%s is no well-formed XML; what can be read of it is taken", shown(url))
    return FeedPage(
        entries=tuple(entries),
        gone=tuple(_gone(body)) if _TOMBSTONES in body else (),
        next_url=feed.next_url(),
        fault=f"it breaks off after {len(entries)} entries" if breaks_off else "",
        breaks_off=breaks_off,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Feed:
    """What entries inherit of their feed."""

    told: _Told
    url: str
    zone: ZoneInfo
    is_atom: bool

    def entry(self, told: _Told) -> Entry:
        """Return one entry."""
        link = self._link(told)
        text, media_type = self._text(told, link)
        title = _words(told, "title")
        return Entry(
            guid=clean(_string(told, "id")).strip(),
            url=link,
            title=title,
            text=text,
            media_type=media_type,
            author=_author(told) or _author(self.told),
            updated_at=self._moment(told),
            tags=tuple(dict.fromkeys(_tags(told))),
        )

    def next_url(self) -> str:
        """Return the address of the page that follows, "" when none does."""
        for link in self.told.get("links", ()):
            if link.get("rel") in _NEXT and link.get("href"):
                return link_of(link["href"], self.url).partition("#")[0]
        return ""

    def _link(self, told: _Told) -> str:
        others = [link.get("href", "") for link in told.get("links", ()) if link.get("rel") == "alternate"]
        for link in (_string(told, "feedburner_origlink"), _string(told, "link"), *others):
            found = link_of(link, self.url) if link else ""
            if found:
                return clean(found)
        return ""

    def _text(self, told: _Told, link: str) -> tuple[str, str]:
        """Return the fullest text that there is, and its media type."""
        best, media_type = "", "text/plain"
        for part in (*told.get("content", ()), told.get("summary_detail")):
            if not part or not part.get("value") or part.get("src"):
                continue
            kind = "text/html" if part.get("type") in {"text/html", "application/xhtml+xml"} else "text/plain"
            text = clean(part["value"])
            if length_of(text, kind) > length_of(best, media_type):
                base = self._base(part.get("base") or "", link)
                best, media_type = (absolute(text, base) if kind == "text/html" else text), kind
        return best, media_type

    def _base(self, told: str, link: str) -> str:
        """Return what links are relative to: what ``xml:base`` tells, else Atom's feed, else the entry."""
        if self.is_atom or told not in {"", self.url}:
            return told or self.url
        return link or link_of(_string(self.told, "link"), self.url) or self.url

    def _moment(self, told: _Told) -> datetime | None:
        for name in _TIMES:
            found = moment_of(_string(told, name), self.zone, told.get(f"{name}_parsed"))
            if found is not None:
                return found
        return None


def _from_root(text: str) -> str:
    """Return what stands from the root element on."""
    place, size = 0, len(text)
    while place < size:
        if text[place].isspace() or text[place] == "\ufeff":
            place += 1
        elif text.startswith("<!--", place):
            place = _after(text, "-->", place)
        elif text.startswith("<?", place):
            place = _after(text, "?>", place)
        elif text[place : place + 9].upper() == "<!DOCTYPE":
            place = _after_doctype(text, place)
        else:
            break
    # Whatever else stands there is no XML; the root is then the first element that could be one.
    found = _ROOT.search(text, place)
    return text[found.start() :] if found else ""


def _after_doctype(text: str, place: int) -> int:
    end, subset = text.find(">", place), text.find("[", place)
    if 0 <= subset < end:
        closed = re.compile(r"\]\s*>").search(text, subset)
        return closed.end() if closed else len(text)
    return end + 1 if end >= 0 else len(text)


def _after(text: str, mark: str, place: int) -> int:
    end = text.find(mark, place)
    return end + len(mark) if end >= 0 else len(text)


def _is_cut(body: str) -> bool:
    """Tell whether a feed that breaks off does so within an entry."""
    begins = [found.start() for found in _BEGINNING.finditer(body)]
    ends = [found.start() for found in _ENDING.finditer(body)]
    return bool(begins) and (not ends or begins[-1] > ends[-1])


def _gone(body: str) -> Iterator[str]:
    """Yield the ids of entries that an Atom feed says were deleted (RFC 6721, section 3)."""
    events = etree.iterparse(
        BytesIO(body.encode("utf-8", "replace")),
        tag=f"{{{_TOMBSTONES}}}deleted-entry",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
    )
    for _, element in events:
        reference = clean(str(element.get("ref") or "")).strip()
        if reference:
            yield reference


def _words(told: _Told, name: str) -> str:
    detail = told.get(f"{name}_detail") or {}
    text = _string(told, name)
    return clean(" ".join(text.split()) if detail.get("type", "text/plain") == "text/plain" else plain(text))


def _author(told: _Told) -> str:
    names = [author.get("name", "") for author in told.get("authors", ()) if author]
    return clean(" ".join((", ".join(filter(None, names)) or _string(told, "author")).split()))


def _tags(told: _Told) -> Iterator[str]:
    for tag in told.get("tags", ()):
        name = tag.get("label") or tag.get("term")
        if isinstance(name, str) and name.strip():
            yield clean(" ".join(name.split()))


def _string(told: _Told, name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""
