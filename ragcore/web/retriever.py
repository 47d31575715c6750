"""Searches the web beside the documents, and puts what is relevant there behind what they say, or alone.

Out goes what the asker typed, and nothing else (``ragcore.web.outgoing``): no word of documents, of answers, of others,
of what stands beside the question or of a model. Both searches run side by side; the web's has a time of its own,
after which the answer goes on without it and says so. Nothing of it is tried twice within a question.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from ragcore.errors import ParseError, SourceError, SourceUnreachable
from ragcore.phrases import Phrase
from ragcore.retrieval.retriever import Retrieved, Retrieving
from ragcore.tokens import Tokenizer
from ragcore.trace import WebPage as PageTold
from ragcore.trace import WebSearched, current, degraded, step
from ragcore.types import Chunk, Question, ScoredChunk, Usage
from ragcore.web.http import OpenPages, PageHttp
from ragcore.web.judging import PassageJudge
from ragcore.web.outgoing import outgoing, own_words
from ragcore.web.pages import WebPage, WebSearch, is_inside, searchable
from ragcore.web.reading import PageReader, snippet

log = logging.getLogger(__name__)

LEG = "web"
"""Under this name the ranks of a chunk tell that the web gave it."""
PAGES = 4
"""Pages that are read; of the others found stands what the engine says of them."""
JUDGING_SECONDS = 1.0
"""Of the time, what is kept for judging what was read: pages that are not there by then are left unread."""


WORDS_SECONDS = 0.3
"""Of that, what is kept for judging by words alone, where embedding is late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """How the web is searched: ``results`` passages are added at most, within ``seconds``.

    ``inside``: the operator opened networks of their own, so what an engine says of a page in there may be quoted.
    """

    results: int = 3
    seconds: float = 4.0
    inside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WebParts:
    """What searches and reads; safe to share between conversations."""

    search: WebSearch
    open_pages: OpenPages
    reader: PageReader
    judge: PassageJudge
    tokenizer: Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What a page gave, or why nothing."""

    passages: tuple[Chunk, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnWeb:
    chunks: tuple[ScoredChunk, ...] = ()
    notes: tuple[Phrase, ...] = ()


class WebPassages:
    """Finds passages of the web, within a time of its own; safe to share."""

    def __init__(self, parts: WebParts, options: WebOptions = WebOptions()) -> None:
        """Search with these parts; of the options all but the number counts."""
        self._parts = parts
        self._inside = options.inside
        self._seconds = options.seconds

    async def search(self, query: str, count: int) -> tuple[ScoredChunk, ...]:
        """Return at most so many passages that are relevant to a query, best first; nothing else of anyone's goes out.

        Raises:
            SourceError: The engine failed, or nothing was there in time.
        """
        took, failure = _Took(), "it was broken off"
        try:
            with step("web"):
                chunks = await self._searched(query, count, took)
            failure = ""
        except SourceError as error:
            failure = str(error)
            raise
        finally:
            if (recorder := current()) is not None:
                recorder.searched_web(took.told(query, self._parts.search.name, failure))
        return chunks

    async def _searched(self, query: str, count: int, took: "_Took") -> tuple[ScoredChunk, ...]:
        parts = self._parts
        until = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(until):
                took.pages = await parts.search.search(query, count + PAGES)
                passages = await self._passages(took, until - JUDGING_SECONDS)
                left = until - asyncio.get_running_loop().time()
                chunks = await parts.judge.relevant(query, passages, count, seconds=left - WORDS_SECONDS)
        except TimeoutError:
            raise SourceUnreachable(f"{parts.search.name} gave nothing within {self._seconds:g} s") from None
        took.chunks = tuple(replace(one, ranks={LEG: place}) for place, one in enumerate(chunks, start=1))
        return took.chunks

    async def _passages(self, took: "_Took", until: float) -> list[Chunk]:
        """Read the first pages side by side; where one can't be read in time, what the engine says of it must do."""
        pages = took.pages
        async with self._parts.open_pages() as http:
            reading = [asyncio.create_task(self._read(http, page)) for page in pages[:PAGES]]
            try:
                left = until - asyncio.get_running_loop().time()
                if reading:
                    await asyncio.wait(reading, timeout=max(0.0, left))
            finally:
                for task in reading:
                    task.cancel()
                await asyncio.gather(*reading, return_exceptions=True)
        took.read = [_Read(why="late") if one.cancelled() else one.result() for one in reading]
        took.read += [_Read(why=f"only the first {PAGES} are read")] * (len(pages) - len(reading))
        passages: list[Chunk] = []
        for page, read in zip(pages, took.read, strict=True):
            # What may not be read is not quoted either, nor linked to.
            quoted = not read.passages and (self._inside or not is_inside(page.url))
            said = snippet(page, self._parts.tokenizer) if quoted else None
            passages += read.passages or ([said] if said else [])
        return list({chunk.id: chunk for chunk in passages}.values())

    async def _read(self, http: PageHttp, page: WebPage) -> _Read:
        try:
            passages = await self._parts.reader.read(http, page)
        except (SourceError, ParseError, OSError) as error:
            log.info("a page of the web was not read: %s", error)
            return _Read(why=str(error))
        return _Read(passages=passages, why="" if passages else "there is no text in it")


