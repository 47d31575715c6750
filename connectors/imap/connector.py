"""The connector of the source type ``imap``: a document is a thread of mails, or what is attached to a mail.

A run first brings its index of the mailbox up to date, folder by folder, then reads the threads and attachments whose
versions aren't known. The index is the cursor. What it tells of may still be to be read: versions tell what was.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.imap.index import KEEP, Attached, Contents, Index, Thread
from connectors.imap.letters import Letters
from connectors.imap.link import Link, linked
from connectors.imap.options import ImapOptions
from connectors.imap.scan import LOOKS, scanned

BATCH = 25
"""Threads whose headers are read together, at most."""
_BATCH_BYTES = 2_000_000
_TEXT_BYTES = 100_000
"""What a mail counts for at most: of a larger one most is attached. What its text has is told with the headers."""


@dataclass(slots=True)
class ImapConnector:
    """Reads one mailbox."""

    origin: Origin
    options: ImapOptions
    _index: Index | None = field(init=False, default=None)
    """The mailbox as this run has found it, as far as it has come."""
    _contents: Contents | None = field(init=False, default=None)
    """The documents, once all folders have been looked through."""
    _closed: list[Failure] = field(init=False, default_factory=list)
    _due: int = field(init=False, default=0)
    """How many documents are to be read."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield the threads and attachments whose versions aren't the known ones."""
        if self._index is None:
            self._index = await asyncio.to_thread(Index.from_cursor, cursor, self.options.basis())
        index, held = self._index, dict(known)
        async with linked(self.options) as link:
            async with aclosing(self._look(link, index)) as signs:
                async for sign in signs:
                    yield sign
                    if index.is_worth_keeping:  # what it tells of and isn't read yet has no version that is known
                        cursor = await asyncio.to_thread(index.to_cursor)
                        yield Checkpoint(cursor=cursor)
            if index.fresh >= KEEP:
                cursor = await asyncio.to_thread(index.to_cursor)
                yield Checkpoint(cursor=cursor)
            async with aclosing(self._read_all(link, index, lambda: self._unknown(held))) as batches:
                async for batch in batches:
                    for change in batch:
                        if not isinstance(change, Tombstone):
                            held[change.id] = change.version
                        yield change
                    yield Checkpoint(cursor=cursor) if batch else Estimate(documents=self._due)
            for closed in self._closed:
                yield closed
        if index.is_changed:
            cursor = await asyncio.to_thread(index.to_cursor)
        yield Checkpoint(cursor=cursor)

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every document: as the run found them, else by looking through the mailbox."""
        if self._contents is None:
            self._index = Index(self.options.basis())
            async with linked(self.options) as link, aclosing(self._look(link, self._index)) as signs:
                async for _ in signs:
                    pass
        contents = await self._current()
        for native in (*contents.threads, *contents.attached):
            yield self.origin.document_id(native)
        for closed in self._closed:
            yield closed

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these threads and attachments as they are now."""
        async with linked(self.options) as link:
            if self._contents is None:
                self._index = Index(self.options.basis())
                async with aclosing(self._look(link, self._index)) as signs:
                    async for _ in signs:
                        pass
            await self._current()
            index = self._index
            assert index is not None
            closed = {failure.id: failure for failure in self._closed}
            hiding = next((failure for failure in self._closed if failure.covers), None)
            left = set[str]()
            for identity in dict.fromkeys(ids):
                if self._found(identity) is not None:
                    left.add(identity)
                elif identity in closed:
                    yield closed[identity]
                elif hiding is not None:  # it may stand in a folder that can't be opened
                    yield Failure(id=identity, reason=hiding.reason, mend=hiding.mend)
                else:
                    yield Tombstone(id=identity)
            async with aclosing(self._read_all(link, index, lambda: self._these(left))) as batches:
                async for batch in batches:
                    for change in batch:
                        left.discard(change.id)
                        yield change
            for identity in left:
                yield Failure(id=identity, reason="it was moved while it was read", mend="nothing: it is read again")

    async def _look(self, link: Link, index: Index) -> AsyncGenerator[Estimate, None]:
        """Look through the folders, and work out which documents there are."""
        self._contents, closed = None, list[Failure]()
        async with aclosing(scanned(link, self.options, self.origin, index)) as signs:
            async for sign in signs:
                if sign is not None:
                    closed.append(sign)
                yield Estimate(documents=0)
        self._closed = closed
        self._contents = await asyncio.to_thread(index.contents)

    def _unknown(self, known: Mapping[str, str]) -> list[Thread | Attached]:
        """Return the documents whose versions aren't the known ones. Slow for large mailboxes."""
        if self._contents is None:
            return []
        manner = self.options.manner()
        documents: list[Thread | Attached] = [*self._contents.threads.values(), *self._contents.attached.values()]
        return [one for one in documents if known.get(self.origin.document_id(one.id)) != one.version(manner)]

    def _these(self, ids: Collection[str]) -> list[Thread | Attached]:
        """Return those of these documents that there are."""
        return [found for found in map(self._found, ids) if found is not None]

    def _found(self, identity: str) -> Thread | Attached | None:
        native, contents = self.origin.native_id(identity), self._contents
        return (contents.threads.get(native) or contents.attached.get(native)) if contents else None

    async def _current(self) -> Contents:
        """Return the documents, without those that were found to be gone."""
        if self._index is None:
            return Contents(threads={}, attached={})
        self._contents = await asyncio.to_thread(self._index.contents)
        return self._contents

    async def _read_all(
        self, link: Link, index: Index, choose: Callable[[], list[Thread | Attached]]
    ) -> AsyncGenerator[list[SourceDocument | Tombstone | Failure], None]:
        """Yield what was read, as ``_read``, and last what is gone; ``choose`` tells what is to be read.

        A mail that isn't where it was listed may have been moved: the folders are looked through again, and what
        is to be read then is read.
        """
        gone = dict[str, Tombstone]()
        for _ in range(LOOKS):
            before, due = index.forgotten, await asyncio.to_thread(choose)
            self._due = len(due)
            yield []
            async with aclosing(self._read(link, index, due)) as batches:
                async for batch in batches:
                    gone |= {one.id: one for one in batch if isinstance(one, Tombstone)}
                    yield [one for one in batch if not isinstance(one, Tombstone)]
            if index.forgotten == before:
                break
            async with aclosing(self._look(link, index)) as signs:
                async for _ in signs:
                    yield []
        lost = [identity for identity in gone if self._found(identity) is None]
        if lost:
            yield [gone[identity] for identity in lost]

    async def _read(
        self, link: Link, index: Index, due: Iterable[Thread | Attached]
    ) -> AsyncGenerator[list[SourceDocument | Tombstone | Failure], None]:
        """Yield what was read, some documents at a time; an empty list is a sign of life."""
        letters = Letters(link, self.origin, self.options, index)
        threads, attached = list[Thread](), list[Attached]()
        for one in due:
            if isinstance(one, Thread):
                threads.append(one)
            else:
                attached.append(one)
        for batch in _batches(threads):
            async with aclosing(letters.threads(batch)) as read:
                async for some in read:
                    yield some
        attached.sort(key=lambda one: one.mail.folder)
        for one in attached:
            yield [await letters.attached(one)]


def _batches(threads: Iterable[Thread]) -> Iterator[list[Thread]]:
    """Yield threads that are about a download together, those of the same folder side by side."""
    batch, size = list[Thread](), 0
    for thread in sorted(threads, key=lambda thread: thread.mails[0].folder):
        batch.append(thread)
        size += sum(min(mail.size, _TEXT_BYTES) for mail in thread.mails)
        if len(batch) >= BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
