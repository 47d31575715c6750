"""One knowledge base's candidates for a question: both legs asked, united, and each one's missing score completed."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import StoreError
from ragcore.retrieval.background import Backgrounds
from ragcore.retrieval.query import SearchQuery
from ragcore.retrieval.scoring import Background, idf
from ragcore.retrieval.weighing import COMMON, WeighedQuery, weigh
from ragcore.stores.chunk_vectors import ChunkVectors
from ragcore.stores.indexes import (
    Alternative,
    Hit,
    KeywordQuery,
    KeywordReader,
    KeywordSearch,
    Matching,
    Permitted,
    VectorIndex,
)

log = logging.getLogger(__name__)

COMPARED = 20_000
"""Most chunks meeting a filter that are compared one by one: 0.15 s."""
OVERASKED = (4, 16, 64)
"""Of more, so many times the chunks are asked of the index, and what does not meet the filter is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What one knowledge base offers.

    ``cosines`` and ``bm25`` have every candidate that the leg can score; a leg that could not be asked is None.
    ``backgrounds`` is by the language of the chunks: those of all candidates, where there are cosines. ``languages``
    names that of each candidate, unless all are of one. ``exact`` holds, for chunks with rare identifiers of the
    question, the share of them; ``named`` those that may hold what the question names to the letter. ``ranks`` is by
    leg.
    """

    knowledge_base: str
    cosines: Mapping[str, float] | None = None
    bm25: Mapping[str, float] | None = None
    weighed: WeighedQuery | None = None
    backgrounds: Mapping[str, Background] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)
    exact: Mapping[str, float] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    dense_ranks: Mapping[str, int] = field(default_factory=dict)
    keyword_ranks: Mapping[str, int] = field(default_factory=dict)

    def language_of(self, chunk_id: str) -> str:
        """Return under which of the backgrounds a candidate is judged; one that is gone, under the first."""
        return self.languages.get(chunk_id) or next(iter(self.backgrounds), "")

    @property
    def ids(self) -> list[str]:
        """Return the ids of all candidates, sorted."""
        return sorted({*(self.cosines or ()), *(self.bm25 or ())})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The weighed question, the best chunks by words, and for chunks with its rare identifiers the share of them.

    ``named`` are chunks that may hold what the question names to the letter; they are among those found.
    """

    weighed: WeighedQuery
    found: Sequence[Hit]
    exact: Mapping[str, float]
    named: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Where a question looks: in one knowledge base, in these documents unless there are none, and in what is open.

    ``matching`` is what of all that meets the question's filters; None: there are none.
    """

    knowledge_base: str
    document_ids: tuple[str, ...] = ()
    only: Permitted | None = None
    matching: Matching | None = None


class CandidateSearch:
    """Asks the two indexes of a library."""

    def __init__(
        self,
        *,
        vectors: VectorIndex,
        keywords: KeywordSearch,
        chunk_vectors: ChunkVectors,
        backgrounds: Backgrounds,
        known_languages: frozenset[str] | None,
    ) -> None:
        """Bundle what is asked; ``known_languages`` are those that the embedder reads, None: all."""
        self._known = known_languages
        self._vectors = vectors
        self._keywords = keywords
        self._chunk_vectors = chunk_vectors
        self._backgrounds = backgrounds

    async def search(
        self, within: Within, query: SearchQuery, vector: NDArray[np.float32] | None, k: int, *, extra: int = 0
    ) -> Candidates:
        """Return the candidates: the k best of each leg, whichever leg can be asked.

        Args:
            within: Where to look.
            query: The analysed question.
            vector: The question's unit vector, float32 (dim,); None when there is no embedder to be had.
            k: How many candidates each leg brings.
            extra: How many more the keyword leg brings, for chunks that are not live; the dense leg gives live ones.
        """
        dense, words = await asyncio.gather(
            self._dense(within, vector, k),
            self._by_words(within, query, k + extra),
        )
        bm25, cosines, (languages, backgrounds) = await asyncio.gather(
            self._completed_bm25(within, words, dense or ()),
            self._completed_cosines(vector, dense, words),
            self._compared_with(within, query, vector, dense, words),
        )
        if bm25 is None:
            words = None
        return Candidates(
            knowledge_base=within.knowledge_base,
            cosines=cosines,
            bm25=bm25,
            weighed=words.weighed if words else None,
            backgrounds=backgrounds,
            languages=languages,
            exact=words.exact if words else {},
            named=words.named if words else frozenset(),
            dense_ranks={hit.chunk_id: rank for rank, hit in enumerate(dense or (), start=1)},
            keyword_ranks={hit.chunk_id: rank for rank, hit in enumerate(words.found if words else (), start=1)},
        )

    async def _dense(self, within: Within, vector: NDArray[np.float32] | None, k: int) -> list[Hit] | None:
        """Return the nearest chunks, None while the vectors cannot be searched."""
        if vector is None:
            return None
        try:
            if within.matching is not None:
                return await self._nearest_matching(within, within.matching, vector, k)
            if within.document_ids:
                return await self._chunk_vectors.nearest(
                    within.knowledge_base, vector, k, within.document_ids, within.only
                )
            return await self._vectors.query(within.knowledge_base, vector, k, within.only)
        except StoreError as error:
            log.warning("searching %s by words alone: %s", within.knowledge_base, error)
            return None

    async def _nearest_matching(
        self, within: Within, matching: Matching, vector: NDArray[np.float32], k: int
    ) -> list[Hit]:
        """Return the nearest chunks of what meets the filters: compared one by one where they are few.

        Of many the index will find enough among more than were asked for, unless the question is about what the filter
        leaves out: then all are compared after all.
        """
        compared = await self._chunk_vectors.nearest_of(vector, k, matching, most=COMPARED)
        if compared is not None:
            return compared
        for times in OVERASKED:
            found = await self._vectors.query(within.knowledge_base, vector, times * k, within.only)
            kept = [hit for hit in found if matching.admits(hit.chunk_id)]
            if len(kept) >= k:
                return kept[:k]
        return await self._chunk_vectors.nearest_of(vector, k, matching) or []

    async def _by_words(self, within: Within, query: SearchQuery, k: int) -> _Words | None:
        """Return what the words find, None while they cannot be searched."""

        def work(reader: KeywordReader) -> _Words:
            statistics = reader.statistics(within.knowledge_base, query.vocabulary, within.only)
            weighed = weigh(query, statistics)
            found = _found(reader, within, weighed.keywords, k)
            named = _named(reader, within, weighed)
            missing = sorted(named - {hit.chunk_id for hit in found})
            scored = reader.scores(within.knowledge_base, weighed.keywords, missing, within.only)
            unscored = sorted({*missing} - {hit.chunk_id for hit in scored})
            return _Words(
                weighed=weighed,
                found=[*found, *scored, *(Hit(chunk_id=chunk_id, score=0.0) for chunk_id in unscored)],
                exact=_exact(reader, within, weighed),
                named=named,
            )

        try:
            return await self._keywords.read(work)
        except StoreError as error:
            log.warning("searching %s by vectors alone: %s", within.knowledge_base, error)
            return None

    async def _completed_bm25(
        self, within: Within, words: _Words | None, dense: Sequence[Hit]
    ) -> dict[str, float] | None:
        """Return the BM25 scores of all candidates; a chunk that only the dense leg found may still share words."""
        if words is None:
            return None
        asked = words.weighed.keywords
        scores = {hit.chunk_id: hit.score for hit in words.found}
        missing = [hit.chunk_id for hit in dense if hit.chunk_id not in scores]
        if not missing:
            return scores
        try:
            more = await self._keywords.read(
                lambda reader: reader.scores(within.knowledge_base, asked, missing, within.only)
            )
        except StoreError as error:
            log.warning("searching %s by vectors alone: %s", within.knowledge_base, error)
            return None
        return dict.fromkeys(missing, 0.0) | {hit.chunk_id: hit.score for hit in more} | scores

    async def _completed_cosines(
        self, vector: NDArray[np.float32] | None, dense: Sequence[Hit] | None, words: _Words | None
    ) -> dict[str, float] | None:
        """Return the cosines of all candidates."""
        if vector is None or dense is None:
            return None
        cosines = {hit.chunk_id: hit.score for hit in dense}
        found = words.found if words else ()
        missing = await self._chunk_vectors.of([hit.chunk_id for hit in found if hit.chunk_id not in cosines])
        if missing:
            values = np.stack(list(missing.values())) @ vector
            cosines.update(zip(missing, map(float, values), strict=True))
        return cosines

    async def _compared_with(
        self,
        within: Within,
        query: SearchQuery,
        vector: NDArray[np.float32] | None,
        dense: Sequence[Hit] | None,
        words: _Words | None,
    ) -> tuple[dict[str, str], dict[str, Background]]:
        """Return the candidates' languages, where there are several, and by language the background they stand on."""
        if vector is None or dense is None:
            return {}, {}
        sample = await self._backgrounds.of(
            within.knowledge_base,
            count=words.weighed.count if words else None,
            only=within.only,
        )
        languages: dict[str, str] = {}
        if len(sample.languages) > 1:
            found = [hit.chunk_id for hit in (*dense, *(words.found if words else ()))]
            languages = await self._chunk_vectors.languages(found)
        written = set(languages.values()) or {*sample.languages} or {query.language}
        return languages, {
            name: sample.background(vector, query.language, name, self._known) for name in sorted(written)
        }


