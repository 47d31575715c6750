"""What a crawl needs of a page: its links, its wishes, and a digest of what a reader sees. Blocking: for threads."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from connectors.http import Reply
from connectors.http.urls import normalised
from ragcore.errors import ParseError
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.page import tree_of
from ragcore.parsing.media import Media

_REFRESH = re.compile(r"\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_CANONICAL_HEADER = re.compile(r"<([^>]+)>[^,]*;\s*rel\s*=\s*\"?canonical\"?", re.IGNORECASE)
_TELLING = ("id", "name", "href", "src", "start", "rowspan", "colspan", "aria-level", "role", "alt")
"""Attributes that change what a reader, or a link into the page, finds; others (a nonce, a token) may change freely."""
_LARGEST_TREE = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What a page tells a crawl. ``links``, ``canonical`` and ``moved`` are absolute, in their one form."""

    version: str
    title: str = ""
    links: tuple[str, ...] = ()
    canonical: str = ""
    moved: str = ""
    is_indexed: bool = True
    asks_password: bool = False


def facts_of(reply: Reply, media: Media, *, agent: str) -> PageFacts:
    """Return what a reply tells: of a web page all, of another document its version and its headers' wishes.

    Args:
        reply: The reply, with its content.
        media: Its format.
        agent: Our name, for wishes that are addressed to it; of ``Citebot/2.0 (+https://...)`` the first word counts.
    """
    agent = next(iter(agent.replace("/", " ").split()), "")
    wishes = _header_wishes(reply.headers_named("X-Robots-Tag"), agent)
    told = _CANONICAL_HEADER.search(", ".join(reply.headers_named("Link")))
    canonical = normalised(told.group(1), reply.url) if told else ""
    plain = PageFacts(
        version=hashlib.sha256(reply.content).hexdigest()[:24],
        canonical=canonical,
        is_indexed=not wishes & {"noindex", "none"},
    )
    if media is not Media.HTML or len(reply.content) > _LARGEST_TREE:
        return plain
    try:
        root = tree_of(reply.content, declared=reply.charset)
    except ParseError:
        return plain  # reading it as a document says the same, with its mend
    return _page_facts(root, reply.url, wishes | _page_wishes(root, agent), canonical)


def _page_facts(root: HtmlElement, url: str, wishes: frozenset[str], canonical: str) -> PageFacts:
    base = normalised(next(iter(root.xpath("//base/@href")), ""), url) or url
    told = canonical or normalised(_canonical_link(root), base)
    links = () if wishes & {"nofollow", "none"} else tuple(dict.fromkeys(filter(None, _links(root, base))))
    title = " ".join((root.findtext(".//title") or "").split())
    moved = _refresh(root, base)
    asks_password = any(element.get("type", "").lower() == "password" for element in root.iter("input"))
    return PageFacts(
        version=_digest(root, title),
        title=title,
        links=links,
        canonical="" if told == url else told,
        moved="" if moved == url else moved,
        asks_password=asks_password,
        is_indexed=not wishes & {"noindex", "none"},
    )


def _links(root: HtmlElement, base: str) -> Iterator[str]:
    for element in root.iter("a", "area", "frame", "iframe", "link"):
        relations = element.get("rel", "").lower().split()
        target = element.get("src") if element.tag in {"frame", "iframe"} else element.get("href")
        if not target or "nofollow" in relations:
            continue
        if element.tag != "link" or {"next", "prev"} & set(relations):
            yield normalised(target, base)


def _canonical_link(root: HtmlElement) -> str:
    for element in root.iter("link"):
        if "canonical" in element.get("rel", "").lower().split():
            return element.get("href") or ""
    return ""


def _refresh(root: HtmlElement, base: str) -> str:
    """Return where a page sends its reader at once, "" when it doesn't."""
    for element in root.iter("meta"):
        if element.get("http-equiv", "").lower() == "refresh":
            found = _REFRESH.match(element.get("content") or "")
            if found and int(found.group(1)[:4]) <= 1:
                return normalised(found.group(2), base)
    return ""


def _page_wishes(root: HtmlElement, agent: str) -> frozenset[str]:
    names = {"robots", agent.lower()}
    told = [e.get("content") or "" for e in root.iter("meta") if e.get("name", "").lower() in names]
    return frozenset(wish.strip().lower() for text in told for wish in text.split(","))


def _header_wishes(values: Sequence[str], agent: str) -> frozenset[str]:
    """Return the wishes of ``X-Robots-Tag`` headers, leaving out those for others (``googlebot: noindex``)."""
    found: set[str] = set()
    for value in values:
        name, colon, rest = value.partition(":")
        is_named = bool(colon) and "," not in name and name.strip().lower() != "unavailable_after"
        if not is_named or name.strip().lower() == agent.lower():
            found |= {wish.strip().lower() for wish in (rest if is_named else value).split(",")}
    return frozenset(found)


def _digest(root: HtmlElement, title: str) -> str:
    """Return what changes with what a reader sees: text, headings, anchors, links; not with scripts or tokens.

    The tree is changed.
    """
    author = next(iter(root.xpath("//meta[@name='author']/@content")), "")
    digest = hashlib.sha256(f"{title}\0{author}".encode("utf-8", "replace"))
    for element in clean(root).iter():
        told = [f"{name}={element.get(name)}" for name in _TELLING if element.get(name)]
        parts = (str(element.tag), *told, element.text or "", element.tail or "")
        digest.update("\0".join(parts).encode("utf-8", "replace"))
    return digest.hexdigest()[:24]
