"""Native ids of documents, and Slack's time stamps. Pure.

``C0123/1700000000.000100`` is the thread whose first message has that time stamp, ``C0123/2026-11-22`` what was said
in the channel on that day (UTC) outside of threads.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

_DAY = 86_400
_NATIVE = re.compile(r"([CG][A-Z0-9]+)/(?:(\d{1,12}\.\d{6})|(\d{4}-\d\d-\d\d))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """What an id names: the thread that begins at ``ts``, or else the day that begins at ``start`` (since 1970)."""

    channel: str
    start: float
    ts: str = ""


def thread_id(channel: str, ts: str) -> str:
    """Return the id of a thread."""
    return f"{channel}/{ts}"


def day_id(channel: str, ts: str) -> str:
    """Return the id of the day that a message stands in."""
    return f"{channel}/{day_of(ts)}"


def parsed(native: str) -> Native | None:
    """Return what an id names, None when it is none of a document."""
    found = _NATIVE.fullmatch(native)
    if found is None:
        return None
    channel, ts, day = found.groups()
    if ts:
        return Native(channel=channel, start=float(ts), ts=ts)
    try:
        start = date.fromisoformat(day)
    except ValueError:
        return None
    return Native(channel=channel, start=datetime(start.year, start.month, start.day, tzinfo=UTC).timestamp())


@dataclass(slots=True)
class Ids:
    """Native ids by channel: a run asks for those of one channel at a time, and there may be hundreds of channels."""

    _starts: dict[str, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, natives: Iterable[str]) -> "Ids":
        """Return these ids, without those that name no document."""
        ids = cls()
        for native in natives:
            ids.add(native)
        return ids

    def __iter__(self) -> Iterator[str]:
        """Yield every id."""
        for starts in self._starts.values():
            yield from starts

    def add(self, native: str) -> None:
        """Take an id in, unless it names no document."""
        named = parsed(native)
        if named is not None:
            self._starts.setdefault(named.channel, {})[native] = named.start

    def discard(self, *natives: str) -> None:
        """Leave ids out from now on."""
        for native in natives:
            self._starts.get(native.partition("/")[0], {}).pop(native, None)

    def within(self, channel: str, start: float = -math.inf, end: float = math.inf) -> list[str]:
        """Return those of a channel whose documents begin at or after one time and before another."""
        return [native for native, begins in self._starts.get(channel, {}).items() if start <= begins < end]


def moment(ts: str) -> datetime:
    """Return the time of a time stamp."""
    return datetime.fromtimestamp(float(ts), UTC)


def day_of(ts: str) -> str:
    """Return the day of a time stamp, such as ``2026-11-22``."""
    return moment(ts).date().isoformat()


def day_start(seconds: float) -> float:
    """Return when the day of a time began, both in seconds since 1970."""
    return float(seconds // _DAY * _DAY)


def day_end(start: float) -> float:
    """Return when the next day begins."""
    return start + _DAY


def before(seconds: float) -> str:
    """Return the last time stamp before a whole second: what is asked for begins after it, or ends with it."""
    return f"{int(seconds) - 1}.999999" if seconds >= 1 else "0"
