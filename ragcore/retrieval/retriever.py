"""From a question to the chunks that may answer it: both legs, united, fused, judged by an absolute gate."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError, StoreError
from ragcore.models.embeddings import Embedder
from ragcore.phrases import Phrase
from ragcore.retrieval.background import Backgrounds
from ragcore.retrieval.candidates import Candidates, CandidateSearch
from ragcore.retrieval.matching import matched_words, phrase_share
from ragcore.retrieval.options import RetrievalOptions
from ragcore.retrieval.query import SearchQuery, analyse
from ragcore.retrieval.scoring import lifted, relevance
from ragcore.retrieval.synonyms import Synonyms
from ragcore.stores.chunk_vectors import ChunkVectors
from ragcore.stores.hits import KeywordIndex, VectorIndex
from ragcore.stores.registry import Registry
from ragcore.types import Chunk, Question, ScoredChunk

log = logging.getLogger(__name__)

RELAXED = 1.5
"""How many times the threshold a chunk must reach when words that stand nowhere are left out of account."""
RELAXED_SHARE = 0.4
"""Share of the question, by weight, that must stand somewhere for the rest to be left out."""
MATCHED = 50
"""How many chunks have their matched words told."""
PHRASE_CANDIDATES = 60
"""How many of the best chunks are read for a quoted phrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The chunks that passed the gate, best first, at most ``top_n``; none when nothing is relevant.

    ``without_vectors`` and ``without_keywords`` say that a leg could not be asked, in one knowledge base at least.
    ``relaxed`` says that they passed only the second, relaxed judgement. ``notes`` are phrases for the reader.
    """

    chunks: tuple[ScoredChunk, ...] = ()
    without_vectors: bool = False
    without_keywords: bool = False
    relaxed: bool = False
    notes: tuple[Phrase, ...] = ()

    @property
    def degraded(self) -> bool:
        """Return whether an index could not be searched, so that documents may be missing."""
        return self.without_vectors or self.without_keywords


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Everything found, and the chunks of it that are live."""

    groups: Sequence[Candidates]
    live: Mapping[str, Chunk] = field(default_factory=dict)

    @property
    def mostly_known(self) -> "_Found":
        """Return what was found where most of the question stands in some chunk."""
        known = [group for group in self.groups if group.weighed and group.weighed.known_share >= RELAXED_SHARE]
        return _Found(groups=known, live=self.live)


