"""An answer or a plain reason in time, whatever the model does."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from ragcore.errors import CitebotError

T = TypeVar("T")

CLEANUP_SECONDS = 2.0
"""How long work that was cancelled may take to clean up; it is left to itself then."""


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
                if until() > loop.time():
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
