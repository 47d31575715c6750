"""Work on long texts in a thread: text made to be slow to read must not keep everybody else waiting."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONG = 2_000
"""Characters: what is shorter takes milliseconds however it is written, less than a rush of threads would cost."""


async def beside(length: int, work: Callable[[], T]) -> T:
    """Return what the work on a text of so many characters gives; it touches nothing that changes meanwhile."""
    return await asyncio.to_thread(work) if length > LONG else work()
