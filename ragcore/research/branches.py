"""One branch of a research: what a sub-question finds in the documents and on the web, or what a tool was asked for."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Protocol

from ragcore.answer.pipeline import Found, Searcher
from ragcore.errors import CitebotError
from ragcore.research.asking import Reply
from ragcore.research.findings import Noting
from ragcore.research.gathered import Gathered
from ragcore.research.meter import Meter
from ragcore.research.tools.calls import Call, Tool, call_of
from ragcore.research.tools.documents import Documents
from ragcore.research.values import Finding, Outcome, Step
from ragcore.types import Question, ScoredChunk, Usage

log = logging.getLogger(__name__)

WEB_RESULTS = 5
WITHOUT_WEB = "the web could not be searched"
_OF_DOCUMENTS = frozenset({Tool.READ, Tool.LIST})


class WebSearch(Protocol):
    """Searches the web."""

    async def search(self, query: str, count: int) -> Sequence[ScoredChunk]:
        """Return at most so many passages of pages, best first; raise CitebotError."""
        ...


class Branches:
    """Makes the branches of one research; a failure is a step of its own."""

    def __init__(
        self,
        *,
        searcher: Searcher,
        noting: Noting,
        meter: Meter,
        web: WebSearch | None = None,
        documents: Documents | None = None,
    ) -> None:
        """Compose.

        Args:
            searcher: Searches the documents.
            noting: Makes findings of what is found.
            meter: Counts what searches take.
            web: Is searched too, with what was planned before a document was read: none of them leaks.
            documents: Gives out what a model asks its tools for; None: what is asked are questions alone.
        """
        self._searcher = searcher
        self._noting = noting
        self._meter = meter
        self._web = web
        self._documents = documents

    async def step(self, question: Question, begun: Step, gathered: Gathered) -> Step:
        """Search for one sub-question and note what was found; a failure is a step of its own."""
        asked = begun.asked
        own = asked == question.text
        calls = self._documents is not None and not own
        call = call_of(asked) if calls else Call(tool=Tool.SEARCH, what=asked)
        if self._documents is not None and call.tool in _OF_DOCUMENTS:
            return await self._of_documents(self._documents, question, begun, call)
        may_leave = own or (begun.round == 1 and not question.history and (not calls or call.tool is Tool.WEB))
        on_web = self._in_web(call.what, gathered, may_leave)
        found: Found | CitebotError | None = None
        if call.tool is Tool.WEB:
            passages, lacking = await on_web
        else:
            sought = question if own else replace(question, text=asked, history=(), beside="")
            found, (passages, lacking) = await _both(self._in_documents(sought, gathered), on_web)
        if isinstance(found, CitebotError) and not passages:
            return replace(begun, outcome=Outcome.FAILED, reason=found.user_message)
        chunks, near, usage = tuple(passages), tuple[ScoredChunk, ...](), Usage()
        if isinstance(found, CitebotError):
            lacking = found.user_message
        elif found is not None:
            chunks, near, usage = (*found.chunks, *passages), found.near, found.usage
            self._meter.count(usage)
            gathered.notes |= dict.fromkeys(found.notes)
        finding, reply = await self._noting.note(call.what, chunks, near)
        return replace(
            begun,
            outcome=Outcome.DONE if finding.chunks else Outcome.NOTHING,
            reason=lacking or reply.reason,
            finding=replace(finding, question=asked),
            usage=usage + reply.usage,
        )

    async def _in_documents(self, question: Question, gathered: Gathered) -> Found | CitebotError:
        try:
            return await self._searcher.retrieve(question)
        except CitebotError as error:
            gathered.error = gathered.error or error
            return error

    async def _in_web(self, asked: str, gathered: Gathered, may_leave: bool) -> tuple[Sequence[ScoredChunk], str]:
        """Return what the web has to say, or why it says nothing; what holds words of documents is not sent there."""
        if self._web is None or not may_leave:
            return (), ""
        try:
            return (await self._web.search(asked, WEB_RESULTS))[:WEB_RESULTS], ""
        except CitebotError as error:
            log.warning("researching without the web: %s", error)
            gathered.notes["web_unavailable"] = None
            return (), WITHOUT_WEB

    async def _of_documents(self, documents: Documents, question: Question, begun: Step, call: Call) -> Step:
        """Read a document, or list some: of those that are listed nothing is noted yet."""
        given = documents.read if call.tool is Tool.READ else documents.listed
        try:
            chunks = tuple(await given(question, call.what))
        except CitebotError as error:
            return replace(begun, outcome=Outcome.FAILED, reason=error.user_message)
        finding, reply = Finding(question=begun.asked, chunks=chunks), Reply()
        if chunks and call.tool is Tool.READ:
            finding, reply = await self._noting.note(question.text, chunks)
            finding = replace(finding, question=begun.asked)
        outcome = Outcome.DONE if chunks else Outcome.NOTHING
        return replace(begun, outcome=outcome, reason=reply.reason, finding=finding, usage=reply.usage)


async def _both(
    one: Awaitable[Found | CitebotError], other: Awaitable[tuple[Sequence[ScoredChunk], str]]
) -> tuple[Found | CitebotError, tuple[Sequence[ScoredChunk], str]]:
    """Return both, worked out side by side; neither goes on when this is cancelled."""
    first, second = asyncio.ensure_future(one), asyncio.ensure_future(other)
    try:
        return await first, await second
    finally:
        for task in (first, second):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
