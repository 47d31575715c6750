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
    return list(dict.fromkeys(leaf for chunk in chunks for leaf in _leaves(chunk)))


def _leaves(chunk: Chunk) -> Iterable[str]:
    own = generation_of(chunk.id)
    return (*(f"{own}-{ordinal}" for ordinal in chunk.leaves), *(leaf.chunk_id for leaf in chunk.rests_on))


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
    """Return the chunks with leaves in the place of each summary, in their documents' order, each chunk once.

    Args:
        scored: What was found, best first, each summary with its leaves.
        most: How many leaves a summary is replaced by: those with most of the question's words. None: all.
    """
    own = {one.chunk.id for one in scored if not one.chunk.is_summary}
    found: dict[str, ScoredChunk] = {}
    for one in scored:
        if not one.chunk.is_summary:
            found.setdefault(one.chunk.id, one)
            continue
        best = sorted(range(len(one.leaves)), key=lambda at: (-len(one.leaves[at].matched), at))[:most]
        for leaf in (one.leaves[at] for at in sorted(best)):
            if leaf.chunk.id not in own:
                found.setdefault(leaf.chunk.id, leaf)
    return tuple(found.values())
