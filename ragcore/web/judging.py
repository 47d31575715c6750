"""Which passages of the web are relevant to a question: by the same words, vectors and gate as those of documents.

What an index knows of a knowledge base is missing here. The passages at hand were all found for this very question, so
counted among them the words that matter would be common ones; each word of the question that stands in any of them
counts alike instead. Their vectors are judged against what the embedder is known for, as those of a new knowledge base.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragcore.chunking import embedding_text
from ragcore.errors import ModelError
from ragcore.models.embeddings import Embedder
from ragcore.on_web import WEB
from ragcore.retrieval.background import Sample
from ragcore.retrieval.candidates import Candidates
from ragcore.retrieval.judging import Searched, judged
from ragcore.retrieval.options import RetrievalOptions
from ragcore.retrieval.query import SearchQuery, analyse
from ragcore.retrieval.ranking import rank
from ragcore.retrieval.scoring import K1, Background, idf
from ragcore.retrieval.weighing import WeighedQuery, weigh
from ragcore.stores.indexes import Alternative, KeywordQuery, TermStatistics
from ragcore.stores.keyword_document import bag
from ragcore.terms import language_of
from ragcore.types import Chunk, ScoredChunk

log = logging.getLogger(__name__)

EMBEDDED = 8
"""Passages whose meaning is compared: those with most of the question's words. Each takes the embedded model some 50 ms
on two cores."""
OF_PAGE = 2
"""Passages of one page that are given out at most."""
B = 0.75
"""Of BM25, how far length counts, as Tantivy has it."""
_CHUNKS = 1_000
"""As if among so many, each word stood in one: what is found nowhere then counts hardly more (7.6 against 6.5)."""


class PassageJudge:
    """Judges passages; safe to share between conversations."""

    def __init__(
        self,
        embedder: Embedder | None,
        options: RetrievalOptions,
        *,
        known_languages: frozenset[str] | None = frozenset({"en"}),
    ) -> None:
        """Keep what judges the documents' chunks too; ``known_languages`` are those that the embedder reads."""
        self._embedder = embedder
        self._options = options
        self._known = known_languages

    async def relevant(
        self, question: str, passages: Sequence[Chunk], most: int, *, seconds: float | None = None
    ) -> tuple[ScoredChunk, ...]:
        """Return at most so many of the passages: those that pass the gate, best first, copies among them once.

        Embedding them may take so many ``seconds``; when it is late their words alone are judged.
        """
        if not passages:
            return ()
        query = analyse(question)
        weighed, scores = await asyncio.to_thread(_by_words, query, passages)
        order = sorted(range(len(passages)), key=lambda at: (-scores[at], at))
        chunks = [passages[at] for at in order[:EMBEDDED]]
        vectors = await self._vectors(query, chunks, seconds)
        bm25 = {passages[at].id: scores[at] for at in order[:EMBEDDED]}
        return await asyncio.to_thread(self._judged, query, weighed, chunks, bm25, vectors, most)

    async def _vectors(
        self, query: SearchQuery, chunks: Sequence[Chunk], seconds: float | None
    ) -> NDArray[np.float32] | None:
        """Embed the question and the passages; None where words alone must do.

        The question alone, since the documents' search embeds it so: an embedder that remembers has it already.
        """
        if self._embedder is None:
            return None
        texts = [embedding_text(one.title, one.heading_path, one.text) for one in chunks]
        try:
            async with asyncio.timeout(seconds):
                asked = await self._embedder.embed([query.text_to_embed])
                return np.concatenate([asked, await self._embedder.embed(texts)])
        except ModelError as error:
            log.warning("judging pages by words alone: the embedder failed: %s", error)
        except TimeoutError:
            log.warning("judging pages by words alone: embedding them took over %g s", seconds)
        return None

    def _judged(
        self,
        query: SearchQuery,
        weighed: WeighedQuery,
        chunks: Sequence[Chunk],
        bm25: Mapping[str, float],
        vectors: NDArray[np.float32] | None,
        most: int,
    ) -> tuple[ScoredChunk, ...]:
        languages = {chunk.id: language_of(chunk.text) for chunk in chunks}
        cosines: dict[str, float] | None = None
        backgrounds: dict[str, Background] = {}
        if vectors is not None:
            values = (vectors[1:] @ vectors[0]).tolist()
            cosines = dict(zip((chunk.id for chunk in chunks), values, strict=True))
            for name in sorted(set(languages.values())):
                usual = Sample(languages={}, count=0).background(vectors[0], query.language, name, self._known)
                backgrounds[name] = replace(usual, count=max(len(chunks), 2))
        group = Candidates(
            knowledge_base=WEB,
            cosines=cosines,
            bm25=bm25,
            weighed=weighed,
            backgrounds=backgrounds,
            languages=languages,
            keyword_ranks={chunk.id: place for place, chunk in enumerate(chunks, start=1)},
        )
        options = replace(self._options, ranking="fused")
        ranking = rank([group], weight=options.vector_similarity_weight, threshold=options.similarity_threshold)
        searched = Searched(groups=[group], ranking=ranking, read=len(chunks))
        outcome = judged(query, searched, {chunk.id: chunk for chunk in chunks}, options, len(chunks))
        return _of_pages([placed.scored for placed in outcome.passed], most)


def _of_pages(scored: Sequence[ScoredChunk], most: int) -> tuple[ScoredChunk, ...]:
    """Return the first ``most``, of each page a few."""
    given: Counter[str] = Counter()
    kept: list[ScoredChunk] = []
    for one in scored:
        given[one.chunk.document_id] += 1
        if given[one.chunk.document_id] <= OF_PAGE:
            kept.append(one)
    return tuple(kept[:most])


def _by_words(query: SearchQuery, passages: Sequence[Chunk]) -> tuple[WeighedQuery, list[float]]:
    """Return the weighed question, and how each passage scores by its words."""
    held = [Counter(bag(chunk)) for chunk in passages]
    known = {term for one in held for term in one}
    frequencies = tuple(int(term in known) for term in query.vocabulary)
    weighed = weigh(query, TermStatistics(count=_CHUNKS, frequencies=frequencies))
    lengths = [sum(one.values()) for one in held]
    mean = sum(lengths) / len(lengths) or 1.0
    return weighed, [_bm25(weighed.keywords, one, length / mean) for one, length in zip(held, lengths, strict=True)]


def _bm25(asked: KeywordQuery, held: Mapping[str, int], length: float) -> float:
    """Return the BM25 score of a passage: of each clause its best alternative; ``length`` is relative to the mean."""
    saturated = {
        term: count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length)) * idf(_CHUNKS, 1)
        for term, count in held.items()
    }
    return sum(max((_worth(one, saturated) for one in clause), default=0.0) for clause in asked.clauses)


def _worth(alternative: Alternative, saturated: Mapping[str, float]) -> float:
    if any(term not in saturated for term in alternative.terms):
        return 0.0
    return alternative.weight * sum(saturated[term] for term in alternative.terms)
