"""Sync requests: the configured sources become jobs, and what a run tells becomes events."""

import asyncio
import contextlib
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bots.app.leasing import lease_seconds, leased
from bots.app.options import ingest_options
from bots.app.parts import describing
from bots.app.renewing import current
from bots.app.side_by_side import Room, Tell, side_by_side
from bots.app.unforeseen import in_words
from bots.counting import counted
from bots.requests import Doubt, Event, Sync
from bots.settings import PEOPLE, Settings, SourceSettings
from connectors import sync as connector_sync
from connectors.base import Connector, Origin
from connectors.people import PeopleConnector
from connectors.registry import connect, credential
from connectors.sync import SyncJob, forget_source, orphans
from ragcore.enrich.coming import Coming
from ragcore.errors import CitebotError, ConfigError
from ragcore.library import Library
from ragcore.library.recovery import reembed
from ragcore.reports import SyncProgress, SyncReport
from ragcore.stores.health import IndexState
from ragcore.stores.people_replies import KeptAnswers
from ragcore.stores.sources import SourceStates
from ragcore.stores.vectors import INDEX as VECTORS


class Doubts:
    """The questions that wait for somebody's decision before much is deleted."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[bool]] = {}

    def raise_one(self, source: str, documents: int) -> tuple[Doubt, "asyncio.Future[bool]"]:
        """Return a new question and the decision to wait for."""
        doubt = Doubt(id=uuid.uuid4().hex, source=source, documents=documents)
        self._waiting[doubt.id] = decision = asyncio.get_running_loop().create_future()
        return doubt, decision

    def decide(self, identity: str, *, agreed: bool) -> None:
        """Settle a question; one that nobody waits for any more is left alone."""
        decision = self._waiting.get(identity)
        if decision is not None and not decision.done():
            decision.set_result(agreed)

    def drop(self, identity: str) -> None:
        """Forget a question that was settled, or whose run has ended."""
        self._waiting.pop(identity, None)


async def run_sources(
    settings: Settings,
    library: Library,
    request: Sync,
    doubts: Doubts,
    room: Room,
    coming: Mapping[str, Coming],
) -> AsyncGenerator[Event]:
    """Run the sources that a request names, or all, side by side; then tell of those without settings.

    By knowledge base, ``coming`` is told of each document that a dry run would read.
    """
    by_name = {source.name: source for source in settings.sources}
    unknown = [name for name in request.sources if name not in by_name]
    if unknown:
        raise ConfigError(f"there is no source {unknown[0]!r} (there is: {', '.join(by_name) or 'none'})")
    names = tuple(dict.fromkeys(request.sources)) or tuple(by_name)
    if request.full and not request.dry_run:
        bases = dict.fromkeys(by_name[name].knowledge_base for name in names)
        async with room.alone(), contextlib.aclosing(_reembed(library, tuple(bases))) as steps:
            async for step in steps:
                yield step
    runs = [_Run(settings, library, by_name[name], request, doubts, room, coming).work for name in names]
    reports: dict[str, SyncReport] = {}
    left = deque(names)
    async with contextlib.aclosing(side_by_side(runs)) as events:
        async for event in events:
            if not isinstance(event, SyncReport):
                yield event
                continue
            reports[event.source] = event
            while left and left[0] in reports:  # in the order of the settings, whichever is done first
                yield reports[left.popleft()]
    if not request.sources:
        for source, documents in (await orphans(library, by_name.keys())).items():
            yield await _orphan_report(library, source, documents, request)


async def _reembed(library: Library, bases: tuple[str, ...]) -> AsyncGenerator[Event]:
    """Bring knowledge bases that another embedder indexed over to the configured one."""
    for name in bases:
        if library.health.of(VECTORS, name).state is not IndexState.MISMATCHED:
            continue
        async with contextlib.aclosing(reembed(library, name)) as steps:
            async for health in steps:
                yield SyncProgress(source=name, done=health.done, total=health.total, document_id="embedding anew")


def _with_mismatch(library: Library, knowledge_base: str, event: Event) -> Event:
    """Tell in a report that the knowledge base is still searched by words alone, when another embedder indexed it."""
    health = library.health.of(VECTORS, knowledge_base)
    if not isinstance(event, SyncReport) or event.error or health.state is not IndexState.MISMATCHED:
        return event
    return replace(event, warnings=(*event.warnings, health.reason))


async def _orphan_report(library: Library, source: str, documents: int, request: Sync) -> SyncReport:
    if request.full and not request.dry_run:
        return await forget_source(library, source)
    remark = (
        f"this source has no settings any more; {counted(documents, 'document')} of it can still be found. "
        "Put its settings back, or run `citebot sync --full` to delete them."
    )
    return SyncReport(source=source, unchanged=documents, warnings=(remark,), dry_run=request.dry_run)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of one source, in this process."""

    settings: Settings
    library: Library
    source: SourceSettings
    request: Sync
    doubts: Doubts
    room: Room
    coming: Mapping[str, Coming]

    async def work(self, tell: Tell) -> None:
        """Run it when there is room and nobody else runs it; what goes wrong stands in its report.

        Also what nobody foresaw in a connector that is being made: raised here, it would end the runs beside this one.
        """
        name = self.source.name
        try:
            with in_words(f"sync {name}"):
                async with self.room.of(name), self._lease(tell):
                    await self._run(tell)
        except CitebotError as error:
            await tell(SyncReport(source=name, error=str(error), dry_run=self.request.dry_run))

    def _lease(self, tell: Tell) -> contextlib.AbstractAsyncContextManager[None]:
        if self.request.dry_run or self.request.scheduled:
            return contextlib.nullcontext()

        async def waits() -> None:
            remark = "waiting for another process that was at it to end, or to prove dead"
            await tell(SyncProgress(source=self.source.name, done=0, document_id=remark))

        database = self.library.database
        seconds = lease_seconds(self.settings, database)
        return leased(SourceStates(database), self.source.name, seconds, waits=waits)

    async def _run(self, tell: Tell) -> None:
        async def confirm(documents: int) -> bool:
            doubt, decision = self.doubts.raise_one(self.source.name, documents)
            await tell(doubt)
            try:
                return await decision
            finally:
                self.doubts.drop(doubt.id)

        job = await asyncio.to_thread(_job, self.settings, self.library, self.source)
        coming = self.coming.get(job.knowledge_base)
        runs = connector_sync.sync(
            self.library,
            replace(job, foreseen=coming.add if coming else None),
            full=self.request.full,
            dry_run=self.request.dry_run,
            retry=not self.request.scheduled,
            confirm=confirm if self.request.ask_first else None,
        )
        async with contextlib.aclosing(runs) as told:
            async for one in told:
                await tell(_with_mismatch(self.library, self.source.knowledge_base, one))


