"""The answer of a research: an ordinary one over all that was read, with what the rounds came to beside it."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ragcore.answer import AnswerOptions
from ragcore.answer.pipeline import Found
from ragcore.answer.writing import Beside, Draft
from ragcore.citations import markers
from ragcore.citations.attribution import marker_place
from ragcore.citations.sentences import split_sentences
from ragcore.context import default_budget, fit_chunks
from ragcore.context.blocks import block
from ragcore.errors import ModelInterrupted
from ragcore.models.llm import ChatModel, Piece
from ragcore.phrases import Phrase
from ragcore.research.gathered import Gathered
from ragcore.research.memory import all_chunks, numbering, ranked, renumbered, written
from ragcore.research.meter import Meter
from ragcore.research.sentences import sentence
from ragcore.research.tools.calls import shown_call
from ragcore.research.values import Contradiction, Finding
from ragcore.tokens import Tokenizer
from ragcore.types import Message, Question, ScoredChunk, Usage

MOST_CHUNKS = 48
CHUNKS_SHARE = 0.55
FINDINGS_SHARE = 0.2
"""Of what the answer's prompt may take; the rest is for rules, question and history."""
LEAST_TOKENS = 3_000
"""Tokens beside the reply without which no model is asked to write: the rules alone take some 1,300."""
MOST_NEAR = 4
"""Sentences that are quoted where none answers the question."""
MOST_NAMED = 4
"""Missing things that are named to the reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the answer is written from: the chunks in the order of the prompt, and what stands beside them."""

    chunks: tuple[ScoredChunk, ...]
    beside: Beside
    model: ChatModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gave:
    """What was found before; see ``ragcore.answer.pipeline.Found``."""

    chunks: tuple[ScoredChunk, ...]
    notes: tuple[Phrase, ...]
    usage: Usage
    near: tuple[ScoredChunk, ...] = ()


class Handed:
    """Hands out what was found before, as a search would; what that took is told once."""

    def __init__(self, chunks: tuple[ScoredChunk, ...], notes: Sequence[Phrase], usage: Usage) -> None:
        """Keep what is handed out."""
        self._found = Gave(chunks=chunks, notes=tuple(notes), usage=usage)

    async def retrieve(self, question: Question) -> Found:
        """Return it, whatever is asked."""
        found, self._found = self._found, replace(self._found, usage=Usage())
        return found


class WithinLimits:
    """A chat model for the answer alone: its window is no larger than what may be spent, its time ends with the limit.

    An answer that is under way then is shown as far as it came.
    """

    def __init__(self, model: ChatModel, window: int, deadline: float) -> None:
        """Wrap a model; ``deadline`` is the loop's time."""
        self._model = model
        self._window = window
        self._deadline = deadline

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def context_window(self) -> int:
        """Return how many tokens question and answer may take together."""
        return min(self._model.context_window, self._window)

    @property
    def max_tokens(self) -> int:
        """Return how many tokens an answer may take."""
        return self._model.max_tokens

    async def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        """Yield the output; raise ModelError, and ModelInterrupted at the deadline."""
        async with aclosing(self._model.stream(messages, task=task)) as pieces:  # type: ignore[type-var]
            while True:
                try:
                    async with asyncio.timeout_at(self._deadline):
                        piece = await anext(pieces, None)
                except TimeoutError as error:
                    raise ModelInterrupted("the research came to its time limit") from error
                if piece is None:
                    return
                yield piece

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        """Return the whole text; raise ModelError."""
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._model.complete(messages, task=task)
        except TimeoutError as error:
            raise ModelInterrupted("the research came to its time limit") from error


