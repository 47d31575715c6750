"""One run of one source: what changed goes into the index, what is gone leaves it, what failed is remembered.

A run may be cut off anywhere. What was stored stays, the cursor stands where everything before it is stored, and the
next run goes on from there. A document that failed is told by its id until it succeeds or is gone at the source.
"""

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from connectors import base
from connectors.base import Connector
from connectors.sync.dry_run import foresee
from connectors.sync.feed import Feed
from connectors.sync.guard import AT_LEAST, WAIT, Verdict, is_doubtful, judge
from ragcore.errors import CitebotError
from ragcore.ingest import (
    Change,
    Failed,
    IngestEvent,
    IngestOptions,
    Outcome,
    Stage,
    Underway,
    ingest,
    pipeline_of,
    remove,
)
from ragcore.library import Library
from ragcore.reports import FailedDocument, SyncProgress, SyncReport
from ragcore.stores.failures import Failure
from ragcore.stores.rows import digest
from ragcore.stores.sources import SourceState, SourceStates
from ragcore.tokens import offline_tokenizer
from ragcore.types import SourceDocument

Confirm = Callable[[int], Awaitable[bool]]

_MOST_REMARKS = 20
"""Remarks about documents that a report tells one by one."""
_PARTS = {
    Stage.READING: (0.0, 0.1),
    Stage.CUTTING: (0.1, 0.02),
    Stage.EMBEDDING: (0.12, 0.84),
    Stage.WRITING: (0.96, 0.04),
}
"""Where each stage begins and how much of a document's time it takes, for the bar: of a page of a PDF 30 ms, 5 ms, 250
ms and 12 ms."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncJob:
    """Which source is synced, and into what. ``connector`` is a fresh one: it serves this run alone."""

    source: str
    type: str
    knowledge_base: str
    connector: Connector
    options: IngestOptions = field(default_factory=IngestOptions)


async def sync(
    library: Library,
    job: SyncJob,
    *,
    full: bool = False,
    dry_run: bool = False,
    retry: bool = True,
    confirm: Confirm | None = None,
) -> AsyncGenerator[SyncProgress | SyncReport, None]:
    """Run a source, telling its progress, and last its report; whatever goes wrong stands in the report.

    Args:
        library: The stores.
        job: The source.
        full: Read everything again, and believe the listing when it comes to deletions.
        dry_run: Change nothing; the report says what would be done.
        retry: Try failed documents again now, even where their next attempt is due later.
        confirm: Asked with a count before a full run deletes more than the guard would let pass; None means yes.
    """
    run = _Run(library=library, job=job, full=full, dry_run=dry_run, retry=retry, confirm=confirm)
    try:
        async for progress in run.steps():
            yield progress
    except CitebotError as error:
        run.error = str(error)
        log.info("source %s: %s", job.source, error)  # the report tells it
    except Exception as error:
        run.error = f"unexpected {type(error).__name__}; see the log, and please report it"
        log.exception("source %s failed", job.source)
    yield await run.finish()


@dataclass(slots=True, kw_only=True)
class _Run:
    library: Library
    job: SyncJob
    full: bool
    dry_run: bool
    retry: bool
    confirm: Confirm | None
    error: str = ""
    _began: float = field(default_factory=time.monotonic)
    _now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _feed: Feed = field(init=False)
    _listing: AsyncIterator[str | base.Failure] | None = field(init=False)
    _states: SourceStates = field(init=False)
    _state: SourceState = field(init=False)
    _before: frozenset[str] = frozenset()
    _stored_failures: dict[str, Failure] = field(default_factory=dict)
    _added: dict[str, None] = field(default_factory=dict)
    _changed: dict[str, None] = field(default_factory=dict)
    _deleted: dict[str, None] = field(default_factory=dict)
    _unreadable: dict[str, FailedDocument] = field(default_factory=dict)
    _warnings: list[str] = field(default_factory=list)
    _remarks: list[str] = field(default_factory=list)
    _emptied: set[str] = field(default_factory=set)
    _reached: float = 0.0

    def __post_init__(self) -> None:
        self._listing = self.job.connector.list_ids()
        self._feed = Feed(self.job.connector, self._record, is_listed=self._listing is not None)
        self._states = SourceStates(self.library.database)
        self._state = SourceState(name=self.job.source)

    async def steps(self) -> AsyncIterator[SyncProgress]:
        """Do the run; what it came to is read from the fields."""
        source, registry = self.job.source, self.library.registry
        pipeline = pipeline_of(self.job.options, tokenizer=offline_tokenizer().name)
        basis = digest(self.job.type, self.job.knowledge_base, pipeline)
        self._state = await self._states.get(source)
        self._before = frozenset(await registry.document_ids(source))
        self._stored_failures = await self.library.failures.of_source(source)
        is_afresh = self.full or self._state.basis != basis
        doubted = self._state.doubted
        due = [f for f in self._stored_failures.values() if is_afresh or self._is_due(f) or f.document_id in doubted]
        known: dict[str, str] = {}
        if not self.full:
            known = await registry.known_versions(source, knowledge_base=self.job.knowledge_base, pipeline=pipeline)
            # A document that failed is left alone while it stays as it was, until its next attempt is due.
            known |= {f.document_id: f.version for f in self._stored_failures.values() if f.version}
            for failure in due:
                known.pop(failure.document_id, None)
        cursor = None if is_afresh else self._state.cursor
        await self._save(last_run_at=self._now, cursor=cursor, basis=basis)
        yield self._progress()
        async for progress in self._stored(self._feed.changed(cursor, known), pipeline):
            yield progress
        left = [failure.document_id for failure in due if failure.document_id not in self._feed.touched]
        if left:
            async for progress in self._stored(self._feed.fetched(left), pipeline):
                yield progress
        await self._prune()

    async def finish(self) -> SyncReport:
        """Keep how the run ended, and return the report."""
        failures = {} if self.dry_run else await self.library.failures.of_source(self.job.source)
        failed = {
            failure.document_id: FailedDocument(id=failure.document_id, reason=failure.reason, mend=failure.mend)
            for failure in failures.values()
        }
        failed |= self._unreadable
        ended = self.error or (f"{len(failed)} document{'s' * (len(failed) > 1)} could not be read" if failed else "")
        await self._save(
            last_run_at=self._now,
            last_error=ended,
            last_success_at=self._state.last_success_at if self.error else datetime.now(UTC),
        )
        touched = self._added.keys() | self._changed.keys() | self._deleted.keys() | failed.keys()
        return SyncReport(
            source=self.job.source,
            added=len(self._added),
            changed=len(self._changed),
            deleted=len(self._deleted),
            unchanged=len(self._before - touched),
            failed=tuple(failed[identity] for identity in sorted(failed)),
            seconds=time.monotonic() - self._began,
            warnings=(*self._warnings, *_shortened(self._remarks)),
            error=self.error,
            dry_run=self.dry_run,
            added_ids=tuple(self._added) if self.dry_run else (),
            changed_ids=tuple(self._changed) if self.dry_run else (),
            deleted_ids=tuple(self._deleted) if self.dry_run else (),
        )

    async def _stored(
        self, documents: AsyncGenerator[SourceDocument, None], pipeline: str
    ) -> AsyncIterator[SyncProgress]:
        """Store what the connector yields, and take each milestone when everything before it is stored."""
        if self.dry_run:
            events = self._foreseen(documents, pipeline)
        else:
            events = ingest(self.library, self.job.knowledge_base, documents, self.job.options)
        async with aclosing(documents), aclosing(events):
            async for event in events:
                if isinstance(event, Underway):
                    yield self._underway(event)
                    continue
                self._feed.stored += 1
                await self._note(event)
                await self._take_milestones()
                yield self._progress(event.document_id)
        await self._take_milestones()

    async def _foreseen(
        self, documents: AsyncGenerator[SourceDocument, None], pipeline: str
    ) -> AsyncGenerator[IngestEvent, None]:
        """Tell what storing each document would come to."""
        async with aclosing(documents):
            async for document in documents:
                old = await self.library.registry.document(document.id)
                failure = self._stored_failures.get(document.id)
                yield await foresee(
                    document,
                    old,
                    failure,
                    knowledge_base=self.job.knowledge_base,
                    pipeline=pipeline,
                    options=self.job.options.parse,
                )

    async def _note(self, event: Outcome) -> None:
        identity = event.document_id
        if isinstance(event, Failed):
            self._unreadable[identity] = FailedDocument(
                id=identity, reason=event.reason, mend=event.mend, is_empty=event.is_empty
            )
            if event.is_empty:
                self._emptied.add(identity)
            return
        self._emptied.discard(identity)
        self._unreadable.pop(identity, None)
        self._remarks += [f"{identity}: {warning}" for warning in event.warnings]
        if event.change is Change.ADDED:
            self._added[identity] = None
        elif event.change is Change.CHANGED and identity not in self._added:
            self._changed[identity] = None
        if identity in self._stored_failures and not self.dry_run:
            await self.library.failures.forget([identity])

    async def _record(self, failure: base.Failure) -> None:
        """Keep a failure that the connector told."""
        self._unreadable[failure.id] = FailedDocument(id=failure.id, reason=failure.reason, mend=failure.mend)
        if not self.dry_run:
            await self.library.failures.record(
                Failure(
                    document_id=failure.id,
                    source=self.job.source,
                    version=failure.version,
                    reason=failure.reason,
                    mend=failure.mend,
                )
            )

    async def _take_milestones(self) -> None:
        for milestone in self._feed.milestones():
            await self._delete(milestone.gone)
            if milestone.reached and milestone.reached.cursor != self._state.cursor:
                await self._save(cursor=milestone.reached.cursor)

    async def _prune(self) -> None:
        """Delete what a listing no longer shows, and what was emptied, if the guard lets it pass."""
        live = frozenset(await self.library.registry.document_ids(self.job.source))
        listed = set(live) if self._listing is None else await self._listed(self._listing)
        covers = tuple(failure.covers for failure in self._feed.failed.values() if failure.covers)
        missing = {
            identity
            for identity in live - listed
            if identity not in self._feed.failed and not (covers and identity.startswith(covers))
        }
        missing |= self._emptied & live
        verdict = await self._judged(missing - self._deleted.keys(), self._base_of(missing, len(live)))
        await self._delete(sorted(verdict.delete))
        for identity in verdict.delete & self._emptied:
            failed = self._unreadable[identity]
            self._unreadable[identity] = replace(failed, reason=f"{failed.reason}: its last version was deleted")
        await self._save(doubted=verdict.doubted, doubted_since=verdict.since)
        if self._listing is not None:
            await self._forget_failures_but(listed, covers)

    async def _listed(self, listing: AsyncIterator[str | base.Failure]) -> set[str]:
        listed: set[str] = set()
        async for item in listing:
            if isinstance(item, base.Failure):
                self._feed.failed[item.id] = item
            else:
                listed.add(item)
        return listed

    def _base_of(self, missing: set[str], live: int) -> int:
        """Return how many documents the missing ones are a share of.

        What this run added may hide a loss: another folder mounted in the right one's place lists much, and nothing
        of what was there.
        """
        known = len(self._before)
        return known if is_doubtful(len(missing & self._before), known) and known >= AT_LEAST else live

    async def _judged(self, missing: set[str], live: int) -> Verdict:
        state = self._state
        verdict = judge(missing, live, doubted=state.doubted, since=state.doubted_since, now=self._now)
        told = f"{len(missing)} of {live} documents were missing or empty"
        if verdict.doubted and self.full:
            agreed = self.dry_run or self.confirm is None or await self.confirm(len(missing))
            if agreed:
                self._warnings.append(f"{told} and {'would be' if self.dry_run else 'have been'} deleted, by --full")
                return Verdict(delete=frozenset(missing))
        if verdict.doubted:
            self._warnings.append(_held_back(self.job.source, len(verdict.doubted), live))
        elif is_doubtful(len(missing), live):
            self._warnings.append(f"{told} again and have been deleted")
        return verdict

    async def _delete(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        live = await self.library.registry.documents(ids)
        self._deleted |= dict.fromkeys(identity for identity in ids if identity in live and not live[identity].deleted)
        if not self.dry_run:
            await remove(self.library, ids)

    async def _forget_failures_but(self, listed: set[str], covers: tuple[str, ...]) -> None:
        """Forget the failures of what is no longer at the source."""
        gone = [
            identity
            for identity in self._stored_failures
            if identity not in listed
            and identity not in self._feed.failed
            and not (covers and identity.startswith(covers))
        ]
        if gone and not self.dry_run:
            await self.library.failures.forget(gone)

    def _is_due(self, failure: Failure) -> bool:
        return self.retry or failure.next_try_at is None or failure.next_try_at <= self._now

    def _underway(self, event: Underway) -> SyncProgress:
        """Tell how far a document is, or several that are written together."""
        share = event.done / event.total if event.total else 0.0
        begins, takes = _PARTS[event.stage]
        self._reached = max(self._reached, self._feed.stored + (begins + takes * share) * event.documents)
        return replace(self._progress(event.document_id), stage=event.stage.value, share=share)

    def _progress(self, identity: str = "") -> SyncProgress:
        self._reached = max(self._reached, self._feed.stored)
        return SyncProgress(
            source=self.job.source,
            done=self._feed.stored,
            failed=len(self._unreadable),
            total=None if self._feed.total is None else max(self._feed.total, self._feed.documents),
            document_id=identity,
            reached=self._reached,
        )

    async def _save(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]
        if not self.dry_run:
            await self._states.put(self._state)


def _shortened(remarks: Sequence[str]) -> Sequence[str]:
    more = len(remarks) - _MOST_REMARKS
    return (*remarks[:_MOST_REMARKS], f"{more} more remarks like these") if more > 1 else remarks


def _held_back(source: str, doubted: int, live: int) -> str:
    minutes = int(WAIT.total_seconds() // 60)
    return (
        f"{doubted} of {live} documents are missing from the listing or empty; nothing was deleted, because that may "
        f"be a fault of the source. A run at least {minutes} minutes from now that finds them so again deletes them, "
        f"`citebot sync {source} --full` deletes them at once."
    )
