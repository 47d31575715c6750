"""How alike a question and a chunk are, without a model of its own: shared terms by their weight, and the cosine.

The scheme is RAGFlow's hybrid similarity: each term of the question counts 0.4 of its weight and each pair of
neighbours 0.6 of the heavier one; a term in the title counts twice, among the chunk's keywords five times, in the
questions that it answers six times. There the counts of a chunk have no effect, since all that matters is whether it
has a term; here they do: a share that rises with the count and never reaches 1.

It orders what passed the gate, and judges nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragcore.retrieval.query import SearchQuery
from ragcore.retrieval.ranking import RankedCandidate
from ragcore.retrieval.scoring import dense_share, trust
from ragcore.retrieval.weighing import WeighedQuery
from ragcore.terms import Kind, is_stop_word, term_texts
from ragcore.types import Chunk

TERM, PAIR = 0.4, 0.6
"""Of a term's weight, and of the heavier one of two neighbours."""
CONTENT, TITLE, KEYWORDS, QUESTIONS = 1.0, 2.0, 5.0, 6.0
"""How often a term counts by where it stands."""
HALF = 0.1
"""The count at which half of a term's weight is reached: in the text alone a term has ten elevenths of it. Without
keywords and questions to count it gains nothing (nDCG at 0, 0.1, 0.5: 0.948, 0.948, 0.947 on ``faq-zoomcamp``)."""

_WHOLE = frozenset({Kind.WORD, Kind.IDENTIFIER, Kind.PAIR})
"""Kinds of terms that have neighbours: pieces of identifiers and single characters lie within them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTerms:
    """The terms of a question with their weights, and its pairs of neighbours with theirs."""

    terms: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, weights: Mapping[str, float], sequence: Sequence[str]) -> "AskedTerms":
        """Weigh the neighbours among the terms.

        Args:
            weights: Of each term, above 0.
            sequence: The terms that may be neighbours, in the order of the question.
        """
        known = [term for term in sequence if term in weights]
        pairs = {pair: PAIR * max(weights[pair[0]], weights[pair[1]]) for pair in pairwise(known)}
        return cls(terms={term: TERM * weight for term, weight in weights.items()}, pairs=pairs)


def term_similarity(asked: AskedTerms, chunk: Chunk) -> float:
    """Return which share of the question, by weight, a chunk has; from 0 on, and below 1."""
    total = sum(asked.terms.values()) + sum(asked.pairs.values())
    if total <= 0.0:
        return 0.0
    terms: dict[str, float] = {}
    pairs: dict[tuple[str, str], float] = {}
    for counts, texts in (
        (CONTENT, (chunk.text,)),
        (TITLE, (chunk.title, *chunk.heading_path)),
        (KEYWORDS, chunk.keywords),
        (QUESTIONS, chunk.questions),
    ):
        found, neighbours = _held(asked, texts)
        for term in found:
            terms[term] = terms.get(term, 0.0) + counts
        for pair in neighbours:
            pairs[pair] = pairs.get(pair, 0.0) + counts
    held = sum(asked.terms[term] * _share(count) for term, count in terms.items())
    return (held + sum(asked.pairs[pair] * _share(count) for pair, count in pairs.items())) / total


def hybrid_similarity(by_terms: float, cosine: float, weight: float) -> float:
    """Return the similarity of a question and a chunk, 0..1.

    Args:
        by_terms: Their term similarity, 0..1.
        cosine: Of their vectors; one below 0 counts as 0.
        weight: The share of the cosine, 0..1.
    """
    return (1.0 - weight) * by_terms + weight * min(1.0, max(0.0, cosine))


def similarities(query: SearchQuery, found: Sequence[tuple[RankedCandidate, Chunk]], weight: float) -> list[float]:
    """Return how alike a question and each of some chunks are, 0..1.

    Args:
        query: The analysed question.
        found: Candidates, each with its chunk.
        weight: The share of the cosine, 0..1, where the embedder knows the language; where it does not, and all looks
            alike to it, the share shrinks as in the relevance. Where vectors cannot be searched, terms count alone.
    """
    asked: dict[str, AskedTerms] = {}
    shares: dict[tuple[str, str], float] = {}
    values: list[float] = []
    for candidate, chunk in found:
        group = candidate.found_by
        if group.knowledge_base not in asked:
            asked[group.knowledge_base] = _asked(query, group.weighed)
        by_terms = term_similarity(asked[group.knowledge_base], chunk)
        background = group.backgrounds.get(group.language_of(chunk.id))
        if group.cosines is None or background is None:
            values.append(by_terms)
            continue
        place = (group.knowledge_base, group.language_of(chunk.id))
        if place not in shares:
            shares[place] = dense_share(weight, trust(max(group.cosines.values(), default=-1.0), background))
        cosine = group.cosines.get(chunk.id, background.mean)
        near = (cosine - background.mean) / max(1.0 - background.mean, 1e-6)
        values.append(hybrid_similarity(by_terms, near, shares[place]))
    return values


def _asked(query: SearchQuery, weighed: WeighedQuery | None) -> AskedTerms:
    """Return the question's terms as one knowledge base weighs them; by their own weight where it cannot."""
    own = [clause for clause in query.clauses if not clause.context]
    weights = weighed.weights if weighed else {clause.term: clause.weight for clause in own}
    return AskedTerms.of(weights, [clause.term for clause in own if clause.kind in _WHOLE])


def _held(asked: AskedTerms, texts: Iterable[str]) -> tuple[set[str], set[tuple[str, str]]]:
    """Return which terms of the question, and which of its neighbours, stand in some texts."""
    found: set[str] = set()
    neighbours: set[tuple[str, str]] = set()
    for text in texts:
        written = term_texts(text)
        found.update(term for term, _ in written if term in asked.terms)
        if asked.pairs:
            telling = (term for term, kind in written if kind in _WHOLE and not is_stop_word(term))
            neighbours.update(pair for pair in pairwise(telling) if pair in asked.pairs)
    return found, neighbours


def _share(count: float) -> float:
    return count / (count + HALF)
