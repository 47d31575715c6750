"""What a platform confirmed lately, so that it is not asked again for each question."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from ragcore.errors import PlatformUnreachable

K = TypeVar("K")
T = TypeVar("T")

CONFIRMED_SECONDS = 300.0
"""How long it is remembered who somebody is and where they are in (design: 5 minutes)."""
_KEPT = 10_000


class Remembered(Generic[K, T]):
    """What was asked lately; two who ask for the same at once ask once. A failure is not remembered."""

    def __init__(self, ask: Callable[[K], Coroutine[Any, Any, T]]) -> None:
        """``ask`` asks the platform; whatever it raises leaves ``get``."""
        self._ask = ask
        self._known: dict[K, tuple[float, asyncio.Task[T]]] = {}

    async def get(self, key: K) -> T:
        """Return what the platform tells, or told within ``CONFIRMED_SECONDS``; PlatformUnreachable once closed."""
        now = time.monotonic()
        known = self._known.get(key)
        if known is None or now - known[0] > CONFIRMED_SECONDS:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[key] = (now, asyncio.create_task(self._ask(key)))
        asked = known[1]
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise PlatformUnreachable("the connection ended meanwhile") from None
        finally:
            failed = asked.done() and (asked.cancelled() or asked.exception() is not None)
            if failed and self._known.get(key) is known:
                del self._known[key]

    def close(self) -> None:
        """Ask no more."""
        for _, asked in self._known.values():
            asked.cancel()
        self._known.clear()
