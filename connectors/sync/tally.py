"""What a run has come to so far, and its report."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragcore.ingest import Asked, Change, Failed, Marked, Outcome
from ragcore.reports import FailedDocument, Fault, SyncReport
from ragcore.types import Usage

_MOST_REMARKS = 20
"""Remarks about documents that a report tells one by one."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """The documents of one run of a source, each by what became of it, in their order."""

    source: str
    before: frozenset[str] = frozenset()
    """The documents that were live when it began."""
    added: dict[str, None] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    deleted: dict[str, None] = field(default_factory=dict)
    unreadable: dict[str, FailedDocument] = field(default_factory=dict)
    emptied: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    cached: int = 0
    _remarks: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    def note(self, event: Outcome) -> None:
        """Count what became of a document."""
        identity = event.document_id
        if isinstance(event, Failed):
            self.unreadable[identity] = FailedDocument(
                id=identity, reason=event.reason, mend=event.mend, is_empty=event.is_empty
            )
            if event.was_deleted:
                self.deleted[identity] = None
            elif event.is_empty:
                self.emptied.add(identity)
            return
        self.emptied.discard(identity)
        self.unreadable.pop(identity, None)
        self._remarks += [f"{identity}: {warning}" for warning in event.warnings]
        if event.change is Change.ADDED:
            self.added[identity] = None
        elif event.change is Change.CHANGED and identity not in self.added:
            self.changed[identity] = None

    def note_asked(self, event: Asked) -> None:
        """Count what a model was asked about pictures."""
        self.usage += event.usage
        self.cached += event.cached

    def note_mark(self, event: Marked) -> None:
        """Count what a mark made true."""
        for failure in event.mark.failed:
            identity = failure.document_id
            self.unreadable[identity] = FailedDocument(id=identity, reason=failure.reason, mend=failure.mend)
        self.deleted |= dict.fromkeys(event.deleted)

    def report(
        self,
        failed: Mapping[str, FailedDocument],
        *,
        error: str = "",
        fault: Fault = Fault.NONE,
        retry_after: float = 0.0,
        dry_run: bool = False,
    ) -> SyncReport:
        """Return the report; ``failed`` are all documents of the source that fail at present."""
        touched = self.added.keys() | self.changed.keys() | self.deleted.keys() | failed.keys()
        return SyncReport(
            source=self.source,
            added=len(self.added),
            changed=len(self.changed),
            deleted=len(self.deleted),
            unchanged=len(self.before - touched),
            failed=tuple(failed[identity] for identity in sorted(failed)),
            seconds=time.monotonic() - self._began,
            warnings=(*self.warnings, *_shortened(self._remarks)),
            error=error,
            fault=fault,
            retry_after=retry_after,
            usage=self.usage,
            cached=self.cached,
            dry_run=dry_run,
            added_ids=tuple(self.added) if dry_run else (),
            changed_ids=tuple(self.changed) if dry_run else (),
            deleted_ids=tuple(self.deleted) if dry_run else (),
        )


def _shortened(remarks: Sequence[str]) -> Sequence[str]:
    more = len(remarks) - _MOST_REMARKS
    return (*remarks[:_MOST_REMARKS], f"{more} more remarks like these") if more > 1 else remarks
