"""Where a citation points: the deepest link that a document's address allows, and the place in words.

Pure. A link is an address only; how it is shown belongs to the renderers.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote, urlsplit

from ragcore.chunk_parts import parts_of
from ragcore.on_web import is_web
from ragcore.types import Chunk, Location, SectionKind

_TEXT_FRAGMENT_WORDS = 5
"""How many words stand at each end of a text fragment: enough to be found once, short enough to survive small edits."""
_TEXT_FRAGMENT_CHARACTERS = 14
"""The same for scripts without spaces."""
_URL = re.compile(r"""https?://[^\s<>"'`\])}|（）【】，。；、]+""", re.IGNORECASE)
_RULE = re.compile(r"\s*\|?\s*:?-{2,}")
_BLOCK_MARKUP = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|\d+[.)]\s+|>\s*)", re.MULTILINE)
_INLINE_MARKUP = re.compile(r"[*`]+|\[([^\]]{0,500}+)\]\([^)]{0,2000}+\)|(?<!\w)_+|_+(?!\w)")


def deep_link(chunk: Chunk, passage: str = "") -> str:
    """Return the chunk's address, as deep as its format allows; "" when the document has none.

    A page of a PDF (``#page=5``, RFC 8118), a heading's anchor, a line range of code, and of plain text on the web
    (``#L10-L20``, as the sites that show repositories have it; others pass over it), and in HTML the passage itself as
    a text fragment (``#:~:text=``, https://wicg.github.io/scroll-to-text-fragment/). An address that has a fragment of
    its own (a message, a row of an application) is already as deep as its source knows, and stays. What has permalinks
    of its own (the messages of a thread) is linked by that of the passage's first line.
    """
    chunk, place = _narrowed(chunk, passage)
    url = _permalink(place) or chunk.url
    if not url or "#" in url or place.permalinks:
        return url
    if place.page and chunk.media_type == "application/pdf":
        return f"{url}#page={place.page}"
    anchor = quote(place.anchor, safe="-._~!$&'()*+,;=:@/?")
    if chunk.media_type == "text/html":
        directive = _text_directive(passage) if chunk.kind is SectionKind.TEXT else ""
        return f"{url}#{anchor}{directive}" if anchor or directive else url
    if anchor:
        return f"{url}#{anchor}"
    is_text = chunk.media_type == "text/plain" and url.startswith(("https://", "http://"))
    if place.first_line and (is_text or chunk.kind is SectionKind.CODE):
        last = max(place.last_line, place.first_line)
        return f"{url}#L{place.first_line}-L{last}" if last > place.first_line else f"{url}#L{place.first_line}"
    return url


def _permalink(place: Location) -> str:
    """Return the address of the part that the first line belongs to, "" when its parts have none."""
    links = [link for link in place.permalinks if link.line <= place.first_line] or place.permalinks[:1]
    return links[-1].url if links else ""


def place(chunk: Chunk, passage: str = "") -> str:
    """Return where the passage stands, in words: ``p. 3``, ``Leave › Carry-over``, ``Meters, rows 2-5``."""
    chunk, where = _narrowed(chunk, passage)
    parts = []
    if where.page:
        parts.append(f"p. {where.page}")
    if where.slide:
        parts.append(f"slide {where.slide}")
    if where.sheet:
        parts.append(where.sheet)
    if chunk.heading_path and not where.sheet:
        parts.append(" › ".join(chunk.heading_path[-2:]))
    if where.first_row:
        parts.append(_span("row", where.first_row, where.last_row))
    if not parts and where.first_line and not where.permalinks:
        parts.append(_span("line", where.first_line, where.last_line))
    return ", ".join(parts)


def chunk_at(chunk: Chunk, passage: str) -> str:
    """Return the id of the chunk that holds the passage: its own, or that of the sibling in whose part it begins."""
    start = chunk.text.find(passage) if passage else -1
    begun = [part.ordinal for part in chunk.parts if part.start <= start]
    return f"{chunk.id.rpartition('-')[0]}-{begun[-1]}" if begun else chunk.id


