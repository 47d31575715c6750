"""Taking back what stands on the platform, with patience: nobody asks for it a second time."""

import asyncio
import logging
from collections.abc import Callable

from bots.platform import Incoming, Platform, R, Sent
from ragcore.errors import PlatformError, PlatformRateLimited, PlatformUnreachable

log = logging.getLogger(__name__)

CALL_SECONDS = 20.0
"""How long one call may take; what takes longer counts as not having reached the platform."""
_WAITS = (0.5, 2.0, 5.0)
"""Seconds between two tries."""
_LONGEST_WAIT = 60.0
"""Where the platform asks for more, the message is left."""


def _nothing() -> None:
    pass


async def take_back(
    platform: Platform[R], incoming: Incoming, sent: Sent, *, check: Callable[[], None] = _nothing
) -> None:
    """Withdraw a message of ours; what cannot be taken back is only logged.

    ``check`` is called before each try: it raises where somebody else may write in that message by now.
    """
    for wait in (*_WAITS, None):
        check()
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await platform.withdraw(incoming, sent)
        except (PlatformError, TimeoutError) as error:
            asked = error.retry_after if isinstance(error, PlatformRateLimited) else 0.0
            passing = isinstance(error, PlatformRateLimited | PlatformUnreachable | TimeoutError)
            if wait is None or not passing or asked > _LONGEST_WAIT:
                log.warning("a message was not taken back: %s: %s", type(error).__name__, error)
                return
            await asyncio.sleep(max(wait, asked))
        else:
            return
