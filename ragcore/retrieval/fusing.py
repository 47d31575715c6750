"""One ranking of what several wordings of a question found: each chunk by the best score that any of them gave it.

Scores are relevances on one scale (``ragcore.retrieval.scoring``), and each wording has judged its own against the
gate: so what comes in is what a search for one of them alone would let through, and no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.retrieval.judging import MOST_NEAR
from ragcore.retrieval.ordering import Placed
from ragcore.types import Chunk, ScoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a search for one wording found: what passed, what came near, best first; ``relaxed`` as in ``Ranking``."""

    passed: tuple[Placed, ...]
    near: tuple[ScoredChunk, ...] = ()
    relaxed: bool = False


def fused(readings: Sequence[Reading]) -> Reading:
    """Return one reading of several; the first wording comes first among equals.

    What passed only the relaxed judgement, for words of a wording that stand nowhere, is left out where another wording
    found something without.
    """
    strict = [reading for reading in readings if reading.passed and not reading.relaxed]
    counted = strict or [reading for reading in readings if reading.passed]
    placed = sorted((one for reading in counted for one in reading.passed), key=lambda one: -one.value)
    passed = _without_copies(placed)
    told = {chunk.id for one in passed for chunk in _texts(one.scored)}
    near: dict[str, ScoredChunk] = {}
    for scored in sorted((one for reading in readings for one in reading.near), key=lambda one: -one.score):
        if scored.chunk.id not in told:
            near.setdefault(scored.chunk.id, scored)
    return Reading(
        passed=passed,
        near=tuple(near.values())[: max(0, MOST_NEAR - len(passed))],
        relaxed=bool(passed) and not strict,
    )


def _without_copies(placed: Sequence[Placed]) -> tuple[Placed, ...]:
    """Return each chunk once, best first, with the words that any wording has in it; of copies the first stands."""
    kept: dict[str, Placed] = {}
    stands_for: dict[str, str] = {}
    for one in placed:
        texts = _texts(one.scored)
        first = next((stands_for[chunk.id] for chunk in texts if chunk.id in stands_for), None)
        if first is None:
            kept[one.scored.chunk.id] = one
        else:
            kept[first] = _joined(kept[first], one)
        for chunk in texts:
            stands_for.setdefault(chunk.id, first or one.scored.chunk.id)
    return tuple(kept.values())


def _joined(best: Placed, other: Placed) -> Placed:
    """Return the better of two that say the same, with what the other one knows besides."""
    scored = best.scored
    known = {chunk.id for chunk in _texts(scored)}
    copies = tuple(chunk for chunk in _texts(other.scored) if chunk.id not in known)
    same = other.scored.chunk.id == scored.chunk.id
    ranks = {leg: min(rank, scored.ranks.get(leg, rank)) for leg, rank in (other.scored.ranks if same else {}).items()}
    matched = (*scored.matched, *other.scored.matched) if same else scored.matched
    joined = replace(
        scored,
        copies=(*scored.copies, *copies),
        ranks={**scored.ranks, **ranks},
        matched=tuple(dict.fromkeys(matched)),
    )
    return replace(best, scored=joined)


def _texts(scored: ScoredChunk) -> tuple[Chunk, ...]:
    return (scored.chunk, *scored.copies)
