"""What Discord's ids tell of time, and the days that messages are put together by.

An id holds the milliseconds since the first second of 2015, above 22 other bits, so that ids are in the order of time
and a moment makes a border between them (discord.com/developers/docs/reference#snowflakes).
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)
_SHIFT = 22
_MILLISECOND = timedelta(milliseconds=1)
FIRST_DAY = date(2015, 1, 1)


def moment_of(snowflake: int) -> datetime:
    """Return when what has this id came to be, in UTC; the last moment there is for an id beyond that."""
    try:
        return _EPOCH + (snowflake >> _SHIFT) * _MILLISECOND
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def border_at(moment: datetime) -> int:
    """Return the lowest id of what came to be at this moment or later."""
    return max(0, -((_EPOCH - moment) // _MILLISECOND)) << _SHIFT


def day_of(snowflake: int, zone: ZoneInfo) -> date:
    """Return the day on which something came to be, in a zone."""
    return moment_of(snowflake).astimezone(zone).date()


def day_begins(day: date, zone: ZoneInfo) -> int:
    """Return the lowest id of a day in a zone."""
    # By way of UTC: where clocks are set back at midnight, fold 0 is the first of the two.
    return border_at(datetime.combine(day, time(), zone).astimezone(UTC))
