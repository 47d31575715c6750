"""An issue, pull or merge request or discussion as one Markdown text, where each comment is found by its line. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from markdown_it import MarkdownIt

from connectors.base import Permalink

NOBODY = "ghost"
"""What GitHub and GitLab show as the author whose account is gone."""
_BLOCKS = (
    (re.compile(r"<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[CDATA\["), "]]>"),
    (re.compile(r"<!"), ">"),
    (re.compile(r"<(?:pre|script|style|textarea)", re.IGNORECASE), "</pre>"),
)
"""HTML that goes on over empty lines, and what ends it (CommonMark 0.31, section 4.6)."""
_SENTINEL = "\ue000"
_MARKDOWN = MarkdownIt("commonmark").disable("inline")  # blocks alone: quick, whatever stands in them


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one person wrote: the text itself or a comment. ``note`` says on what, where that isn't plain."""

    author: str
    at: datetime
    url: str
    body: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The text, and where each part is found."""

    content: bytes
    permalinks: tuple[Permalink, ...]


def thread(head: str, parts: Iterable[Part]) -> Thread:
    """Return parts in their order as one text below a line that says what this is."""
    lines, links = [head, ""], list[Permalink]()
    for part in parts:
        links.append(Permalink(line=len(lines) + 1 if links else 1, url=part.url))
        note = f", {part.note}" if part.note else ""
        lines += [f"**{part.author}**, {part.at:%Y-%m-%d}{note}:", "", *closed(part.body), ""]
    return Thread(content="\n".join(lines).encode("utf-8", "replace"), permalinks=tuple(links))


def closed(body: str) -> list[str]:
    """Return the lines of a text, and what ends a block of code or HTML in it that would swallow what follows."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip("\n")
    end = _open_end(text)
    return [*text.split("\n"), end] if end else text.split("\n")


def _open_end(text: str) -> str:
    """Return what ends the block that would swallow a paragraph after this text, "" when there is none."""
    tokens = reversed(_MARKDOWN.parse(f"{text}\n\n{_SENTINEL}"))
    last = next((token for token in tokens if _SENTINEL in token.content), None)
    if last and last.type == "fence":
        return last.markup
    if last and last.type == "html_block":
        return next((end for begin, end in _BLOCKS if begin.match(last.content.lstrip())), "")
    return ""
