"""When hundreds ask at once, those who were not yet heard come before the answers to those who were.

Taking a message and searching for its answer share one interpreter: with searches beside it, the last of 500 saw a sign
of their question twice as late.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

MANY = 20
"""So many messages that are being taken at once are a rush."""
LONGEST = 10.0
"""Seconds from its beginning for which answers wait for a rush: 500 messages are taken in less, and what takes longer
hangs on something else."""


class Rush:
    """Counts the messages of one platform that are being taken; for one event loop."""

    def __init__(self) -> None:
        """Begin with none."""
        self._taking = 0
        self._until = 0.0
        self._over = asyncio.Event()
        self._over.set()

    @asynccontextmanager
    async def taking(self) -> AsyncGenerator[None]:
        """Count a message as being taken until this is left."""
        self._taking += 1
        if self._taking >= MANY and self._over.is_set():
            self._over.clear()
            self._until = asyncio.get_running_loop().time() + LONGEST
        try:
            yield
        finally:
            self._taking -= 1
            if self._taking < MANY:
                self._over.set()

    async def over(self) -> None:
        """Wait until there is no rush, not for long."""
        if not self._over.is_set():
            try:
                async with asyncio.timeout_at(self._until):
                    await self._over.wait()
            except TimeoutError:
                return