async def refresh_documents(
    settings: Settings, library: Library, room: Room, name: str, ids: Sequence[str]
) -> SyncReport | None:
    """Sync these documents of a source out of turn, once no run of it is under way in this process.

    None: it is left to the next run, because the source has never been read, pauses, or asked to be left alone.

    Raises:
        BusyError: Another process runs the source.
        CitebotError: As ``connectors.sync.sync_documents``, and for settings that are wrong.
    """
    source = next(source for source in settings.sources if source.name == name)
    states = SourceStates(library.database)
    seconds = lease_seconds(settings, library.database)
    async with room.of(name):
        state = await states.get(name)
        asked = state.not_before is not None and state.not_before > datetime.now(UTC)
        if state.last_run_at is None or state.refused or asked:
            return None
        # Where no other process could run it, the room is enough.
        lease = leased(states, name, seconds, counts=False) if seconds else contextlib.nullcontext()
        async with lease:
            job = await asyncio.to_thread(_job, settings, library, source)
            return await connector_sync.sync_documents(library, job, ids)


def _job(settings: Settings, library: Library, configured: SourceSettings) -> SyncJob:
    source = current(settings, configured)
    return SyncJob(
        source=source.name,
        type=source.type,
        knowledge_base=source.knowledge_base,
        connector=connector_of(settings, library, source),
        credential=credential_of(settings, source),
        options=ingest_options(settings.all_knowledge_bases[source.knowledge_base], describe=describing(settings)),
    )


def connector_of(settings: Settings, library: Library, configured: SourceSettings) -> Connector:
    """Return a new connector of a source, with its newest credential; blocks for a moment.

    Raises:
        CitebotError: its settings are wrong.
    """
    source = current(settings, configured)
    origin = Origin(source=source.name, folder=settings.folder)
    if source.type == PEOPLE:
        return PeopleConnector(origin, KeptAnswers(library.database, source.knowledge_base))
    return connect(source.type, origin, source.options)


def credential_of(settings: Settings, source: SourceSettings) -> str:
    """Return the fingerprint of what a source identifies itself by; blocks for a moment."""
    if source.type == PEOPLE:
        return ""  # nobody asks it for any
    origin = Origin(source=source.name, folder=settings.folder)
    return credential(source.type, origin, current(settings, source).options)
