"""Adds to what a search found what the knowledge graph says of the things that the question names.

    names of the question -> their relations, two steps far -> the chunks that tell them, a few in full
                          -> reports of the communities that they are in (ragcore.enrich.community_step)

What is added rests on chunks: a block of lines for each document, of which the chunks that tell them are cited, and the
likeliest of these chunks in full; all of it after what passed the gate, within a budget, and each chunk looked up as
the search's own are, with its readers and filters. A question that names nothing of the graph costs one look into an
index.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from ragcore.errors import StoreError
from ragcore.graph.names import names_asked
from ragcore.graph.walking import Line, lines_of
from ragcore.retrieval.parents import held_by
from ragcore.retrieval.retriever import Retrieved, Retrieving
from ragcore.retrieval.summaries import leaves_of, with_leaves
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.graphs import Admitted, Graphs
from ragcore.stores.registry import Registry
from ragcore.stores.rows import generation_of
from ragcore.tokens import Tokenizer
from ragcore.trace import degraded
from ragcore.types import Chunk, Location, Question, ScoredChunk, SectionKind

log = logging.getLogger(__name__)

LINES = 24
"""Lines of the graph that are added at most."""
IN_FULL = 4
"""Chunks that are added in full at most."""
TOKENS = 2_048
"""Of all that is added, at most. RAGFlow's budget is 8,196: a prompt of mostly that, whatever the search found."""
REPORTS = 2
"""Reports that are added at most, those about most of the things that the question names."""
REPORT_TOKENS = 640
"""Of these, at most, within the same budget."""
_MOST_READ = 8
"""Reports that are looked up for these: one that rests on what may not be read takes no place."""
LEG = "graph"
"""Under this name the ranks of a chunk tell that it was added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A line, and the chunk that it rests on."""

    line: Line
    chunk: Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """What the graph says of what a question names: lines, the likeliest first, and the ids of reports."""

    lines: tuple[Line, ...] = ()
    reports: tuple[str, ...] = ()