@dataclass(slots=True)
class _Took:
    """What a search of the web came to, also where it failed."""

    pages: Sequence[WebPage] = ()
    read: list[_Read] = field(default_factory=list)
    chunks: tuple[ScoredChunk, ...] = ()

    def told(self, query: str, engine: str, failure: str) -> WebSearched:
        """Return what a trace tells of it."""
        read = self.read or [_Read(why="late")] * len(self.pages)
        pages: list[PageTold] = []
        for page, one in zip(self.pages, read, strict=True):
            places = {page.url, *(passage.url for passage in one.passages)}  # what it was led on to
            scores = [scored.score for scored in self.chunks if scored.chunk.url in places]
            score = max(scores, default=0.0)
            pages.append(PageTold(url=page.url, title=page.title, unread=one.why, given=len(scores), score=score))
        return WebSearched(query=searchable(query), engine=engine, pages=tuple(pages), failure=failure)


@runtime_checkable
class _Ahead(Protocol):
    """What asks a model before it searches; see ``Answerer``."""

    async def ahead(self, question: Question, seconds: float) -> tuple[Retrieving, Usage]: ...


class WebRetriever:
    """A retriever that adds passages of the web. It is for one question: it remembers what that was answered with."""

    def __init__(self, retriever: Retrieving, parts: WebParts, options: WebOptions = WebOptions()) -> None:
        """Wrap what searches the documents."""
        self._retriever = retriever
        self._parts = parts
        self._options = options
        self._web = WebPassages(parts, options)
        self._known: dict[str, _OnWeb] = {}

    async def ahead(self, question: Question, seconds: float) -> tuple["WebRetriever", Usage]:
        """Let the documents' search ask what it asks before it searches, within so many seconds."""
        if not isinstance(self._retriever, _Ahead):
            return self, Usage()
        retriever, spent = await self._retriever.ahead(question, seconds)
        return WebRetriever(retriever, self._parts, self._options), spent

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks, and after them those of the web; see ``Retriever.retrieve``.

        A question to certain documents, or to no knowledge base at all, is not the web's.
        """
        if not own_words(question) or question.document_ids or not question.knowledge_bases:
            return await self._retriever.retrieve(question)
        query = await asyncio.to_thread(outgoing, question)
        looking = asyncio.create_task(self._looked_up(query))
        try:
            found = await self._retriever.retrieve(question)
            web = await looking
        finally:
            # Also where the documents could not be searched, or nobody waits any more.
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        known = {one.chunk.url for one in found.chunks}  # a site may be a source, too
        added = tuple(one for one in web.chunks if one.chunk.url not in known)
        return replace(found, chunks=(*found.chunks, *added), notes=(*found.notes, *web.notes))

    async def _looked_up(self, query: str) -> _OnWeb:
        """Search once for the same words: a question may be asked again with what stands beside it."""
        if query not in self._known:
            self._known[query] = await self._on_web(query)
        return self._known[query]

    async def _on_web(self, query: str) -> _OnWeb:
        try:
            chunks = await self._web.search(query, self._options.results)
        except SourceError as error:
            log.warning("answering without the web: %s", error)
            degraded("answered without the web: the search failed")
            return _OnWeb(notes=("web_unavailable",))
        return _OnWeb(chunks=chunks)
