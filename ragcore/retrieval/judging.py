"""The gate: which of the candidates that were read are relevant, which came near to it, and which are only copies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieval.candidates import Candidates
from ragcore.retrieval.copies import collapsed
from ragcore.retrieval.matching import matched_words, named_shares, phrase_share
from ragcore.retrieval.options import RetrievalOptions
from ragcore.retrieval.ordering import Placed
from ragcore.retrieval.parents import parent_of
from ragcore.retrieval.query import SearchQuery
from ragcore.retrieval.ranking import RankedCandidate, Ranking
from ragcore.retrieval.scoring import NAMED_SHARE, lifted
from ragcore.retrieval.similarity import similarities
from ragcore.retrieval.weighing import COMMON
from ragcore.types import Chunk, ScoredChunk

MATCHED = 50
"""How many chunks have their matched words told."""
COMPARED = 24
"""With how many different texts all that is relevant is compared: each comparison costs 2 microseconds."""
NEAR = 1 / 3
"""Share of the threshold from which on a chunk came near to it."""
MOST_NEAR = 5
"""Chunks that came near are given out up to so many, with those that passed: as many as an answer of quotes reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a search found, in order, and how much of it is to be read; whether no document meets the filters.

    ``rows`` are the ids of chunks that meet the filters by single rows of a table.
    """

    groups: Sequence[Candidates]
    ranking: Ranking
    read: int
    nothing_matches: bool = False
    rows: frozenset[str] = frozenset()

    @property
    def best(self) -> tuple[RankedCandidate, ...]:
        """Return the candidates that are worth reading: the best, and those that may hold what was named."""
        candidates = self.ranking.candidates
        named = (one for one in candidates[self.read :] if one.chunk_id in one.found_by.named)
        return (*candidates[: self.read], *named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What passed the gate, of as many parents as may be given out or reordered, and what came near to it.

    ``crowded``: copies took places, fewer passed than were wanted, and there is more to be read.
    """

    passed: tuple[Placed, ...]
    near: tuple[ScoredChunk, ...]
    crowded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A candidate that is live, and its chunk."""

    candidate: RankedCandidate
    chunk: Chunk

    def scored(
        self, query: SearchQuery, score: float, *, copies: tuple[Chunk, ...] = (), tell: bool = True
    ) -> ScoredChunk:
        """Make the chunk that is given out."""
        group, chunk = self.candidate.found_by, self.chunk
        legs = {"dense": group.dense_ranks, "keyword": group.keyword_ranks}
        return ScoredChunk(
            chunk=chunk,
            score=min(1.0, max(0.0, score)),
            ranks={leg: ranks[chunk.id] for leg, ranks in legs.items() if chunk.id in ranks},
            matched=matched_words(query, chunk.text) if tell else (),
            copies=copies,
        )


def judged(
    query: SearchQuery, searched: Searched, live: Mapping[str, Chunk], options: RetrievalOptions, wanted: int
) -> Judged:
    """Lift what holds a quoted phrase, and let through what reaches the threshold; copies are told with what they copy.

    Args:
        query: The analysed question.
        searched: What the search found.
        live: The chunks of its candidates that are live and may be read, by id.
        options: Of the retrieval.
        wanted: Of how many parents chunks are given out.
    """
    ranking = searched.ranking
    read = [_Read(candidate=one, chunk=live[one.chunk_id]) for one in searched.best if one.chunk_id in live]
    scores = np.array([one.candidate.relevance for one in read])
    if query.phrases:
        scores = lifted(scores, np.array([phrase_share(query, one.chunk) for one in read]))
    scores = _named_first(query, searched, scores, [one.chunk for one in read])
    parents = [parent_of(one.chunk) for one in read]
    order = (int(place) for place in np.argsort(-scores, kind="stable"))
    relevant = [place for place in order if max(0.0, scores[place]) >= ranking.threshold]
    copies = _copies(read, relevant, wanted) if options.collapse else {}
    told = {place for others in copies.values() for place in others}
    relevant = [place for place in relevant if place not in told]
    quoted = set(list(dict.fromkeys(parents[place] for place in relevant))[:wanted])
    passed = [(place, float(scores[place])) for place in relevant if parents[place] in quoted]
    if options.ranking == "similarity":
        passed = _by_similarity(query, read, passed, options)
    # What came near is told by the strict judgement: the word that stands nowhere may be just what is asked.
    strict = [ranking.strict.get(one.chunk.id, 0.0) for one in read]
    # A summary isn't quoted, and whoever quotes is who looks at these.
    quotable = (place for place in range(len(read)) if not read[place].chunk.is_summary)
    others = (place for place in quotable if parents[place] not in quoted and place not in told)
    closest = sorted(others, key=lambda place: (-strict[place], read[place].chunk.id))
    lowest = NEAR * options.similarity_threshold
    return Judged(
        passed=tuple(
            Placed(
                scored=read[place].scored(
                    query,
                    float(scores[place]),
                    copies=tuple(read[copy].chunk for copy in copies.get(place, ())),
                    tell=number < MATCHED,
                ),
                value=value,
            )
            for number, (place, value) in enumerate(passed)
        ),
        near=tuple(
            read[place].scored(query, strict[place])
            for place in closest[: max(0, MOST_NEAR - len(quoted))]
            if strict[place] >= lowest > 0.0
        ),
        crowded=bool(told) and len(quoted) < wanted and len(searched.best) < len(ranking.candidates),
    )


def _copies(read: Sequence[_Read], relevant: Sequence[int], wanted: int) -> dict[int, tuple[int, ...]]:
    """Return, by the place of a chunk that is given out, the places of its copies among what is relevant."""
    # Of chunks with parents several make one that is quoted.
    most = wanted if all(read[place].chunk.parent is None for place in relevant) else COMPARED
    groups = collapsed([read[place].chunk for place in relevant], min(most, COMPARED))
    return {relevant[group[0]]: tuple(relevant[at] for at in group[1:]) for group in groups if len(group) > 1}


def _by_similarity(
    query: SearchQuery, read: Sequence[_Read], passed: Sequence[tuple[int, float]], options: RetrievalOptions
) -> list[tuple[int, float]]:
    """Put the first of what passed in the order of their similarity to the question; the others come after them."""
    first = [read[place] for place, _ in passed[: options.rerank_candidates]]
    alike = similarities(query, [(one.candidate, one.chunk) for one in first], options.vector_similarity_weight)
    order = sorted(range(len(first)), key=lambda number: -alike[number])
    lowest = min(alike, default=1.0)
    return [
        *((passed[number][0], alike[number]) for number in order),
        *((place, lowest * value) for place, value in passed[len(first) :]),
    ]


def _named_first(
    query: SearchQuery, searched: Searched, scores: NDArray[np.float64], chunks: Sequence[Chunk]
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
