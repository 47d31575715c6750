"""An answer or a plain reason in time, whatever the model does."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from bots.retrying import INSTANT
from ragcore.errors import CitebotError

T = TypeVar("T")

CLEANUP_SECONDS = 2.0
"""How long work that was cancelled may take to clean up; it is left to itself then."""

RESERVED_SECONDS = 5.0
"""What of the patience is left to sending; at most an eighth of it."""
_USED_UP = 0.25
"""Who waited for less than this share of the patience before their turn gets along with the rest of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long somebody waits. In seconds; moments are by the running loop.

    Within ``patience`` of the question an answer or a plain reason stands, unless words are being shown; these end
    after ``longest``. Whoever had to wait for another question until then is told so at that moment, and their question
    has a patience of its own from when its turn began.
    """

    patience: float
    longest: float

    def reason_at(self, asked: float) -> float:
        """Return when a reason must be on its way to somebody who asked at that moment."""
        return asked + self.patience - min(RESERVED_SECONDS, self.patience / 8)

    def is_late(self, asked: float, began: float) -> bool:
        """Return whether a turn began so late that it is measured from then."""
        return began - asked > _USED_UP * self.patience

    def ends(self, asked: float, began: float, *, has_words: bool) -> float:
        """Return when a turn that began at that moment gives up waiting for the model."""
        if has_words:
            return began + self.longest
        return self.reason_at(began if self.is_late(asked, began) else asked)


class TooSlow(CitebotError):
    """The model kept somebody waiting longer than we may."""


class _End:
    """Nothing more comes."""


async def within(events: AsyncGenerator[T], until: Callable[[], float]) -> AsyncGenerator[T]:
    """Yield the events, or raise TooSlow once the time is up; the generator is cancelled and closed then.

    It runs in one task of its own, as generators that hold a connection must.

    Args:
        events: What is waited for.
        until: Returns the time, by the running loop, at which patience ends; it may move meanwhile.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[T | _End] = asyncio.Queue()
    pump = asyncio.create_task(_pump(events, arrived))
    pump.add_done_callback(lambda _: arrived.put_nowait(_End()))
    try:
        while True:
            try:
                async with asyncio.timeout_at(until()):
                    event = await arrived.get()
            except TimeoutError:
                if until() - loop.time() > INSTANT:
                    continue  # words were shown meanwhile: there is more patience
                raise TooSlow("no answer came in time") from None
            if isinstance(event, _End):
                await pump
                return
            yield event
    finally:
        if not pump.done():
            pump.cancel()
            await asyncio.wait({pump}, timeout=CLEANUP_SECONDS)


async def _pump(events: AsyncGenerator[T], arrived: "asyncio.Queue[T | _End]") -> None:
    async with aclosing(events) as each:
        async for event in each:
            arrived.put_nowait(event)
