"""From a question to the chunks that may answer it: both legs, united, fused, judged by an absolute gate."""

import asyncio
import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError, StoreError
from ragcore.models.embeddings import Embedder
from ragcore.phrases import Phrase
from ragcore.retrieval.background import Backgrounds
from ragcore.retrieval.candidates import Candidates, CandidateSearch, Within
from ragcore.retrieval.matching import matched_words, named_shares, phrase_share
from ragcore.retrieval.options import RetrievalOptions
from ragcore.retrieval.parents import parent_of, siblings_of, widened
from ragcore.retrieval.query import SearchQuery, analyse
from ragcore.retrieval.ranking import RankedCandidate, Ranking, rank
from ragcore.retrieval.scoring import NAMED_SHARE, lifted
from ragcore.retrieval.summaries import leaves_of, with_leaves
from ragcore.retrieval.synonyms import Synonyms
from ragcore.retrieval.weighing import COMMON
from ragcore.stores.chunk_vectors import ChunkVectors
from ragcore.stores.indexes import KeywordSearch, Permitted, VectorIndex
from ragcore.stores.registry import Registry
from ragcore.types import Chunk, Question, ScoredChunk

log = logging.getLogger(__name__)

MATCHED = 50
"""How many chunks have their matched words told."""
READ = 24
"""How many of the best candidates are read at least: some may not be live any more, and a phrase may lift others."""
READ_FOR_PHRASES = 60
NEAR = 1 / 3
"""Share of the threshold from which on a chunk came near to it."""
MOST_NEAR = 5
"""Chunks that came near are given out up to so many, with those that passed: as many as an answer of quotes reads."""


