"""The timetable: when a source is due, by its schedule and its last run. Pure; what was done stands in the database."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

_PERIOD = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def due(schedule: str, last_run: datetime | None, now: datetime) -> datetime:
    """Return when a source is next to be run, never before now; at once when it never ran, or missed its time.

    Args:
        schedule: A period (``15m``) or a cron line, at will with a time zone behind it (``bots.settings.grammar`` tells
            what is well formed); without one, in this machine's time.
        last_run: When its last run began, None: it never ran.
        now: The time, with its zone.

    Returns:
        A time in UTC.
    """
    if last_run is None:
        return now.astimezone(UTC)
    if period := _PERIOD.fullmatch(schedule):
        return max(last_run + timedelta(**{_UNITS[period[2]]: int(period[1])}), now).astimezone(UTC)
    found: datetime | None = _cron(schedule).get_next_fire_time(None, last_run + timedelta(microseconds=1))
    # A day that never comes (31 February) is as good as none: look again in a year.
    return max(found or now + timedelta(days=366), now).astimezone(UTC)


def _cron(line: str) -> Any:
    """Return a trigger as cron means it: Sunday is 0 and 7; of a day of the month and one of the week, either."""
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekday, *zone = line.split(" ")
    every = {
        "minute": _listed(_values(minute, 0, 59)),
        "hour": _listed(_values(hour, 0, 23)),
        "month": _listed(_values(month, 1, 12, _MONTHS)),
        "timezone": ZoneInfo(zone[0]) if zone else None,
    }
    by_day = {"day": _listed(_values(day, 1, 31))}
    by_weekday = {"day_of_week": ",".join(_DAYS[(number - 1) % 7] for number in _values(weekday, 0, 7, _DAYS))}
    if day.startswith("*") or weekday.startswith("*"):
        return CronTrigger(**every, **by_day, **by_weekday)
    return OrTrigger([CronTrigger(**every, **by_day), CronTrigger(**every, **by_weekday)])


def _listed(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def _values(field: str, lowest: int, highest: int, names: Sequence[str] = ()) -> list[int]:
    """Return the numbers that a field of a cron line stands for; names count from 1."""

    def number(text: str) -> int:
        return names.index(text.lower()) + 1 if text.lower() in names else int(text)

    found: set[int] = set()
    for part in field.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        begin = lowest if first == "*" else number(first)
        end = number(last) if dash else (highest if first == "*" or slash else begin)
        found.update(range(begin, end + 1, int(step or 1)))
    return sorted(found)
