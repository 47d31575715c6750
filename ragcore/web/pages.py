"""What a search of the web gives, whichever engine is asked: pages with their addresses. Pure.

What an engine says is checked here: an address that is none of the web's, or one that no link can carry, is left out.
"""

import html
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, ip_address
from typing import Protocol
from urllib.parse import urlsplit

LONGEST_QUERY = 400
"""Characters that an engine is asked with: Brave takes no more (api-dashboard.search.brave.com, Web search: ``q``), and
Tavily advises no more (docs.tavily.com, best practices for search)."""
MOST_WORDS = 50
"""Words that an engine is asked with, by the same page of Brave's."""
LONGEST_URL = 2_000
"""Characters of an address: what a link of every platform can carry."""
LONGEST_TITLE = 300
LONGEST_TEXT = 4_000
"""Characters of what an engine says of a page: a few times what the most generous one sends."""

_INSIDE = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Names of no public host: RFC 6761, 6762 and 8375, ICANN's ``internal``, and what routers give."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page that an engine found; ``text`` is what it says of the page, in sentences of it, and may be empty.

    ``published_at`` is None where the engine doesn't tell.
    """

    title: str
    url: str
    text: str
    published_at: datetime | None = None


class WebSearch(Protocol):
    """Finds pages."""

    @property
    def name(self) -> str:
        """Return the engine's name, for people."""
        ...

    async def search(self, query: str, count: int) -> tuple[WebPage, ...]:
        """Return pages, best first, each address once; none when nothing is found.

        A query of any length and content is asked with: of a long one its beginning and its end.

        Args:
            query: What is looked for; nothing else leaves.
            count: Pages at most, from 1.

        Raises:
            SourceAuthError: The key was refused; names the setting.
            SourceRateLimited: The engine asks to wait, or the plan's searches are used up; nothing is tried again.
            SourceUnreachable: No connection, or no answer in time.
            SourceBadReply: What was answered can't be used: no JSON, too much of it, a redirect, a refusal.
            SourceError: The engine failed.
        """
        ...


def searchable(text: str) -> str:
    """Return what an engine is asked with: one line of at most 50 words and 400 characters, head and tail of more."""
    words = _CONTROL.sub(" ", text).split()
    if len(words) > MOST_WORDS:
        words = [*words[: MOST_WORDS // 2], *words[-MOST_WORDS // 2 :]]
    line = " ".join(words)
    if len(line) <= LONGEST_QUERY:
        return line
    half = (LONGEST_QUERY - 1) // 2
    return f"{line[:half].rstrip()} {line[-half:].lstrip()}"


def is_linkable(url: str) -> bool:
    """Tell whether an address is one of http or https that a link can carry: with a host, and no name or password."""
    if not url or len(url) > LONGEST_URL or not url.isprintable() or any(map(str.isspace, url)):
        return False
    if "\\" in url:  # browsers take it for a slash, so that they see another host than we do
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme.lower() in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc


def is_inside(url: str) -> bool:
    """Tell whether an address is written as one of no public host; what a name leads to is not looked up."""
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    try:
        return not ip_address(host).is_global
    except ValueError:
        pass
    try:
        # Browsers also read 0x7f.1 and 2130706433, as this does.
        return not IPv4Address(socket.inet_aton(host)).is_global
    except (OSError, ValueError):
        return "." not in host or host.endswith(_INSIDE)


def pages_of(found: Iterable[WebPage | None], count: int) -> tuple[WebPage, ...]:
    """Return the first ``count`` pages, each address once."""
    pages: dict[str, WebPage] = {}
    for page in found:
        if len(pages) >= count:
            break
        if page is not None:
            pages.setdefault(page.url, page)
    return tuple(pages.values())


def page_of(row: object, *, text: Iterable[str], date: str) -> WebPage | None:
    """Return the page of a result with ``title`` and ``url``; None of one that can't be used.

    Args:
        row: One result, as JSON has it.
        text: The fields that say what stands on the page: texts, or lists of texts.
        date: The field that says when it was published.
    """
    if not isinstance(row, Mapping):
        return None
    url, title = row.get("url"), row.get("title")
    if not isinstance(url, str) or not is_linkable(url.strip()):
        return None
    said = [one for name in text for one in _texts(row.get(name))]
    return WebPage(
        title=_line(title)[:LONGEST_TITLE] if isinstance(title, str) else "",
        url=url.strip(),
        text="\n\n".join(dict.fromkeys(filter(None, map(_line, said))))[:LONGEST_TEXT],
        published_at=moment(row.get(date)),
    )


def moment(said: object) -> datetime | None:
    """Return the moment that an engine tells, in ISO 8601 or as mail has it; UTC where it names no zone; else None."""
    if not isinstance(said, str) or len(said) > 100:
        return None
    try:
        found = datetime.fromisoformat(said.strip())
    except ValueError:
        try:
            found = parsedate_to_datetime(said)
        except (ValueError, TypeError, OverflowError):
            return None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None  # the first and the last year, in a zone that leads out of them


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _line(text: str) -> str:
    """Return a text of an engine without markup: they highlight words, and escape characters as HTML does."""
    plain = html.unescape(_TAG.sub("", text[: 2 * LONGEST_TEXT]))
    return " ".join(_CONTROL.sub(" ", plain).split())
