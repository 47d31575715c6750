"""The answer of a research: an ordinary one over all that was read, with what the rounds came to beside it."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

from ragcore.answer import AnswerOptions
from ragcore.answer.pipeline import Found
from ragcore.answer.writing import Beside
from ragcore.citations import markers
from ragcore.context import default_budget, fit_chunks
from ragcore.context.blocks import block
from ragcore.errors import ModelInterrupted
from ragcore.models.llm import ChatModel, Piece
from ragcore.phrases import Phrase, phrase
from ragcore.research.contradicting import Contradicting, listed_both
from ragcore.research.findings import claims_of
from ragcore.research.gathered import Gathered
from ragcore.research.memory import all_chunks, numbering, ranked, renumbered, written
from ragcore.research.meter import Meter
from ragcore.research.parts import asked_apart
from ragcore.research.queries import same
from ragcore.research.sentences import sentence
from ragcore.research.tools.calls import calls_left_over, shown_call
from ragcore.research.values import Finding
from ragcore.tokens import Tokenizer
from ragcore.types import Message, Question, ScoredChunk, Usage

log = logging.getLogger(__name__)

MOST_CHUNKS = 48
CHUNKS_SHARE = 0.55
FINDINGS_SHARE = 0.2
"""Of what the answer's prompt may take; the rest is for rules, question and history."""
LEAST_TOKENS = 3_000
"""Tokens beside the reply without which no model is asked to write: the rules alone take some 1,300."""
MOST_NEAR = 4
"""Sentences that are quoted where none answers the question."""
MOST_OF_PART = 3
"""Sentences that are quoted for one part of a question that asks several things: as many as answer it by itself."""
MOST_NAMED = 4
"""Missing things that are named to the reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the answer is written from: the chunks in the order of the prompt, and what stands beside them."""

    chunks: tuple[ScoredChunk, ...]
    beside: Beside
    model: "WithinLimits | None"
    by_parts: "ByParts"


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

    An answer that is under way then is shown as far as it came. ``late`` tells that its time ended so.
    """

    def __init__(self, model: ChatModel, window: int, meter: Meter) -> None:
        """Wrap a model; ``meter`` tells when the time is over, and is told that it was."""
        self._model = model
        self._window = window
        self._meter = meter
        self.late = False

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
                async with self._in_time():
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                yield piece

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        """Return the whole text; raise ModelError."""
        async with self._in_time():
            return await self._model.complete(messages, task=task)

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout_at(self._meter.deadline):
                yield
        except TimeoutError as error:
            log.warning("%s came to the time limit of a research: raise research.seconds", self.name)
            self._meter.stop("seconds")
            self.late = True
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
            writer = WithinLimits(model, window, meter)
    rules = ""
    if writer is not None:
        room = default_budget(writer.context_window) - writer.max_tokens
        blocks = [block(number, scored.chunk) for number, scored in enumerate(chunks)]
        chunks = chunks[: max(1, len(fit_chunks(blocks, math.floor(room * CHUNKS_SHARE), tokenizer)))]
        rules = _rules(question, gathered, chunks, math.floor(room * FINDINGS_SHARE), tokenizer, options)
    findings = ranked(question.text, gathered.findings)
    by_parts = ByParts(question, gathered.findings, language)
    beside = Beside(
        rules=rules,
        closing=Contradicting(contradictions, language),
        quoted=by_parts,
        nearest=Nearest(findings),
    )
    return Material(chunks=chunks, beside=beside, model=writer, by_parts=by_parts)


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
    for listed in filter(None, (listed_both(one, chunks) for one in gathered.contradictions.values())):
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


class ByParts:
    """Quotes what answers each part of a question that asks several things, where no model writes.

    Of sentences that are judged by the whole question each has half of it alone. ``lacking`` are the parts that nothing
    which was quoted answers: what comes nearest to them stands last, under the sentence that says so.
    """

    def __init__(self, question: Question, findings: Sequence[Finding], language: str) -> None:
        """Keep what was found for the question and for its parts."""
        self._language = language
        direct = {one.question: one for one in findings if one.direct}
        parts = asked_apart(question.text, question.history)
        self._found = [direct[part] for part in parts if part in direct]
        whole = direct.get(question.text)
        # The whole question may have found what one of the parts did not.
        self._whole = whole if whole and len(self._found) < len(parts) else None
        self._lacking = () if whole else tuple(part for part in parts if part not in direct)
        self._near = [one for one in findings if one.question in self._lacking and one.text]
        self.lacking: tuple[str, ...] = ()

    def __call__(self, chunks: tuple[ScoredChunk, ...]) -> str:
        """Return the first sentences for each part, a paragraph each, with markers of these chunks; "" for none."""
        numbers, seen = numbering(chunks), set[str]()

        def paragraphs(findings: Sequence[Finding]) -> list[str]:
            found = []
            for finding in findings:
                lines = renumbered(finding, numbers)[:MOST_OF_PART]
                lines = [line for line in lines if markers.strip(line) not in seen]
                seen.update(map(markers.strip, lines))
                found += [" ".join(lines)] if lines else []
            return found

        said = paragraphs(self._found)
        if not said:
            return ""
        said += paragraphs([self._whole] if self._whole else [])
        self.lacking = self._lacking
        near = paragraphs(self._near)
        return "\n\n".join((*said, *((phrase("nearest", self._language), *near) if near else ())))


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


def unanswered(missing: Sequence[str], findings: Sequence[Finding], cited: Collection[str]) -> tuple[str, ...]:
    """Return what is missing, but for what has a finding of which the answer cites a chunk; ``cited`` are their ids."""
    used = [one.question for one in findings if any(claim.chunk_id in cited for claim in claims_of(one))]
    return tuple(one for one in missing if not any(same(one, question) for question in used))


def remarks(gathered: Gathered, meter: Meter, language: str) -> tuple[str, ...]:
    """Return what the reader is told of the research: which limit it met, what is missing, what failed."""
    said = [sentence(name, language) for name in meter.hit]
    if gathered.lacking and any(finding.chunks for finding in gathered.findings):
        said.append(sentence("lacking", language))
    named = list(filter(None, map(shown_call, gathered.missing)))
    if named:
        more = "; …" if len(named) > MOST_NAMED else ""
        said.append(sentence("missing", language, what="; ".join(named[:MOST_NAMED]) + more))
    if cut := calls_left_over(gathered.cut, [*gathered.asked, *gathered.missing]):
        said.append(sentence("cut", language, count=len(cut)))
    if gathered.failed:
        said.append(sentence("failed", language, count=gathered.failed))
    return tuple(said)
