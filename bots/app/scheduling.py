"""The scheduler: wakes each source when it is due, and sweeps what need not be kept any longer.

APScheduler only wakes: what was done, and so what is due, stands in the database, where other processes see it too. A
run holds a lease there as long as it goes on: no other process begins one beside it, and what a dead process left is
taken up when its lease has ended.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bots.counting import counted
from bots.requests import Event, Sync
from bots.service import Backend
from bots.settings import Settings
from connectors.schedule import due
from ragcore.errors import CitebotError
from ragcore.reports import SyncReport
from ragcore.stores.database import Database
from ragcore.stores.sources import SourceState, SourceStates

log = logging.getLogger(__name__)

REST = timedelta(minutes=1)
"""The least time from the end of a run to the next, however much is overdue."""
SWEEPING = timedelta(hours=1)

Sweep = Callable[[], Awaitable[object]]


class Schedule:
    """The timetable of one process; use ``scheduling``."""

    def __init__(self, settings: Settings, database: Database, backend: Backend, sweeps: Iterable[Sweep] = ()) -> None:
        """Compose; nothing is woken before ``start``.

        Args:
            settings: Names the sources and their schedules.
            database: Where their last runs stand.
            backend: What runs them.
            sweeps: What is called once an hour.
        """
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        self._schedules = {source.name: source.schedule for source in settings.sources if source.schedule}
        # Nobody else could take up what we leave, nor be at it.
        self._lease = 0.0 if database.is_sqlite else settings.turns.lease
        self._states = SourceStates(database)
        self._backend = backend
        self._sweeps = tuple(sweeps)
        self._running: set[asyncio.Task[None]] = set()
        self._at: set[str] = set()
        self._waker = AsyncIOScheduler(timezone=UTC)

    async def start(self) -> None:
        """Begin; a run that a crash broke off is due at once, where no other process can be at it."""
        now = datetime.now(UTC)
        states = await self._states.all()
        for name, schedule in self._schedules.items():
            state = states.get(name, SourceState(name=name))
            if not self._lease and _broke_off(state):
                self._wake_at(name, now, whatever=True)
            else:
                self._wake_at(name, due(schedule, state.last_run_at, now))
        if self._lease:
            self._every(self._lease / 3, self._look_for_broken, max_instances=1)
        self._every(SWEEPING.total_seconds(), self._sweep, next_run_time=now)
        self._waker.start()

    async def stop(self) -> None:
        """Wake nothing any more, and break off what runs."""
        self._waker.remove_all_jobs()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._waker.shutdown(wait=False)

    def _every(self, seconds: float, work: Callable[[], Awaitable[None]], **more: Any) -> None:
        """Call something again and again; when the loop stood still at its time, as soon as it goes on."""
        self._waker.add_job(work, "interval", seconds=seconds, coalesce=True, misfire_grace_time=None, **more)

    def _wake_at(self, name: str, moment: datetime, *, whatever: bool = False) -> None:
        arguments = {"args": [name, whatever], "id": name, "replace_existing": True, "misfire_grace_time": None}
        self._waker.add_job(self._wake, "date", run_date=moment, **arguments)

    async def _wake(self, name: str, whatever: bool) -> None:
        """Run a source if it is due by the database's word (or whatever that says), and set the next time."""
        schedule, now = self._schedules[name], datetime.now(UTC)
        following = now + REST
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            last = (await self._states.get(name)).last_run_at
            moment = due(schedule, last, now)
            if moment > now and not whatever:  # somebody else has run it meanwhile
                following = moment
                return
            if await self._states.begin(name, after=last, at=now, lease=self._lease):
                await self._held(name)
            ended = datetime.now(UTC)
            last = (await self._states.get(name)).last_run_at
            following = max(due(schedule, last, ended), ended + REST)
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

    async def _held(self, name: str) -> None:
        """Run a source while its lease is renewed; what is broken off here is left to the others at once."""
        if not self._lease:
            await self._run(name)
            return
        renewing = asyncio.create_task(self._renew(name))
        self._at.add(name)
        broken = False
        try:
            await self._run(name)
        except asyncio.CancelledError:
            broken = True
            raise
        finally:
            self._at.discard(name)
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self._states.end(name, broken=broken)

    async def _renew(self, name: str) -> None:
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                await self._states.renew(name, self._lease)
            except CitebotError as error:
                log.warning("source %s: its lease could not be renewed: %s", name, error)

    async def _run(self, name: str) -> None:
        async with contextlib.aclosing(_events(self._backend, Sync(sources=(name,)))) as events:
            async for event in events:
                if isinstance(event, SyncReport):
                    _tell(event)

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


def _broke_off(state: SourceState) -> bool:
    """Tell whether a source's last run neither succeeded nor failed."""
    last, success = state.last_run_at, state.last_success_at
    return last is not None and not state.last_error and (success is None or success < last)


async def _events(backend: Backend, request: Sync) -> AsyncGenerator[Event]:
    async for event in backend.run(request):
        yield event


def _tell(report: SyncReport) -> None:
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
    settings: Settings, database: Database, backend: Backend, sweeps: Iterable[Sweep] = ()
) -> AsyncGenerator[None]:
    """Run sources when they are due while the context lasts; a run under way at its end is broken off."""
    schedule = Schedule(settings, database, backend, sweeps)
    await schedule.start()
    try:
        yield
    finally:
        await schedule.stop()
