"""Between connector and ingest: documents flow on, and marks between them say what is to become true with them."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from connectors.base import Change, Checkpoint, Connector, Estimate, Failure, Tombstone
from ragcore.ingest import Mark
from ragcore.stores import failures
from ragcore.stores.together import Cursor
from ragcore.types import SourceDocument

_GONE_TOGETHER = 200
"""Most documents that one mark deletes: the sums of their vectors are taken out in the same transaction."""

Stream = AsyncGenerator[SourceDocument | Mark, None]


@dataclass(slots=True)
class Feed:
    """What the connector of one run has told so far.

    ``is_listed`` says that the source can list: then the listing, with its guard, decides about deletions, and that a
    document fetched by id wasn't found is no news.
    """

    source: str
    connector: Connector
    is_listed: bool
    touched: set[str] = field(default_factory=set)
    """The documents that were yielded, as documents, as gone or as failed."""
    failed: dict[str, Failure] = field(default_factory=dict)
    total: int | None = None
    documents: int = 0
    stored: int = 0
    _gone: dict[str, None] = field(default_factory=dict)
    """Tombstones since the last Checkpoint that no later word of the same id has taken back."""

    async def changed(self, cursor: str | None, known: Mapping[str, str]) -> Stream:
        """Yield the documents that are new or changed, and the marks between them."""
        async with aclosing(self._flow(self.connector.changes(cursor, known))) as flow:
            async for one in flow:
                yield one
        for mark in self._marks(None):
            yield mark

    async def fetched(self, ids: Sequence[str]) -> Stream:
        """Yield these documents, and marks for those that can't be read."""
        async with aclosing(self._flow(self.connector.fetch(ids))) as flow:
            async for one in flow:
                yield one
        if self.is_listed:
            self._gone.clear()
        for mark in self._marks(None):
            yield mark

    async def _flow(self, changes: AsyncIterator[Change]) -> Stream:
        async with aclosing(cast("AsyncGenerator[Change, None]", changes)) as stream:
            async for change in stream:
                match change:
                    case SourceDocument():
                        self.touched.add(change.id)
                        self._gone.pop(change.id, None)
                        self.documents += 1
                        yield change
                    case Failure():
                        self.touched.add(change.id)
                        self._gone.pop(change.id, None)
                        self.failed[change.id] = change
                        yield Mark(failed=(_kept(self.source, change),))
                    case Tombstone():
                        self.touched.add(change.id)
                        self._gone[change.id] = None
                    case Estimate():
                        self.total = change.documents
                    case Checkpoint():
                        for mark in self._marks(Cursor(source=self.source, value=change.cursor)):
                            yield mark

    def _marks(self, cursor: Cursor | None) -> list[Mark]:
        """Return what the documents that are gone come to, and last the cursor, which passes them all."""
        gone = list(self._gone)
        self._gone.clear()
        pages = [tuple(gone[start : start + _GONE_TOGETHER]) for start in range(0, len(gone), _GONE_TOGETHER)]
        *before, last = pages or [()]
        marks = [Mark(gone=page) for page in before]
        return [*marks, Mark(gone=last, cursor=cursor)] if last or cursor else marks


def _kept(source: str, failure: Failure) -> failures.Failure:
    return failures.Failure(
        document_id=failure.id,
        source=source,
        version=failure.version,
        reason=failure.reason,
        mend=failure.mend,
        readers=failure.readers,
    )
