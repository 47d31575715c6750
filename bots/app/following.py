"""Live updates: what people write on a platform reaches the sources that are read from it within seconds.

An event names the documents that it concerns; they are fetched anew, some seconds later and many at once. Nothing
depends on it: what is missed here (a lost event, too many at once, a source that can't be read) the next run brings.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from bots.settings import Settings
from connectors.base import Origin
from connectors.registry import toucher
from ragcore.errors import BusyError, CitebotError
from ragcore.reports import SyncReport

JOIN_SECONDS = 3.0
"""From the first event to the fetching: a message is mended and a thread answered within seconds, and each fetch reads
all of a thread."""
AGAIN_SECONDS = 15.0
"""Until the next try where another process runs the source: that may have read a document before it changed."""
MOST_EVENTS = 1_000
MOST_DOCUMENTS = 500
"""What may wait, of a platform and of a source; about as much as a run has to look at anyhow."""

_OTHER_FORM = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)
"""What reading JSON of another form than expected ends in, also in a type of another package's: one event must not end
all that follow."""

Refresh = Callable[[str, Sequence[str]], Awaitable[SyncReport | None]]
Find = Callable[[Mapping[str, Any]], Sequence[str]]

log = logging.getLogger(__name__)


class Following:
    """The live updates of one process; use ``following`` to have them done."""

    def __init__(self, settings: Settings, platforms: Sequence[str], refresh: Refresh, *, join: float = JOIN_SECONDS):
        """Find the sources that follow a platform.

        Args:
            settings: Name the sources.
            platforms: Those that are connected to.
            refresh: Syncs documents of a source (its name, the documents' ids).
            join: Seconds from the first event to the fetching.
        """
        self._sources: dict[str, list[_Source]] = {name: [] for name in platforms}
        for source in settings.sources:
            if source.type in self._sources:
                origin = Origin(source=source.name, folder=settings.folder)
                find = toucher(source.type, origin, source.options)
                if find is not None:
                    self._sources[source.type].append(_Source(source.name, find, refresh, join))

    def of(self, platform: str) -> Callable[[Mapping[str, Any]], None] | None:
        """Return what takes the events of a platform, at once; None: no source follows it."""
        sources = self._sources[platform]
        if not sources:
            return None

        def take(event: Mapping[str, Any]) -> None:
            for source in sources:
                source.take(event)

        return take

    @contextlib.asynccontextmanager
    async def going_on(self) -> AsyncGenerator[None]:
        """Do what comes in while the context lasts, and what has come before; the rest is the next run's."""
        sources = [source for some in self._sources.values() for source in some]
        tasks = [asyncio.create_task(source.keep()) for source in sources]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Source:
    """The events that wait for one source."""

    def __init__(self, name: str, find: Find, refresh: Refresh, join: float) -> None:
        self._name = name
        self._find = find
        self._refresh = refresh
        self._join = join
        self._events: deque[Mapping[str, Any]] = deque()
        self._ids: dict[str, None] = {}
        self._woken = asyncio.Event()

    def take(self, event: Mapping[str, Any]) -> None:
        if len(self._events) < MOST_EVENTS:
            self._events.append(event)
            self._woken.set()

    async def keep(self) -> None:
        wait = self._join
        while True:
            await self._woken.wait()
            await asyncio.sleep(wait)
            self._woken.clear()
            self._look()
            wait = self._join
            if self._ids and not await self._done():
                wait = AGAIN_SECONDS
                self._woken.set()

    def _look(self) -> None:
        """Find the documents that the events concern."""
        if len(self._events) >= MOST_EVENTS:
            log.info("source %s: more happens than can be followed; the rest is the next run's", self._name)
        while self._events:
            event = self._events.popleft()
            try:
                found = self._find(event)
            except _OTHER_FORM:
                log.exception("source %s: an event can't be read; its type is at fault", self._name)
                continue
            self._ids |= dict.fromkeys(found[: max(0, MOST_DOCUMENTS - len(self._ids))])

    async def _done(self) -> bool:
        """Sync what was touched; False when that is to be done later."""
        ids, self._ids = list(self._ids), {}
        try:
            report = await self._refresh(self._name, ids)
        except BusyError:
            self._ids = dict.fromkeys(ids)
            return False
        except CitebotError as error:  # also for what nobody foresaw
            log.info("source %s: what happened there is left to the next run: %s", self._name, error)
            return True
        if report is not None:
            counts = (report.added, report.changed, report.deleted, len(report.failed))
            log.info("source %s: live, %d added, %d changed, %d deleted, %d failed", self._name, *counts)
        return True
