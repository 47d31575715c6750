"""The connector of the source type ``google_drive``: a document is a file, by the id that Drive gives it.

A cursor remembers all that there is, and where each log of changes was read up to (``memory``): what hasn't changed is
not asked for. Where documents are indexed that it doesn't tell of (a listing came back short, a run was cut off), all
is listed anew.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.batches import batches
from connectors.google_drive.content import Due, Got, Reader, has_other_readers
from connectors.google_drive.corpus import Corpus
from connectors.google_drive.faults import FileRefused
from connectors.google_drive.memory import CorpusMemory, Memory
from connectors.google_drive.options import GoogleDriveOptions
from connectors.google_drive.places import Places, opened
from connectors.google_drive.service import AT_ONCE, Google
from connectors.google_drive.sharing import Sharings
from connectors.patterns import Selection
from connectors.together import together, under_way
from ragcore.errors import SourceGone

_BATCH = 16  # files between two checkpoints
_BATCH_BYTES = 32_000_000
_UNTOLD = 2_000_000  # bytes that one of Google's own documents is reckoned with
_SIGN = 100  # files that are looked at together


@dataclass(slots=True)
class GoogleDriveConnector:
    """Reads one account's view of Drive."""

    origin: Origin
    options: GoogleDriveOptions
    _google: Google = field(init=False)
    _sharings: Sharings = field(init=False)
    _corpora: list[Corpus] | None = field(init=False, default=None)
    """What the run has opened."""
    _listed: set[str] | None = field(init=False, default=None)
    """What the run has found that there is."""

    def __post_init__(self) -> None:
        """Make the client; nothing is connected yet."""
        self._google = Google(self.options, self.origin.folder)
        self._sharings = Sharings(self._google, self.options)

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or has changed; a folder or drive that can't be read holds up none of the others."""
        async with self._google, aclosing(self._changes(cursor, known)) as changes:
            async for change in changes:
                yield change

    async def _changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncGenerator[Change, None]:
        self._listed = None
        memory = await asyncio.to_thread(Memory.from_cursor, cursor, await self._google.basis())
        self._sharings = Sharings(self._google, self.options, groups=memory.groups)
        places = await opened(self._google, self._sharings, self.options)
        corpora = self._corpora = self._opened(places, memory)
        is_short = not {self.origin.native_id(identity) for identity in known} <= memory.documents
        is_afresh = is_short or await self._sharings.regrouped()
        for corpus in corpora:
            if is_afresh or not 0 <= time.time() - corpus.memory.listed < self.options.recheck_hours * 3600:
                corpus.memory.token = ""
        for corpus in corpora:
            async for _ in corpus.follow():
                yield Estimate(documents=sum(len(one.due) for one in corpora))
        for native in sorted({native for corpus in corpora for native in corpus.gone} - memory.documents):
            yield Tombstone(id=self.origin.document_id(native))
        for native, error in (one for corpus in corpora for one in corpus.refused.items()):
            identity = self.origin.document_id(native)
            # Whoever may read it now isn't known: what is indexed is open to one who may not.
            yield Failure(id=identity, reason=error.reason, mend=error.mend, readers=frozenset())
        async with aclosing(self._read_all(corpora, known)) as changed:
            async for change in changed:
                yield change or Checkpoint(cursor=cursor)
        if places.refused:
            raise places.refused[0]
        for corpus in corpora:
            corpus.memory.token = corpus.reached
        memory.groups = self._sharings.groups
        self._listed = memory.documents
        yield Checkpoint(cursor=await asyncio.to_thread(memory.to_cursor))

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every document: what the run has found, else by a listing of its own."""
        if self._listed is None:
            memory = Memory(basis="")
            async with self._google:
                for corpus in await self._all_opened(memory):
                    async for _ in corpus.list_all():
                        pass
            self._listed = memory.documents
        for native in sorted(self._listed):
            yield self.origin.document_id(native)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        async with self._google:
            if self._corpora is None:
                self._corpora = await self._all_opened(Memory(basis=""))
            reader = self._reader()
            for identity in dict.fromkeys(ids):
                yield await self._fetched(reader, self._corpora, identity)

    async def _all_opened(self, memory: Memory) -> list[Corpus]:
        """Return all that is to be read, into an empty memory; raises where a part of it isn't there."""
        places = await opened(self._google, self._sharings, self.options)
        if places.refused:
            raise places.refused[0]
        return self._opened(places, memory)

    async def _fetched(
        self, reader: Reader, corpora: Sequence[Corpus], identity: str
    ) -> SourceDocument | Tombstone | Failure:
        try:
            file = await self._google.file(self.origin.native_id(identity))
        except SourceGone:
            return Tombstone(id=identity)
        except FileRefused as refused:
            return Failure(id=identity, reason=refused.reason, mend=refused.mend)
        for corpus in corpora:
            if await corpus.locate(file):
                due = await reader.due(file, corpus.folders)
                return await reader.settled(await reader.read(due, corpus.folders))
        return Tombstone(id=identity)

    async def _read_all(
        self, corpora: Sequence[Corpus], known: Mapping[str, str]
    ) -> AsyncGenerator[SourceDocument | Tombstone | Failure | Estimate | None, None]:
        """Yield the documents whose version isn't the known one; None after each batch."""
        reader = self._reader()
        pending: list[tuple[Corpus, Due]] = []
        for corpus in corpora:
            files = list(corpus.due.values())
            for start in range(0, len(files), _SIGN):
                some = files[start : start + _SIGN]
                for due in await together(*(reader.due(file, corpus.folders) for file in some)):
                    corpus.memory.documents[due.file.id] = due.sharing.until
                    if known.get(self.origin.document_id(due.file.id)) != due.version:
                        pending.append((corpus, due))
                yield Estimate(documents=len(pending))
            corpus.due = {}
        pending.sort(key=lambda one: not self._has_other_readers(one[1], known))  # they don't wait for the others
        for batch in batches(pending, _expected, most_bytes=_BATCH_BYTES, most=_BATCH):
            for start in range(0, len(batch), AT_ONCE):
                now = _read_together(reader, batch[start : start + AT_ONCE])
                async with aclosing(now):
                    async for corpus, due, got in now:
                        settled = await reader.settled(got)
                        if isinstance(settled, Tombstone):
                            corpus.memory.documents.pop(due.file.id, None)
                        yield settled
            yield None

    def _has_other_readers(self, due: Due, known: Mapping[str, str]) -> bool:
        return has_other_readers(due.version, known.get(self.origin.document_id(due.file.id)))

    def _reader(self) -> Reader:
        return Reader(self.origin, self.options, self._google, self._sharings)

    def _opened(self, places: Places, memory: Memory) -> list[Corpus]:
        """Return what is to be read, each with its part of the memory, which holds nothing else afterwards."""
        memory.corpora = {drive: memory.corpora.get(drive, CorpusMemory()) for drive in places.roots}
        selection = Selection.of(self.options.include, self.options.exclude, hidden=self.options.hidden)
        return [
            Corpus(
                google=self._google,
                sharings=self._sharings,
                selection=selection,
                memory=memory.corpora[drive],
                drive=drive,
                roots=roots,
                others=frozenset(places.roots) - {""},
                top=places.top,
            )
            for drive, roots in places.roots.items()
        ]


async def _read_together(
    reader: Reader, some: Sequence[tuple[Corpus, Due]]
) -> AsyncGenerator[tuple[Corpus, Due, Got], None]:
    """Yield what came of reading these files side by side; where one is told to wait, of those that were read."""
    async with under_way(*(reader.read(due, corpus.folders) for corpus, due in some)) as tasks:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        done = [(*one, task) for one, task in zip(some, tasks, strict=True) if task.done()]
        for corpus, due, task in done:
            if task.exception() is None:
                yield corpus, due, task.result()
        for *_, task in done:
            task.result()


def _expected(one: tuple[Corpus, Due]) -> int:
    return one[1].file.size or _UNTOLD
