"""Keeps the calls to a platform within its limits, so that none is refused: exact counts in sliding windows.

A call is given the earliest moment that breaks no window of any limit it counts against, and waits for it; calls that
only show progress go now or not at all. Times are those of the running loop, in seconds.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Sequence

from bots.platform import Limit

SLACK = 0.1
"""Seconds by which a window is taken to be longer: two calls may travel at different speeds."""
_KEPT_WINDOWS = 2
_SWEEP = 4_096


class _Bucket:
    """When the calls of one bucket went, or are to go, in order."""

    __slots__ = ("blocked_until", "longest", "moments")

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.blocked_until = 0.0
        self.longest = 0.0

    def forget(self, now: float) -> None:
        """Drop what no window can hold any more."""
        old = bisect_left(self.moments, now - self.longest)
        if old:
            del self.moments[:old]

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


class Pacer:
    """The limits of one platform, kept by all conversations together; for one event loop."""

    def __init__(self, *, slack: float = SLACK) -> None:
        """Count windows as longer by ``slack`` seconds."""
        self._buckets: dict[str, _Bucket] = {}
        self._slack = slack
        self._until_sweep = _SWEEP

    async def take(self, limits: Sequence[Limit]) -> float:
        """Wait until a call within these limits may go, in the order of asking; return the seconds waited."""
        asked = _now()
        while True:
            moment = self._reserve(limits)
            try:
                if (wait := moment - _now()) > 0:
                    await asyncio.sleep(wait)
            except asyncio.CancelledError:
                self._release(limits, moment)
                raise
            if all(self._bucket(limit).blocked_until <= moment for limit in limits):
                return _now() - asked
            # The platform told us to wait meanwhile.
            self._release(limits, moment)

    def delay(self, limits: Sequence[Limit]) -> float:
        """Return in how many seconds a call that only shows progress could go, if nothing else went until then."""
        return self._earliest(limits, spare=True) - _now()

    def take_now(self, limits: Sequence[Limit]) -> bool:
        """Count a call that only shows progress, if it may go at once and leaves final messages their share."""
        if self.delay(limits) > 0:
            return False
        self._record(limits, _now())
        return True

    def pause(self, limits: Sequence[Limit], seconds: float) -> None:
        """Let no call of these buckets go for so long: the platform said so."""
        for limit in limits:
            bucket = self._bucket(limit)
            bucket.blocked_until = max(bucket.blocked_until, _now() + seconds)

    def _reserve(self, limits: Sequence[Limit]) -> float:
        moment = self._earliest(limits, spare=False)
        self._record(limits, moment)
        return moment

    def _earliest(self, limits: Sequence[Limit], *, spare: bool) -> float:
        now = moment = _now()
        settled = False
        while not settled:
            settled = True
            for limit in limits:
                calls = max(1, limit.calls - limit.kept) if spare else limit.calls
                bucket = self._bucket(limit)
                bucket.forget(now)
                later = bucket.earliest(moment, calls, limit.seconds + self._slack)
                settled = settled and later == moment
                moment = later
        return moment

    def _record(self, limits: Sequence[Limit], moment: float) -> None:
        for limit in limits:
            bucket = self._bucket(limit)
            bucket.longest = max(bucket.longest, _KEPT_WINDOWS * (limit.seconds + self._slack))
            insort(bucket.moments, moment)
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._sweep()

    def _release(self, limits: Sequence[Limit], moment: float) -> None:
        for limit in limits:
            moments = self._bucket(limit).moments
            at = bisect_left(moments, moment)
            if at < len(moments) and moments[at] == moment:
                del moments[at]

    def _bucket(self, limit: Limit) -> _Bucket:
        return self._buckets.setdefault(limit.bucket, _Bucket())

    def _sweep(self) -> None:
        """Forget the buckets of chats that nobody writes in any more."""
        self._until_sweep = _SWEEP
        now = _now()
        for name, bucket in list(self._buckets.items()):
            bucket.forget(now)
            if not bucket.moments and bucket.blocked_until <= now:
                del self._buckets[name]


def _now() -> float:
    return asyncio.get_running_loop().time()
