"""Writes messages as one document: plain text, with the address of each message by its first line. Pure.

    Discord, #help

    Ann, 2026-11-22 14:03:
    How do I open the valve?

    Ben, 2026-11-22 14:05, in reply to Ann:
    > How do I open the valve?
    Turn it left.

Plain text rather than Markdown, as Discord's is a dialect of its own: an unclosed fence or a line of dashes must not
swallow what others said below. The line that a reply repeats is linked by the message that it is from, so that a
citation of it leads to who said it first.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from connectors.base import Permalink, SourceDocument
from connectors.discord.moments import moment_of
from connectors.discord.payloads import THREAD_STARTER, WRITTEN, Said
from connectors.discord.wording import Names, heading, lines_of, link, quoted


@dataclass(slots=True)
class _Page:
    lines: list[str] = field(default_factory=list)
    links: list[Permalink] = field(default_factory=list)

    def add(self, url: str, *lines: str) -> None:
        if not self.links or self.links[-1].url != url:
            self.links.append(Permalink(line=len(self.lines) + 1, url=url))
        self.lines += lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The text of a document, the addresses of its parts, whose it is and when it was last touched."""

    content: bytes
    permalinks: tuple[Permalink, ...]
    author: str
    updated_at: datetime


def worth_keeping(messages: Iterable[Said], names: Names, *, bots: bool) -> list[Said]:
    """Return the messages that a document holds, in order: what was written, and what a thread began from."""
    found = []
    for said in messages:
        if said.type == THREAD_STARTER and said.answered is not None:
            found.append(replace(said.answered, answered=None, answers=0))
        elif said.type in WRITTEN:
            found.append(said)
    return [said for said in found if (bots or not said.is_bot) and lines_of(said, names)]


def write(head: str, url: str, said: Iterable[Said], names: Names, *, bots: bool) -> Written | None:
    """Write these messages below a line that tells the place, ``url`` being its address; None when there are none."""
    page, newest, first = _Page(), None, None
    page.add(url, head)
    for one in said:
        here, moment = link(names.server, one.channel, one.id), moment_of(one.id)
        page.lines.append("")
        page.add(here, heading(one, _answers(one), names, moment))
        if one.answered is not None and (bots or not one.answered.is_bot):
            words = quoted(one.answered, names)
            if words:
                page.add(link(names.server, one.answered.channel, one.answered.id), f"> {words}")
        page.add(here, *lines_of(one, names))
        newest = max(filter(None, (newest, moment, one.edited_at)))
        first = first or one
    if first is None or newest is None:
        return None
    content = "\n".join(page.lines) + "\n"
    return Written(
        content=content.encode("utf-8", "replace"),
        permalinks=tuple(page.links),
        author=first.author,
        updated_at=newest,
    )


def _answers(said: Said) -> str:
    if said.answered is not None:
        return f"in reply to {said.answered.author}"
    return "in reply to a deleted message" if said.is_orphan and said.answers else ""


def digest_of(document: SourceDocument) -> str:
    """Return a hash of all that a document tells its reader, to know whether it has changed."""
    links = [f"{one.line} {one.url}" for one in document.permalinks]
    told = (document.title, document.url, document.author, *sorted(document.metadata.items()), *links)
    hashed = hashlib.sha256("\n".join(map(str, told)).encode("utf-8", "replace"))
    hashed.update(b"\0" + document.content)
    return hashed.hexdigest()[:20]


def brief(*parts: object) -> str:
    """Return a short hash of some values."""
    return hashlib.sha256("\n".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:12]
