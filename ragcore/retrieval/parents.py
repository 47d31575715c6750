"""Small chunks are searched, large ones quoted: what passed the gate is widened to its parent's text.

Pure: the siblings are read by whoever calls, with the same access check as the chunks themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragcore.stores.rows import generation_of
from ragcore.types import Chunk, ChunkPart, Location, ScoredChunk, SectionKind

BETWEEN = "\n\n"
"""What stands between two sections of a parent."""


def parent_of(chunk: Chunk) -> str:
    """Return what the chunks of one parent have in common and no other chunk has: the id of the first of them."""
    return chunk.id if chunk.parent is None else f"{generation_of(chunk.id)}-{chunk.parent.first}"


def siblings_of(chunks: Iterable[Chunk]) -> list[str]:
    """Return the ids of all chunks of these chunks' parents, each once; of a chunk without a parent none."""
    found = (
        f"{generation_of(chunk.id)}-{ordinal}"
        for chunk in chunks
        if chunk.parent is not None
        for ordinal in range(chunk.parent.first, chunk.parent.last + 1)
    )
    return list(dict.fromkeys(found))


def alone(chunk: Chunk, rows: frozenset[str]) -> Chunk:
    """Return a chunk without its parent where a filter met single rows of a table, and not those of all its siblings.

    Quoted with them it would show rows that the filter leaves out.

    Args:
        chunk: That was found.
        rows: The ids of the chunks that have such rows; a chunk that is none of them was met with its document.
    """
    if chunk.id not in rows or rows.issuperset(siblings_of([chunk])):
        return chunk
    return replace(chunk, parent=None)


def widened(scored: Sequence[ScoredChunk], siblings: Mapping[str, Chunk]) -> tuple[ScoredChunk, ...]:
    """Return one chunk for each parent, in the place of the best of its children, with the parent's text.

    The score, the id and all else are that child's; the ranks are the best of all, the matched words those of all. A
    child whose siblings are not all there stays alone: its document was replaced meanwhile.

    Args:
        scored: the children, best first.
        siblings: by id.
    """
    families: dict[str, list[ScoredChunk]] = {}
    for one in scored:
        families.setdefault(parent_of(one.chunk), []).append(one)
    return tuple(out for family in families.values() for out in _widened(family, siblings))


def _widened(family: Sequence[ScoredChunk], siblings: Mapping[str, Chunk]) -> Sequence[ScoredChunk]:
    best = family[0]
    members = [siblings.get(chunk_id) for chunk_id in siblings_of([best.chunk])]
    present = [member for member in members if member is not None]
    if not present or len(present) < len(members):
        return family
    legs = sorted({leg for one in family for leg in one.ranks})
    return [
        replace(
            best,
            chunk=rejoined(best.chunk, present),
            ranks={leg: min(one.ranks[leg] for one in family if leg in one.ranks) for leg in legs},
            matched=tuple(dict.fromkeys(word for one in family for word in one.matched)),
        )
    ]


def held_by(chunks: Sequence[ScoredChunk]) -> frozenset[str]:
    """Return the ids of the chunks whose text is there already, those too that a parent brought along."""
    ids = {scored.chunk.id for scored in chunks}
    parts = {f"{generation_of(scored.chunk.id)}-{part.ordinal}" for scored in chunks for part in scored.chunk.parts}
    return frozenset(ids | parts)


def rejoined(chunk: Chunk, siblings: Sequence[Chunk]) -> Chunk:
    """Return the chunk with the text of all its siblings, itself too: what one repeats of another stands once.

    Within a section the text is as in the document; between two sections stands a blank line.
    """
    text = ""
    parts: list[ChunkPart] = []
    for sibling in siblings:
        own = sibling.text[sibling.overlap :] if parts else sibling.text
        if parts and not (sibling.parent and sibling.parent.goes_on):
            text += BETWEEN
        location = _of_own(sibling, own) if parts else sibling.location
        parts.append(ChunkPart(start=len(text), ordinal=sibling.ordinal, kind=sibling.kind, location=location))
        text += own
    kinds = {part.kind for part in parts}
    return replace(
        chunk,
        text=text,
        kind=kinds.pop() if len(kinds) == 1 else SectionKind.TEXT,
        overlap=siblings[0].overlap,
        token_count=sum(sibling.token_count for sibling in siblings),
        parts=tuple(parts),
    )


def _of_own(chunk: Chunk, own: str) -> Location:
    """Return where a chunk's own text stands, counted from its end: what it repeats may have lines of its own."""
    place, breaks = chunk.location, own.rstrip().count("\n")
    return replace(
        place,
        first_row=max(place.first_row, place.last_row - breaks),
        first_line=max(place.first_line, place.last_line - breaks),
    )
