"""A source in memory that counts what is asked of it and breaks where it is told to."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from connectors.base import Change, Checkpoint, Failure, Origin, Tombstone
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited
from ragcore.types import SourceDocument
from tests.connectors.world import World


@dataclass
class Memory:
    """A source system: texts by native id, each with a revision, and a journal of what happened."""

    texts: dict[str, str] = field(default_factory=dict)
    readers: dict[str, frozenset[str]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    journal: list[str] = field(default_factory=list)
    breaks_after: int | None = None
    error: BaseException | None = None
    breaks_once: bool = False
    lists: bool = True
    strict: bool = False  # tells of what its journal holds since the cursor, and of nothing else
    hidden: set[str] = field(default_factory=set)  # missing from the listing
    vanishing: set[str] = field(default_factory=set)
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
        memory = self.memory
        start = int(cursor or 0)
        due = dict.fromkeys(memory.journal[start:])
        # What the index lacks is due whatever the cursor says.
        if not memory.strict:
            due |= {name: None for name in memory.texts if self.origin.document_id(name) not in known}
        if memory.breaks_after == 0:
            self._break()
        for count, name in enumerate(due):
            if count == memory.breaks_after and count:
                self._break()
            if known.get(self.origin.document_id(name)) != self._version(name):
                yield self._read(name)
            if count % self.batch == self.batch - 1:
                yield Checkpoint(cursor=str(start + count + 1 if memory.strict else start))
        yield Checkpoint(cursor=str(len(memory.journal)))

    def _break(self) -> None:
        error = self.memory.error
        if self.memory.breaks_once:
            self.memory.error = None
        if error:
            raise error

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
        return f"{self.memory.texts.get(name)!r} {sorted(self.memory.readers.get(name, ()))}"

    def _read(self, name: str) -> SourceDocument | Tombstone | Failure:
        memory, identity = self.memory, self.origin.document_id(name)
        if name in memory.vanishing:
            memory.drop(name)
        if name not in memory.texts:
            return Tombstone(id=identity)
        if name in memory.broken:
            readers = memory.readers.get(name)
            return Failure(
                id=identity, reason="it is broken", mend="mend it", version=self._version(name), readers=readers
            )
        memory.reads += 1
        return SourceDocument(
            id=identity,
            source=self.origin.source,
            content=memory.texts[name].encode(),
            name=name,
            version=self._version(name),
            readers=memory.readers.get(name),
        )


class MemoryWorld(World):
    """The source in memory, as the conformance suite breaks it."""

    cannot: ClassVar = {
        "duplicate": "its journal names each document once",
        "late": "nothing here has a time",
        "skew": "nothing here has a time",
    }

    def __init__(self) -> None:
        self.memory = Memory()

    def connect(self, origin: Origin) -> MemoryConnector:
        return MemoryConnector(self.memory, origin, 5)

    async def add(self, name: str, text: str) -> None:
        self.memory.put(name, text)

    change = add

    async def delete(self, name: str) -> None:
        self.memory.drop(name)

    async def rename(self, old: str, new: str) -> None:
        text = self.memory.texts[old]
        self.memory.drop(old)
        self.memory.put(new, text)

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        self.memory.readers[name] = frozenset(f"email:{address}" for address in addresses)
        self.memory.journal.append(name)

    async def spoil(self, name: str) -> None:
        self.memory.broken.add(name)

    async def vanish(self, name: str) -> None:
        self.memory.vanishing.add(name)

    async def break_page(self, status: int = 500) -> None:
        self._break(SourceError(f"the second page failed with {status}"))

    async def rate_limit(self, seconds: int) -> None:
        self._break(SourceRateLimited("it is asked too often", retry_after=seconds), once=True)

    async def expire_token(self) -> None:
        self._break(SourceAuthError("the token has expired", mend="renew it"))

    async def truncate(self) -> None:
        self.memory.hidden = set(list(self.memory.texts)[2:])

    async def break_form(self) -> None:
        self._break(SourceError("a web page came in place of the journal"))

    async def leave(self) -> None:
        self._break(SourceGone("it is not there"), after=0)

    async def mend(self) -> None:
        self.memory.error = self.memory.listing_error = None
        self.memory.breaks_after = None
        self.memory.hidden = set()
        self.memory.broken = set()

    def _break(self, error: Exception, *, after: int = 5, once: bool = False) -> None:
        self.memory.breaks_after, self.memory.error, self.memory.breaks_once = after, error, once
        self.memory.listing_error = None if once else error
