"""What a search found, put into sentences that each rest on a chunk: by a model, or quoted. Nothing else is kept."""

import asyncio
from collections.abc import Sequence

from ragcore.citations import markers
from ragcore.citations.cite import cite
from ragcore.citations.scoring import CitationPolicy
from ragcore.citations.sentences import split_sentences
from ragcore.context.blocks import block
from ragcore.extractive import ExtractOptions, extract
from ragcore.models.embeddings import Embedder
from ragcore.research.asking import NOT_USABLE, Asker, Reply
from ragcore.research.values import Claim, Finding
from ragcore.retrieval.summaries import opened
from ragcore.types import ScoredChunk

LONGEST = 4_000
"""Characters of a model's note that are read."""
NOTHING = "NOTHING"


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
        self, asked: str, found: Sequence[ScoredChunk], near: Sequence[ScoredChunk] = ()
    ) -> tuple[Finding, Reply]:
        """Return the finding, whose chunks are those that were found, and what the model said to it.

        Where none passed the relevance gate, those that came ``near`` to it count if they say what is asked, or nearly.
        """
        # Summaries are cited by what they rest on, so that is read in their place.
        chunks = opened(found)
        if not chunks and near:
            second = opened(near)
            if (await extract(asked, second, self._embedder, self._options, sure=False)).text:
                chunks = second
        if not chunks:
            return Finding(question=asked), Reply()
        knowledge = [block(number, scored.chunk) for number, scored in enumerate(chunks)]
        own, question = await asyncio.to_thread(lambda: (self._asker.short(asked), self._asker.short(self._question)))
        reply = await self._asker.ask(self._template, own, knowledge=knowledge, question=question)
        if reply.text is not None and reply.blocks:
            said = reply.text[:LONGEST].strip()
            if said.strip(" .*`\"'").upper() == NOTHING:
                return Finding(question=asked, chunks=chunks), reply
            if text := await self.verified(said, chunks[: reply.blocks], asked, unfinished=reply.cut):
                return Finding(question=asked, text=text, chunks=chunks), reply
            reply = Reply(reason=NOT_USABLE, usage=reply.usage)
        quoted = (await extract(asked, chunks, self._embedder, self._options)).text
        text = await self.verified(quoted, chunks, asked)
        return Finding(question=asked, text=text, chunks=chunks), reply

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