def _found(reader: KeywordReader, within: Within, query: KeywordQuery, k: int) -> list[Hit]:
    """Search by words where the question looks."""
    return reader.search(within.knowledge_base, query, k, within.document_ids, within.only, within.matching)


def _exact(reader: KeywordReader, within: Within, weighed: WeighedQuery) -> dict[str, float]:
    """Return, for each chunk with a rare identifier of the question, the share of them that it has, 0..1.

    Less of it the more chunks have the identifier: what every fifth one names tells few of them apart.
    """
    total = sum(weighed.exact.values())
    rarest = idf(weighed.count, 1)
    shares: dict[str, float] = {}
    for term, rarity in weighed.exact.items():
        asked = KeywordQuery(clauses=((Alternative(terms=(term,)),),))
        for hit in _found(reader, within, asked, COMMON):
            shares[hit.chunk_id] = shares.get(hit.chunk_id, 0.0) + rarity / total * min(1.0, rarity / rarest)
    return shares


def _named(reader: KeywordReader, within: Within, weighed: WeighedQuery) -> frozenset[str]:
    """Return the chunks, at most ``COMMON`` for each name, that have all its terms."""
    asked = [KeywordQuery(clauses=((Alternative(terms=name),),)) for name in weighed.named]
    hits = (_found(reader, within, query, COMMON) for query in asked)
    return frozenset(hit.chunk_id for found in hits for hit in found)
