"""One branch of a research: what a sub-question finds in the documents and on the web, or what a tool was asked for."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Protocol

from ragcore.answer.pipeline import Found, Searcher
from ragcore.errors import CitebotError
from ragcore.refine.apart import with_asking
from ragcore.refine.long import in_brief
from ragcore.research.asking import OUT_OF_TIME, Reply
from ragcore.research.findings import Noting
from ragcore.research.gathered import Gathered
from ragcore.research.meter import Meter
from ragcore.research.tools.calls import Call, Tool, call_of
from ragcore.research.tools.documents import Documents
from ragcore.research.values import Finding, Outcome, Step
from ragcore.research.wording import Wordings
from ragcore.retrieval.summaries import opened
from ragcore.types import Question, ScoredChunk, Usage
from ragcore.web.outgoing import outgoing

log = logging.getLogger(__name__)

WEB_RESULTS = 5
WITHOUT_WEB = "the web could not be searched"
_OF_DOCUMENTS = frozenset({Tool.READ, Tool.LIST})
_Sought = tuple[Question, Found | CitebotError, Usage]


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
        wordings: Wordings,
        web: WebSearch | None = None,
        documents: Documents | None = None,
    ) -> None:
        """Compose.

        Args:
            searcher: Searches the documents.
            noting: Makes findings of what is found.
            meter: Counts what searches take.
            wordings: Tells what documents are searched by beside the words of a question.
            web: Is searched too, with what was planned before a document was read: none of them leaks.
            documents: Gives out what a model asks its tools for; None: what is asked are questions alone.
        """
        self._searcher = searcher
        self._noting = noting
        self._meter = meter
        self._wordings = wordings
        self._web = web
        self._documents = documents

    def begin(self, question: Question) -> None:
        """Let the question itself be put in the words that it is searched by, while the research is planned."""
        self._wordings.begin(question)

    def expect(self, question: Question, asked: Sequence[str]) -> None:
        """Let what is searched for next be put in other words, all of it at once."""
        parts = [one for one in asked if one != question.text]
        if self._documents is not None:
            parts = [call.what for call in map(call_of, parts) if call.tool is Tool.SEARCH]
        self._wordings.expect(question, parts)

    async def close(self) -> None:
        """Leave nothing running."""
        await self._wordings.close()

    async def step(self, question: Question, begun: Step, gathered: Gathered) -> Step:
        """Search for one sub-question and note what was found; a failure is a step of its own."""
        asked = begun.asked
        own = asked == question.text
        calls = self._documents is not None and not own
        call = call_of(asked) if calls else Call(tool=Tool.SEARCH, what=asked)
        if self._documents is not None and call.tool in _OF_DOCUMENTS:
            return await self._of_documents(self._documents, question, begun, call, gathered)
        may_leave = own or (begun.round == 1 and not question.history and (not calls or call.tool is Tool.WEB))
        leans = own and self._web is not None and bool(question.history)
        words = await asyncio.to_thread(outgoing, question) if leans else call.what
        on_web = self._in_web(words, gathered, may_leave)
        found: Found | CitebotError | None = None
        sought, spent = replace(question, text=call.what), Usage()
        if call.tool is Tool.WEB:
            passages, lacking = await on_web
        else:
            sought = question if own else replace(sought, history=(), beside="")
            (sought, found, spent), (passages, lacking) = await _both(
                self._in_documents(sought, begun, gathered), on_web
            )
            begun = replace(begun, wordings=sought.wordings)
        if isinstance(found, CitebotError) and not passages:
            return replace(begun, outcome=Outcome.FAILED, reason=found.user_message)
        chunks, near, usage = tuple(passages), tuple[ScoredChunk, ...](), spent
        if isinstance(found, CitebotError):
            lacking = found.user_message
        elif found is not None:
            chunks, near, usage = (*found.chunks, *passages), found.near, spent + found.usage
        _stays(begun, chunks, usage, gathered)
        finding, reply = await self._noting.note(sought.asked, chunks, near, sought.searched[1:])
        return replace(
            begun,
            outcome=Outcome.DONE if finding.chunks else Outcome.NOTHING,
            reason=lacking or reply.reason,
            finding=replace(finding, question=asked),
            usage=usage + reply.usage,
        )

    async def late(self, begun: Step, gathered: Gathered) -> Step | None:
        """Return a step that is late with what it had found by then, quoted; None where that is nothing."""
        step = gathered.so_far.get(begun.key)
        return step and replace(step, finding=step.finding and await self._noting.quoted(step.finding, step.wordings))

    async def _in_documents(self, question: Question, begun: Step, gathered: Gathered) -> _Sought:
        """Search the documents, and tell by which words and what these took."""
        wordings, spent = await self._wordings.of(question.text)
        question = replace(question, wordings=wordings)
        question = await asyncio.to_thread(lambda: with_asking(in_brief(question)))
        wordings = question.wordings
        try:
            found = await self._searcher.retrieve(question)
        except CitebotError as error:
            gathered.error = gathered.error or error
            return question, error, spent
        self._meter.count(found.usage)
        gathered.notes |= dict.fromkeys(found.notes)
        _stays(replace(begun, wordings=wordings), found.chunks, spent + found.usage, gathered)
        return question, found, spent

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

    async def _of_documents(
        self, documents: Documents, question: Question, begun: Step, call: Call, gathered: Gathered
    ) -> Step:
        """Read a document, or list some: of those that are listed nothing is noted yet."""
        given = documents.read if call.tool is Tool.READ else documents.listed
        try:
            chunks = tuple(await given(question, call.what))
        except CitebotError as error:
            return replace(begun, outcome=Outcome.FAILED, reason=error.user_message)
        finding, reply = Finding(question=begun.asked, chunks=chunks), Reply()
        _stays(begun, chunks, Usage(), gathered)
        if chunks and call.tool is Tool.READ:
            finding, reply = await self._noting.note(question.text, chunks)
            finding = replace(finding, question=begun.asked)
        outcome = Outcome.DONE if chunks else Outcome.NOTHING
        return replace(begun, outcome=outcome, reason=reply.reason, finding=finding, usage=reply.usage)


def _stays(begun: Step, chunks: Sequence[ScoredChunk], usage: Usage, gathered: Gathered) -> None:
    """Let what was read stay, should the time be over before a note is made of it."""
    if chunks:
        finding = Finding(question=begun.asked, chunks=opened(chunks))
        gathered.so_far[begun.key] = replace(
            begun, outcome=Outcome.DONE, reason=OUT_OF_TIME, finding=finding, usage=usage
        )


async def _both(
    one: Awaitable[_Sought], other: Awaitable[tuple[Sequence[ScoredChunk], str]]
) -> tuple[_Sought, tuple[Sequence[ScoredChunk], str]]:
    """Return both, worked out side by side; neither goes on when this is cancelled."""
    first, second = asyncio.ensure_future(one), asyncio.ensure_future(other)
    try:
        return await first, await second
    finally:
        for task in (first, second):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
