"""Counts in words, and of chunks by their document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bots.rendering.clean import clean_line
from ragcore.reports import Without
from ragcore.types import ScoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCount:
    """How many chunks a document gave to a result; ``title`` and ``url`` are the document's own, "" where unknown."""

    document_id: str
    title: str
    url: str
    chunks: int


def lacking(one: Without) -> str:
    """Tell what a knowledge base lacks of a setting, and why: each reason with how many have it."""
    why = ", ".join(f"{one.reason} ({one.count:,})" for one in one.reasons)
    then = "asked again at the next sync" if one.again else "asked no more"
    return f"{one.setting}: {counted(one.count, one.of)} without, {then}; last: {why}"


def mends(one: Without) -> str:
    """Return which settings to change for that, each once; "" where none is known."""
    return "; ".join(dict.fromkeys(why.mend for why in one.reasons if why.mend))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 document`` or ``1,200 documents``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def by_document(chunks: Sequence[ScoredChunk]) -> tuple[DocumentCount, ...]:
    """Return how many of the chunks each document gave, in the order of their first; those of one name stay apart.

    What a model wrote of many documents is of none.
    """
    chunks = [scored for scored in chunks if not scored.chunk.rests_on]
    counts = Counter(scored.chunk.document_id for scored in chunks)
    first = {scored.chunk.document_id: scored.chunk for scored in reversed(chunks)}
    return tuple(
        DocumentCount(document_id=document_id, title=first[document_id].title, url=first[document_id].url, chunks=count)
        for document_id, count in counts.items()
    )


def shares(chunks: Sequence[ScoredChunk]) -> str:
    """Return how many passages each document gave: ``3 passages from 2 documents: a.md 2, b.md 1``."""
    documents = by_document(chunks)
    told = ", ".join(f"{clean_line(one.document_id)} {one.chunks}" for one in documents)
    return f"{counted(len(chunks), 'passage')} from {counted(len(documents), 'document')}: {told}"
