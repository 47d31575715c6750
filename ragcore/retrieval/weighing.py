"""From the clauses of a question and the statistics of a knowledge base to what its keyword index is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragcore.retrieval.query import Clause, SearchQuery
from ragcore.retrieval.scoring import K1, idf
from ragcore.stores.indexes import Alternative, KeywordQuery, TermStatistics
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
    clauses that no chunk of the knowledge base can meet. ``exact`` maps rare identifiers to their idf. ``named`` holds
    sets of terms: a chunk with a whole set may hold a reference of the question; ``written`` are its identifiers that
    some chunk has as they were typed. ``count`` is how many chunks there are. ``weights`` is what each term of the
    question itself counts: its weight by its rarity.
    """

    keywords: KeywordQuery
    count: int
    ceiling: float
    known_ceiling: float
    exact: Mapping[str, float]
    named: tuple[tuple[str, ...], ...] = ()
    written: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def known_share(self) -> float:
        """Return which share of the question, by weight, stands in some chunk, 0..1."""
        return self.known_ceiling / self.ceiling if self.ceiling else 0.0


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
    counted = [clause for clause in clauses if not clause.context]
    return WeighedQuery(
        keywords=KeywordQuery(
            clauses=tuple(alternatives for alternatives in asked if alternatives),
            rarity=_rarities(asked, statistics, frequency),
        ),
        count=statistics.count,
        ceiling=sum(clause.weight * rarity[clause.term] for clause in counted) * (K1 + 1.0),
        known_ceiling=sum(clause.weight * rarity[clause.term] for clause in counted if clause in known) * (K1 + 1.0),
        exact={
            clause.term: rarity[clause.term]
            for clause in known
            if clause.kind is Kind.IDENTIFIER and not clause.context and 0 < frequency[clause.term] <= COMMON
        },
        written=frozenset(term for term in query.wholes if frequency[term]),
        weights={clause.term: clause.weight * rarity[clause.term] for clause in counted},
        named=tuple(
            dict.fromkeys(
                name
                for reference in query.references
                for name in reference.names
                if name and all(frequency[term] for term in name)
            )
        ),
    )


def _rarities(
    asked: Sequence[tuple[Alternative, ...]], statistics: TermStatistics, frequency: Mapping[str, int]
) -> dict[str, float]:
    """Return with which idf terms are scored where the index's own would count, and so tell of, what is closed."""
    if statistics.indexed is None:
        return {}
    terms = (term for alternatives in asked for alternative in alternatives for term in alternative.terms)
    return {term: idf(statistics.count, frequency[term]) for term in terms}


def _is_mere_joining(clause: Clause, query: SearchQuery, frequency: Mapping[str, int]) -> bool:
    """Whether a hyphenated word, written together, is unknown here: its parts then say it all."""
    if clause.kind is not Kind.WORD or frequency[clause.term]:
        return False
    return any(other.kind is Kind.PART and other.term in clause.term for other in query.clauses)


def _others(clause: Clause, frequency: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Return what else may meet a clause here: its synonyms, and its stand-in where the term itself is unknown."""
    stand_in = ((clause.stand_in,),) if clause.stand_in and not frequency[clause.term] else ()
    return [member for member in (*clause.synonyms, *stand_in) if all(frequency[word] for word in member)]


def _rarity(clause: Clause, count: int, frequency: Mapping[str, int]) -> float:
    """Return the idf of a clause: of its own term, or of the best known other where it is unknown itself."""
    if frequency[clause.term]:
        return idf(count, frequency[clause.term])
    met = (max(frequency[word] for word in member) for member in _others(clause, frequency))
    return idf(count, max(met, default=0))


def _alternatives(clause: Clause, rarity: float, count: int, frequency: Mapping[str, int]) -> tuple[Alternative, ...]:
    """Return the ways to meet a clause that exist here; others are brought to the clause's own rarity."""
    found: list[Alternative] = []
    if frequency[clause.term]:
        found.append(Alternative(terms=(clause.term,), weight=clause.weight))
    for member in _others(clause, frequency):
        worth = sum(idf(count, frequency[word]) for word in member)
        found.append(Alternative(terms=member, weight=clause.weight * SYNONYM_WEIGHT * rarity / max(worth, 1e-6)))
    return tuple(found)
