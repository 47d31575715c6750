"""Keeps the calls to a platform within its limits, so that none is refused: exact counts in sliding windows.

A call is given the earliest moment that breaks no window of any limit it counts against, and waits for it; calls that
only show progress go now or not at all. The platform counts a call at some time between its beginning and its answer,
which lie far apart under load. So a call counts while it is under way and a window's length from then, and goes only
where that leaves room, however late it wakes. Times are those of the running loop, in seconds.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Sequence

from bots.platform import Limit
from bots.retrying import INSTANT

SLACK = 0.1
"""Seconds by which a window is taken to be longer: a platform may count in steps of its own."""
_KEPT_WINDOWS = 2
_SWEEP = 4_096
_LANDING = 0.02
"""Seconds after which it is looked again whether one of too many calls under way has ended."""


class _Bucket:
    """What counts against one bucket.

    ``moments`` is the plan, in order: when calls went, or are to go. ``ended`` are the ends of those that went.
    """

    __slots__ = ("blocked_until", "ended", "longest", "moments", "under_way")

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.ended: list[float] = []
        self.under_way = 0
        self.blocked_until = 0.0
        self.longest = 0.0

    def forget(self, now: float) -> None:
        """Drop what no window can hold any more."""
        for times in (self.moments, self.ended):
            if old := bisect_left(times, now - self.longest):
                del times[:old]

    def until_room(self, now: float, calls: int, window: float) -> float:
        """Return the seconds until one more call leaves ``calls`` or fewer, as far as it is known by now."""
        if blocked := self.blocked_for(now):
            return blocked
        free = calls - self.under_way
        if free <= 0:
            return _LANDING
        return _wait(self.ended[-free] + window - now) if len(self.ended) >= free else 0.0

    def blocked_for(self, now: float) -> float:
        """Return the seconds for which the platform wants no call."""
        return _wait(self.blocked_until - now)

    def plan(self, moment: float) -> None:
        """Count a call at a moment."""
        insort(self.moments, moment)

    def unplan(self, moment: float) -> None:
        """Count it no more."""
        at = bisect_left(self.moments, moment)
        if at < len(self.moments) and self.moments[at] == moment:
            del self.moments[at]

    def is_idle(self, now: float) -> bool:
        """Tell whether nothing is remembered that matters."""
        return not (self.moments or self.ended or self.under_way or self.blocked_until > now)

    def earliest(self, moment: float, calls: int, window: float) -> float:
        """Return the first time from ``moment`` on at which one more call leaves each window at ``calls`` or fewer."""
        moments = self.moments
        moment = max(moment, self.blocked_until)
        if len(moments) < calls:
            return moment
        at = bisect_left(moments, moment)
        # Windows of ``calls`` neighbours around the new one; the call must lie outside of every full one.
        first = max(0, at - calls)
        while first + calls <= len(moments) and first <= at:
            start, end = moments[first], moments[first + calls - 1]
            if max(end, moment) - min(start, moment) < window:
                moment = max(moment, start + window)
                at = bisect_left(moments, moment)
                first = max(first + 1, at - calls)
            else:
                first += 1
        return moment


class Going:
    """A call that may go: it is under way until the context is left, and is to be left whatever comes of it."""

    __slots__ = ("_buckets", "_moment")

    def __init__(self, buckets: Sequence[_Bucket], moment: float) -> None:
        self._buckets = buckets
        self._moment = moment
        for bucket in buckets:
            bucket.under_way += 1

    def __enter__(self) -> "Going":
        return self

    def __exit__(self, *_: object) -> None:
        now = _now()
        for bucket in self._buckets:
            bucket.under_way -= 1
            bucket.ended.append(now)
            bucket.unplan(self._moment)
            bucket.plan(now)


class Pacer:
    """The limits of one platform, kept by all conversations together; for one event loop."""

    def __init__(self, *, slack: float = SLACK) -> None:
        """Count windows as longer by ``slack`` seconds."""
        self._buckets: dict[str, _Bucket] = {}
        self._slack = slack
        self._until_sweep = _SWEEP

    async def take(self, limits: Sequence[Limit]) -> Going:
        """Wait until a call within these limits may go, in the order of asking as far as it can be kept."""
        while True:
            moment = self._earliest(limits, spare=False)
            self._plan(limits, moment)
            try:
                await _sleep_until(moment)
                while not self._is_blocked(limits):
                    if (wait := self._until_room(limits, spare=False)) <= 0:
                        return self._go(limits, moment)
                    await asyncio.sleep(wait)
            except asyncio.CancelledError:
                self._unplan(limits, moment)
                raise
            # The platform told us to wait meanwhile.
            self._unplan(limits, moment)

    def delay(self, limits: Sequence[Limit]) -> float:
        """Return in how many seconds a call that only shows progress could go, if nothing else went until then."""
        planned = _wait(self._earliest(limits, spare=True) - _now())
        return max(planned, self._until_room(limits, spare=True))

    def take_now(self, limits: Sequence[Limit]) -> Going | None:
        """Let a call that only shows progress go, if it may at once and leaves final messages their share."""
        if self.delay(limits) > 0:
            return None
        now = _now()
        self._plan(limits, now)
        return self._go(limits, now)

    def pause(self, limits: Sequence[Limit], seconds: float) -> None:
        """Let no call of these buckets go for so long: the platform said so.

        It doesn't say which one it meant. Those that other conversations share are left out where there are others:
        if it meant these, it tells everybody else too.
        """
        for limit in [one for one in limits if not one.shared] or limits:
            bucket = self._bucket(limit)
            bucket.blocked_until = max(bucket.blocked_until, _now() + seconds)

    def _earliest(self, limits: Sequence[Limit], *, spare: bool) -> float:
        now = moment = _now()
        settled = False
        while not settled:
            settled = True
            for limit in limits:
                bucket = self._bucket(limit)
                bucket.forget(now)
                later = bucket.earliest(moment, _calls(limit, spare=spare), limit.seconds + self._slack)
                settled = settled and later == moment
                moment = later
        return moment

    def _until_room(self, limits: Sequence[Limit], *, spare: bool) -> float:
        now = _now()
        waits = (
            self._bucket(limit).until_room(now, _calls(limit, spare=spare), limit.seconds + self._slack)
            for limit in limits
        )
        return max(waits, default=0.0)

    def _is_blocked(self, limits: Sequence[Limit]) -> bool:
        now = _now()
        return any(self._bucket(limit).blocked_for(now) for limit in limits)

    def _go(self, limits: Sequence[Limit], planned: float) -> Going:
        now = _now()
        self._unplan(limits, planned)
        self._plan(limits, now)
        return Going([self._bucket(limit) for limit in limits], now)

    def _plan(self, limits: Sequence[Limit], moment: float) -> None:
        for limit in limits:
            bucket = self._bucket(limit)
            bucket.longest = max(bucket.longest, _KEPT_WINDOWS * (limit.seconds + self._slack))
            bucket.plan(moment)
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._sweep()

    def _unplan(self, limits: Sequence[Limit], moment: float) -> None:
        for limit in limits:
            self._bucket(limit).unplan(moment)

    def _bucket(self, limit: Limit) -> _Bucket:
        return self._buckets.setdefault(limit.bucket, _Bucket())

    def _sweep(self) -> None:
        """Forget the buckets of chats that nobody writes in any more."""
        self._until_sweep = _SWEEP
        now = _now()
        for name, bucket in list(self._buckets.items()):
            bucket.forget(now)
            if bucket.is_idle(now):
                del self._buckets[name]


def _calls(limit: Limit, *, spare: bool) -> int:
    return max(1, limit.calls - limit.kept) if spare else limit.calls


def _wait(seconds: float) -> float:
    return seconds if seconds > INSTANT else 0.0


async def _sleep_until(moment: float) -> None:
    if (wait := moment - _now()) > 0:
        await asyncio.sleep(wait)


def _now() -> float:
    return asyncio.get_running_loop().time()
