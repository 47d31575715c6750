"""The one way from a question to an answer: rewrite, search, write, cite."""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol, runtime_checkable

from ragcore.answer.chatting import chatted
from ragcore.answer.finishing import read_or_cited, shown
from ragcore.answer.fixed import fixed, reason_of, says_something
from ragcore.answer.options import AnswerOptions
from ragcore.answer.related import related
from ragcore.answer.small_talk import is_signs_alone, small_talk_language
from ragcore.answer.stages import Stages
from ragcore.answer.writing import NOTHING_BESIDE, Beside, Draft, ExtractiveWriter, ModelWriter, under_nearest
from ragcore.citations import markers
from ragcore.citations.cite import CitedText, cite
from ragcore.citations.languages import asked_in
from ragcore.citations.scoring import CitationPolicy
from ragcore.context import default_budget, fit_prompt
from ragcore.context.blocks import block
from ragcore.errors import (
    ContextTooSmall,
    ModelBadOutput,
    ModelError,
)
from ragcore.extractive import ExtractOptions
from ragcore.links import allowed_urls
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import ChatModel
from ragcore.on_web import is_web
from ragcore.phrases import Phrase, phrase
from ragcore.refine.apart import with_asking
from ragcore.refine.long import LONGEST, in_brief
from ragcore.refine.refining import Refiner, Steps
from ragcore.retrieval.summaries import opened
from ragcore.tokens import Tokenizer
from ragcore.trace import degraded
from ragcore.types import Answer, AnswerEvent, Citation, Delta, Message, Question, ScoredChunk, Status, Support, Usage

log = logging.getLogger(__name__)

_GOES_ON = frozenset({Support.CITED, Support.NEAREST})
"""After these, questions to go on with are offered: what the documents don't bear out leads nowhere."""


class Found(Protocol):
    """What a search gave: the chunks that passed the gate, best first."""

    @property
    def chunks(self) -> tuple[ScoredChunk, ...]:
        """Return the chunks for the prompt."""
        ...

    @property
    def near(self) -> tuple[ScoredChunk, ...]:
        """Return, where none passed, the chunks that came near to the gate."""
        ...

    @property
    def notes(self) -> tuple[Phrase, ...]:
        """Return what the reader should be told, such as that an index is being rebuilt."""
        ...

    @property
    def usage(self) -> Usage:
        """Return what a model took that put the chunks in order."""
        ...


class Searcher(Protocol):
    """Finds the chunks for a question."""

    async def retrieve(self, question: Question) -> Found:
        """Return the relevant chunks, none when nothing is relevant."""
        ...


@runtime_checkable
class Ahead(Protocol):
    """A searcher that asks a model before it searches, and can do so while something else is done to the question."""

    async def ahead(self, question: Question, seconds: float) -> tuple[Searcher, Usage]:
        """Return what searches by what the model said within so many seconds, and what that took."""
        ...