SIDE_BY_SIDE = 16
"""Most searches under way: with more none would end sooner, and all else that the processor has to do would wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The chunks that passed the gate, best first, at most ``top_n``; none when nothing is relevant.

    ``near`` are a few that came near to it, best first: worth a second look, and not to be believed without.
    ``without_vectors`` and ``without_keywords`` say that a leg could not be asked, in one knowledge base at least.
    ``relaxed`` says that they passed only the second, relaxed judgement. ``notes`` are phrases for the reader.
    """

    chunks: tuple[ScoredChunk, ...] = ()
    near: tuple[ScoredChunk, ...] = ()
    without_vectors: bool = False
    without_keywords: bool = False
    relaxed: bool = False
    notes: tuple[Phrase, ...] = ()

    @property
    def degraded(self) -> bool:
        """Return whether an index could not be searched, so that documents may be missing."""
        return self.without_vectors or self.without_keywords


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """What passed the gate, of at most ``top_n`` parents, and what came near to it."""

    passed: tuple[ScoredChunk, ...]
    near: tuple[ScoredChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Searched:
    """What a search found, in order, and how much of it is to be read."""

    groups: Sequence[Candidates]
    ranking: Ranking
    read: int

    @property
    def best(self) -> tuple[RankedCandidate, ...]:
        """Return the candidates that are worth reading: the best, and those that may hold what was named."""
        candidates = self.ranking.candidates
        named = (one for one in candidates[self.read :] if one.chunk_id in one.found_by.named)
        return (*candidates[: self.read], *named)


class Retriever:
    """Searches the knowledge bases of one library; safe to share between conversations."""

    def __init__(
        self,
        *,
        registry: Registry,
        vectors: VectorIndex,
        keywords: KeywordSearch,
        embedder: Embedder,
        options: RetrievalOptions | None = None,
        known_languages: frozenset[str] | None = frozenset({"en"}),
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Compose; the synonym file is read at the first question.

        ``known_languages`` are those that the embedder is said to read, None: all. What the documents show of it counts
        besides, the more of them there are. ``homes`` tells the knowledge base of each source: what was read into
        another one is not given out.
        """
        self._homes = homes
        self._registry = registry
        self._embedder = embedder
        self._options = options or RetrievalOptions()
        self._synonyms: Synonyms | None = None
        self._room = asyncio.Semaphore(SIDE_BY_SIDE)
        chunk_vectors = ChunkVectors(registry.database, embedder=embedder.name)
        self._search = CandidateSearch(
            vectors=vectors,
            keywords=keywords,
            chunk_vectors=chunk_vectors,
            backgrounds=Backgrounds(chunk_vectors),
            known_languages=known_languages,
        )

    def with_options(self, options: RetrievalOptions) -> "Retriever":
        """Return one that judges by other options, and shares what this one has learnt of the knowledge bases."""
        other = copy.copy(self)
        other._options = options
        other._synonyms = self._synonyms if options.synonyms == self._options.synonyms else None
        return other

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks.

        Raises:
            ConfigError: The synonym file cannot be read.
            StoreError: Neither index could be searched, or the database could not.
        """
        if not question.knowledge_bases or not question.text.strip():
            return Retrieved()
        async with self._room:
            return await self._retrieve(question)

    async def _retrieve(self, question: Question) -> Retrieved:
        synonyms = await self._loaded_synonyms()
        query = analyse(question.text, synonyms, earlier=_earlier(question))
        searched, live = await self._searched(question, query)
        groups = searched.groups
        without_vectors = any(group.cosines is None for group in groups)
        without_keywords = any(group.bm25 is None for group in groups)
        if all(group.cosines is None and group.bm25 is None for group in groups):
            raise StoreError("neither the vectors nor the keywords can be searched")
        # In a thread: sixty chunks are read for a quoted phrase, which would hold up the other conversations.
        judged = await asyncio.to_thread(self._judged, query, searched, live)
        return Retrieved(
            chunks=await self._with_leaves(question, await self._with_parents(question, judged.passed)),
            near=judged.near,
            without_vectors=without_vectors,
            without_keywords=without_keywords,
            relaxed=searched.ranking.relaxed,
            notes=("index_rebuilding",) if without_vectors or without_keywords else (),
        )

    async def _with_parents(self, question: Question, passed: tuple[ScoredChunk, ...]) -> tuple[ScoredChunk, ...]:
        """Quote large what was found small; a chunk without a parent stays as it is, and nothing is read for it."""
        ids = siblings_of(scored.chunk for scored in passed)
        if not ids:
            return passed
        siblings = await self._registry.readable_chunks(
            ids, question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        return widened(passed, siblings)

    async def _with_leaves(self, question: Question, passed: tuple[ScoredChunk, ...]) -> tuple[ScoredChunk, ...]:
        """Give each summary the chunks that it rests on; where none was found, nothing is read."""
        ids = leaves_of(scored.chunk for scored in passed)
        if not ids:
            return passed
        leaves = await self._registry.readable_chunks(
            ids, question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        query = analyse(question.text, await self._loaded_synonyms(), earlier=_earlier(question))
        matched = {leaf.id: matched_words(query, leaf.text) for leaf in leaves.values()}
        return with_leaves(passed, leaves, matched)

    async def _loaded_synonyms(self) -> Synonyms:
        """Read the synonym file once."""
        if self._synonyms is None:
            path = self._options.synonyms
            self._synonyms = await asyncio.to_thread(Synonyms.load, path) if path else Synonyms.none()
        return self._synonyms

    async def _vector(self, text: str) -> NDArray[np.float32] | None:
        """Embed the question; None when the embedder cannot be reached, so that words alone must do."""
        try:
            vector: NDArray[np.float32] = (await self._embedder.embed([text]))[0]
        except ModelError as error:
            log.warning("searching by words alone: the embedder failed: %s", error)
            return None
        return vector

    async def _searched(self, question: Question, query: SearchQuery) -> tuple[_Searched, Mapping[str, Chunk]]:
        """Search every knowledge base at once, and read the best, seeing each document in one version."""
        vector = await self._vector(query.text_to_embed)
        options = self._options
        read = max(2 * options.top_n, READ_FOR_PHRASES if query.phrases or query.references else READ)

        async def search(extra: int, filters: Mapping[str, Permitted]) -> _Searched:
            within = (
                Within(knowledge_base=name, document_ids=question.document_ids, only=filters.get(name))
                for name in question.knowledge_bases
            )
            asked = [self._search.search(each, query, vector, options.top_k, extra=extra) for each in within]
            groups = await asyncio.gather(*asked)
            ranking = rank(groups, weight=options.vector_similarity_weight, threshold=options.similarity_threshold)
            return _Searched(groups=groups, ranking=ranking, read=read + extra)

        def ids_of(searched: _Searched) -> list[str]:
            return [candidate.chunk_id for candidate in searched.best]

        return await self._registry.settled_search(
            question.knowledge_bases, search, ids_of, readers=question.readers, homes=self._homes
        )

    def _judged(self, query: SearchQuery, searched: _Searched, live: Mapping[str, Chunk]) -> _Judged:
        """Lift what holds a quoted phrase, and let through what reaches the threshold."""
        ranking = searched.ranking
        read = [candidate for candidate in searched.best if candidate.chunk_id in live]
        scores = np.array([candidate.relevance for candidate in read])
        if query.phrases:
            scores = lifted(scores, np.array([phrase_share(query, live[one.chunk_id]) for one in read]))
        scores = self._named_first(query, searched, scores, [live[one.chunk_id] for one in read])
        parents = [parent_of(live[one.chunk_id]) for one in read]
        order = (int(place) for place in np.argsort(-scores, kind="stable"))
        relevant = [place for place in order if max(0.0, scores[place]) >= ranking.threshold]
        quoted = set(list(dict.fromkeys(parents[place] for place in relevant))[: self._options.top_n])
        passed = [place for place in relevant if parents[place] in quoted]
        # What came near is told by the strict judgement: the word that stands nowhere may be just what is asked.
        strict = {place: ranking.strict.get(read[place].chunk_id, 0.0) for place in range(len(read))}
        others = (place for place in strict if parents[place] not in quoted and not live[read[place].chunk_id].leaves)
        closest = sorted(others, key=lambda place: (-strict[place], read[place].chunk_id))
        lowest = NEAR * self._options.similarity_threshold
        return _Judged(
            passed=tuple(
                self._scored(
                    query, read[place], live[read[place].chunk_id], float(scores[place]), tell=number < MATCHED
                )
                for number, place in enumerate(passed)
            ),
            near=tuple(
                self._scored(query, read[place], live[read[place].chunk_id], strict[place], tell=True)
                for place in closest[: max(0, MOST_NEAR - len(quoted))]
                if strict[place] >= lowest > 0.0
            ),
        )

    @staticmethod
    def _named_first(
        query: SearchQuery, searched: _Searched, scores: NDArray[np.float64], chunks: Sequence[Chunk]
    ) -> NDArray[np.float64]:
        """Lift what holds references of the question that the index does not have as they were typed.

        What may be a mere amount lifts only what is relevant without it.
        """
        known = {term for group in searched.groups if group.weighed for term in group.weighed.written}
        references = [reference for reference in query.references if reference.whole not in known]
        if not references:
            return scores
        shares = named_shares(references, chunks, COMMON)
        threshold = searched.ranking.threshold
        scores = lifted(scores, np.array(shares.sure), NAMED_SHARE)
        return lifted(scores, np.where(scores >= threshold, np.array(shares.likely), 0.0))

    def _scored(
        self, query: SearchQuery, candidate: RankedCandidate, chunk: Chunk, score: float, *, tell: bool
    ) -> ScoredChunk:
        """Make the chunk that is given out."""
        group = candidate.found_by
        legs = {"dense": group.dense_ranks, "keyword": group.keyword_ranks}
        return ScoredChunk(
            chunk=chunk,
            score=min(1.0, max(0.0, score)),
            ranks={leg: ranks[chunk.id] for leg, ranks in legs.items() if chunk.id in ranks},
            matched=matched_words(query, chunk.text) if tell else (),
        )


def _earlier(question: Question) -> list[str]:
    """Return the first and the last question asked before: what the conversation is about, and what it has come to."""
    asked = [message.text for message in question.history if message.role == "user"]
    return list(dict.fromkeys((*asked[:1], *asked[-1:])))
