"""From the clauses of a question and the statistics of a knowledge base to what its keyword index is asked."""

from collections.abc import Mapping
from dataclasses import dataclass

from ragcore.retrieval.query import Clause, SearchQuery
from ragcore.retrieval.scoring import K1, idf
from ragcore.stores.hits import Alternative, KeywordQuery, TermStatistics
from ragcore.terms import Kind

MAX_CLAUSES = 48
"""Clauses that are searched: those that tell the most. A whole page pasted as a question stays cheap."""
SYNONYM_WEIGHT = 0.7
"""What a synonym counts beside the word that was typed."""
COMMON = 20
"""An identifier that stands in more chunks than this is a word like others, and finds no document by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedQuery:
    """A question as one knowledge base sees it.

    ``ceiling`` is the highest BM25 score that a chunk could have, over all clauses; ``known_ceiling`` leaves out
    clauses that no chunk of the knowledge base can meet. ``exact`` maps rare identifiers to their idf. ``count`` is how
    many chunks there are.
    """

    keywords: KeywordQuery
    count: int
    ceiling: float
    known_ceiling: float
    exact: Mapping[str, float]


def weigh(query: SearchQuery, statistics: TermStatistics) -> WeighedQuery:
    """Weigh each clause by its rarity here.

    Args:
        query: The analysed question.
        statistics: Of ``query.vocabulary``, in its order.
    """
    frequency = dict(zip(query.vocabulary, statistics.frequencies, strict=True))
    clauses = [clause for clause in query.clauses if not _is_mere_joining(clause, query, frequency)]
    rarity = {clause.term: _rarity(clause, statistics.count, frequency) for clause in clauses}
    clauses = sorted(clauses, key=lambda clause: -clause.weight * rarity[clause.term])[:MAX_CLAUSES]
    asked = [_alternatives(clause, rarity[clause.term], statistics.count, frequency) for clause in clauses]
    known = [clause for clause, alternatives in zip(clauses, asked, strict=True) if alternatives]
    return WeighedQuery(
        keywords=KeywordQuery(clauses=tuple(alternatives for alternatives in asked if alternatives)),
        count=statistics.count,
        ceiling=sum(clause.weight * rarity[clause.term] for clause in clauses) * (K1 + 1.0),
        known_ceiling=sum(clause.weight * rarity[clause.term] for clause in known) * (K1 + 1.0),
        exact={
            clause.term: rarity[clause.term]
            for clause in known
            if clause.kind is Kind.IDENTIFIER and 0 < frequency[clause.term] <= COMMON
        },
    )


def _is_mere_joining(clause: Clause, query: SearchQuery, frequency: Mapping[str, int]) -> bool:
    """Whether a hyphenated word, written together, is unknown here: its parts then say it all."""
    if clause.kind is not Kind.WORD or frequency[clause.term]:
        return False
    return any(other.kind is Kind.PART and other.term in clause.term for other in query.clauses)


def _rarity(clause: Clause, count: int, frequency: Mapping[str, int]) -> float:
    """Return the idf of a clause: of its own term, or of its best known synonym where it is unknown itself."""
    own = frequency[clause.term]
    if own or not clause.synonyms:
        return idf(count, own)
    met = [max(frequency[word] for word in member) for member in clause.synonyms if all(map(frequency.get, member))]
    return idf(count, max(met, default=0))


def _alternatives(clause: Clause, rarity: float, count: int, frequency: Mapping[str, int]) -> tuple[Alternative, ...]:
    """Return the ways to meet a clause that exist here; synonyms are brought to the clause's own rarity."""
    found: list[Alternative] = []
    if frequency[clause.term]:
        found.append(Alternative(terms=(clause.term,), weight=clause.weight))
    for member in clause.synonyms:
        if all(frequency[word] for word in member):
            worth = sum(idf(count, frequency[word]) for word in member)
            found.append(Alternative(terms=member, weight=clause.weight * SYNONYM_WEIGHT * rarity / max(worth, 1e-6)))
    return tuple(found)
