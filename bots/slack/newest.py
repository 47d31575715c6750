"""The newest replies of a thread on Slack, which tells the oldest first and lets nobody begin at the end.

A thread of a few thousand is read through. In a longer one a moment is looked for, by halves, after which there are
about as many as are wanted.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bots.slack.reading import Reader
from ragcore.errors import PlatformRateLimited, PlatformUnreachable

Json = Mapping[str, Any]

SIZE = 999
"""Messages a page, the most that Slack gives."""
READ_THROUGH = 5
"""Pages from the beginning; 4,995 messages."""
TRIES = 14
"""Pages from somewhere in between, of which Slack allows 50 a minute: by so many halves 16 million messages."""
SECONDS = 60.0
"""How long it may take, Slack's requests to wait included."""


async def newest_replies(
    reader: Reader,
    channel: str,
    thread: str,
    oldest: str,
    latest: str,
    most: int,
    counts: Callable[[Json], bool],
) -> tuple[list[Json], bool]:
    """Return the newest messages of a thread, ``most`` of them at most, and whether there are no older ones.

    Fewer than ``most`` come, and are not whole, where the time or the calls end before.

    Args:
        reader: Reads the pages.
        channel: Where it is.
        thread: Its first message.
        oldest: From when on messages are wanted.
        latest: Until before when.
        most: How many; no more than ``SIZE``.
        counts: Whether a message is one of those that are wanted.

    Raises:
        PlatformError: Slack let none of the newest be read.
    """
    kept: deque[Json] = deque(maxlen=most)
    seen, dropped = float(oldest), 0
    newest: Sequence[Json] = ()
    try:
        async with asyncio.timeout(SECONDS):
            pages = reader.replies(channel, thread, oldest=oldest, latest=latest, size=SIZE, most=READ_THROUGH)
            async for message in pages:
                seen = max(seen, float(message["ts"]))
                if counts(message):
                    dropped += len(kept) == most
                    kept.append(message)
            if pages.whole:
                return list(kept), not dropped
            low, high = seen, float(latest)
            start = (low + high) / 2
            for _ in range(TRIES):
                since = f"{start:.6f}"
                pages = reader.replies(channel, thread, oldest=since, latest=latest, size=SIZE, most=1)
                # The first message comes along, however old it is.
                read = [message async for message in pages if float(message["ts"]) >= start]
                if pages.whole:
                    newest = [message for message in read if counts(message)][-most:]
                    if len(newest) == most:
                        return list(newest), False
                    high = start
                else:
                    low = max([start, *(float(message["ts"]) for message in read)])
                start = (low + high) / 2
    except (TimeoutError, PlatformRateLimited):
        if not newest:
            raise
    if not newest:
        raise PlatformUnreachable("the newest messages of a long thread could not be found")
    return list(newest), False
