"""The one way from a question to an answer: search, write, cite."""

import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from ragcore.answer.options import AnswerOptions
from ragcore.answer.small_talk import small_talk_language
from ragcore.answer.stages import Stages
from ragcore.answer.writing import Draft, ExtractiveWriter, ModelWriter, under_nearest
from ragcore.citations import markers
from ragcore.citations.cite import CitedText, cite
from ragcore.citations.languages import asked_in
from ragcore.citations.scoring import CitationPolicy
from ragcore.context import default_budget, fit_prompt
from ragcore.context.blocks import block
from ragcore.errors import (
    ContextTooSmall,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.extractive import ExtractOptions
from ragcore.links import allowed_urls
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import ChatModel
from ragcore.phrases import Phrase, phrase
from ragcore.retrieval.summaries import opened
from ragcore.tokens import Tokenizer
from ragcore.types import Answer, AnswerEvent, Delta, Message, Question, ScoredChunk, Status, Support, Usage

log = logging.getLogger(__name__)


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
    ) -> None:
        """Compose; without a chat model the answers quote the documents."""
        self._retriever = retriever
        self._embedder = embedder
        self._options = options
        self._model = chat_model
        self._tokenizer = tokenizer
        self._extractive = ExtractiveWriter(embedder, ExtractOptions(known_languages=options.known_languages))
        self._writer = ModelWriter(chat_model, tokenizer, options) if chat_model else None

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """Yield Status and Delta as the work goes on, and end in exactly one Answer.

        Raises:
            StoreError: If neither index could be searched.
        """
        stages = Stages()
        language = self._options.language or asked_in(question.text)
        if talk := small_talk_language(question.text):
            words = phrase("small_talk", self._options.language or talk)
            yield _fixed(question, words, Support.EXEMPT, stages)
            return
        yield Status(stage="search")
        with stages.stage("search"):
            found, chunks, searching = await self._searched(question)
            others = found.near if found.chunks else ()
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
        yield Status(stage="cite")
        with stages.stage("cite"):
            draft = await self._with_citation_pass(draft)
            cited = await self._cite(draft, question.text)
        draft = replace(draft, notes=(*draft.notes, *_notes(found, language)))
        yield self._finish(question, draft, cited, language, stages)

    async def _searched(self, question: Question) -> tuple[Found, tuple[ScoredChunk, ...], Usage]:
        """Search for the question; if nothing is found, for it and what stands beside it; tell what that took, too."""
        spent = Usage()
        for asked in _readings(question):
            found = await self._retriever.retrieve(asked)
            spent += found.usage
            chunks = found.chunks or await self._second_look(asked, found.near)
            if chunks:
                break
        return found, chunks, spent

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
        spent = Draft(text="", chunks=chunks)
        if self._writer is not None:
            try:
                async with aclosing(self._writer.write(question, chunks, language)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Draft) and not _says_something(piece):
                            spent = piece
                            raise ModelBadOutput("no word but thoughts: is llm.max_tokens too low?", raw=piece.text)
                        yield piece
                return
            except (ModelError, ContextTooSmall) as error:
                log.warning("quoting the documents instead: %s: %s", type(error).__name__, error)
                notes = (_reason(error, language), phrase("quoted", language))
        async for piece in self._extractive.write(question, (*chunks, *others), language):
            if isinstance(piece, Draft):
                yield replace(piece, notes=notes, usage=spent.usage, reasoning=spent.reasoning)
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
            return draft
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

    async def _cite(self, draft: Draft, question: str) -> CitedText:
        return await cite(
            draft.text,
            [scored.chunk for scored in draft.chunks],
            self._embedder,
            question=question,
            unfinished=draft.unfinished,
            leaves=[[leaf.chunk for leaf in scored.leaves] for scored in draft.chunks],
            policy=CitationPolicy(known_languages=self._options.known_languages),
        )

    def _finish(self, question: Question, draft: Draft, cited: CitedText, language: str, stages: Stages) -> Answer:
        text, citations, support = cited.text, cited.citations, cited.support
        if not self._options.quote:
            text, citations = markers.strip(text), ()
        if draft.nearest:
            # Set above the quotes only now, so that the sentence is never given a citation.
            text, support = under_nearest(text, language), Support.NEAREST
        elif cited.support is Support.UNSUPPORTED:
            warning = phrase("unsupported", language)
            withheld = phrase("withheld", language)
            text = f"{warning}\n\n{text}" if self._options.unsupported == "mark" else withheld
        return Answer(
            question=question.text,
            raw_text=text,
            support=support,
            citations=citations,
            chunks=_read_or_cited(draft, cited),
            notes=draft.notes,
            reasoning=draft.reasoning,
            usage=draft.usage,
            timings_ms=stages.milliseconds(),
            allowed_urls=allowed_urls((scored.chunk for scored in opened(draft.chunks)), self._options.hosts),
        )

    def _nothing_found(self, question: Question, language: str, found: Found, stages: Stages) -> Answer:
        text = self._options.empty_response or phrase("empty_response", language)
        fixed = _fixed(question, text, Support.ABSTAINED, stages)
        return replace(fixed, notes=_notes(found, language))


def _read_or_cited(draft: Draft, cited: CitedText) -> tuple[ScoredChunk, ...]:
    """Return the chunks of the prompt, then the leaves of its summaries that are cited, with the best one's score."""
    leaves = {leaf.chunk.id: leaf for scored in reversed(draft.chunks) for leaf in scored.leaves}
    return (
        *(replace(scored, leaves=()) if scored.leaves else scored for scored in draft.chunks),
        *(leaves[chunk.id] for chunk in cited.beside),
    )


def _readings(question: Question) -> tuple[Question, ...]:
    """Return the question, and then, if something stands beside it, with that as its own words."""
    if not question.beside:
        return (question,)
    return question, replace(question, text=f"{question.text}\n{question.beside}")


def _fixed(question: Question, text: str, support: Support, stages: Stages) -> Answer:
    return Answer(
        question=question.text, raw_text=text, support=support, usage=Usage(), timings_ms=stages.milliseconds()
    )


def _says_something(draft: Draft) -> bool:
    """Return whether there is a word in it: a model may think until its length limit, and write nothing."""
    text = markers.strip(markers.repair(draft.text, len(draft.chunks)))
    return any(character.isalnum() for character in text)


def _notes(found: Found, language: str) -> tuple[str, ...]:
    return tuple(phrase(key, language) for key in found.notes)


def _reason(error: ModelError | ContextTooSmall, language: str) -> str:
    """Return why the model doesn't answer, in words for the reader: whether asking later can help is what counts."""
    if isinstance(error, ModelRateLimited) and error.retry_after is not None:
        return phrase("rate_limited", language, seconds=math.ceil(error.retry_after))
    if isinstance(error, ModelRateLimited):
        return phrase("model_busy", language)
    if isinstance(error, ModelRefused):
        return phrase("model_refused", language)
    if isinstance(error, ModelUnreachable):
        return phrase("model_down", language)
    if isinstance(error, ModelBadOutput | ModelInterrupted | ModelContextTooLong):
        return phrase("model_failed", language)
    return phrase("model_set_up_wrong", language)
