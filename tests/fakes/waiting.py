"""Wait in a test for what another task or process is about to do."""

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Return as soon as the condition holds; TimeoutError when it doesn't in time."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 (what is waited for knows nothing of an event)
            await asyncio.sleep(0.01)
