"""Cursors: times to look back from, the settings that a cursor was reached under, and what is too long for plain text.

A source that is asked "what changed since?" answers by its own clock, tells equal times for what changed together, and
may bring a change into its answers late (an index behind it, a transaction that took a while). So the time kept is the
newest that the source itself told, never this machine's, and the next run looks back from it. What comes twice that
way has the version, or the content, that is known: it costs nothing.
"""

import base64
import hashlib
import zlib
from datetime import UTC, datetime, timedelta

OVERLAP = timedelta(minutes=10)
_MOST_BYTES = 1_000_000_000
"""Of a cursor that is unpacked: what would be more is damaged, and must not fill the memory."""


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


def basis_of(*settings: object) -> str:
    """Return what changes when one of these settings does: a cursor that was reached under others is of no use."""
    return hashlib.sha256(repr(settings).encode("utf-8", "replace")).hexdigest()[:16]


def under(basis: str, reached: str | None) -> str | None:
    """Return the cursor of a source that keeps a time or a token alone, reached under a basis; None for none."""
    return f"{basis} {reached}" if reached else None


def reached_under(basis: str, cursor: str | None) -> str | None:
    """Return the time or token in a cursor, None when there is none, or it was reached under another basis."""
    told, _, reached = (cursor or "").partition(" ")
    return reached if reached and told == basis else None


def packed(content: bytes, *, level: int = 1) -> str:
    """Return a long content as a shorter text; a higher ``level`` (to 9) takes longer, and less room."""
    return base64.b85encode(zlib.compress(content, level)).decode("ascii")


def unpacked(cursor: str) -> bytes:
    """Return what was packed; ValueError when the text is none that ``packed`` made."""
    try:
        return zlib.decompressobj().decompress(base64.b85decode(cursor), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError("it is damaged") from error
