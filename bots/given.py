"""How many passages each document gave to an answer, in one line beneath it, the cited ones by their numbers."""

from collections.abc import Sequence
from dataclasses import replace

from bots.counting import DocumentCount
from bots.rendering.clean import clean_line
from bots.rendering.sources import shortened
from bots.rendering.tree import Document
from bots.words.captions import caption
from ragcore.types import Citation

MOST_CITED, MOST_OTHERS = 8, 3
"""So many documents of each sort are told one by one: more would be a second list of sources."""
MOST_NUMBERS = 4
"""So many citations name one document."""
MAX_TITLE = 40
"""A longer title is cut, in characters."""


def with_given(
    document: Document, citations: Sequence[Citation], given: Sequence[DocumentCount], language: str
) -> Document:
    """Return the document with a first note, such as ``Passages read: [1][3] × 3 · Remote work × 2 · others × 4``.

    The counts together are those of ``given``, each document among them once; without any there is no note.

    Args:
        document: An answer's; a document in its list of sources is told by its numbers there, any other by its title.
        citations: Those of the answer, which tell the documents of the sources.
        given: How many passages each document gave, all of them documents that whoever sees the answer may read.
        language: That of the words around.
    """
    if not given:
        return document
    listed = {source.number for source in document.sources}
    numbers: dict[str, list[int]] = {}
    for citation in sorted(citations, key=lambda one: one.number):
        if citation.number in listed:
            numbers.setdefault(citation.document_id, []).append(citation.number)
    counts = {one.document_id: one.chunks for one in given}
    cited = [(_numbered(those), counts[name]) for name, those in numbers.items() if name in counts]
    others = [(_name(one), one.chunks) for one in given if one.document_id not in numbers]
    named = [one for one in others if one[0]][:MOST_OTHERS]
    told = [*cited[:MOST_CITED], *named]
    if left := sum(counts.values()) - sum(count for _, count in told):
        told.append((caption("others", language), left))
    line = " · ".join(f"{name} × {count}" for name, count in told)
    return replace(document, notes=(f"{caption('passages_read', language)}: {line}", *document.notes))


def _numbered(numbers: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in numbers[:MOST_NUMBERS]) + "…" * (len(numbers) > MOST_NUMBERS)


def _name(one: DocumentCount) -> str:
    return shortened(clean_line(one.title), MAX_TITLE)
