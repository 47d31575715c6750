"""The parts of a chunk that was widened to its parent's text, each as a chunk of its own. Pure."""

from dataclasses import replace

from ragcore.types import Chunk


def parts_of(chunk: Chunk) -> list[tuple[int, Chunk]]:
    """Return the parts of a widened chunk with their offsets in its text, in order; [] for any other chunk."""
    ends = [*(part.start for part in chunk.parts[1:]), *([len(chunk.text)] if chunk.parts else [])]
    return [
        (
            part.start,
            replace(
                chunk,
                ordinal=part.ordinal,
                text=chunk.text[part.start : end],
                kind=part.kind,
                location=part.location,
                overlap=chunk.overlap if part is chunk.parts[0] else 0,
                parts=(),
            ),
        )
        for part, end in zip(chunk.parts, ends, strict=True)
    ]


def as_found(chunk: Chunk) -> Chunk:
    """Return a widened chunk as it was found, but for what it repeats of the one before; any other chunk as it is."""
    return next((part for _, part in parts_of(chunk) if part.ordinal == chunk.ordinal), chunk)