class GraphRetriever:
    """A retriever that adds what the knowledge graph says. Safe to share between conversations."""

    def __init__(
        self,
        retriever: Retrieving,
        *,
        registry: Registry,
        values: DocumentValues,
        tokenizer: Tokenizer,
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Compose.

        Args:
            retriever: searches.
            registry: knows what may be read.
            values: knows what meets filters.
            tokenizer: counts what is added.
            homes: the knowledge base of each source, as for the retriever.
        """
        self._retriever = retriever
        self._registry = registry
        self._values = values
        self._graphs = Graphs(registry.database)
        self._tokenizer = tokenizer
        self._homes = homes

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks, and after them what the graph adds; see ``Retriever.retrieve``.

        Where nothing is relevant, it adds only what has other words of the question beside the names, or joins two
        things that it names.
        """
        found = await self._retriever.retrieve(question)
        try:
            around = await self._around(question)
            lines = [line for line in around.lines if found.chunks or line.is_asked]
            told = await self._told(question, found.chunks, lines)
            reports = await self._reports(question, found.chunks, around.reports)
        except StoreError as error:
            log.warning("nothing of the knowledge graph added: %s", error)
            degraded("nothing of the knowledge graph was added: it could not be read")
            return found
        if not told and not reports:
            return found
        score = found.chunks[-1].score if found.chunks else 0.0
        added = await asyncio.to_thread(self._added, told, reports, score)
        return replace(found, chunks=(*found.chunks, *added))

    async def _around(self, question: Question) -> _Around:
        """Return what the graph says of what any wording names: things have names in the documents' language."""
        told: dict[tuple[str, str], Line] = {}
        reports: list[str] = []
        for wording in question.searched:
            around = await self._around_by(question, wording)
            reports += around.reports
            for line in around.lines:
                known = told.get((line.chunk_id, line.said))
                if known is None or (line.score, line.is_asked) > (known.score, known.is_asked):
                    told[line.chunk_id, line.said] = line
        lines = sorted(told.values(), key=lambda line: (-line.score, line.chunk_id, line.said))
        return _Around(lines=tuple(lines), reports=tuple(dict.fromkeys(reports)))

    async def _around_by(self, question: Question, wording: str) -> _Around:
        """Return what the graph says of what one wording names."""
        # In threads: a long question, and a thing of which much is told, take tens of milliseconds.
        asked = await asyncio.to_thread(names_asked, wording)
        bases = question.knowledge_bases
        known = await self._graphs.known(bases, asked) if asked and bases else {}
        if not known:
            return _Around()
        permitted = await self._registry.permitted(list(known), question.readers)
        lines: list[Line] = []
        reports: list[str] = []
        for name, keys in known.items():
            only, filters = permitted.get(name), question.filters.get(name, ())
            matching = None
            if filters or question.document_ids:
                matching = await self._values.matching(name, filters, only, question.document_ids)
            admitted = Admitted(only=only, matching=matching, homes=self._homes)
            around = await self._graphs.around(name, asked, keys, admitted)
            if around:
                lines += await asyncio.to_thread(lines_of, around, wording)
                reports += await self._graphs.reports(name, around.same, admitted)
        lines.sort(key=lambda line: (-line.score, line.chunk_id, line.said))
        return _Around(lines=tuple(lines), reports=tuple(reports))

    async def _reports(self, question: Question, found: Sequence[ScoredChunk], ids: Sequence[str]) -> list[ScoredChunk]:
        """Return the reports that were not found already, with what they rest on, as far as all of it may be read.

        Where nothing was found, none: a report is about more than what was asked.
        """
        held = {one.chunk.id for one in found}
        fresh = [chunk_id for chunk_id in ids if chunk_id not in held][:_MOST_READ] if found else []
        if not fresh:
            return []
        reading = partial(
            self._registry.readable_chunks,
            knowledge_bases=question.knowledge_bases,
            readers=question.readers,
            homes=self._homes,
        )
        chunks = await reading(fresh)
        scored = [ScoredChunk(chunk=chunk, score=found[-1].score) for chunk in chunks.values()][:REPORTS]
        return list(with_leaves(scored, await reading(leaves_of(one.chunk for one in scored)), {}))

    async def _told(self, question: Question, found: Sequence[ScoredChunk], lines: Sequence[Line]) -> list[_Told]:
        """Return the lines that say more than what was found, with their chunks, as far as these may be read."""
        held = held_by(found)
        fresh = [line for line in lines if line.chunk_id not in held][:LINES]
        if not fresh:
            return []
        chunks = await self._registry.readable_chunks(
            [line.chunk_id for line in fresh], question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        return [_Told(line=line, chunk=chunks[line.chunk_id]) for line in fresh if line.chunk_id in chunks]

    def _added(self, told: Sequence[_Told], reports: Sequence[ScoredChunk], score: float) -> list[ScoredChunk]:
        """Return the blocks of lines, the reports, and the likeliest chunks in full: what fits the budget of all."""
        room = TOKENS
        kept: list[_Told] = []
        for one in told:
            room -= self._tokenizer.count(one.line.said) + 2  # its dash, and its end
            if room < 0:
                break
            kept.append(one)
        beside: list[ScoredChunk] = []
        for report in reports:
            if sum(one.chunk.token_count for one in (*beside, report)) <= min(room, REPORT_TOKENS):
                beside.append(report)
        room -= sum(one.chunk.token_count for one in beside)
        sums: dict[str, float] = {}
        for one in kept:
            sums[one.chunk.id] = sums.get(one.chunk.id, 0.0) + one.line.score
        chunks = {one.chunk.id: one.chunk for one in kept}
        full: list[Chunk] = []
        for chunk_id in sorted(sums, key=lambda chunk_id: (-sums[chunk_id], chunk_id)):
            chunk = chunks[chunk_id]
            if len(full) < IN_FULL and chunk.token_count <= room:
                room -= chunk.token_count
                full.append(chunk)
        blocks = _blocks(kept, score, self._tokenizer)
        ranked = [*blocks, *beside, *(ScoredChunk(chunk=chunk, score=score) for chunk in full)]
        return [replace(one, ranks={LEG: rank}) for rank, one in enumerate(ranked, 1)]


def _blocks(told: Sequence[_Told], score: float, tokenizer: Tokenizer) -> list[ScoredChunk]:
    """Return a block for each document: its lines stand in the place of the chunks that they rest on."""
    by_document: dict[str, list[_Told]] = {}
    for one in told:
        by_document.setdefault(generation_of(one.chunk.id), []).append(one)
    blocks: list[ScoredChunk] = []
    for generation, lines in by_document.items():
        leaves = {one.chunk.id: one.chunk for one in sorted(lines, key=lambda one: one.chunk.ordinal)}
        text = "\n".join(dict.fromkeys(f"- {one.line.said}" for one in lines))
        first = next(iter(leaves.values()))
        chunk = Chunk(
            id=f"{generation}-{LEG}",
            document_id=first.document_id,
            knowledge_base=first.knowledge_base,
            ordinal=first.ordinal,
            text=text,
            title=first.title,
            token_count=tokenizer.count(text),
            url=first.url,
            media_type=first.media_type,
            kind=SectionKind.TEXT,
            location=Location(),
            updated_at=first.updated_at,
            reader_set=first.reader_set,
            leaves=tuple(leaf.ordinal for leaf in leaves.values()),
        )
        held = tuple(ScoredChunk(chunk=leaf, score=score) for leaf in leaves.values())
        blocks.append(ScoredChunk(chunk=chunk, score=score, leaves=held))
    return blocks
