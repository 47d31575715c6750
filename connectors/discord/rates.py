"""Keeps to the limits that Discord tells with each reply, so that it needn't refuse.

How many requests a limit still lets pass, and when it begins anew, stands in the headers of each reply; which routes
share a limit, too, each channel and server having its own
(discord.com/developers/docs/topics/rate-limits#header-format). What can't be known before it is asked, such as what
the bot itself uses up meanwhile, is still refused now and then, with the wait.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from ragcore.errors import SourceRateLimited

MARGIN = 0.05
"""Seconds that are waited beyond what is told, which is rounded, and told by another clock."""
LONGEST = 60.0
"""Seconds that are waited here; a longer wait is the run's to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a limit may hold for: the kind of request, and the channel or server that it is about."""

    kind: str
    about: int


@dataclass(slots=True, kw_only=True)
class Rates:
    """What is known of the limits."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _buckets: dict[str, str] = field(init=False, default_factory=dict)
    """The limit that each kind of request counts against, by the name that Discord gives it."""
    _full: dict[tuple[str, int], float] = field(init=False, default_factory=dict)
    """When each limit that is used up begins anew."""

    async def turn(self, route: Route) -> None:
        """Return when a request may be sent; SourceRateLimited where that takes long."""
        key = self._key(route)
        wait = self._full.get(key, 0.0) - self.clock()
        if wait > LONGEST:
            raise SourceRateLimited(f"Discord lets no more requests pass for {wait:.0f} s", retry_after=wait)
        if wait > 0:
            await self.sleep(wait)
        self._full.pop(key, None)

    def learn(self, route: Route, headers: Mapping[str, str]) -> None:
        """Take note of what a reply tells of its limit."""
        bucket = headers.get("X-RateLimit-Bucket", "")
        if bucket:
            self._buckets[route.kind] = bucket
        if headers.get("X-RateLimit-Remaining") == "0":
            wait = seconds(headers.get("X-RateLimit-Reset-After", ""))
            self._full[self._key(route)] = self.clock() + (wait + MARGIN if wait else 0.0)

    def _key(self, route: Route) -> tuple[str, int]:
        return self._buckets.get(route.kind, route.kind), route.about


def seconds(text: object) -> float:
    """Return a wait as Discord writes it, 0 when it is none."""
    try:
        found = float(text) if isinstance(text, str | int | float) else 0.0
    except ValueError:
        return 0.0
    return found if 0.0 < found < float("inf") else 0.0
