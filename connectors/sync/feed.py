"""Between connector and ingest: documents flow on, failures are kept, checkpoints wait for what precedes them."""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from connectors.base import Change, Checkpoint, Connector, Estimate, Failure, Tombstone
from ragcore.types import SourceDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """What holds once ``documents`` have been stored: ``gone`` are to be deleted, ``reached`` is reached."""

    documents: int
    gone: tuple[str, ...] = ()
    reached: Checkpoint | None = None


@dataclass(slots=True)
class Feed:
    """What the connector of one run has told so far. ``fail`` keeps a failure.

    ``is_listed`` says that the source can list: then the listing, with its guard, decides about deletions, and that a
    document fetched by id wasn't found is no news.
    """

    connector: Connector
    fail: Callable[[Failure], Awaitable[None]]
    is_listed: bool
    touched: set[str] = field(default_factory=set)
    """The documents that were yielded, as documents, as gone or as failed."""
    failed: dict[str, Failure] = field(default_factory=dict)
    total: int | None = None
    documents: int = 0
    stored: int = 0
    _gone: dict[str, None] = field(default_factory=dict)
    _still_gone: set[str] = field(default_factory=set)
    """Tombstones that no later document of the same id has taken back."""
    _milestones: deque[Milestone] = field(default_factory=deque)

    async def changed(self, cursor: str | None, known: Mapping[str, str]) -> AsyncGenerator[SourceDocument, None]:
        """Yield the documents that are new or changed."""
        async with aclosing(self._documents(self.connector.changes(cursor, known))) as documents:
            async for document in documents:
                yield document
        self._mark(None)

    async def fetched(self, ids: Sequence[str]) -> AsyncGenerator[SourceDocument, None]:
        """Yield these documents, but for those that can't be read."""
        async with aclosing(self._documents(self.connector.fetch(ids))) as documents:
            async for document in documents:
                yield document
        if self.is_listed:
            self._gone.clear()
        self._mark(None)

    def milestones(self) -> list[Milestone]:
        """Return the milestones up to which everything is stored, oldest first, each once."""
        found = []
        while self._milestones and self._milestones[0].documents <= self.stored:
            milestone = self._milestones.popleft()
            found.append(replace(milestone, gone=tuple(gone for gone in milestone.gone if gone in self._still_gone)))
        return found

    async def _documents(self, changes: AsyncIterator[Change]) -> AsyncGenerator[SourceDocument, None]:
        async with aclosing(cast("AsyncGenerator[Change, None]", changes)) as stream:
            async for change in stream:
                match change:
                    case SourceDocument():
                        self.touched.add(change.id)
                        self._still_gone.discard(change.id)
                        self.documents += 1
                        yield change
                    case Failure():
                        self.touched.add(change.id)
                        self.failed[change.id] = change
                        await self.fail(change)
                    case Tombstone():
                        self.touched.add(change.id)
                        self._gone[change.id] = None
                        self._still_gone.add(change.id)
                    case Estimate():
                        self.total = change.documents
                    case Checkpoint():
                        self._mark(change)

    def _mark(self, reached: Checkpoint | None) -> None:
        if reached or self._gone:
            self._milestones.append(Milestone(documents=self.documents, gone=tuple(self._gone), reached=reached))
            self._gone.clear()
