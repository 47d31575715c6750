"""Runs of sources side by side: each source once at a time, so many together, their events in one stream."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from bots.requests import Event

Tell = Callable[[Event], Awaitable[None]]
Work = Callable[[Tell], Awaitable[None]]


class Room:
    """Where sources are run in this process."""

    def __init__(self, at_once: int) -> None:
        """Make room for so many."""
        self._at_once = at_once
        self._places = asyncio.Semaphore(at_once)
        self._sources: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._clearing = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def of(self, source: str) -> AsyncGenerator[None]:
        """Run this source while the context lasts, once there is room and no other run of it."""
        async with self._sources[source], self._places:
            yield

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """Let no source run while the context lasts; those that run are waited for."""
        async with contextlib.AsyncExitStack() as held:
            async with self._clearing:  # two that each hold half of the places would wait for each other
                for _ in range(self._at_once):
                    await held.enter_async_context(self._places)
            yield


async def side_by_side(works: Sequence[Work]) -> AsyncGenerator[Event]:
    """Do all of it at the same time, and yield what it tells; what one raises ends them all, as closing does."""
    told: asyncio.Queue[Event | None] = asyncio.Queue()

    async def do(work: Work) -> None:
        try:
            await work(told.put)
        finally:
            told.put_nowait(None)

    tasks = [asyncio.create_task(do(work)) for work in works]
    try:
        left = len(tasks)
        while left:
            event = await told.get()
            if event is not None:
                yield event
                continue
            left -= 1
            for task in tasks:
                if task.done():
                    task.result()
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
