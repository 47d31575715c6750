"""Several works at once, each result told as it comes; nothing is left running, however it ends."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


async def as_they_come(
    works: Sequence[Callable[[], Awaitable[T]]], *, at_once: int, until: float
) -> AsyncGenerator[tuple[int, T | None]]:
    """Yield the number of each work with its result as it ends; with None what has not ended in time.

    Args:
        works: Begun in order; those of them that have not ended when the consumer closes this are cancelled.
        at_once: How many run side by side.
        until: The loop's time at which what is under way is cancelled.
    """
    room = asyncio.Semaphore(at_once)
    loop = asyncio.get_running_loop()

    async def in_turn(work: Callable[[], Awaitable[T]]) -> T:
        async with room:
            return await work()

    tasks = {asyncio.ensure_future(in_turn(work)): number for number, work in enumerate(works)}
    try:
        pending = set(tasks)
        while pending and (left := until - loop.time()) > 0:
            done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=tasks.__getitem__):
                yield tasks[task], task.result()
        for number in sorted(tasks[task] for task in pending):
            yield number, None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
