"""Some works side by side, and what they come to one after the other, in the order in which they were begun."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class InOrder(Generic[T]):
    """Runs at most so many works at once, and hands over each result behind those of the works begun before it.

    What a work or the handing over raises is raised to whoever begins the next one, or waits for all: all results
    before it are handed over, and none behind it.
    """

    def __init__(self, most: int, hand_over: Callable[[T], Awaitable[None]]) -> None:
        """Begin with none."""
        self._hand_over = hand_over
        self._places = asyncio.Semaphore(most)
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None

    async def begin(self, work: Callable[[], Awaitable[T]]) -> None:
        """Begin a work once there is a place for it."""
        await self._places.acquire()
        if self._last is not None and self._last.done():
            self._last.result()
        self._last = asyncio.create_task(self._one(work, self._last))
        self._tasks.add(self._last)
        self._last.add_done_callback(self._tasks.discard)

    async def _one(self, work: Callable[[], Awaitable[T]], before: asyncio.Task[None] | None) -> None:
        try:
            try:
                result = await work()
            finally:
                # Also of one that failed at once: what was begun before it is handed over first.
                if before is not None:
                    await before
            await self._hand_over(result)
        finally:
            self._places.release()

    async def all(self) -> None:
        """Wait until each result is handed over."""
        if self._last is not None:
            await self._last

    async def aclose(self) -> None:
        """End what is under way."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
