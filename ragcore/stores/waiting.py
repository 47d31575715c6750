"""Waiting for work that must come to its end, whoever loses patience."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def uninterrupted(work: Awaitable[T]) -> T:
    """Run work to its end even when the caller is cancelled meanwhile, once or often; the cancellation comes after it.

    For what changes stores: a thread that is left behind would go on writing after its lock was given up.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        raise
