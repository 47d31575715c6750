"""Counts in words, and of chunks by their document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bots.rendering.clean import clean_line
from ragcore.reports import Without
from ragcore.types import ScoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCount:
    """How many chunks a document gave to a result; ``title`` and ``url`` are the document's own."""

    document_id: str
    title: str
    url: str
    chunks: int


def lacking(without: Sequence[Without]) -> str:
    """Tell what a knowledge base stays without, by setting, and why."""
    told = ", ".join(f"{counted(one.count, one.of)} without {one.setting}" for one in without)
    refused = sum(one.refused for one in without)
    more = f"; of {refused:,} the endpoint refused the content" if refused else ""
    return f"stays so: {told}; what the model wrote can't be used, and it is asked no more{more}"


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
