"""The scheduler: wakes each source when it is due, and sweeps what need not be kept any longer.

APScheduler only wakes: what was done, and so what is due, stands in the database, where other processes see it too. A
run holds a lease there as long as it goes on: no other process begins one beside it, and what a dead process left is
taken up when its lease has ended.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bots.app.leasing import lease_seconds, leased
from bots.app.syncing import credential_of
from bots.counting import counted
from bots.requests import Event, Sync
from bots.service import Backend
from bots.settings import Settings
from bots.words.sentences import word
from connectors.schedule import SKEW, next_run
from ragcore.errors import BusyError, CitebotError
from ragcore.reports import Fault, SyncReport
from ragcore.stores.database import Database
from ragcore.stores.sources import SourceState, SourceStates

log = logging.getLogger(__name__)

REST = timedelta(minutes=1)
"""The least time from the end of a run to the next, however much is overdue."""
PAUSE = timedelta(minutes=5)
"""How often a source that pauses is looked at: a run by hand may have shown that its credential is right."""
SWEEPING = timedelta(hours=1)
_CLOCK = 60.0
"""Seconds between two looks at whether the clock was set back."""

Sweep = Callable[[], Awaitable[object]]
Tell = Callable[[str], Awaitable[None]]


class Schedule:
    """The timetable of one process; use ``scheduling``."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        backend: Backend,
        sweeps: Iterable[Sweep] = (),
        tell: Tell | None = None,
    ) -> None:
        """Compose; nothing is woken before ``start``.

        Args:
            settings: Names the sources and their schedules.
            database: Where their last runs stand.
            backend: What runs them.
            sweeps: What is called once an hour.
            tell: Tells the admins what only they can mend.
        """
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        self._settings = settings
        self._sources = {source.name: source for source in settings.sources}
        self._schedules = {source.name: source.schedule for source in settings.sources if source.schedule}
        self._lease = lease_seconds(settings, database)
        self._states = SourceStates(database)
        self._backend = backend
        self._sweeps = tuple(sweeps)
        self._tell = tell
        self._running: set[asyncio.Task[None]] = set()
        self._at: set[str] = set()
        self._waker = AsyncIOScheduler(timezone=UTC)
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin; a run that a crash broke off is due at once, where no other process can be at it."""
        now = datetime.now(UTC)
        states = await self._states.all()
        # Where no other process could be at it, what has not ended has been broken off.
        broken = frozenset[str]() if self._lease else await self._states.broken_off()
        for name, schedule in self._schedules.items():
            state = states.get(name, SourceState(name=name))
            if name in broken:
                self._wake_at(name, now, whatever=True)
            else:
                self._wake_at(name, self._next(schedule, state, now) or now + PAUSE)
        if self._lease:
            self._every(self._lease / 3, self._look_for_broken, max_instances=1)
        self._every(SWEEPING.total_seconds(), self._sweep, next_run_time=now)
        self._waker.start()
        self._watching = asyncio.create_task(self._watch_clock())

    async def stop(self) -> None:
        """Wake nothing any more, and break off what runs."""
        self._waker.remove_all_jobs()
        ending = [*self._running, *([self._watching] if self._watching else [])]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        self._waker.shutdown(wait=False)

    async def _watch_clock(self) -> None:
        """Look anew at what is due when the clock is set back: what was set by the wrong one would wait for it."""
        while True:
            ahead = time.time() - time.monotonic()
            await asyncio.sleep(_CLOCK)
            if time.time() - time.monotonic() < ahead - SKEW.total_seconds():
                log.warning("the clock was set back; looking anew at what is due")
                for job in self._waker.get_jobs():
                    job.modify(next_run_time=datetime.now(UTC))

    def _every(self, seconds: float, work: Callable[[], Awaitable[None]], **more: Any) -> None:
        """Call something again and again; when the loop stood still at its time, as soon as it goes on."""
        self._waker.add_job(work, "interval", seconds=seconds, coalesce=True, misfire_grace_time=None, **more)

    def _wake_at(self, name: str, moment: datetime, *, whatever: bool = False) -> None:
        arguments = {"args": [name, whatever], "id": name, "replace_existing": True, "misfire_grace_time": None}
        self._waker.add_job(self._wake, "date", run_date=moment, **arguments)

    async def _wake(self, name: str, whatever: bool) -> None:
        """Run a source if it is due by the database's word (or whatever that says), and set the next time."""
        schedule, began = self._schedules[name], datetime.now(UTC)
        following = began + REST
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            state = await self._states.get(name)
            moment = self._next(schedule, state, began)
            if (moment is None or moment > began) and not whatever:  # somebody else has run it meanwhile, or it pauses
                following = moment or began + PAUSE
                return
            try:
                async with leased(self._states, name, self._lease, after=state.last_run_at):
                    self._at.add(name)
                    await self._run(name, state)
            except BusyError:
                log.info("source %s: another process runs it", name)
            finally:
                self._at.discard(name)
            ended = datetime.now(UTC)
            moment = self._next(schedule, await self._states.get(name), ended)
            following = max(moment or ended + PAUSE, ended + REST)
        except CitebotError as error:
            log.warning("source %s could not be run: %s", name, error)
        except asyncio.CancelledError:  # by ``stop``; let through, APScheduler would call it an error
            log.info("source %s: its run is broken off, for the process is being stopped", name)
        finally:
            self._running.discard(task)
            self._wake_at(name, following)

    async def _look_for_broken(self) -> None:
        """Take up the runs of a process that is gone."""
        broken = frozenset[str]()
        with self._until_stopped():
            try:
                broken = await self._states.broken_off()
            except CitebotError as error:
                log.warning("whether a run was broken off could not be seen: %s", error)
        for name in (broken & self._schedules.keys()) - self._at:
            log.info("source %s: its run was broken off; beginning it anew", name)
            self._wake_at(name, datetime.now(UTC), whatever=True)

    def _next(self, schedule: str, state: SourceState, now: datetime) -> datetime | None:
        """Return when a source is due; None: it pauses."""
        # The fingerprint takes a moment to compute, so only where it is needed.
        key = credential_of(self._settings, self._sources[state.name]) if state.refused else ""
        return next_run(schedule, state, now, credential=key)

    async def _run(self, name: str, before: SourceState) -> None:
        async with contextlib.aclosing(_events(self._backend, Sync(sources=(name,), scheduled=True))) as events:
            async for event in events:
                if isinstance(event, SyncReport):
                    _log(event)
                    await self._tell_refusal(event, before)

    async def _tell_refusal(self, report: SyncReport, before: SourceState) -> None:
        """Tell the admins once of each credential that is refused."""
        if report.fault is not Fault.AUTH or self._tell is None:
            return
        if before.refused and before.refused == (await self._states.get(report.source)).refused:
            return
        language = self._settings.answer.language or "en"
        await self._tell(word("source_refused", language, name=report.source, why=report.error))

    async def _sweep(self) -> None:
        with self._until_stopped():
            for sweep in self._sweeps:
                try:
                    await sweep()
                except CitebotError as error:
                    log.warning("what has expired could not be dropped: %s", error)

    @contextlib.contextmanager
    def _until_stopped(self) -> Iterator[None]:
        """Let ``stop`` break off what is done within; let through, APScheduler would call that an error."""
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            yield
        except asyncio.CancelledError:
            log.debug("broken off, for the process is being stopped")
        finally:
            self._running.discard(task)


