"""The order in which chunks that passed the gate are given out: by relevance, rank features, and a reranker's word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.models.rerankers import Reranked
from ragcore.types import ScoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A chunk that passed, and the value that orders it: higher comes first, 0 and below says nothing for it."""

    scored: ScoredChunk
    value: float


def preferred(placed: Placed, factors: Sequence[float]) -> tuple[Placed, float]:
    """Return a chunk with its factor; in its place the copy of it that counts most, if one counts more than itself.

    Score, ranks and matched words stay those of the copy that was found best: of one text they are nearly the same.

    Args:
        placed: The chunk, with its copies.
        factors: Of the chunk, and then of each of its copies.
    """
    scored = placed.scored
    texts = [scored.chunk, *scored.copies]
    best = max(range(len(texts)), key=lambda place: factors[place])
    others = tuple(chunk for place, chunk in enumerate(texts) if place != best)
    return replace(placed, scored=replace(scored, chunk=texts[best], copies=others)), factors[best]


def arranged(
    passed: Sequence[Placed], factors: Sequence[float], verdict: Reranked | None, *, shown: int, threshold: float = 0.0
) -> tuple[ScoredChunk, ...]:
    """Return the chunks in the order in which they are given out; nothing is added, and equals keep their order.

    Args:
        passed: The chunks, best first.
        factors: What the value of each is multiplied by.
        verdict: What the reranker made of the first ``shown``; None where there is none, or it failed.
        shown: How many it has read. The others come after these.
        threshold: What it scored below this is dropped, 0..1.
    """
    if verdict is None:
        return _sorted(passed, factors)
    total = min(shown, len(passed))
    order = [*verdict.order, *sorted(set(range(total)) - set(verdict.order))]
    # An order alone becomes values at even distances, so that a rank feature can move a chunk by some places.
    values = {place: verdict.scores.get(place, 1.0 - rank / total) for rank, place in enumerate(order)}
    told = {place: rank for rank, place in enumerate(verdict.order, start=1)}
    read = [
        (Placed(scored=_with_rank(passed[place].scored, told.get(place)), value=values[place]), factors[place])
        for place in order
        if not verdict.scores or values[place] >= threshold
    ]
    kept, counted = [placed for placed, _ in read], [factor for _, factor in read]
    return (*_sorted(kept, counted), *_sorted(passed[total:], factors[total:]))


def _sorted(placed: Sequence[Placed], factors: Sequence[float]) -> tuple[ScoredChunk, ...]:
    keys = [max(0.0, one.value) * factor for one, factor in zip(placed, factors, strict=True)]
    return tuple(placed[i].scored for i in sorted(range(len(placed)), key=lambda i: -keys[i]))


def _with_rank(scored: ScoredChunk, rank: int | None) -> ScoredChunk:
    return scored if rank is None else replace(scored, ranks={**scored.ranks, "rerank": rank})
