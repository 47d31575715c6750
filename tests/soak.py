"""How large a run is: `make soak` raises the counts of the very same tests."""

import os

FACTOR = float(os.environ.get("SOAK_FACTOR", "1"))


def scaled(count: int) -> int:
    """Return the count for this run, at least 1."""
    return max(1, int(count * FACTOR))
