"""A source in memory that counts what is asked of it and breaks where it is told to."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from connectors.base import Change, Checkpoint, Failure, Origin, Tombstone
from ragcore.types import SourceDocument


@dataclass
class Memory:
    """A source system: texts by native id, each with a revision, and a journal of what happened."""

    texts: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    journal: list[str] = field(default_factory=list)
    breaks_after: int | None = None
    error: BaseException | None = None
    lists: bool = True
    hidden: set[str] = field(default_factory=set)  # missing from the listing
    reads: int = 0
    listing_error: BaseException | None = None

    def put(self, name: str, text: str) -> None:
        self.texts[name] = text
        self.journal.append(name)

    def drop(self, name: str) -> None:
        self.texts.pop(name, None)
        self.journal.append(name)

    def connector(self, source: str = "s", *, batch: int = 3) -> "MemoryConnector":
        return MemoryConnector(self, Origin(source=source, folder=Path()), batch)


@dataclass
class MemoryConnector:
    """Follows the journal: the cursor is the number of entries that were read."""

    memory: Memory
    origin: Origin
    batch: int

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        journal = self.memory.journal
        start = int(cursor or 0)
        due = dict.fromkeys(journal[start:])
        # What the index lacks is due whatever the cursor says.
        due |= {name: None for name in self.memory.texts if self.origin.document_id(name) not in known}
        for count, name in enumerate(due):
            if count == self.memory.breaks_after and self.memory.error:
                raise self.memory.error
            if known.get(self.origin.document_id(name)) != self._version(name):
                yield self._read(name)
            if count % self.batch == self.batch - 1:
                yield Checkpoint(cursor=str(start))
        yield Checkpoint(cursor=str(len(journal)))

    def list_ids(self) -> AsyncIterator[str | Failure] | None:
        return self._list() if self.memory.lists else None

    async def _list(self) -> AsyncIterator[str | Failure]:
        for name in list(self.memory.texts):
            if name not in self.memory.hidden:
                yield self.origin.document_id(name)
        if self.memory.listing_error:
            raise self.memory.listing_error

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        for identity in ids:
            yield self._read(self.origin.native_id(identity))

    def _version(self, name: str) -> str:
        return f"{self.memory.texts.get(name)!r}"

    def _read(self, name: str) -> SourceDocument | Tombstone | Failure:
        identity = self.origin.document_id(name)
        if name not in self.memory.texts:
            return Tombstone(id=identity)
        if name in self.memory.broken:
            return Failure(id=identity, reason="it is broken", mend="mend it", version=self._version(name))
        self.memory.reads += 1
        return SourceDocument(
            id=identity,
            source=self.origin.source,
            content=self.memory.texts[name].encode(),
            name=name,
            version=self._version(name),
        )
