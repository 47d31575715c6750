"""Work that is done as often as it takes, because nobody would ask for it a second time."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ragcore.errors import CitebotError

T = TypeVar("T")

log = logging.getLogger(__name__)

INSTANT = 1e-6
"""Seconds that are no wait: what rounding leaves of one is too short for a timer to end it."""
_SECONDS = (0.1, 0.5, 2.0, 5.0)
"""Between two tries; the last of them from then on."""


async def until_kept(work: Callable[[], Awaitable[T]], *passing: type[CitebotError]) -> T:
    """Do it, and again as long as it fails in one of these ways (the database is away); then return what it gives."""
    for tried in itertools.count():
        try:
            return await work()
        except passing as error:
            wait = _SECONDS[min(tried, len(_SECONDS) - 1)]
            log.warning("what happened could not be kept, again in %.1f s: %s", wait, error)
            await asyncio.sleep(wait)
    raise AssertionError("counting never ends")