class Answerer:
    """Answers questions; safe to share between conversations."""

    def __init__(
        self,
        *,
        retriever: Searcher,
        embedder: Embedder | None,
        tokenizer: Tokenizer,
        chat_model: ChatModel | None = None,
        options: AnswerOptions = AnswerOptions(),
        refiner: Refiner | None = None,
        beside: Beside = NOTHING_BESIDE,
    ) -> None:
        """Compose; without a chat model the answers quote the documents, without a refiner all is searched as asked.

        ``beside`` is what these answers have more.
        """
        self._refiner = refiner
        self._beside = beside
        self._retriever = retriever
        self._embedder = embedder
        self._options = options
        self._model = chat_model
        self._tokenizer = tokenizer
        self._extractive = ExtractiveWriter(embedder, ExtractOptions(known_languages=options.known_languages))
        self._writer = ModelWriter(chat_model, tokenizer, options, rules=beside.rules) if chat_model else None
        chats = chat_model if options.plain_chat else None
        self._chatter = ModelWriter(chats, tokenizer, options, without_documents=True) if chats else None

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Yield Status and Delta as the work goes on, and end in exactly one Answer.

        Raises:
            StoreError: If neither index could be searched.
        """
        stages = Stages()
        language = self._options.language or asked_in(question.text)
        if (talk := small_talk_language(question.text)) or is_signs_alone(question.text):
            words = phrase("small_talk", self._options.language or talk or language)
            yield fixed(question, words, Support.EXEMPT, stages)
            return
        if self._chatter is not None and not question.knowledge_bases:
            async with aclosing(
                chatted(self._chatter, question, language, stages, empty=self._empty(language))
            ) as events:
                async for event in events:
                    yield event
            return
        question = await asyncio.to_thread(in_brief, question)
        searcher, refining, within = self._retriever, Usage(), Within(self._refiner)
        if self._refiner is not None and (steps := await self._refiner.steps(question)):
            yield Status(stage="rewrite")
            with stages.stage("rewrite"):
                question, searcher, refining = await self._refined(self._refiner, question, steps, within)
        question = await asyncio.to_thread(with_asking, question)
        yield Status(stage="search")
        with stages.stage("search"):
            found, chunks, searching = await self._searched(question, searcher, within)
            searching += refining
            others = tuple(one for one in found.near if one not in chunks)
        if not chunks:
            yield replace(self._nothing_found(question, language, found, stages), usage=searching)
            return
        yield Status(stage="write", detail=str(len(chunks)))
        draft = Draft(text="", chunks=chunks)
        with stages.stage("write"):
            async with aclosing(self._write(question, chunks, others, language)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Draft):
                        draft = piece
                    else:
                        stages.first("first_words")
                        yield piece
        draft = replace(draft, usage=searching + draft.usage)
        if not draft.text.strip():
            # Why the model did not look for itself belongs to it; that sentences are quoted does not.
            told = [
                note for note in draft.notes if note not in (phrase("no_model", language), phrase("quoted", language))
            ]
            nothing = self._nothing_found(question, language, found, stages)
            yield replace(nothing, notes=(*told, *nothing.notes), usage=draft.usage)
            return
        if closing := self._beside.closing(draft):
            yield Delta(text=f"\n\n{closing}")
            draft = replace(draft, text=f"{draft.text.rstrip()}\n\n{closing}")
        yield Status(stage="cite")
        with stages.stage("cite"):
            draft = await self._with_citation_pass(draft)
            cited = await self._cite(draft.text, draft, question.text)
            backing = await self._backing(draft, cited, question.text, language)
        if backing is not None:
            yield Delta(text=f"\n\n{backing.text}")
        notes = (*draft.notes, *_notes(found, language), *_of_length(question, language))
        draft = replace(draft, notes=tuple(dict.fromkeys(notes)))
        yield self._finish(question, draft, cited, backing, language, stages)

    async def _refined(
        self, refiner: Refiner, question: Question, steps: Steps, within: "Within"
    ) -> tuple[Question, Searcher, Usage]:
        """Put the question in other words, and beside that let the search ask what needs none of them.

        Of a question that leans on the conversation, the words that stand alone tell more than its own: by them the
        search asks afterwards, in the time that is left.
        """
        if steps.leans or not isinstance(self._retriever, Ahead):
            refined = await refiner.refine(question, steps)
            return refined.question, self._retriever, refined.usage
        refining = asyncio.create_task(refiner.refine(question, steps))
        try:
            searcher, spent = await self._retriever.ahead(question, within.left)
            refined = await refining
        finally:
            refining.cancel()
            await asyncio.gather(refining, return_exceptions=True)  # nothing goes on behind a search that failed
        return refined.question, searcher, refined.usage + spent

    async def _searched(
        self, question: Question, searcher: Searcher, within: "Within"
    ) -> tuple[Found, tuple[ScoredChunk, ...], Usage]:
        """Search for the question; if nothing is found, for it and what stands beside it; tell what that took, too.

        What was found on the web stands behind the documents' chunks, and in place of none of them.
        """
        spent = Usage()
        if isinstance(searcher, Ahead):
            searcher, spent = await searcher.ahead(question, within.left)  # once, for both
        for asked in _readings(question):
            found = await searcher.retrieve(asked)
            spent += found.usage
            web = tuple(one for one in found.chunks if is_web(one.chunk.document_id))
            chunks = tuple(one for one in found.chunks if one not in web)
            chunks = chunks or await self._second_look(asked, found.near)
            if chunks:
                break
        return found, (*chunks, *web), spent

    async def _second_look(self, question: Question, near: tuple[ScoredChunk, ...]) -> tuple[ScoredChunk, ...]:
        """Return the chunks that came near to the gate if they say what is asked, or nearly, in words of their own."""
        return near if near and await self._extractive.speaks(question, near) else ()

    async def _write(
        self, question: Question, chunks: tuple[ScoredChunk, ...], others: tuple[ScoredChunk, ...], language: str
    ) -> AsyncGenerator[Delta | Draft]:
        """Write by the model, or quote when there is none or it fails before its first word, or has none.

        ``others`` came near to the gate: whoever quotes may find the very sentence there.
        """
        notes: tuple[str, ...] = (phrase("no_model", language),)
        spent, thoughts = Usage(), ""
        if self._writer is not None:
            try:
                async with aclosing(self._writer.write(question, chunks, language)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Delta):
                            yield piece
                            continue
                        spent += piece.usage
                        if isinstance(piece, Draft) and not says_something(piece):
                            thoughts = piece.reasoning
                            raise ModelBadOutput("no word but thoughts: is llm.max_tokens too low?", raw=piece.text)
                        if isinstance(piece, Draft):
                            yield replace(piece, usage=spent)
                return
            except (ModelError, ContextTooSmall) as error:
                log.warning("quoting the documents instead: %s: %s", type(error).__name__, error)
                degraded(f"the documents were quoted instead: {type(error).__name__}")
                notes = (reason_of(error, language), phrase("quoted", language))
        if quoted := self._beside.quoted(chunks):
            yield Delta(text=quoted)
            yield Draft(text=quoted, chunks=chunks, notes=notes, usage=spent, reasoning=thoughts)
            return
        async for piece in self._extractive.write(question, (*chunks, *others), language):
            if isinstance(piece, Draft):
                if not piece.text and (near := self._beside.nearest(piece.chunks)):
                    yield Delta(text=under_nearest(near, language))
                    piece = replace(piece, text=near, nearest=True)  # noqa: PLW2901
                yield replace(piece, notes=notes, usage=spent, reasoning=thoughts)
            else:
                yield piece

    async def _with_citation_pass(self, draft: Draft) -> Draft:
        """Let the model add citations to a bare answer; a text that differs in anything else is dropped."""
        wanted = self._options.citation_plus and self._options.quote and self._model is not None
        if not wanted or self._model is None or markers.find(markers.repair(draft.text, len(draft.chunks))):
            return draft
        try:
            text, usage = await self._model.complete(self._citation_prompt(self._model, draft), task="cite")
        except (ModelError, ContextTooSmall) as error:
            log.warning("no citation pass: %s: %s", type(error).__name__, error)
            degraded(f"no citation pass: {type(error).__name__}")
            asked = Usage(calls=int(isinstance(error, ModelError)))
            return replace(draft, usage=draft.usage + asked)
        marked, finished = (markers.repair(one, len(draft.chunks)).strip() for one in (text, draft.text))
        same = markers.strip(marked) == markers.strip(finished)
        return replace(draft, text=marked if same else draft.text, usage=draft.usage + usage)

    def _citation_prompt(self, model: ChatModel, draft: Draft) -> tuple[Message, ...]:
        reserve = 2 * self._tokenizer.count(draft.text)
        fitted = fit_prompt(
            [
                Message(role="system", text=self._options.prompts.render("citation_plus")),
                Message(role="user", text=draft.text),
            ],
            default_budget(model.context_window),
            knowledge=[block(index, scored.chunk) for index, scored in enumerate(draft.chunks)],
            reserve=reserve,
            tokenizer=self._tokenizer,
        )
        return fitted.messages

    async def _cite(self, text: str, draft: Draft, question: str) -> CitedText:
        return await cite(
            text,
            [scored.chunk for scored in draft.chunks],
            self._embedder,
            question=question,
            unfinished=draft.unfinished,
            leaves=[[leaf.chunk for leaf in scored.leaves] for scored in draft.chunks],
            policy=CitationPolicy(known_languages=self._options.known_languages),
        )

    async def _backing(self, draft: Draft, cited: CitedText, question: str, language: str) -> CitedText | None:
        """Return what was found, quoted, where nothing of it bears out what was written; None where that is cited."""
        if cited.support is Support.CITED or draft.nearest:
            return None
        direct = self._beside.quoted(draft.chunks)
        quoted = direct or self._beside.nearest(draft.chunks)
        backing = await self._cite(quoted, draft, question) if quoted else None
        if backing is None or backing.support is not Support.CITED:
            return None
        # Set above the quotes only now, so that the sentence is never given a citation.
        above = f"{phrase('quoted', language)}\n\n{backing.text}" if direct else under_nearest(backing.text, language)
        return replace(backing, text=above)

    def _finish(
        self,
        question: Question,
        draft: Draft,
        cited: CitedText,
        backing: CitedText | None,
        language: str,
        stages: Stages,
    ) -> Answer:
        text, citations, support = shown(draft, cited, backing, self._options, language)
        return Answer(
            question=question.text,
            raw_text=text,
            support=support,
            citations=citations,
            chunks=read_or_cited(draft, backing or cited),
            notes=draft.notes,
            reasoning=draft.reasoning,
            usage=draft.usage,
            timings_ms=stages.milliseconds(),
            allowed_urls=allowed_urls((scored.chunk for scored in opened(draft.chunks)), self._options.hosts),
            related=self._related(question, draft, citations) if support in _GOES_ON else (),
        )

    def _related(self, question: Question, draft: Draft, citations: Sequence[Citation]) -> tuple[str, ...]:
        cited = {citation.chunk_id for citation in citations}
        return related(question, draft.chunks, cited, most=self._options.related_questions)

    def _nothing_found(self, question: Question, language: str, found: Found, stages: Stages) -> Answer:
        nothing = fixed(question, self._empty(language), Support.ABSTAINED, stages)
        return replace(nothing, notes=(*_notes(found, language), *_of_length(question, language)))

    def _empty(self, language: str) -> str:
        return self._options.empty_response or phrase("empty_response", language)


class Within:
    """The one time of all that is done to a question before its search, from now on."""

    def __init__(self, refiner: Refiner | None) -> None:
        """Start the clock; without a refiner each step has its own time alone."""
        self._now = asyncio.get_running_loop().time
        self._until = self._now() + (refiner.seconds if refiner else math.inf)

    @property
    def left(self) -> float:
        """Return the seconds that are left, 0 at least."""
        return max(0.0, self._until - self._now())


def _readings(question: Question) -> tuple[Question, ...]:
    """Return the question, and then, if something stands beside it, with that as its own words."""
    if not question.beside:
        return (question,)
    with_it = replace(question, text=f"{question.text}\n{question.beside}")
    if question.wordings:
        with_it = replace(with_it, wordings=(f"{question.asked}\n{question.beside}", *question.wordings[1:]))
    return question, with_it


def _of_length(question: Question, language: str) -> tuple[str, ...]:
    """Return the note that a question was too long to be searched for as it stands, where it was."""
    return (phrase("question_long", language),) if len(question.text) > LONGEST else ()


def _notes(found: Found, language: str) -> tuple[str, ...]:
    return tuple(phrase(key, language) for key in found.notes)
