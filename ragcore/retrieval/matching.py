"""What of a question stands in a chunk, to the letter: matched words for highlighting, and quoted phrases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.retrieval.query import PARTICLES, SearchQuery
from ragcore.retrieval.references import NO_AGREEMENT, Reference, agreement_with
from ragcore.terms import Kind, Term, spelt_out, spotted, terms
from ragcore.types import Chunk

Span = tuple[int, int]

STEEPNESS = 4
"""How fast a chunk that agrees with a reference less far than another loses: two thirds of it count a fifth."""


def matched_words(query: SearchQuery, text: str) -> tuple[str, ...]:
    """Return the question's words that a text holds, as written there, each once, in order.

    Of unspaced scripts: pairs that overlap come as one stretch, without the grammatical characters at its ends; one
    character only where it stands alone in the question; and the longer word that a pair abbreviates (年休假 for 年假).
    """
    found = spotted(text, _wanted(query))
    shown = (_trimmed(text, start, end) for start, end in _stretches(found))
    spans = sorted([*(span for span in shown if span is not None), *_spelt_out(query, text, found)])
    return tuple(dict.fromkeys(text[start:end] for start, end in spans))


def _wanted(query: SearchQuery) -> frozenset[str]:
    """Return the terms that a reader would call words of the question, or of its synonyms."""
    paired = {character for clause in query.clauses if clause.kind is Kind.PAIR for character in clause.term}
    return frozenset(
        term
        for clause in query.clauses
        for term in (clause.term, *sum(clause.synonyms, ()))
        if not (clause.kind is Kind.CHARACTER and term == clause.term and term in paired)
    )


def _stretches(found: Sequence[Term]) -> list[Span]:
    """Join the places of terms that overlap."""
    spans: list[Span] = []
    for term in found:
        if spans and term.start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], term.end))
        else:
            spans.append((term.start, term.end))
    return spans


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """Take grammatical characters off the ends; None where a pair was little else (``的年``)."""
    first, last = start, end
    while first < last and text[first] in PARTICLES:
        first += 1
    while last > first and text[last - 1] in PARTICLES:
        last -= 1
    return (first, last) if (first, last) == (start, end) or last - first > 1 else None


def _spelt_out(query: SearchQuery, text: str, found: Sequence[Term]) -> Iterator[Span]:
    """Yield where a text spells out what the question abbreviates, unless it has the short form too."""
    written = {term.text for term in found}
    for clause in query.clauses:
        if clause.stand_in and clause.term not in written and PARTICLES.isdisjoint(clause.term):
            yield from spelt_out(clause.term, text)


def phrase_share(query: SearchQuery, chunk: Chunk) -> float:
    """Return which share of the quoted phrases a chunk holds word for word, in its text or above it, 0..1."""
    if not query.phrases:
        return 0.0
    places = [terms(text) for text in (chunk.text, chunk.title, *chunk.heading_path)]
    held = sum(any(_holds(found, phrase) for found in places) for phrase in query.phrases)
    return held / len(query.phrases)


def _holds(found: Sequence[Term], phrase: Sequence[str]) -> bool:
    """Whether the terms of a phrase stand in a text one after the other."""
    dropped = {Kind.PART, Kind.CHARACTER} if any(term.kind is Kind.PAIR for term in found) else {Kind.PART}
    texts = [term.text for term in found if term.kind not in dropped]
    width = len(phrase)
    return any(texts[place : place + width] == list(phrase) for place, text in enumerate(texts) if text == phrase[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedShares:
    """Which share of what a question names to the letter each chunk holds, 0..1.

    ``sure`` is of what surely names something, ``likely`` of what may be a year or an amount.
    """

    sure: list[float]
    likely: list[float]


def named_shares(references: Sequence[Reference], chunks: Sequence[Chunk], most: int) -> NamedShares:
    """Look for a question's references in chunks.

    Among the chunks with the core of a reference those that agree furthest count in full, others by how far they do. A
    reference that no chunk holds is left out of account, and so is one that more than ``most`` chunks hold equally: it
    tells them apart no more.
    """
    texts = ["\n".join((chunk.title, *chunk.heading_path, chunk.document_id, chunk.text)) for chunk in chunks]
    shares: dict[bool, list[list[float]]] = {True: [], False: []}
    for reference in references:
        found = [agreement_with(reference, text) for text in texts]
        best = max(found, default=NO_AGREEMENT)
        if best.is_enough(reference) and found.count(best) <= most:
            shares[best.is_sure(reference)].append([(own.size / best.size) ** STEEPNESS for own in found])
    return NamedShares(sure=_means(shares[True], len(texts)), likely=_means(shares[False], len(texts)))


def _means(rows: Sequence[Sequence[float]], width: int) -> list[float]:
    """Return the mean of each column, 0 where there is no row."""
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [0.0] * width
