"""A summary that was found stands for the chunks that it rests on: models read it, readers are shown those. Pure.

The leaves are read by whoever calls, with the same access check as the summary itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragcore.stores.rows import generation_of
from ragcore.types import Chunk, ScoredChunk

MOST_SHOWN = 3
"""Leaves that are shown in the place of a summary where there is no answer to choose among them."""


def leaves_of(chunks: Iterable[Chunk]) -> list[str]:
    """Return the ids of the chunks that summaries rest on, each once; of other chunks none."""
    found = (f"{generation_of(chunk.id)}-{ordinal}" for chunk in chunks for ordinal in chunk.leaves)
    return list(dict.fromkeys(found))


def with_leaves(
    scored: Sequence[ScoredChunk], leaves: Mapping[str, Chunk], matched: Mapping[str, tuple[str, ...]]
) -> tuple[ScoredChunk, ...]:
    """Return the chunks, each summary with its leaves, which have its score.

    A summary of which a leaf is not there any more is left out: its document was replaced meanwhile.

    Args:
        scored: What was found, best first.
        leaves: The chunks by id, as far as they are live and may be read.
        matched: The question's words in each of them, by id.
    """
    found: list[ScoredChunk] = []
    for one in scored:
        ids = leaves_of([one.chunk])
        if all(leaf in leaves for leaf in ids):
            held = tuple(
                ScoredChunk(chunk=leaves[leaf], score=one.score, matched=matched.get(leaf, ())) for leaf in ids
            )
            found.append(replace(one, leaves=held) if ids else one)
    return tuple(found)


def opened(scored: Sequence[ScoredChunk], most: int | None = None) -> tuple[ScoredChunk, ...]:
    """Return the chunks with leaves in the place of each summary, in the document's order, each chunk once.

    Args:
        scored: What was found, best first, each summary with its leaves.
        most: How many leaves a summary is replaced by: those with most of the question's words. None: all.
    """
    own = {one.chunk.id for one in scored if not one.chunk.leaves}
    found: dict[str, ScoredChunk] = {}
    for one in scored:
        if not one.chunk.leaves:
            found.setdefault(one.chunk.id, one)
            continue
        best = sorted(one.leaves, key=lambda leaf: (-len(leaf.matched), leaf.chunk.ordinal))[:most]
        for leaf in sorted(best, key=lambda leaf: leaf.chunk.ordinal):
            if leaf.chunk.id not in own:
                found.setdefault(leaf.chunk.id, leaf)
    return tuple(found.values())
