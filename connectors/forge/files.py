"""The files of a branch: what has changed is told by Git's hash of each, and each is linked at its commit."""

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Protocol, TypeVar

from connectors.base import Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.forge.rounds import Step
from connectors.forge.state import FilesMemory, digest
from connectors.mishaps import Mishaps
from ragcore.errors import SourceError

_BATCH = 20
"""Files between two checkpoints, and in one question for their last changes."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1_024
"""Bytes (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""
Told = TypeVar("Told", bound=SourceDocument | Failure)
MODES = frozenset({"100644", "100755", "100664"})
"""What Git writes for files: not for links (120000) and submodules (160000)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of the branch, and what it is known by; ``tree`` stands for all that is in it."""

    commit: str
    tree: str
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or folder: its path, Git's hash of its content, and the size of a file in bytes where that is told."""

    path: str
    sha: str
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """The commit that changed a file last: its time, and the name of who wrote it, "" when there is none."""

    at: datetime
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A file's content, and its last change where that is told."""

    content: bytes
    changed: LastChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a branch's move has changed: the ``paths`` that are not as they were, and those of them that are there."""

    paths: Set[str]
    entries: Sequence[Entry]


class Scope(Protocol):
    """A repository, as its documents share it."""

    @property
    def origin(self) -> Origin:
        """Which source it is read for."""
        ...

    @property
    def mishaps(self) -> Mishaps:
        """How faults are borne."""
        ...

    @property
    def salt(self) -> str:
        """What stands in each version for all that documents carry besides their text."""
        ...

    def identity(self, place: str) -> str:
        """Return the id of a document."""
        ...

    def known(self, told: Told) -> Told:
        """Return a document, or why there is none, with its readers."""
        ...


class Branch(Protocol):
    """A branch as its forge tells of it; ``place`` begins the ids of its files, ``limit`` is in bytes."""

    @property
    def scope(self) -> Scope:
        """The repository."""
        ...

    @property
    def forge(self) -> str:
        """What the forge is called."""
        ...

    @property
    def place(self) -> str:
        """What stands before a file's path in its id."""
        ...

    @property
    def limit(self) -> int:
        """The most bytes of a file that is read."""
        ...

    async def head(self, memory: FilesMemory) -> Head | None:
        """Return the end of the branch, None when nothing was ever committed."""
        ...

    def walk(self, head: Head) -> AsyncGenerator[Entry | str, None]:
        """Yield every file that is selected, and as text, ended by "/", each folder that isn't listed whole."""
        ...

    async def some(self, paths: Collection[str], head: Head) -> list[Entry] | None:
        """Return those of these files that there are and are selected, None where only a whole list can tell."""
        ...

    async def moved(self, memory: FilesMemory, head: Head) -> Moved | None:
        """Return what has changed since the end that is remembered, None where only a whole list can tell."""
        ...

    async def ready(self, entries: Sequence[Entry], head: Head) -> None:
        """Prepare for reading some files."""
        ...

    async def read(self, entry: Entry, head: Head) -> Blob:
        """Return a file."""
        ...

    def url(self, entry: Entry, head: Head) -> str:
        """Return where people find a file."""
        ...


@dataclass(slots=True)
class Files:
    """Reads one repository's files."""

    branch: Branch
    ids: list[str] = field(default_factory=list)
    blocked: list[Failure] = field(default_factory=list)
    """What couldn't be listed."""

    async def changes(self, memory: FilesMemory, known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield every file whose version isn't the known one; None after each batch. Fills ``ids``."""
        head = await self.branch.head(memory)
        begin = self.branch.scope.identity(self.branch.place)
        held = {identity: version for identity, version in known.items() if identity.startswith(begin)}
        is_held = digest(held.items()) == memory.digest
        if head and is_held and head.tree == memory.tree:
            self.ids = list(held)
            memory.commit, memory.etag = head.commit, head.etag
            return
        moved = await self.branch.moved(memory, head) if head and is_held else None
        if moved is None:
            entries: Sequence[Entry] = await self._listed(head)
            versions = dict[str, str]()
        else:
            gone = {self._identity(path) for path in moved.paths}
            entries = moved.entries
            versions = {identity: version for identity, version in held.items() if identity not in gone}
        versions |= {self._identity(entry.path): self._version(entry) for entry in entries}
        self.ids = list(versions)
        for failure in self.blocked:
            yield failure
        due = [entry for entry in entries if known.get(self._identity(entry.path)) != self._version(entry)]
        yield Estimate(documents=len(due))
        if head:
            async for change in self._read_all(due, head):
                yield change
        memory.commit, memory.tree, memory.etag = (head.commit, head.tree, head.etag) if head else ("", "", "")
        memory.digest = "" if self.blocked else digest(versions.items())

    async def list_ids(self) -> None:
        """Fill ``ids`` alone."""
        await self._listed(await self.branch.head(FilesMemory()))

    async def fetch(self, paths: Sequence[str]) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield these files as they are now."""
        head, wanted = await self.branch.head(FilesMemory()), dict.fromkeys(paths)
        due = await self.branch.some(wanted, head) if head else []
        if due is None:
            due = [entry for entry in await self._listed(head) if entry.path in wanted]
        if head:
            async for change in self._read_all(due, head):
                if change is not None:
                    yield change
        for path in wanted.keys() - {entry.path for entry in due}:
            identity = self._identity(path)
            hiding = [spot for spot in self.blocked if identity.startswith(spot.covers)]
            if hiding:
                yield Failure(id=identity, reason=hiding[0].reason, mend=hiding[0].mend)
            else:
                yield Tombstone(id=identity)

    async def _listed(self, head: Head | None) -> list[Entry]:
        self.blocked.clear()
        found = dict[str, Entry]()
        if head:
            async for spot in self.branch.walk(head):
                if isinstance(spot, Entry):
                    found[spot.path] = spot
                else:
                    identity = self._identity(spot)
                    reason, mend = f"it holds more files than {self.branch.forge} lists", "exclude it, or split it"
                    self.blocked.append(Failure(id=identity, reason=reason, mend=mend, covers=identity))
        self.ids = [self._identity(path) for path in found]
        return list(found.values())

    async def _read_all(
        self, entries: Sequence[Entry], head: Head
    ) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        for batch in _batches(entries):
            await self.branch.ready(batch, head)
            for entry in batch:
                yield self.branch.scope.known(await self._read(entry, head))
            yield None

    async def _read(self, entry: Entry, head: Head) -> SourceDocument | Failure:
        scope, identity, version = self.branch.scope, self._identity(entry.path), self._version(entry)
        try:
            if (entry.size or 0) > self.branch.limit:
                size = f"{(entry.size or 0) / 1e6:,.1f} MB, more than"
                return _too_large(identity, version, size, self.branch.limit)
            blob = await self.branch.read(entry, head)
        except SourceError as error:
            return await scope.mishaps.failure(identity, error, version)
        scope.mishaps.passed()
        if len(blob.content) > self.branch.limit:
            return _too_large(identity, version, "more than", self.branch.limit)
        if is_pointer(blob.content):
            reason, mend = "it is kept in Git LFS, which is not read", "keep it in Git itself, or exclude it"
            return Failure(id=identity, reason=reason, mend=mend, version=version)
        return SourceDocument(
            id=identity,
            source=scope.origin.source,
            content=blob.content,
            name=entry.path.rpartition("/")[2],
            url=self.branch.url(entry, head),
            author=blob.changed.author if blob.changed else "",
            version=version,
            updated_at=blob.changed.at if blob.changed else None,
        )

    def _identity(self, path: str) -> str:
        return self.branch.scope.identity(self.branch.place + path)

    def _version(self, entry: Entry) -> str:
        return f"{entry.sha}-{self.branch.scope.salt}"


def is_pointer(content: bytes) -> bool:
    """Tell whether this stands in Git for a file that is kept in Git LFS."""
    return len(content) <= _LONGEST_POINTER and content.startswith(_POINTER)


def _too_large(identity: str, version: str, size: str, limit: int) -> Failure:
    reason = f"it has {size} the limit of {limit / 1e6:,.1f} MB"
    return Failure(id=identity, reason=reason, mend="exclude it, or raise max_megabytes", version=version)


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    left = iter(entries)
    while batch := list(islice(left, _BATCH)):
        yield batch