async def _events(backend: Backend, request: Sync) -> AsyncGenerator[Event]:
    async for event in backend.run(request):
        yield event


def _log(report: SyncReport) -> None:
    """Write to the log how a run went, if there is anything to tell."""
    if report.error:
        log.warning("source %s: %s", report.source, report.error)
        return
    counts = {"added": report.added, "changed": report.changed, "deleted": report.deleted}
    changes = ", ".join(f"{counted(count, 'document')} {what}" for what, count in counts.items() if count)
    log.info("source %s: %s, %.1f s", report.source, changes or "nothing changed", report.seconds)
    for warning in report.warnings:
        log.warning("source %s: %s", report.source, warning)
    if report.failed:
        unread = counted(len(report.failed), "document")
        log.warning(
            "source %s: %s could not be read; `citebot sync %s` names each", report.source, unread, report.source
        )


@contextlib.asynccontextmanager
async def scheduling(
    settings: Settings,
    database: Database,
    backend: Backend,
    sweeps: Iterable[Sweep] = (),
    tell: Tell | None = None,
) -> AsyncGenerator[None]:
    """Run sources when they are due while the context lasts; a run under way at its end is broken off."""
    schedule = Schedule(settings, database, backend, sweeps, tell)
    await schedule.start()
    try:
        yield
    finally:
        await schedule.stop()
