"""A connector as a run hears it: it is waited where the source asks for it, and what may pass is tried again.

A connector raises at the first fault. Here the run begins again at the last Checkpoint, so that one lost page or one
"429" costs no more than the wait. What doesn't pass soon ends the run, and is left to the timetable.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar, cast

from connectors.base import Change, Checkpoint, Connector, Failure, Tombstone
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited
from ragcore.types import SourceDocument

LONGEST_WAIT = 300.0
"""Seconds that a run waits where the source asks for it; a longer wait is the timetable's."""
WAITS = (1.0, 4.0)
"""Seconds before each further try where nothing new came since the last fault."""
SILENCE = 600.0
"""Seconds without a word from the connector after which the source is taken to hang."""

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Patient:
    """A connector with patience; raises what didn't pass."""

    connector: Connector
    sleep: Sleep = asyncio.sleep
    silence: float = SILENCE

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncGenerator[Change, None]:
        """Yield what changed, as the connector does, beginning again at the last Checkpoint after a fault.

        What was yielded counts as known then: the run holds it already.
        """
        heard, told, tries = dict(known), set[str](), 0
        while True:
            try:
                async with aclosing(self._heard(self.connector.changes(cursor, heard))) as stream:
                    async for change in stream:
                        if isinstance(change, Checkpoint) and change.cursor != cursor:
                            cursor, tries = change.cursor, 0
                        elif isinstance(change, SourceDocument | Failure):
                            if change.id not in told:
                                told.add(change.id)
                                tries = 0
                            elif isinstance(change, Failure):
                                continue
                            if change.version:
                                heard[change.id] = change.version
                        yield change
            except SourceError as error:
                await self._bear(error, tries)
                tries += 1
            else:
                return

    def list_ids(self) -> AsyncGenerator[str | Failure, None] | None:
        """Yield the ids, from the first on again after a fault; None when the source can't list."""
        listing = self.connector.list_ids()
        return None if listing is None else self._listed(listing)

    async def _listed(self, listing: AsyncIterator[str | Failure] | None) -> AsyncGenerator[str | Failure, None]:
        tries = 0
        while listing is not None:
            try:
                async with aclosing(self._heard(listing)) as stream:
                    async for item in stream:
                        yield item
                return
            except SourceError as error:
                await self._bear(error, tries)
                tries += 1
                listing = self.connector.list_ids()

    async def fetch(self, ids: Sequence[str]) -> AsyncGenerator[SourceDocument | Tombstone | Failure, None]:
        """Yield these documents; after a fault those that are still to come."""
        wanted, tries = dict.fromkeys(ids), 0
        while wanted:
            try:
                async with aclosing(self._heard(self.connector.fetch(list(wanted)))) as stream:
                    async for found in stream:
                        tries = 0 if found.id in wanted else tries
                        wanted.pop(found.id, None)
                        yield found
                return
            except SourceError as error:
                await self._bear(error, tries)
                tries += 1

    async def _bear(self, error: SourceError, tries: int) -> None:
        """Wait before the next try, or raise the error when there is to be none."""
        hopeless = isinstance(error, SourceAuthError | SourceGone | _Silent) or tries >= len(WAITS)
        if hopeless or (isinstance(error, SourceRateLimited) and error.retry_after > LONGEST_WAIT):
            raise error
        wait = max(0.0, error.retry_after) if isinstance(error, SourceRateLimited) else WAITS[tries]
        log.info("%s; going on in %.0f s", error, wait)
        await self.sleep(wait)

    async def _heard(self, stream: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """Yield what a stream gives; raise when it says nothing for too long."""
        async with aclosing(cast("AsyncGenerator[T, None]", stream)):
            while True:
                try:
                    async with asyncio.timeout(self.silence) as patience:
                        item = await anext(stream)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    if not patience.expired():
                        raise
                    told = f"the source gave no sign of life for {self.silence / 60:.0f} minutes"
                    raise _Silent(told, mend="see whether it can be reached from here") from error
                yield item


class _Silent(SourceError):
    """The source hangs; to try again at once would only hang again."""
