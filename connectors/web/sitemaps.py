"""Sitemaps (https://www.sitemaps.org/protocol.html): XML or text, packed or not, an index of others.

A sitemap that can't be read to its end is an error: what it would have named isn't gone.
"""

import asyncio
import io
import zlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lxml import etree
from protego import Protego

from connectors.http import HttpClient, Validators, shown
from connectors.http.urls import normalised
from connectors.web.state import Kind, Memory, Record
from ragcore.errors import SourceBadReply

_LARGEST = 52_428_800  # bytes, unpacked: the protocol's limit
_DEEPEST = 5
_MOST_FILES = 50_000
_INDEX = "sitemapindex"


@dataclass(slots=True, kw_only=True)
class Sitemaps:
    """Reads sitemaps.

    ``pages`` are what they name, in order, with the date of each ("" where none is told). ``found`` holds their
    records, by which an unchanged one is not read again.
    """

    client: HttpClient
    memory: Memory
    found: dict[str, Record] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)

    async def read(self, urls: Sequence[str]) -> AsyncGenerator[str, None]:
        """Read these sitemaps and all that they name; yield the address of each that was read.

        Raises:
            SourceError: One of them can't be read.
        """
        level = [normalised(url) for url in urls]
        for _ in range(_DEEPEST):
            others: dict[str, str] = {}
            for url in level:
                if url in self.found:
                    continue
                if len(self.found) >= _MOST_FILES:
                    raise SourceBadReply(f"there are more than {_MOST_FILES:,} sitemaps", mend="mend `sitemaps`")
                record = await self._read(url)
                self.found[url] = record
                pages = others if record.title == _INDEX else self.pages
                pages.update(zip(record.links, record.dates, strict=True))
                yield url
            level = list(others)
        if deeper := [url for url in level if url not in self.found]:
            raise SourceBadReply(
                f"{shown(deeper[0])} lies deeper than {_DEEPEST} sitemaps that name one another",
                mend="name it in `sitemaps`",
            )

    async def _read(self, url: str) -> Record:
        old = self.memory.records.get(url)
        old = old if old is not None and old.kind is Kind.MAP else None
        asked = old.validators.headers() if old else {}
        reply = await self.client.get(url, limit=_LARGEST, headers=asked, larger="split the sitemap")
        if reply.status == 304 and old is not None:
            return old
        form, found = await asyncio.to_thread(read_sitemap, reply.content, reply.url)
        return Record(
            kind=Kind.MAP,
            validators=Validators.of(reply.headers),
            title=form,
            links=tuple(found),
            dates=tuple(found.values()),
        )


def read_sitemap(content: bytes, url: str) -> tuple[str, dict[str, str]]:
    """Return a sitemap's form (``urlset``, ``sitemapindex`` or ``text``) and the addresses that it names. Blocking.

    Each address comes with the date that it tells for it, "" for none. A ``robots.txt`` is an index of sitemaps.

    Raises:
        SourceBadReply: It is no sitemap, breaks off, or is larger than the protocol allows.
    """
    if urlsplit(url).path == "/robots.txt":
        named = [normalised(place, url) for place in Protego.parse(content.decode("utf-8", "replace")).sitemaps]
        return _INDEX, dict.fromkeys(filter(None, named), "")
    unpacked = _unpacked(content, url)
    if unpacked.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        return _xml(unpacked, url)
    lines = unpacked.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    links = [normalised(line) for line in lines if line.strip()]
    if not all(links):
        raise SourceBadReply(f"{shown(url)} is no sitemap", mend="mend `sitemaps`")
    return "text", dict.fromkeys(links, "")


def _unpacked(content: bytes, url: str) -> bytes:
    if content[:2] != b"\x1f\x8b":
        return content
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(content, _LARGEST + 1)
    except zlib.error:
        raise SourceBadReply(f"{shown(url)} cannot be unpacked", mend="mend the sitemap") from None
    if len(unpacked) > _LARGEST:
        raise SourceBadReply(f"{shown(url)} is larger than 50 MB when unpacked", mend="split the sitemap")
    if not unpacker.eof:
        raise SourceBadReply(f"{shown(url)} breaks off", mend="try again later")
    return unpacked


def _xml(content: bytes, url: str) -> tuple[str, dict[str, str]]:
    """Read element by element, without entities of the file's own and without fetching anything."""
    found: dict[str, str] = {}
    form = place = date = ""
    try:
        events = etree.iterparse(
            io.BytesIO(content), events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False
        )
        for event, element in events:
            name = etree.QName(element).localname if isinstance(element.tag, str) else ""
            if not form:
                form = name
                if form not in {"urlset", _INDEX}:
                    break
            elif event == "end" and name == "loc" and _is_entry(element):
                place = normalised(element.text or "", url)
            elif event == "end" and name == "lastmod" and _is_entry(element):
                date = (element.text or "").strip()
            elif event == "end" and name in {"url", "sitemap"}:
                found[place] = date
                place = date = ""
                element.clear()
    except etree.XMLSyntaxError:
        raise SourceBadReply(f"{shown(url)} breaks off, or is no XML", mend="mend the sitemap") from None
    if form not in {"urlset", _INDEX}:
        what = "a web page" if form.lower() == "html" else "another kind of XML"
        raise SourceBadReply(f"{shown(url)} answered with {what} where a sitemap was due", mend="mend `sitemaps`")
    found.pop("", None)
    return form, found


def _is_entry(element: etree._Element) -> bool:
    """Tell a page's own address from that of a picture or film in it (``image:loc``)."""
    parent = element.getparent()
    return (
        parent is not None
        and etree.QName(parent).localname in {"url", "sitemap"}
        and (etree.QName(element).namespace == etree.QName(parent).namespace)
    )
