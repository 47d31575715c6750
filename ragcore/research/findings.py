"""What a search found, put into sentences that each rest on a chunk: by a model, or quoted. Nothing else is kept."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ragcore.citations import markers
from ragcore.citations.cite import cite
from ragcore.citations.scoring import CitationPolicy
from ragcore.citations.sentences import split_sentences
from ragcore.context.blocks import block
from ragcore.extractive import Extract, ExtractOptions, extract
from ragcore.models.embeddings import Embedder
from ragcore.research.asking import NOT_USABLE, OUT_OF_TIME, Asker, Reply
from ragcore.research.values import Claim, Finding
from ragcore.retrieval.summaries import opened
from ragcore.types import ScoredChunk, Usage

LONGEST = 4_000
"""Characters of a model's note that are read."""
NOTHING = "NOTHING"
QUOTING_SECONDS = 2.0
"""Of the time for searching so much is kept for quoting what was found, where a model's note is late, ..."""
QUOTING_PART = 3
"""... and at most one part of so many of the time that is left."""


class Noting:
    """Makes findings of what searches found; ``question`` is the one that all of them are for."""

    def __init__(
        self,
        question: str,
        asker: Asker,
        embedder: Embedder | None,
        known_languages: frozenset[str] | None,
        *,
        template: str = "research_finding",
    ) -> None:
        """Without a model, or where it fails, the best sentences are quoted; ``template`` tells it what to do."""
        self._template = template
        self._question = question
        self._asker = asker
        self._embedder = embedder
        self._policy = CitationPolicy(known_languages=known_languages)
        self._options = ExtractOptions(known_languages=known_languages)

    async def note(
        self, asked: str, found: Sequence[ScoredChunk], near: Sequence[ScoredChunk] = (), others: Sequence[str] = ()
    ) -> tuple[Finding, Reply]:
        """Return the finding, whose chunks are those that were found, and what the model said to it.

        Where none passed the relevance gate, those that came ``near`` to it count if they say what is asked, or nearly.
        ``others`` are further wordings of what is asked.
        """
        # Summaries are cited by what they rest on, so that is read in their place.
        chunks = opened(found)
        if not chunks and near:
            second = opened(near)
            for wording in (asked, *others):
                if (await extract(wording, second, self._embedder, self._options, sure=False)).text:
                    chunks = second
                    break
        if not chunks:
            return Finding(question=asked), Reply()
        knowledge = [block(number, scored.chunk) for number, scored in enumerate(chunks)]
        own, question = await asyncio.to_thread(lambda: (self._asker.short(asked), self._asker.short(self._question)))
        try:
            async with asyncio.timeout_at(self._latest()):
                reply = await self._asker.ask(self._template, own, knowledge=knowledge, question=question)
        except TimeoutError:
            self._asker.meter.stop("seconds")
            reply = Reply(reason=OUT_OF_TIME, usage=Usage(calls=1))
        if reply.text is not None and reply.blocks:
            said = reply.text[:LONGEST].strip()
            if said.strip(" .*`\"'").upper() == NOTHING:
                return Finding(question=asked, chunks=chunks), reply
            if text := await self.verified(said, chunks[: reply.blocks], asked, unfinished=reply.cut):
                return Finding(question=asked, text=text, chunks=chunks), reply
            reply = Reply(reason=NOT_USABLE, usage=reply.usage)
        return await self.quoted(Finding(question=asked, chunks=chunks), (asked, *others)), reply

    async def quoted(self, finding: Finding, wordings: Sequence[str] = ()) -> Finding:
        """Return a finding with what its chunks say to its question, in one of its wordings, in their own words."""
        best = Extract()
        for asked in wordings or (finding.question,):
            read = await extract(asked, finding.chunks, self._embedder, self._options)
            if read.direct or not best.text:
                best = read
            if read.direct:
                break
        text = await self.verified(best.text, finding.chunks, finding.question)
        return replace(finding, text=text, direct=best.direct and bool(text))

    def _latest(self) -> float:
        """Return when a model's note must be there, in the loop's time, so that there is time left to quote instead."""
        now, end = asyncio.get_running_loop().time(), self._asker.meter.end_of_rounds
        return end - min(QUOTING_SECONDS, max(0.0, end - now) / QUOTING_PART)

    async def verified(self, said: str, chunks: Sequence[ScoredChunk], asked: str, *, unfinished: bool = False) -> str:
        """Return the sentences that a chunk bears out, with their markers, a line each."""
        read = [scored.chunk for scored in chunks]
        cited = await cite(said, read, self._embedder, question=asked, unfinished=unfinished, policy=self._policy)
        return await asyncio.to_thread(_cited_lines, cited.text)


def _cited_lines(text: str) -> str:
    return "\n".join(" ".join(one.split()) for one in sentences_of(text) if markers.find(one))


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, each with its markers."""
    return [text[one.body : one.body_end] for one in split_sentences(text) if one.citable]


def claims_of(finding: Finding) -> list[Claim]:
    """Return each sentence of a finding once for each chunk that it cites."""
    return [
        Claim(text=markers.strip(line), chunk_id=finding.chunks[marker.id].chunk.id)
        for line in finding.text.splitlines()
        for marker in markers.find(line)
        if marker.id < len(finding.chunks)
    ]
