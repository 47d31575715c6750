"""The lease of a run: while it is renewed no other process runs the source; once it runs out, another takes over."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime
from types import EllipsisType

from bots.settings import Settings
from ragcore.errors import BusyError, CitebotError
from ragcore.stores.database import Database
from ragcore.stores.sources import SourceStates

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between two looks at a lease that is waited for, or a tenth of the lease where that is less."""


def lease_seconds(settings: Settings, database: Database) -> float:
    """Return how long a run is taken for alive; 0 where no other process could take up what this one leaves."""
    return 0.0 if database.is_sqlite else settings.turns.lease


@contextlib.asynccontextmanager
async def leased(
    states: SourceStates,
    name: str,
    lease: float,
    *,
    after: datetime | EllipsisType | None = ...,
    counts: bool = True,
    waits: Callable[[], Awaitable[None]] | None = None,
) -> AsyncGenerator[None]:
    """Hold the lease of a source's run while the context lasts.

    Broken off, it is left to whoever asks next. Whoever could not renew it in time, and finds that another process
    has taken over, is broken off with a BusyError: it would write beside that one.

    Args:
        states: Where leases stand.
        name: The source's.
        lease: Seconds that a run is taken for alive without a sign of life; 0: nobody else could run it.
        after: As for ``SourceStates.begin``.
        counts: Whether the timetable counts from it; if not, a run that was broken off before is still to be taken up.
        waits: Called once where another process holds the lease: then it is waited until that one shows that it is
            alive, or its lease has run out or ended. None: it isn't waited.

    Raises:
        BusyError: Another process runs it, has run it since, or has taken it over meanwhile.
    """
    owner = uuid.uuid4().hex

    async def begin() -> bool:
        at = datetime.now(UTC) if counts else None
        return await states.begin(name, after=after, at=at, lease=lease, owner=owner)

    was_broken = not counts and name in await states.broken_off()
    if not await _begun(states, name, lease, begin, waits):
        raise BusyError(f"another process is syncing {name} now; `citebot sources` tells when it has")
    task, taken_over = asyncio.current_task(), asyncio.Event()
    assert task is not None
    cancelled = task.cancelling()
    renewing = asyncio.create_task(_renew(states, name, lease, owner, task, taken_over)) if lease else None
    broken = True
    try:
        yield
        broken = False
    except asyncio.CancelledError:
        # Ours alone becomes an error: whoever cancels the task for a reason of its own is to see it cancelled.
        if taken_over.is_set() and task.uncancel() <= cancelled:
            raise BusyError(f"another process has taken over the sync of {name}") from None
        raise
    except Exception:
        broken = False  # it has failed, which is an end as well
        raise
    finally:
        if renewing is not None:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        await states.end(name, broken=broken or was_broken, owner=owner)


async def _begun(
    states: SourceStates,
    name: str,
    lease: float,
    begin: Callable[[], Awaitable[bool]],
    waits: Callable[[], Awaitable[None]] | None,
) -> bool:
    first = None
    while not await begin():
        if waits is None:
            return False
        held = await states.held(name)
        if held is not None and first is not None and held != first:
            return False  # renewed, or taken by somebody else: a process that is alive runs it
        if held is not None and first is None:
            first = held
            log.info("source %s: waiting for the process that was at it, or for its lease to run out", name)
            await waits()
        await asyncio.sleep(min(_LOOK, lease / 10))
    return True


async def _renew(
    states: SourceStates,
    name: str,
    lease: float,
    owner: str,
    task: "asyncio.Task[object]",
    taken_over: asyncio.Event,
) -> None:
    while True:
        await asyncio.sleep(lease / 3)
        try:
            if not await states.renew(name, lease, owner=owner):
                log.warning("source %s: another process has taken its run over; leaving it", name)
                taken_over.set()
                task.cancel()
                return
        except CitebotError as error:
            log.warning("source %s: its lease could not be renewed: %s", name, error)