def _narrowed(chunk: Chunk, passage: str) -> tuple[Chunk, Location]:
    """Return the part of the chunk that holds the passage, and where this stands; without one: where the chunk does.

    Of what was widened to its parent's text that is the part where the passage begins, with the rows or lines until its
    end where that is another part of the same page or sheet.
    """
    start = chunk.text.find(passage) if passage and chunk.parts else -1
    if start < 0:
        return chunk, chunk.location if chunk.parts else _lines_of(chunk, passage)
    end = start + len(passage.rstrip())
    held = [part for part in parts_of(chunk) if part[0] < max(end, start + 1) and start < part[0] + len(part[1].text)]
    if not held:
        return chunk, chunk.location
    offset, first = held[0]
    where = _lines_of(first, first.text[start - offset : end - offset])
    if len(held) > 1:
        offset, last = held[-1]
        until = _lines_of(last, last.text[: end - offset])
        if (where.page, where.slide, where.sheet) == (until.page, until.slide, until.sheet):
            where = replace(
                where,
                last_row=max(where.last_row, until.last_row),
                last_line=max(where.last_line, until.last_line),
            )
    return first, where


def _lines_of(chunk: Chunk, passage: str) -> Location:
    """Return the chunk's location with its rows or lines narrowed to those of the passage.

    Line k of a chunk's own text, counted from 0 after a repeated header, is row or line first + k of the source.
    """
    where, text = chunk.location, chunk.text
    start = text.find(passage) if passage else -1
    header = _table_header(chunk)
    if start < len(header) or not (where.first_row or where.first_line):
        return where
    first = text.count("\n", len(header), start)
    last = first + passage.rstrip("\n").count("\n")
    if where.first_row:
        return replace(where, first_row=where.first_row + first, last_row=min(where.first_row + last, where.last_row))
    return replace(where, first_line=where.first_line + first, last_line=min(where.first_line + last, where.last_line))


def _table_header(chunk: Chunk) -> str:
    """Return the two lines with which a table's text begins, "" for anything else."""
    lines = chunk.text.splitlines(keepends=True)
    is_table = chunk.kind is SectionKind.TABLE and len(lines) > 2 and _RULE.match(lines[1])
    return "".join(lines[:2]) if is_table else ""


def allowed_urls(chunks: Iterable[Chunk], hosts: frozenset[str]) -> frozenset[str]:
    """Return the addresses that an answer over these chunks may show as links.

    A retrieved document's own address, and an address that stands in a retrieved chunk and has one of the hosts (of a
    configured source, or named by ``answer.link_hosts``). Whatever else a model writes is not a link. A page of the web
    names no link but its own: anybody may have written it, for whoever reads answers.
    """
    found: set[str] = set()
    for chunk in chunks:
        if chunk.url:
            found.add(chunk.url)
        places = (chunk.location, *(part.location for part in chunk.parts))
        found.update(link.url for place_ in places for link in place_.permalinks)
        # What stands in a summary, a model wrote.
        for match in _URL.finditer("" if chunk.is_summary or is_web(chunk.document_id) else chunk.text):
            address = match.group().rstrip(".,;:!?")
            if host_of(address) in hosts:
                found.add(address)
    return frozenset(found)


def host_of(url: str) -> str:
    """Return the host of an address in lower case, "" when it has none or is malformed."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _span(noun: str, first: int, last: int) -> str:
    return f"{noun}s {first}-{last}" if last > first else f"{noun} {first}"


def _text_directive(passage: str) -> str:
    """Return ``:~:text=start,end`` for a passage, from the words of its first and its last paragraph."""
    lines = [line for line in (_plain(raw) for raw in passage.splitlines()) if line]
    if not lines:
        return ""
    start, end = _edge(lines[0], first=True), _edge(lines[-1], first=False)
    if len(lines) == 1 and len(start) + len(end) >= len(lines[0]):
        return f":~:text={_escape(lines[0])}"
    return f":~:text={_escape(start)},{_escape(end)}"


def _plain(line: str) -> str:
    return " ".join(_INLINE_MARKUP.sub(r"\1", _BLOCK_MARKUP.sub("", line)).split())


def _edge(line: str, *, first: bool) -> str:
    words = line.split()
    if len(words) > _TEXT_FRAGMENT_WORDS:
        return " ".join(words[:_TEXT_FRAGMENT_WORDS] if first else words[-_TEXT_FRAGMENT_WORDS:])
    if len(line) > 4 * _TEXT_FRAGMENT_CHARACTERS:
        return line[:_TEXT_FRAGMENT_CHARACTERS] if first else line[-_TEXT_FRAGMENT_CHARACTERS:]
    return line


def _escape(text: str) -> str:
    # "-", "," and "&" are syntax in a text directive and must be percent-encoded too.
    return quote(text, safe="").replace("-", "%2D")
