"""One run of one source: what changed goes into the index, what is gone leaves it, what failed is remembered.

A run may be cut off anywhere. What was stored stays, and the next run goes on from the last Checkpoint that was
reached: the cursor moves in the same commit that makes the last of what precedes it live, deleted or kept as failed. A
document that failed is told by its id until it succeeds or is gone at the source.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from connectors import base
from connectors.base import Connector
from connectors.sync.dry_run import foresee
from connectors.sync.faults import kind_of
from connectors.sync.feed import Feed, Stream
from connectors.sync.guard import AT_LEAST, WAIT, Verdict, is_doubtful, judge
from connectors.sync.patience import Patient, Sleep
from connectors.sync.tally import Tally
from ragcore.errors import CitebotError, SourceRateLimited
from ragcore.ingest import (
    Asked,
    IngestEvent,
    IngestOptions,
    Mark,
    Marked,
    Stage,
    Underway,
    ingest,
    pipeline_of,
    remove,
)
from ragcore.ingest.foreseeing import ForeseenReading, Told
from ragcore.library import Library
from ragcore.reports import FailedDocument, Fault, SyncProgress, SyncReport
from ragcore.stores.failures import Failure
from ragcore.stores.rows import digest
from ragcore.stores.sources import SourceState, SourceStates
from ragcore.tokens import offline_tokenizer

Confirm = Callable[[int], Awaitable[bool]]

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
    """Which source is synced, and into what.

    ``connector`` is a fresh one: it serves this run alone. ``credential`` is the fingerprint of what it identifies
    itself by (``registry.credential``). ``foreseen`` is told of what a dry run cuts; None, and it cuts nothing.
    """

    source: str
    type: str
    knowledge_base: str
    connector: Connector
    options: IngestOptions = field(default_factory=IngestOptions)
    credential: str = ""
    foreseen: Told | None = None


async def sync(
    library: Library,
    job: SyncJob,
    *,
    full: bool = False,
    dry_run: bool = False,
    retry: bool = True,
    confirm: Confirm | None = None,
    sleep: Sleep = asyncio.sleep,
) -> AsyncGenerator[SyncProgress | SyncReport, None]:
    """Run a source, telling its progress, and last its report; whatever goes wrong stands in the report.

    Args:
        library: The stores.
        job: The source.
        full: Read everything again, and believe the listing when it comes to deletions.
        dry_run: Change nothing; the report says what would be done.
        retry: Try failed documents again now, even where their next attempt is due later.
        confirm: Asked with a count before a full run deletes more than the guard would let pass; None means yes.
        sleep: Waits so many seconds, where the source asks for it or a fault may pass.
    """
    run = _Run(library=library, job=job, full=full, dry_run=dry_run, retry=retry, confirm=confirm, sleep=sleep)
    try:
        async with aclosing(run.steps()) as steps:
            async for progress in steps:
                yield progress
    except CitebotError as error:
        run.error, run.fault = str(error), kind_of(error)
        run.retry_after = error.retry_after if isinstance(error, SourceRateLimited) else 0.0
        log.info("source %s: %s", job.source, error)  # the report tells it
    except Exception as error:
        run.fault = Fault.OTHER
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
    sleep: Sleep
    error: str = ""
    fault: Fault = Fault.NONE
    retry_after: float = 0.0
    _now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _feed: Feed = field(init=False)
    _states: SourceStates = field(init=False)
    _state: SourceState = field(init=False)
    _is_told: bool = False
    """Whether it is known how the source stood: what isn't must not be written over, its cursor above all."""
    _tally: Tally = field(init=False)
    _shown: set[str] | None = None
    """The documents that the listing shows, None: the source lists none."""
    _stored_failures: dict[str, Failure] = field(default_factory=dict)
    _reached: float = 0.0

    def __post_init__(self) -> None:
        self._states = SourceStates(self.library.database)
        self._state = SourceState(name=self.job.source)
        self._tally = Tally(source=self.job.source)

    async def steps(self) -> AsyncGenerator[SyncProgress, None]:
        """Do the run; what it came to is read from the fields."""
        source, registry = self.job.source, self.library.registry
        readers = self.job.options.readers
        basis = digest(self.job.type, self.job.knowledge_base, _pipeline(self.job.options), repr(readers))
        self._state = await self._states.get(source)
        self._is_told = True
        connector = Patient(self.job.connector, sleep=self.sleep)
        listing = connector.list_ids()
        self._feed = Feed(source, connector, is_listed=listing is not None)
        self._tally.before = frozenset(await registry.document_ids(source))
        self._stored_failures = await self.library.failures.of_source(source)
        is_afresh = self.full or self._state.basis != basis
        doubted = self._state.doubted
        due = [f for f in self._stored_failures.values() if is_afresh or self._is_due(f) or f.document_id in doubted]
        known: dict[str, str] = {}
        if not self.full:
            known = await registry.known_versions(
                source, knowledge_base=self.job.knowledge_base, pipeline_of=self._pipeline_of, readers=readers
            )
            # A document that failed is left alone while it stays as it was, until its next attempt is due. Then it
            # is known as what is indexed of it, as before: if the source tells of no other, it is fetched by its id.
            waiting = self._stored_failures.keys() - {failure.document_id for failure in due}
            known |= {identity: version for identity in waiting if (version := self._stored_failures[identity].version)}
        cursor = None if is_afresh else self._state.cursor
        await self._save(last_run_at=self._now, cursor=cursor, basis=basis)
        yield self._progress()
        async with aclosing(self._streams(cursor, known, due, listing)) as streams:
            async for documents in streams:
                async with aclosing(self._stored(documents)) as progress:
                    async for told in progress:
                        yield told
        await self._prune()

    async def _streams(
        self,
        cursor: str | None,
        known: Mapping[str, str],
        due: Sequence[Failure],
        listing: AsyncIterator[str | base.Failure] | None,
    ) -> AsyncGenerator[Stream, None]:
        """Yield what is to be stored: what changed, what failed and is due again, what the listing shows besides."""
        yield self._feed.changed(cursor, known)
        left = [failure.document_id for failure in due if failure.document_id not in self._feed.touched]
        if left:
            yield self._feed.fetched(left)
        if listing is not None:
            self._shown = await self._listed(listing)
            if lacking := await self._lacking(self._shown):
                yield self._feed.fetched(lacking)

    async def finish(self) -> SyncReport:
        """Keep how the run ended, and return the report."""
        failures = {} if self.dry_run else await self.library.failures.of_source(self.job.source)
        failed = {
            failure.document_id: FailedDocument(id=failure.document_id, reason=failure.reason, mend=failure.mend)
            for failure in failures.values()
        }
        failed |= self._tally.unreadable
        ended = self.error or (f"{len(failed)} document{'s' * (len(failed) > 1)} could not be read" if failed else "")
        await self._save(last_run_at=self._now, last_error=ended, **self._standing())
        return self._tally.report(
            failed, error=self.error, fault=self.fault, retry_after=self.retry_after, dry_run=self.dry_run
        )

    def _standing(self) -> dict[str, object]:
        """Return what the run's end changes in how the source stands."""
        now = datetime.now(UTC)
        if not self.error:
            return {"last_success_at": now, "faults": 0, "fault": Fault.NONE, "not_before": None, "refused": ""}
        return {
            "faults": self._state.faults + 1,
            "fault": self.fault,
            "not_before": now + timedelta(seconds=self.retry_after) if self.retry_after else None,
            "refused": self._refused(),
        }

    def _refused(self) -> str:
        """Return the fingerprint of the credential that is known to be refused after a run that broke off.

        One that broke off before it was asked for its credential says nothing of that; and that another one was refused
        says nothing of this one.
        """
        credential = self.job.credential
        return credential if self.fault is Fault.AUTH or self._state.refused == credential else ""

    async def _stored(self, documents: Stream) -> AsyncGenerator[SyncProgress, None]:
        """Store what the connector yields; what is told has been committed."""
        if self.dry_run:
            events = self._foreseen(documents)
        else:
            events = ingest(self.library, self.job.knowledge_base, documents, self.job.options)
        async with aclosing(documents), aclosing(events):
            async for event in events:
                match event:
                    case Underway():
                        yield self._underway(event)
                    case Asked():
                        self._tally.note_asked(event)
                    case Marked():
                        self._tally.note_mark(event)
                        if event.mark.cursor is not None:
                            self._state = replace(self._state, cursor=event.mark.cursor.value)
                    case _:
                        self._feed.stored += 1
                        self._tally.note(event)
                        yield self._progress(event.document_id)

    async def _foreseen(self, documents: Stream) -> AsyncGenerator[IngestEvent, None]:
        """Tell what storing each document would come to."""
        job = self.job
        reading = ForeseenReading(self.library, job.knowledge_base, job.options, job.foreseen)
        async with aclosing(documents), aclosing(reading):
            async for document in documents:
                if isinstance(document, Mark):
                    yield Marked(mark=document, deleted=tuple(await self._live(document.gone)))
                    continue
                old = await self.library.registry.document(document.id)
                failure = self._stored_failures.get(document.id)
                outcome = await foresee(
                    document,
                    old,
                    failure,
                    knowledge_base=self.job.knowledge_base,
                    pipeline=self._pipeline_of(document.id, document.name),
                    readers=self.job.options.readers,
                    options=self.job.options.parse,
                )
                await reading.add(document, outcome)
                yield outcome
            yield Asked(usage=reading.usage)

    async def _lacking(self, listed: set[str]) -> list[str]:
        """Return what is listed and neither indexed nor known to fail: what no cursor leads to is fetched by its id."""
        missing = listed - self._feed.touched - self._feed.failed.keys() - self._stored_failures.keys()
        live = frozenset(await self.library.registry.document_ids(self.job.source)) if missing else frozenset()
        return sorted(missing - live)

    async def _prune(self) -> None:
        """Delete what the listing no longer shows, and what was emptied, if the guard lets it pass."""
        live = frozenset(await self.library.registry.document_ids(self.job.source))
        listed = live if self._shown is None else self._shown
        covers = tuple(failure.covers for failure in self._feed.failed.values() if failure.covers)
        missing = {
            identity
            for identity in live - listed
            if identity not in self._feed.failed and not (covers and identity.startswith(covers))
        }
        missing |= self._tally.emptied & live
        verdict = await self._judged(missing - self._tally.deleted.keys(), self._base_of(missing, len(live)))
        await self._delete(sorted(verdict.delete))
        for identity in verdict.delete & self._tally.emptied:
            failed = self._tally.unreadable[identity]
            self._tally.unreadable[identity] = replace(failed, reason=f"{failed.reason}: its last version was deleted")
        await self._save(doubted=verdict.doubted, doubted_since=verdict.since)
        if self._shown is not None:
            await self._forget_failures_but(self._shown, covers)

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
        known = len(self._tally.before)
        return known if is_doubtful(len(missing & self._tally.before), known) and known >= AT_LEAST else live

    async def _judged(self, missing: set[str], live: int) -> Verdict:
        state = self._state
        verdict = judge(missing, live, doubted=state.doubted, since=state.doubted_since, now=self._now)
        told = f"{len(missing)} of {live} documents were missing or empty"
        if verdict.doubted and self.full:
            agreed = self.dry_run or self.confirm is None or await self.confirm(len(missing))
            if agreed:
                self._tally.warnings.append(
                    f"{told} and {'would be' if self.dry_run else 'have been'} deleted, by --full"
                )
                return Verdict(delete=frozenset(missing))
        if verdict.doubted:
            self._tally.warnings.append(_held_back(self.job.source, len(verdict.doubted), live))
        elif is_doubtful(len(missing), live):
            self._tally.warnings.append(f"{told} again and have been deleted")
        return verdict

    async def _delete(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        self._tally.deleted |= dict.fromkeys(await self._live(ids))
        if not self.dry_run:
            await remove(self.library, ids)

    async def _live(self, ids: Sequence[str]) -> list[str]:
        """Return those of the documents that are live."""
        known = await self.library.registry.documents(ids)
        return [identity for identity in ids if identity in known and not known[identity].deleted]

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

    def _pipeline_of(self, document_id: str, name: str) -> str:
        """Return how a document would be cut now."""
        return _pipeline(self.job.options.for_document(document_id, name))

    def _is_due(self, failure: Failure) -> bool:
        was_ahead = failure.failed_at is not None and failure.failed_at > self._now  # the clock
        return self.retry or was_ahead or failure.next_try_at is None or failure.next_try_at <= self._now

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
            failed=len(self._tally.unreadable),
            total=None if self._feed.total is None else max(self._feed.total, self._feed.documents),
            document_id=identity,
            reached=self._reached,
        )

    async def _save(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]
        if self._is_told and not self.dry_run:
            await self._states.put(self._state)


def _pipeline(options: IngestOptions) -> str:
    return pipeline_of(options, tokenizer=offline_tokenizer().name)


def _held_back(source: str, doubted: int, live: int) -> str:
    minutes = int(WAIT.total_seconds() // 60)
    return (
        f"{doubted} of {live} documents are missing from the listing or empty; nothing was deleted, because that may "
        f"be a fault of the source. A run at least {minutes} minutes from now that finds them so again deletes them, "
        f"`citebot sync {source} --full` deletes them at once."
    )