def material(
    question: Question,
    gathered: Gathered,
    meter: Meter,
    model: ChatModel | None,
    tokenizer: Tokenizer,
    options: AnswerOptions,
    language: str,
) -> Material:
    """Return what the answer is written from; no model where what may be spent is not enough for one."""
    # What contradicts each other is told with both links, so both are read whatever else fits.
    needed = frozenset[str]().union(*gathered.contradictions)
    chunks = all_chunks(gathered.findings)
    chunks = tuple(sorted(chunks, key=lambda scored: scored.chunk.id not in needed))[:MOST_CHUNKS]
    contradictions = tuple(gathered.contradictions.values())
    writer = None
    if model is not None:
        # A pass that adds citations is a second call, which may take as much as the first.
        window = min(model.context_window, meter.tokens_left // (2 if options.citation_plus else 1))
        if meter.over:
            meter.stop("seconds")
        elif window < model.max_tokens + LEAST_TOKENS and window < model.context_window:
            meter.stop(meter.scarcest)
        else:
            writer = WithinLimits(model, window, meter.deadline)
    rules = ""
    if writer is not None:
        room = default_budget(writer.context_window) - writer.max_tokens
        blocks = [block(number, scored.chunk) for number, scored in enumerate(chunks)]
        chunks = chunks[: max(1, len(fit_chunks(blocks, math.floor(room * CHUNKS_SHARE), tokenizer)))]
        rules = _rules(question, gathered, chunks, math.floor(room * FINDINGS_SHARE), tokenizer, options)
    findings = ranked(question.text, gathered.findings)
    beside = Beside(rules=rules, closing=Contradicting(contradictions, language), nearest=Nearest(findings))
    return Material(chunks=chunks, beside=beside, model=writer)


def _rules(
    question: Question,
    gathered: Gathered,
    chunks: Sequence[ScoredChunk],
    budget: int,
    tokenizer: Tokenizer,
    options: AnswerOptions,
) -> str:
    numbers = numbering(chunks)
    contradictions, room = list[str](), budget // 2
    for listed in filter(None, (_listed(one, numbers) for one in gathered.contradictions.values())):
        cost = tokenizer.count(listed) + 1
        if cost <= room:
            contradictions.append(listed)
            room -= cost
    budget -= budget // 2 - room
    said = written(ranked(question.text, gathered.findings), numbers, budget, tokenizer)
    if not said:
        return ""
    return options.prompts.render(
        "research_report",
        findings=said if options.quote else markers.strip(said),
        missing="; ".join(map(shown_call, gathered.missing[:MOST_NAMED])),
        contradictions="\n".join(contradictions),
    )


class Nearest:
    """Says what the single searches found, where no sentence answers the whole question."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Keep the findings, best first."""
        self._findings = findings

    def __call__(self, chunks: tuple[ScoredChunk, ...]) -> str:
        """Return the first sentence of each finding, a paragraph each, with markers of these chunks."""
        numbers = numbering(chunks)
        lines = [line for finding in self._findings for line in renumbered(finding, numbers)[:1]]
        return "\n\n".join(list({markers.strip(line): line for line in lines}.values())[:MOST_NEAR])


class Contradicting:
    """Sets the contradictions that a text does not tell with both links at its end."""

    def __init__(self, contradictions: Sequence[Contradiction], language: str) -> None:
        """Keep the contradictions."""
        self._contradictions = contradictions
        self._language = language

    def __call__(self, draft: Draft) -> str:
        """Return what stands at the end of a draft, "" where there is nothing to add."""
        numbers = numbering(draft.chunks)
        text = markers.repair(draft.text, len(draft.chunks))
        paragraphs = [{marker.id for marker in markers.find(one)} for one in text.split("\n\n")]
        listed = []
        for one in self._contradictions:
            both = {numbers.get(one.one.chunk_id), numbers.get(one.other.chunk_id)}
            if None not in both and not any(both <= cited for cited in paragraphs):
                listed.append(_listed(one, numbers))
        return "\n\n".join((sentence("contradiction", self._language), *listed)) if listed else ""


def _listed(one: Contradiction, numbers: Mapping[str, int]) -> str:
    """Return both statements with their markers, "" where one of their chunks does not stand in the prompt."""
    claims = (one.one, one.other)
    if any(claim.chunk_id not in numbers for claim in claims):
        return ""
    return "\n".join(f"- {_marked(claim.text, numbers[claim.chunk_id])}" for claim in claims)


def _marked(text: str, number: int) -> str:
    """Return a sentence with its marker where it belongs: before the stop."""
    place = marker_place(text, split_sentences(text)[-1])
    return f"{text[:place]}{markers.spaced(text, place, markers.marker(number))}{text[place:]}"


def remarks(gathered: Gathered, meter: Meter, language: str) -> tuple[str, ...]:
    """Return what the reader is told of the research: which limit it met, what is missing, what failed."""
    said = [sentence(name, language) for name in meter.hit]
    named = list(filter(None, map(shown_call, gathered.missing)))
    if named:
        more = "; …" if len(named) > MOST_NAMED else ""
        said.append(sentence("missing", language, what="; ".join(named[:MOST_NAMED]) + more))
    if gathered.cut:
        said.append(sentence("cut", language, count=gathered.cut))
    if gathered.failed:
        said.append(sentence("failed", language, count=gathered.failed))
    return tuple(said)
