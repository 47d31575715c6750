"""Times as APIs tell them, and as they want to be asked."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from connectors.rows import moment

_MILLISECONDS = 100_000_000_000
"""From here on a number is of milliseconds: of seconds it would be a time after the year 5000."""


def time_of(value: Any, zone: ZoneInfo) -> datetime | None:
    """Return a time in UTC: of ISO 8601, or of seconds or milliseconds since 1970; None for what is none."""
    if isinstance(value, str):
        try:
            return moment(_seconds(float(value)), zone) if value.strip().lstrip("-").isdigit() else moment(value, zone)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return moment(_seconds(value), zone)
    return None


def beginning(text: str) -> datetime:
    """Return the time that a setting names, in UTC; ValueError when it names none."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a time such as 2020-01-01") from None


def written(time: datetime, form: str) -> str | int:
    """Return a time (aware) as ``cursor_format`` has it: "iso", "date", "unix" or "unix_ms"."""
    time = time.astimezone(UTC)
    if form == "date":
        return f"{time:%Y-%m-%d}"
    if form in {"unix", "unix_ms"}:
        return int(time.timestamp()) * (1_000 if form == "unix_ms" else 1)
    return f"{time:%Y-%m-%dT%H:%M:%S}Z"


def _seconds(value: float) -> float:
    return value / 1_000 if abs(value) >= _MILLISECONDS else value
