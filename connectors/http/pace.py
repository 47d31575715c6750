"""How fast one host is asked."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Pace:
    """Lets requests to one host begin no closer together than ``interval`` seconds, in the order they came."""

    interval: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _next: float = field(init=False, default=0.0)

    async def turn(self) -> None:
        """Return when the next request may begin."""
        now = self.clock()
        begins = max(now, self._next)
        self._next = begins + self.interval
        if begins > now:
            await self.sleep(begins - now)

    def slow_down(self, interval: float) -> None:
        """Keep at least this distance from now on."""
        self._next += max(0.0, interval - self.interval)
        self.interval = max(self.interval, interval)
