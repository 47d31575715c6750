"""How large a run is: `make soak` raises the counts of the very same tests."""

import os

FACTOR = float(os.environ.get("SOAK_FACTOR", "1"))

FIXED = os.environ.get("EXAMPLES", "fixed") == "fixed"
"""Whether drawn examples are the same at each run: whether a change lands is no matter of luck. ``fresh`` looks for
trouble."""


def scaled(count: int) -> int:
    """Return the count for this run, at least 1."""
    return max(1, int(count * FACTOR))
