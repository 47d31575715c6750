"""Work on long texts in a thread: text made to be slow to read must not keep everybody else waiting."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONG = 2_000
"""Characters: what is shorter takes milliseconds, less than a rush of threads would cost."""
_MARKS = "[*_<`"
_AS_MANY = 5
"""So many ordinary characters count as one of these marks: each may open something that is looked for to the end."""


async def beside(text: str, work: Callable[[], T]) -> T:
    """Return what the work on a text gives; it touches nothing that changes meanwhile."""
    weight = len(text) + _AS_MANY * sum(map(text.count, _MARKS))
    return await asyncio.to_thread(work) if weight > LONG else work()
