"""The timetable: when a source is due, by its schedule and how it stands. Pure; what was done is in the database."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ragcore.stores.sources import SourceState

FIRST_BACKOFF = timedelta(minutes=5)
LAST_BACKOFF = timedelta(hours=6)
"""A source that failed is tried again after the first, then after twice as long each time, up to the last."""
JITTER = timedelta(minutes=1)
"""Sources of one schedule are spread over so much time, or over a tenth of their period where that is less."""
STALE = 3
"""A source is stale when it has missed so many of its runs."""
SKEW = timedelta(minutes=5)
"""A run that began later than now by more than this was noted by a clock that was wrong, and says nothing."""

_SHIFT = timedelta(hours=3)
"""More than clocks are set forward or back at once."""

_PERIOD = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def next_run(schedule: str, state: SourceState, now: datetime, *, credential: str = "") -> datetime | None:
    """Return when a source is next to be run, never before now; None: it pauses until its credential changes.

    Args:
        schedule: As for ``due``.
        state: How it stands.
        now: The time, with its zone.
        credential: The fingerprint of the credential that it has now (``registry.credential``); needed only where one
            was refused.
    """
    if state.refused:
        return None if state.refused == credential else now.astimezone(UTC)
    if _is_to_come(state.last_run_at, now):
        return now.astimezone(UTC)
    if state.faults and state.last_run_at is not None:
        moment = max(state.last_run_at + backoff(schedule, state.faults), now)
    else:
        moment = due(schedule, state.last_run_at, now, spread=spread(state.name, schedule))
    return max(moment, state.not_before or moment).astimezone(UTC)


def backoff(schedule: str, faults: int) -> timedelta:
    """Return how long after the begin of a run that failed, the so-manieth in a row, the next one begins."""
    period = _period(schedule) or LAST_BACKOFF
    wait: timedelta = min(FIRST_BACKOFF, period) * int(2 ** min(faults - 1, 20))
    return min(wait, max(LAST_BACKOFF, period))


def spread(name: str, schedule: str) -> timedelta:
    """Return how much later than its schedule says a source is run: always the same for one, different for others."""
    share = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) / 2**32
    return min(JITTER, (_period(schedule) or timedelta(hours=1)) / 10) * share


def is_stale(schedule: str, last_success: datetime | None, now: datetime) -> bool:
    """Tell whether a source has missed three of its runs since its last success."""
    if last_success is None:
        return False
    if period := _period(schedule):
        return now - last_success > STALE * period
    moment: datetime | None = last_success
    for _ in range(STALE):
        moment = _next_time(schedule, moment) if moment else None
    return moment is not None and moment < now


def due(schedule: str, last_run: datetime | None, now: datetime, *, spread: timedelta = timedelta()) -> datetime:
    """Return when a source is next to be run, never before now; at once when it never ran, or missed its time.

    Args:
        schedule: A period (``15m``) or a cron line, at will with a time zone behind it (``bots.settings.grammar`` tells
            what is well formed); without one, in this machine's time.
        last_run: When its last run began, None: it never ran.
        now: The time, with its zone.
        spread: How much later than its time.

    Returns:
        A time in UTC.
    """
    if last_run is None or _is_to_come(last_run, now):
        return now.astimezone(UTC)
    if period := _period(schedule):
        return max(last_run + period + spread, now).astimezone(UTC)
    found = _next_time(schedule, last_run)
    # A day that never comes (31 February) is as good as none: look again in a year.
    return max((found or now + timedelta(days=366)) + spread, now).astimezone(UTC)


def _period(schedule: str) -> timedelta | None:
    """Return how often a source is run, None where a cron line says when."""
    found = _PERIOD.fullmatch(schedule)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def _is_to_come(last_run: datetime | None, now: datetime) -> bool:
    return last_run is not None and last_run - now > SKEW


def _next_time(line: str, after: datetime) -> datetime | None:
    """Return the first time after another that a cron line means, in UTC; None: there is none.

    Where clocks are set back, some time comes twice: a line for all hours counts both, one that names hours the first.
    Where they are set forward, what is left out counts as if they were not yet.
    """
    fields = line.split(" ")
    zone, trigger = ZoneInfo(fields[5]) if len(fields) > 5 else None, _trigger(fields)
    folds = (0, 1) if fields[1].startswith("*") else (0,)
    begin = _wall(after, zone)
    found: datetime | None = None
    at = begin if _is_steady(after, zone) else begin - _SHIFT
    # The trigger reckons with wall times, which know no change of clocks (with a zone it goes round in circles there).
    while (wall := trigger.get_next_fire_time(None, at)) is not None:
        moments = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in folds)
        later: list[datetime] = [
            m for fold, m in enumerate(moments) if m > after and (not fold or _wall(m, zone) == wall)
        ]
        found = min([*later, *([found] if found else [])], default=None)
        if found and (wall > _wall(found, zone) + _SHIFT or (at >= begin and _is_steady(found, zone))):
            return found
        at = wall + timedelta(microseconds=1)
    return found


def _wall(moment: datetime, zone: ZoneInfo | None) -> datetime:
    """Return what the clocks of a zone (None: this machine's) show, as if it were UTC."""
    return moment.astimezone(zone).replace(tzinfo=UTC, fold=0)


def _is_steady(moment: datetime, zone: ZoneInfo | None) -> bool:
    """Tell whether the clocks of a zone aren't changed around a moment."""
    return (moment - _SHIFT).astimezone(zone).utcoffset() == (moment + _SHIFT).astimezone(zone).utcoffset()


def _trigger(fields: Sequence[str]) -> Any:
    """Return a trigger as cron means it: Sunday is 0 and 7; of a day of the month and one of the week, either."""
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekday = fields[:5]
    every = {
        "minute": _listed(_values(minute, 0, 59)),
        "hour": _listed(_values(hour, 0, 23)),
        "month": _listed(_values(month, 1, 12, _MONTHS)),
        "timezone": UTC,
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
