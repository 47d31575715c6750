"""Two ways to write an answer from retrieved chunks: by a chat model, or by quoting their best sentences."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from ragcore.answer.options import AnswerOptions
from ragcore.answer.showing import Rules, Showing
from ragcore.chunk_parts import as_found
from ragcore.context import QUESTION_TOKENS, Fitted, default_budget, fit_prompt
from ragcore.context.blocks import block
from ragcore.context.cutting import cut_middle
from ragcore.errors import ContextTooSmall, ModelBadOutput, ModelContextTooLong, ModelError, ModelInterrupted
from ragcore.extractive import Extract, ExtractOptions, extract
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import ChatModel, Discard, Finish, ReasoningPiece, TextPiece
from ragcore.phrases import phrase
from ragcore.prompts import OWN
from ragcore.retrieval.summaries import opened
from ragcore.tokens import Tokenizer
from ragcore.trace import current
from ragcore.types import Delta, Message, Question, ScoredChunk, Usage

log = logging.getLogger(__name__)

_EXTRACT_OPTIONS = ExtractOptions()
QUESTION_PART = 4
"""Of the budget a question keeps one part of so many where, whole, it leaves no room for any passage."""
_SMALLER = 0.6
"""The share of the budget for the second try, after an endpoint counted more tokens than we did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A written answer before its citations are checked; ``chunks`` are those the prompt held, in prompt order.

    ``unfinished``: it broke off, so that its last sentence may be half of one. ``nearest``: it doesn't answer, and is
    to be shown under the sentence that says so.
    """

    text: str
    chunks: tuple[ScoredChunk, ...]
    notes: tuple[str, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    unfinished: bool = False
    nearest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a call took that gave nothing: it failed, and another one or a quote takes its place."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What one answer has beside what all have, such as that of a research.

    ``rules`` stand behind those of the prompt. ``closing`` is given the finished draft and returns what is set at its
    end, in a paragraph of its own; "" for nothing. Its ``[ID:n]`` are chunks of the draft, and are checked like any.
    ``quoted`` is given the chunks where no model writes, and returns what is quoted, with its markers; "" where that is
    chosen as always.
    ``nearest`` is given the chunks where no sentence of them answers, and returns what comes nearest to an answer, with
    its markers. Both are asked, too, where nothing bears out what a model wrote: they stand beneath it.
    """

    rules: str = ""
    closing: Callable[[Draft], str] = lambda draft: ""
    quoted: Callable[[tuple[ScoredChunk, ...]], str] = lambda chunks: ""
    nearest: Callable[[tuple[ScoredChunk, ...]], str] = lambda chunks: ""


NOTHING_BESIDE = Beside()


class Writer(Protocol):
    """Writes an answer."""

    def write(
        self, question: Question, chunks: tuple[ScoredChunk, ...], language: str
    ) -> AsyncGenerator[Delta | Draft | Spent]:
        """Yield the text as it is written, then the Draft.

        Raises:
            ModelError: Before the first Delta; after one ModelBadOutput alone, where what was written turns out to be
                no answer. What the next writer yields takes its place.
        """
        ...


class ExtractiveWriter:
    """Quotes the best-supported sentences: what answers when no model is configured, or none can be reached."""

    def __init__(self, embedder: Embedder | None, options: ExtractOptions = _EXTRACT_OPTIONS) -> None:
        self._embedder = embedder
        self._options = options

    async def write(
        self, question: Question, chunks: tuple[ScoredChunk, ...], language: str
    ) -> AsyncGenerator[Delta | Draft]:
        """Yield the whole text at once; an empty Draft when no sentence speaks of what was asked.

        Of a summary what it rests on is quoted: its own words stand in no document.
        """
        chunks = opened(chunks)
        found = Extract()
        for asked in question.searched:
            read = await extract(asked, chunks, self._embedder, self._options)
            if read.direct or not found.text:
                found = read
            if read.direct:
                break
        nearest = bool(found.text) and not found.direct
        if (recorder := current()) is not None:
            recorder.given(chunks, len(chunks))
        if found.text:
            yield Delta(text=under_nearest(found.text, language) if nearest else found.text)
        yield Draft(text=found.text, chunks=chunks, nearest=nearest)

    async def speaks(self, question: Question, chunks: tuple[ScoredChunk, ...]) -> bool:
        """Return whether chunks that came near to the relevance gate say what is asked, or nearly."""
        for asked in question.searched:
            if (await extract(asked, chunks, self._embedder, self._options, sure=False)).text:
                return True
        return False


