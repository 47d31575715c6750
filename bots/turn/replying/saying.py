"""The sign that something is under way: typing, a status line; shown until words of the answer are."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Generic

from bots.platform import Call, Limit, R
from bots.turn.ending import end
from bots.turn.replying.means import Means
from ragcore.errors import PlatformError

log = logging.getLogger(__name__)

RENEWED = 0.8
"""After which share of its life a status is shown again."""
STANDS = 2.0
"""Seconds for which words stand before others take their place; so a quick turn takes one call."""
STATUS_SECONDS = 10.0


class Saying(Generic[R]):
    """The status of one reply; where the limits leave no room for it, there is none."""

    def __init__(self, means: Means[R], *, spoken: asyncio.Event, sign: Callable[[], None]) -> None:
        """``sign`` is called once a status is shown; with ``spoken`` set none is shown any more."""
        self._platform = means.platform
        self._incoming = incoming = means.claim.incoming
        self._pacer = means.pacer
        self._meter = means.meter
        self._lost = means.lost
        self._spoken = spoken
        self._sign = sign
        manner = means.platform.manner(incoming)
        self._lasts, self._has_words = manner.status_lasts, manner.status_has_words
        self._words = ""
        self._stale = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def say(self, words: str) -> None:
        """Show these words from now on."""
        if words == self._words or self._spoken.is_set():
            return
        self._words = words
        self.renew()

    def renew(self) -> None:
        """Show it again: a message of ours may have taken it away."""
        if not self._words or self._spoken.is_set():
            return
        self._changed.set()
        self._stale = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """Show none any more."""
        task, self._task = self._task, None
        await end(task)

    async def clear(self) -> None:
        """Take words away under which no message of ours follows: that would have done it."""
        if self._has_words and self._words:
            self._words = ""
            await self._show("")

    async def _keep(self) -> None:
        said = ""
        while not (self._spoken.is_set() or self._lost()) and (said != self._words or self._stale or self._lasts):
            limits = self._limits(is_first=not said)
            said, self._stale = self._words, False
            self._changed.clear()
            if going := self._pacer.take_now(limits):
                with going:
                    await self._show(said)
            if self._lasts:
                await self._rest()

    def _limits(self, *, is_first: bool) -> tuple[Limit, ...]:
        """Return what a status counts against: whoever has seen no sign yet comes before those that have."""
        limits = self._platform.limits(self._incoming, Call.STATUS)
        return limits if is_first else tuple(replace(limit, kept=limit.calls // 2) for limit in limits)

    async def _rest(self) -> None:
        """Wait until the status must be shown again, or has other words and has stood for a while."""
        renewed = RENEWED * self._lasts
        stands = min(STANDS, renewed) if self._has_words else renewed
        await asyncio.sleep(stands)
        with suppress(TimeoutError):
            async with asyncio.timeout(renewed - stands):
                await self._changed.wait()

    async def _show(self, words: str) -> None:
        self._meter.sends[Call.STATUS] += 1
        try:
            async with asyncio.timeout(STATUS_SECONDS):
                await self._platform.status(self._incoming, words)
        except (PlatformError, TimeoutError) as error:
            log.debug("no status: %s: %s", type(error).__name__, error)
        else:
            if words:
                self._sign()
