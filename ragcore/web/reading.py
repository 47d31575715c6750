"""Reads a page of the web into passages that can be cited: bounded in bytes, seconds, redirects; public addresses only.

Which addresses may be connected to is the client's to judge, at the moment of connecting, so that neither a redirect
nor a name that changes its address leads inside. What a page says is material like any document: it is parsed as they
are, always in a process of its own, since it may have been written to crash or hang a parser; and no address in its
text becomes a link.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from ragcore.chunking import ChunkOptions, Piece, chunk_sections
from ragcore.citations.unmarked import unmarked
from ragcore.errors import ParseError, SourceBadReply
from ragcore.links import host_of
from ragcore.on_web import WEB
from ragcore.parsing.media import Media
from ragcore.parsing.options import ParseOptions
from ragcore.parsing.worker import ParseWorker, Part
from ragcore.stores.rows import storable
from ragcore.tokens import Tokenizer
from ragcore.types import Chunk, ParsedDocument, Section
from ragcore.web.http import PageHttp, Reply
from ragcore.web.pages import LONGEST_TITLE, WebPage, is_linkable

TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/pdf"})
"""The media types that are read."""
_READ = frozenset(
    {Media.HTML, Media.PDF, Media.TEXT, Media.MARKDOWN, Media.RST, Media.CODE, Media.CSV, Media.TSV, Media.JSON}
)
"""What their content may turn out to be: a table or a program is plain text, and an archive is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingLimits:
    """How much of a page is read.

    ``bytes`` of its content are taken: of a text that is longer the beginning is read, a longer PDF is not. ``seconds``
    is how long parsing may take without getting on, ``redirects`` how many are followed, ``characters`` of text are cut
    into passages of ``tokens``, and ``passages`` of them are kept. ``memory`` is how many bytes the process that parses
    may take: seven kilobytes of a PDF can unpack to gigabytes.
    """

    bytes: int = 3_000_000
    seconds: float = 2.5
    redirects: int = 4
    characters: int = 60_000
    tokens: int = 200
    passages: int = 40
    memory: int = 1_000_000_000


_LIMITS = ReadingLimits()
_START_SECONDS = 60.0
"""How long the process may take to start, when nobody waits for it."""
_HEADERS = {"Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.8"}


class PageReader:
    """Reads pages; safe to share between conversations. ``close`` ends its process."""

    def __init__(self, tokenizer: Tokenizer, limits: ReadingLimits = _LIMITS) -> None:
        """Start nothing yet."""
        self._tokenizer = tokenizer
        self._limits = limits
        self._worker = ParseWorker(memory=limits.memory)
        self._warming: asyncio.Task[None] | None = None
        self._is_closed = False

    async def warm(self) -> None:
        """Start the process that parses, so that no page has to wait for it: that takes half a second."""
        steps = self._worker.parse(
            b"-", name="", media_type="text/plain", options=ParseOptions(), seconds=_START_SECONDS, only=_READ
        )
        with contextlib.suppress(ParseError, OSError):
            async with aclosing(steps):
                async for _ in steps:
                    pass

    async def close(self) -> None:
        """End the process that parses."""
        self._is_closed = True
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        await self._worker.close()

    async def read(self, http: PageHttp, page: WebPage) -> tuple[Chunk, ...]:
        """Return the page's passages, in its order.

        Raises:
            SourceError: One of its kinds: it can't be reached or may not be, or answers with something else.
            ParseError: What it holds can't be read; EmptyDocument if that is nothing.
            OSError: No process could be started to read it.
        """
        limits = self._limits
        reply = await http.get(
            page.url,
            limit=limits.bytes,
            headers=_HEADERS,
            wanted=lambda head: head.media_type in TYPES,
            redirects=limits.redirects,
            is_cut=True,
        )
        if reply.media_type not in TYPES:
            raise SourceBadReply(f"a page of {host_of(page.url)} is no text, but {reply.media_type[:80] or 'nothing'}")
        if not is_linkable(reply.url):
            raise SourceBadReply(f"a page of {host_of(page.url)} leads to an address that no link can carry")
        parsed = await self._parsed(reply)
        pieces = await asyncio.to_thread(self._cut, parsed.sections)
        title = storable(parsed.title if parsed.titled else page.title or parsed.title)
        return tuple(
            replace(
                _passage(replace(page, url=reply.url, title=title), ordinal, piece.text, piece.token_count),
                media_type=parsed.media_type,
                kind=piece.kind,
                heading_path=piece.heading_path,
                location=piece.location,
                overlap=piece.overlap,
                updated_at=page.published_at or parsed.updated_at,
            )
            for ordinal, piece in enumerate(pieces)
        )

    async def _parsed(self, reply: Reply) -> ParsedDocument:
        """Parse what the address answered with, if it is what it claims to be."""
        options = ParseOptions(max_bytes=self._limits.bytes, ocr=False)
        name = unquote(urlsplit(reply.url).path.rpartition("/")[2])[:200]
        claimed = f"{reply.media_type}; charset={reply.charset}" if reply.charset else reply.media_type
        parsed: ParsedDocument | None = None
        sections: list[Section] = []
        room = self._limits.characters
        parsing = self._worker.parse(
            reply.content, name=name, media_type=claimed, options=options, seconds=self._limits.seconds, only=_READ
        )
        try:
            async with aclosing(parsing) as steps:
                async for step in steps:
                    if isinstance(step, ParsedDocument):
                        parsed = step
                    elif isinstance(step, Part) and room > 0:  # a small PDF may unpack to any length
                        sections += step.sections
                        room -= sum(len(section.text) for section in step.sections)
        finally:
            if not self._worker.runs:
                self._start_again()
        assert parsed is not None
        return replace(parsed, sections=tuple(sections))

    def _start_again(self) -> None:
        """Let the next page find a process that runs: that of one which is late or hangs is ended."""
        if not self._is_closed and (self._warming is None or self._warming.done()):
            self._warming = asyncio.create_task(self.warm())

    def _cut(self, sections: Sequence[Section]) -> list[Piece]:
        """Cut the first sections into passages. Blocks."""
        kept: list[Section] = []
        room = self._limits.characters
        for section in sections:
            text = unmarked(storable(section.text)[:room])
            if text.strip():
                path = tuple(map(storable, section.heading_path))
                header = unmarked(storable(section.header))
                header = header if text.startswith(header) else ""
                kept.append(replace(section, text=text, heading_path=path, header=header, lines=()))
            room -= len(section.text)
            if room <= 0:
                break
        options = ChunkOptions(chunk_tokens=self._limits.tokens)
        return chunk_sections(kept, options, self._tokenizer)[: self._limits.passages]


def snippet(page: WebPage, tokenizer: Tokenizer) -> Chunk | None:
    """Return what the engine said of a page as a passage of it, None where it said nothing."""
    text = unmarked(page.text)
    return _passage(page, 0, text, tokenizer.count(text)) if text.strip() else None


def _passage(page: WebPage, ordinal: int, text: str, tokens: int) -> Chunk:
    return Chunk(
        id=f"web{hashlib.sha256(page.url.encode()).hexdigest()[:24]}-{ordinal}",
        document_id=f"{WEB}:{page.url}",
        knowledge_base=WEB,
        ordinal=ordinal,
        text=text,
        title=(page.title or host_of(page.url))[:LONGEST_TITLE],
        token_count=tokens,
        url=page.url,
        updated_at=page.published_at,
    )
