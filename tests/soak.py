"""How large a run is: `make soak` raises the counts of the very same tests."""

import os
from collections.abc import Sequence

FACTOR = float(os.environ.get("SOAK_FACTOR", "1"))

FIXED = os.environ.get("EXAMPLES", "fixed") == "fixed"
"""Whether drawn examples are the same at each run: whether a change lands is no matter of luck. ``fresh`` looks for
trouble."""


def scaled(count: int) -> int:
    """Return the count for this run, at least 1."""
    return max(1, int(count * FACTOR))


def chosen(count: int, wanted: int, turn: float = 0.0) -> list[int]:
    """Return which of the numbers from 1 to count this run takes: all at soak length, else so many, evenly spread.

    A run that is shorter than usual takes fewer, and two at least.

    ``turn``, from 0 to below 1, moves them on, so that cases beside each other take different ones.
    """
    if FACTOR > 1:
        return list(range(1, count + 1))
    wanted = max(2, scaled(wanted))
    if wanted >= count:
        return list(range(1, count + 1))
    return [1 + int((n + turn) * count / wanted) for n in range(wanted)]


def in_half(place: Sequence[int]) -> bool:
    """Return whether a place in a grid of three or more axes is in the half in which each two values still meet."""
    assert len(place) > 2, "of two axes, half of the pairs would be gone"
    return sum(place) % 2 == 0
