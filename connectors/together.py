"""Things done side by side, of which none goes on once one has failed: a source that asks to wait is left alone."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def under_way(*work: Coroutine[Any, Any, T]) -> AsyncIterator[list[asyncio.Task[T]]]:
    """Do these side by side for as long as this lasts; what isn't done by then is cancelled, and waited for."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
    """Return what these return, in their order; raise the first error of any, once the others have ended."""
    async with under_way(*work) as tasks:
        return await asyncio.gather(*tasks)
