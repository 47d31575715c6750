"""What a search did, told for the trace of an answer. Pure."""

from collections.abc import Mapping, Sequence

from ragcore.filter_grammar import print_filter
from ragcore.retrieval.judging import Judged, Searched
from ragcore.trace import Fate, Leg, Passage, Search, passage_of
from ragcore.types import Chunk, Question

MOST_TOLD = 60
"""Passages of one search that are told, the best: as many as are read where a phrase may lift one."""


def search_of(
    question: Question, beside: Sequence[str], searched: Searched, live: Mapping[str, Chunk], outcome: Judged
) -> Search:
    """Return what a search looked for and where, and what became of all that it read.

    Args:
        question: As it was searched, with its filters.
        beside: Words that count besides its own.
        searched: What the legs brought, and how it was ranked.
        live: The chunks that may be read, by id.
        outcome: What passed the gate.
    """
    return Search(
        text=question.text,
        beside=tuple(beside),
        document_ids=question.document_ids,
        filters=tuple(f"{name}: {print_filter(one)}" for name, each in question.filters.items() for one in each),
        legs=tuple(
            Leg(
                knowledge_base=group.knowledge_base,
                by_meaning=None if group.cosines is None else len(group.dense_ranks),
                by_words=None if group.bm25 is None else len(group.keyword_ranks),
            )
            for group in searched.groups
        ),
        gate=searched.ranking.threshold,
        relaxed=searched.ranking.relaxed,
        unread=sum(one.chunk_id not in live for one in searched.best),
        passages=_passages(searched, live, outcome),
    )


def _passages(searched: Searched, live: Mapping[str, Chunk], outcome: Judged) -> tuple[Passage, ...]:
    """Return what passed, in its order, then all else that was read, the best first."""
    passed = [placed.scored for placed in outcome.passed]
    told = [passage_of(scored, Fate.PASSED) for scored in passed]
    named = {scored.chunk.id for scored in passed}
    copies = {copy.id for scored in passed for copy in scored.copies}
    for one in searched.best[: MOST_TOLD + len(named)]:
        chunk = live.get(one.chunk_id)
        if chunk is None or chunk.id in named:
            continue
        fate = Fate.BEYOND if one.relevance >= searched.ranking.threshold else Fate.BELOW
        group = one.found_by
        ranks = (("dense", group.dense_ranks.get(chunk.id)), ("keyword", group.keyword_ranks.get(chunk.id)))
        told.append(
            Passage(
                fate=Fate.COPY if chunk.id in copies else fate,
                chunk_id=chunk.id,
                document_id=chunk.document_id,
                title=chunk.title,
                score=one.relevance,
                legs=tuple((leg, rank) for leg, rank in ranks if rank is not None),
                rests_on=frozenset(leaf.document_id for leaf in chunk.rests_on),
            )
        )
    return tuple(told[:MOST_TOLD])