class Retriever:
    """Searches the knowledge bases of one library; safe to share between conversations."""

    def __init__(
        self,
        *,
        registry: Registry,
        vectors: VectorIndex,
        keywords: KeywordIndex,
        embedder: Embedder,
        options: RetrievalOptions | None = None,
    ) -> None:
        """Compose; the synonym file is read at the first question."""
        self._registry = registry
        self._embedder = embedder
        self._options = options or RetrievalOptions()
        self._synonyms: Synonyms | None = None
        chunk_vectors = ChunkVectors(registry.database, embedder=embedder.name)
        self._search = CandidateSearch(
            vectors=vectors,
            keywords=keywords,
            chunk_vectors=chunk_vectors,
            backgrounds=Backgrounds(chunk_vectors),
        )

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks.

        Raises:
            ConfigError: The synonym file cannot be read.
            StoreError: Neither index could be searched, or the database could not.
        """
        if not question.knowledge_bases or not question.text.strip():
            return Retrieved()
        query = analyse(question.text, await self._loaded_synonyms())
        found = await self._found(question, query)
        chosen = self._judged(query, found, relaxed=False)
        relaxed = not chosen and bool(chosen := self._judged(query, found.mostly_known, relaxed=True))
        without_vectors = any(group.cosines is None for group in found.groups)
        without_keywords = any(group.bm25 is None for group in found.groups)
        return Retrieved(
            chunks=chosen,
            without_vectors=without_vectors,
            without_keywords=without_keywords,
            relaxed=relaxed,
            notes=("index_rebuilding",) if without_vectors or without_keywords else (),
        )

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

    async def _found(self, question: Question, query: SearchQuery) -> _Found:
        """Search every knowledge base at once, seeing each document in one version."""
        vector = await self._vector(question.text)

        async def search(extra: int) -> list[Candidates]:
            asked = [
                self._search.search(name, query, vector, self._options.top_k + extra, question.document_ids)
                for name in question.knowledge_bases
            ]
            return list(await asyncio.gather(*asked))

        def ids_of(groups: list[Candidates]) -> list[str]:
            return [chunk_id for group in groups for chunk_id in group.ids]

        groups, live = await self._registry.settled_search(question.knowledge_bases, search, ids_of)
        if all(group.cosines is None and group.bm25 is None for group in groups):
            raise StoreError("neither the vectors nor the keywords can be searched")
        return _Found(groups=groups, live=live)

    def _judged(self, query: SearchQuery, found: _Found, *, relaxed: bool) -> tuple[ScoredChunk, ...]:
        """Score, order and gate; the relaxed judgement forgives unknown words, and asks for more in return."""
        scored: list[tuple[float, Candidates, Chunk]] = []
        for group in found.groups:
            chunks = [found.live[chunk_id] for chunk_id in group.ids if chunk_id in found.live]
            scores = self._relevances(query, group, chunks, relaxed=relaxed)
            scored += [(score, group, chunk) for score, chunk in zip(scores, chunks, strict=True)]
        threshold = min(1.0, self._options.similarity_threshold * (RELAXED if relaxed else 1.0))
        scored.sort(key=lambda entry: (-entry[0], entry[2].id))
        return tuple(
            ScoredChunk(
                chunk=chunk,
                score=min(1.0, max(0.0, score)),
                ranks=_ranks(group, chunk.id),
                matched=matched_words(query, chunk.text) if place < MATCHED else (),
            )
            for place, (score, group, chunk) in enumerate(scored[: self._options.top_n])
            if max(0.0, score) >= threshold
        )

    def _relevances(
        self, query: SearchQuery, group: Candidates, chunks: Sequence[Chunk], *, relaxed: bool
    ) -> list[float]:
        """Return the relevance of each chunk of a group."""
        if not chunks:
            return []
        ids = [chunk.id for chunk in chunks]
        coverage, weight = self._coverage(group, ids, relaxed=relaxed)
        if group.cosines is not None and group.background is not None:
            cosines = np.array([group.cosines.get(chunk_id, group.background.mean) for chunk_id in ids])
            scores = relevance(cosines, coverage, group.background, weight)
        else:
            scores = coverage
        scores = lifted(scores, np.array([group.exact.get(chunk_id, 0.0) for chunk_id in ids]))
        if query.phrases:
            best = np.argsort(-scores, kind="stable")[:PHRASE_CANDIDATES]
            shares = np.zeros(len(chunks))
            shares[best] = [phrase_share(query, chunks[place]) for place in best]
            scores = lifted(scores, shares)
        return [float(score) for score in scores]

    def _coverage(self, group: Candidates, ids: Sequence[str], *, relaxed: bool) -> tuple[NDArray[np.float64], float]:
        """Return the share of the best possible BM25 score, and the dense leg's weight beside it."""
        ceiling = 0.0
        if group.weighed is not None:
            ceiling = group.weighed.known_ceiling if relaxed else group.weighed.ceiling
        if group.bm25 is None or ceiling <= 0.0:
            return np.zeros(len(ids)), 1.0
        scores = np.array([group.bm25.get(chunk_id, 0.0) for chunk_id in ids])
        return np.minimum(scores / ceiling, 1.0), self._options.vector_similarity_weight


def _ranks(group: Candidates, chunk_id: str) -> dict[str, int]:
    """Return a chunk's place in each leg that found it."""
    legs = {"dense": group.dense_ranks, "keyword": group.keyword_ranks}
    return {leg: ranks[chunk_id] for leg, ranks in legs.items() if chunk_id in ranks}
