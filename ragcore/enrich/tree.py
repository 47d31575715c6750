"""Which parts of a document are summarised together: neighbours that speak of the same. Pure.

A summary tree (RAPTOR, Sarthi et al. 2024) gathers chunks, has each gathering summarised, and goes on with the
summaries until one is left. The paper gathers by a mixture model over reduced vectors, wherever in the text a chunk
stands; here, as in RAGFlow's sequential clustering, only neighbours are gathered. So a change of one paragraph changes
the gatherings around it and above it, and no other summary is written anew.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ContextTooSmall

MOST_TOGETHER = 10
"""Most parts that one summary is made of. RAGFlow takes up to 64: of so many, little of each is left in 120 words."""
MOST_TOKENS = 4_000
"""Most tokens that one summary is made of: chunks of the usual size come to ten sooner, large ones are then fewer."""
_DIGITS = 9
"""Decimals of a distance that count: more would be rounding, and might differ from one machine to another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is summarised together: at most so many ``tokens`` of so many ``parts``.

    Raises:
        ContextTooSmall: Nothing could be summarised together.
    """

    tokens: int = MOST_TOKENS
    parts: int = MOST_TOGETHER

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if self.tokens < 1 or self.parts < 2:
            raise ContextTooSmall("the model's window has no room for texts to summarise: raise llm.context_window")


def gathered(
    vectors: NDArray[np.float32],
    tokens: Sequence[int],
    limits: Limits = Limits(),
) -> list[range]:
    """Return which parts belong together: ranges in order, which hold each part exactly once.

    Again and again the two neighbours are joined whose joining adds least to the distances within (Ward's criterion,
    which keeps the sizes alike), until no two fit the limits together. Ties go to the first. A part that is over the
    limits stands alone.

    Args:
        vectors: The parts' unit vectors, float32 ``(n, dim)``, in order.
        tokens: How many tokens each part has.
        limits: What may be joined.

    20,000 parts take two seconds.
    """
    count = len(tokens)
    sums = vectors.astype(np.float64)
    sizes, held = [1] * count, list(tokens)
    left, right = list(range(-1, count - 1)), list(range(1, count + 1))
    versions = [0] * count

    def distance(one: int, other: int) -> float:
        between = sums[one] / sizes[one] - sums[other] / sizes[other]
        weight = sizes[one] * sizes[other] / (sizes[one] + sizes[other])
        return round(float(weight * (between @ between)), _DIGITS)

    def pair(one: int, other: int) -> tuple[float, int, int, int, int] | None:
        if one < 0 or other >= count:
            return None
        fits = held[one] + held[other] <= limits.tokens and sizes[one] + sizes[other] <= limits.parts
        return (distance(one, other), one, other, versions[one], versions[other]) if fits else None

    waiting = [found for at in range(count - 1) if (found := pair(at, at + 1))]
    heapq.heapify(waiting)
    while waiting:
        _, one, other, *seen = heapq.heappop(waiting)
        if seen != [versions[one], versions[other]]:
            continue  # one of them was joined with its other neighbour meanwhile
        sums[one] += sums[other]
        sizes[one] += sizes[other]
        held[one] += held[other]
        versions[one] += 1
        versions[other] = -1
        right[one] = right[other]
        if right[one] < count:
            left[right[one]] = one
        for found in (pair(left[one], one), pair(one, right[one])):
            if found:
                heapq.heappush(waiting, found)
    return [range(at, right[at]) for at in range(count) if versions[at] >= 0]
