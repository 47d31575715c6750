"""What of a question stands in a chunk, to the letter: matched words for highlighting, and quoted phrases."""

from collections.abc import Sequence

from ragcore.retrieval.query import SearchQuery
from ragcore.terms import Kind, Term, terms
from ragcore.types import Chunk


def matched_words(query: SearchQuery, text: str) -> tuple[str, ...]:
    """Return the question's terms that a text holds, as written there, each once, in order.

    Pairs of an unspaced script that overlap come as one stretch, and single characters only where no pair matched.
    """
    wanted = {term for clause in query.clauses for term in (clause.term, *sum(clause.synonyms, ()))}
    spans: list[tuple[int, int]] = []
    found = [term for term in terms(text) if term.text in wanted]
    paired = any(term.kind is Kind.PAIR for term in found)
    for term in found:
        if term.kind is Kind.CHARACTER and paired:
            continue
        if spans and term.start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], term.end))
        else:
            spans.append((term.start, term.end))
    return tuple(dict.fromkeys(text[start:end] for start, end in spans))


def phrase_share(query: SearchQuery, chunk: Chunk) -> float:
    """Return which share of the quoted phrases a chunk holds word for word, 0..1, in its text or above it."""
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
