"""The sign that something is under way: typing, a status line; shown until words of the answer are."""

import asyncio
import logging
from collections.abc import Callable
from typing import Generic

from bots.platform import Call, Incoming, Platform, R
from bots.turn.meter import Meter
from bots.turn.pacing import Pacer
from ragcore.errors import PlatformError

log = logging.getLogger(__name__)

RENEWED = 0.8
"""After which share of its life a status is shown again."""
STATUS_SECONDS = 10.0


class Saying(Generic[R]):
    """The status of one reply; where the limits leave no room for it, there is none."""

    def __init__(
        self,
        platform: Platform[R],
        incoming: Incoming,
        *,
        pacer: Pacer,
        meter: Meter,
        spoken: asyncio.Event,
        sign: Callable[[], None],
    ) -> None:
        """``sign`` is called once a status is shown; with ``spoken`` set none is shown any more."""
        self._platform = platform
        self._incoming = incoming
        self._pacer = pacer
        self._meter = meter
        self._spoken = spoken
        self._sign = sign
        self._lasts = platform.manner(incoming).status_lasts
        self._words = ""
        self._task: asyncio.Task[None] | None = None

    def say(self, words: str) -> None:
        """Show these words from now on."""
        if words == self._words or self._spoken.is_set():
            return
        self._words = words
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """Show none any more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep(self) -> None:
        said = ""
        while not self._spoken.is_set() and (said != self._words or self._lasts):
            said = self._words
            if going := self._pacer.take_now(self._platform.limits(self._incoming, Call.STATUS)):
                with going:
                    await self._show(said)
            if said == self._words and self._lasts:
                await asyncio.sleep(RENEWED * self._lasts)

    async def _show(self, words: str) -> None:
        self._meter.sends[Call.STATUS] += 1
        try:
            async with asyncio.timeout(STATUS_SECONDS):
                await self._platform.status(self._incoming, words)
        except (PlatformError, TimeoutError) as error:
            log.debug("no status: %s: %s", type(error).__name__, error)
        else:
            self._sign()