def under_nearest(quoted: str, language: str) -> str:
    """Return what comes nearest to an answer, under the sentence that says that it is none."""
    return f"{phrase('nearest', language)}\n\n{quoted}"


class ModelWriter:
    """Asks a chat model, with rules, knowledge and history fitted into its window."""

    def __init__(
        self,
        model: ChatModel,
        tokenizer: Tokenizer,
        options: AnswerOptions,
        *,
        rules: str = "",
        without_documents: bool = False,
    ) -> None:
        """Compose; ``rules`` stand behind those of the prompt.

        ``without_documents``: what is written rests on none, and cites nothing.
        """
        self._more_rules = rules
        self._without_documents = without_documents
        self._model = model
        self._tokenizer = tokenizer
        self._options = options

    async def write(
        self, question: Question, chunks: tuple[ScoredChunk, ...], language: str
    ) -> AsyncGenerator[Delta | Draft | Spent]:
        """Yield the text as it comes; a prompt that the endpoint finds too long is fitted tighter, once."""
        budget = default_budget(self._model.context_window)
        try:
            async with aclosing(self._stream(question, chunks, language, budget)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except ModelContextTooLong:
            log.warning("%s takes fewer tokens than expected: fitting the prompt tighter", self._model.name)
        async with aclosing(self._stream(question, chunks, language, int(budget * _SMALLER))) as pieces:
            async for piece in pieces:
                yield piece

    async def _stream(
        self, question: Question, chunks: tuple[ScoredChunk, ...], language: str, budget: int
    ) -> AsyncGenerator[Delta | Draft | Spent]:
        rules = await asyncio.to_thread(self._own_rules)
        fitted, chunks = await self._fitted(question, chunks, budget, rules)
        beside = (*(scored.chunk.text for scored in chunks), question.text)
        showing, notes, usage = Showing(rules, beside), list[str](), Usage(calls=1)
        text, reasoning, unfinished = list[str](), list[str](), False
        if fitted.question_cut:
            notes.append(phrase("question_long", language))
        try:
            async with aclosing(self._model.stream(fitted.messages, task="answer")) as pieces:  # type: ignore[type-var]
                async for piece in pieces:
                    if isinstance(piece, TextPiece):
                        text.append(piece.text)
                        if shown := showing.feed(piece.text):
                            yield Delta(text=shown)
                        if showing.shows_rules:
                            usage = await asyncio.to_thread(self._used, fitted, "".join((*text, *reasoning)))
                            break
                    elif isinstance(piece, ReasoningPiece):
                        reasoning.append(piece.text)
                    elif isinstance(piece, Discard):
                        # What was shown stays on the screen until the final answer takes its place.
                        reasoning.append("".join(text))
                        text, showing = [], Showing(rules, beside)
                    else:
                        usage = piece.usage
                        unfinished = piece.reason != "stop"
                        notes.extend(_notes(piece, language))
        except ModelError as error:
            if not text or not isinstance(error, ModelInterrupted):
                yield Spent(usage=Usage(calls=1))
                raise
            log.warning("%s broke off after %d characters", self._model.name, sum(map(len, text)))
            notes.append(phrase("interrupted", language))
            unfinished = True
            usage = await asyncio.to_thread(self._used, fitted, "".join((*text, *reasoning)))
        if rest := showing.close():
            yield Delta(text=rest)
        if showing.shows_rules:
            yield Spent(usage=usage)
            raise ModelBadOutput("it gave its rules back", raw="".join(text))
        yield Draft(
            text="".join(text),
            chunks=chunks[: fitted.blocks],
            notes=tuple(notes),
            reasoning="".join(reasoning),
            usage=usage,
            unfinished=unfinished,
        )

    async def _fitted(
        self, question: Question, chunks: tuple[ScoredChunk, ...], budget: int, rules: Rules
    ) -> tuple[Fitted, tuple[ScoredChunk, ...]]:
        """Fit the prompt in a thread, as ``_fit_chunks`` does; raise ContextTooSmall where it holds no passage."""
        fitted, chunks = await asyncio.to_thread(self._fit_chunks, question, chunks, budget, rules)
        if (recorder := current()) is not None:
            recorder.given(chunks, fitted.blocks)
        if chunks and not fitted.blocks:
            raise ContextTooSmall(f"no passage fits beside the question in {budget} tokens: raise llm.context_window")
        return fitted, chunks

    def _used(self, fitted: Fitted, written: str) -> Usage:
        """Count what a call took that broke off before its endpoint could tell."""
        return Usage(calls=1, prompt_tokens=fitted.count, completion_tokens=self._tokenizer.count(written))

    def _fit_chunks(
        self, question: Question, chunks: tuple[ScoredChunk, ...], budget: int, rules: Rules
    ) -> tuple[Fitted, tuple[ScoredChunk, ...]]:
        """Fit the prompt, and return it with the chunks as they stand in it.

        Where not even the best parent fits whole, the chunks are quoted as they were found: of a parent that is cut the
        beginning would stay, which may lack what was found.
        """
        fitted = self._fit(question, chunks, budget, rules)
        if not any(scored.chunk.parts for scored in chunks):
            return fitted, chunks
        if fitted.blocks and any(block(0, chunks[0].chunk) in message.text for message in fitted.messages):
            return fitted, chunks
        chunks = tuple(replace(scored, chunk=as_found(scored.chunk)) for scored in chunks)
        return self._fit(question, chunks, budget, rules), chunks

    def _own_rules(self) -> Rules:
        """Return the rules without those of one answer, which hold what was found."""
        prompt = self._options.prompt_file
        quote = self._options.quote
        prompts = self._options.prompts
        ours = prompts is OWN
        if self._without_documents:
            return Rules(text=prompts.render("plain_chat"), ours=ours)
        rules = prompts.render_file(prompt, quote=quote) if prompt else prompts.render("answer_system", quote=quote)
        if quote and "[ID:" not in rules:
            rules = f"{rules}\n\n{prompts.render('citation_rules')}"  # a prompt of the user's own that leaves it to us
        return Rules(text=rules, ours=ours and prompt is None)

    def _fit(self, question: Question, chunks: tuple[ScoredChunk, ...], budget: int, rules: Rules) -> Fitted:
        told = f"{rules.text}\n\n{self._more_rules}" if self._more_rules else rules.text
        knowledge = [block(index, scored.chunk) for index, scored in enumerate(chunks)]

        def fit(history: Sequence[Message], asked: str = question.text) -> Fitted:
            messages = [Message(role="system", text=told), *history, Message(role="user", text=asked)]
            return fit_prompt(
                messages,
                budget,
                knowledge=knowledge,
                reserve=self._model.max_tokens,
                tokenizer=self._tokenizer,
            )

        fitted = fit(question.history)
        if fitted.blocks or not knowledge:
            return fitted
        # In a small window the past may leave no room for any passage, and without one nothing can be answered.
        if fitted.history and (alone := fit(())).blocks:
            return alone
        most = max(QUESTION_TOKENS, budget // QUESTION_PART)
        if self._tokenizer.count(question.text) <= most:
            return fitted
        return replace(fit((), cut_middle(question.text, 0, most, self._tokenizer)), question_cut=True)


def _notes(finish: Finish, language: str) -> list[str]:
    """Return why the answer ends where it does, where that isn't its own end."""
    match finish.reason:
        case "length":
            return [phrase("length_cut", language)]
        case "refused":
            return [phrase("model_declined", language)]
        case "stop":
            return []
