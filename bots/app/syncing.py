"""Sync requests: the configured sources become jobs, and what a run tells becomes events."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from bots.access import Audience
from bots.app.options import ingest_options
from bots.counting import counted
from bots.requests import Doubt, Event, SourceState, Sync
from bots.settings import Settings, SourceSettings
from connectors import sync as connector_sync
from connectors.base import Origin
from connectors.registry import connect
from connectors.schedule import due
from connectors.sync import SyncJob, forget_source, orphans
from ragcore.errors import CitebotError, ConfigError
from ragcore.library import Library
from ragcore.library.recovery import reembed
from ragcore.reports import SyncProgress, SyncReport
from ragcore.stores.health import IndexState
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


async def run_sources(settings: Settings, library: Library, request: Sync, doubts: Doubts) -> AsyncGenerator[Event]:
    """Run the sources that a request names, or all, one after another; then tell of those without settings."""
    by_name = {source.name: source for source in settings.sources}
    unknown = [name for name in request.sources if name not in by_name]
    if unknown:
        raise ConfigError(f"there is no source {unknown[0]!r} (there is: {', '.join(by_name) or 'none'})")
    names = request.sources or tuple(by_name)
    if request.full and not request.dry_run:
        bases = dict.fromkeys(by_name[name].knowledge_base for name in names)
        async with contextlib.aclosing(_reembed(library, tuple(bases))) as steps:
            async for step in steps:
                yield step
    for name in names:
        async with contextlib.aclosing(_run_source(settings, library, by_name[name], request, doubts)) as events:
            async for event in events:
                yield _with_mismatch(library, by_name[name].knowledge_base, event)
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


async def _run_source(
    settings: Settings, library: Library, source: SourceSettings, request: Sync, doubts: Doubts
) -> AsyncGenerator[Event]:
    """Run one source in a task of its own, so that it can wait for a decision while its question goes out."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    async def confirm(documents: int) -> bool:
        doubt, decision = doubts.raise_one(source.name, documents)
        await events.put(doubt)
        try:
            return await decision
        finally:
            doubts.drop(doubt.id)

    async def work() -> None:
        try:
            job = _job(settings, source)
            runs = connector_sync.sync(
                library,
                job,
                full=request.full,
                dry_run=request.dry_run,
                confirm=confirm if request.ask_first else None,
            )
            async with contextlib.aclosing(runs) as told:
                async for one in told:
                    await events.put(one)
        except CitebotError as error:
            await events.put(SyncReport(source=source.name, error=str(error), dry_run=request.dry_run))
        finally:
            events.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _job(settings: Settings, source: SourceSettings) -> SyncJob:
    origin = Origin(source=source.name, folder=settings.folder)
    return SyncJob(
        source=source.name,
        type=source.type,
        knowledge_base=source.knowledge_base,
        connector=connect(source.type, origin, source.options),
        options=ingest_options(settings.all_knowledge_bases[source.knowledge_base]),
    )


async def source_states(settings: Settings, library: Library, audience: Audience) -> list[SourceState]:
    """Return how each configured source stands, and each that has documents but no settings any more.

    Counted are the documents that the audience may read, so that nobody learns how many others there are.
    """
    states = await SourceStates(library.database).all()
    counts = await library.registry.counts_by_source(audience)
    configured: Mapping[str, SourceSettings] = {source.name: source for source in settings.sources}
    found, now = [], datetime.now(UTC)
    for name in [*configured, *(name for name in counts if name not in configured)]:
        source, count, state = configured.get(name), counts.get(name), states.get(name)
        found.append(
            SourceState(
                name=name,
                type=source.type if source else "",
                knowledge_base=source.knowledge_base if source else "",
                documents=count.documents if count else 0,
                chunks=count.chunks if count else 0,
                last_success=state.last_success_at if state else None,
                next_run=due(source.schedule, state.last_run_at if state else None, now)
                if source and source.schedule
                else None,
                last_error=(state.last_error if state else "") if source else "it has no settings any more",
            )
        )
    return found
