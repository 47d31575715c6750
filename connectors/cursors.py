"""Cursors made of a time: where to go on, and how far to look back.

A source that is asked "what changed since?" answers by its own clock, tells equal times for what changed together, and
may bring a change into its answers late (an index behind it, a transaction that took a while). So the time kept is the
newest that the source itself told, never this machine's, and the next run looks back from it. What comes twice that
way has the version, or the content, that is known: it costs nothing.
"""

from datetime import UTC, datetime, timedelta

OVERLAP = timedelta(minutes=10)


def since(cursor: str | None, *, overlap: timedelta = OVERLAP) -> datetime | None:
    """Return from which time on to ask, None: from the beginning; a cursor that is no time counts as none."""
    try:
        return datetime.fromisoformat(cursor).astimezone(UTC) - overlap if cursor else None
    except (ValueError, OverflowError):
        return None


def reached(cursor: str | None, told: datetime | None) -> str | None:
    """Return the cursor once the source has told of a change at this time (aware): it never goes back."""
    if told is None:
        return cursor
    before, now = since(cursor, overlap=timedelta()), told.astimezone(UTC)
    return cursor if before is not None and before >= now else now.isoformat()
