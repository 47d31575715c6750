"""Times as feeds write them: RFC 822, RFC 3339, and much that is neither."""

import email.utils
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def moment_of(text: str, zone: ZoneInfo, parsed: time.struct_time | None = None) -> datetime | None:
    """Return a time in UTC, None for what is none.

    Args:
        text: The time as it stands in the feed.
        zone: The zone of a time that tells none.
        parsed: What feedparser, which knows more forms, made of it: a time in UTC.
    """
    try:
        found = _iso(text) or _mail(text)
        if found is None and parsed is not None:
            found = datetime(*parsed[:6], tzinfo=UTC)
        return None if found is None else (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    try:
        found = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # "-0000" is a time of UTC whose own zone is unknown (RFC 5322, section 3.3).
    return found.replace(tzinfo=UTC) if text.strip().endswith("-0000") else found
