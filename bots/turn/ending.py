"""The end of tasks that nobody waits for: what they left is told, for nobody else would ask what became of them."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from ragcore.errors import CitebotError

T = TypeVar("T")

log = logging.getLogger(__name__)

_SOON = 1.0
"""Seconds that a process which is being stopped waits for a call; whoever comes next looks what became of it."""


async def end(*tasks: "asyncio.Task[None] | None") -> None:
    """Cancel tasks and wait until they have ended; see ``note_end``."""
    known = [task for task in tasks if task is not None]
    for task in known:
        task.cancel()
    await asyncio.gather(*known, return_exceptions=True)
    for task in known:
        note_end(task)


async def ended_soon(*tasks: "asyncio.Task[Any]") -> None:
    """Wait a little for the end of tasks; who waits longer for a call that hangs is cancelled, and leaves the call."""
    if tasks:
        _, stuck = await asyncio.wait(tasks, timeout=_SOON)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what comes of work that is not broken off: a first cancellation takes effect once it has ended."""
    step = asyncio.create_task(work)
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        step.add_done_callback(note_end)
        await asyncio.wait({step})
        raise


def note_end(task: "asyncio.Task[Any]") -> bool:
    """Log the fault of ours by which a task ended, and return whether there was one; a typed error is none."""
    error = None if task.cancelled() else task.exception()
    if error is None or isinstance(error, CitebotError):
        return False
    log.error("a task beside the turns failed", exc_info=error)
    return True
