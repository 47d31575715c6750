"""The deletion guard: a listing that came back short must not empty the index.

A listing that misses everything, or more than a third and at least ten, is doubted: nothing is deleted until a later
run, at least five minutes on, misses the same documents again.
"""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime, timedelta

AT_LEAST = 10
SHARE = 3  # more than one in three
WAIT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to delete, and what is doubted from when on; ``doubted`` is empty when nothing is."""

    delete: frozenset[str]
    doubted: frozenset[str] = frozenset()
    since: datetime | None = None


def is_doubtful(missing: int, live: int) -> bool:
    """Tell whether a listing misses so many of the live documents that it isn't believed at once."""
    return missing > 0 and (missing >= live or (missing >= AT_LEAST and missing * SHARE > live))


def judge(
    missing: Set[str], live: int, *, doubted: Set[str] = frozenset(), since: datetime | None = None, now: datetime
) -> Verdict:
    """Decide about the documents that a listing misses.

    Args:
        missing: The live documents that the listing doesn't show.
        live: How many live documents the source has.
        doubted: Those that an earlier listing missed and that were kept.
        since: The time of that listing.
        now: The time of this one.
    """
    again = frozenset(missing & doubted)
    since = since and min(since, now)  # a clock that was ahead must not hold deletions back until it is caught up with
    if again and since is not None and now - since >= WAIT:
        rest = judge(missing - again, live - len(again), now=now)
        return Verdict(delete=again | rest.delete, doubted=rest.doubted, since=rest.since)
    if not is_doubtful(len(missing), live):
        return Verdict(delete=frozenset(missing))
    if again and since is not None:  # too early; the clock runs on for those missed twice
        return Verdict(delete=frozenset(), doubted=again, since=since)
    return Verdict(delete=frozenset(), doubted=frozenset(missing), since=now)
