"""The files of a branch: what has changed is told by Git's hash of each, and each is linked at its commit."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from urllib.parse import quote

from connectors.base import Estimate, Failure, SourceDocument, Tombstone
from connectors.github.history import LastChange, last_changes
from connectors.github.replies import BRANCH, BRANCHES
from connectors.github.scope import Scope
from connectors.github.state import FilesMemory, digest
from connectors.github.tree import Entry, Trees
from connectors.patterns import Selection
from ragcore.errors import SourceError, SourceGone, SourceRateLimited

PLACE = "blob/"
_BATCH = 20  # files between two checkpoints, and in one question for their last changes
_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1_024
"""Bytes (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of the branch, and what it is known by."""

    commit: str
    tree: str
    etag: str


@dataclass(slots=True)
class Files:
    """Reads one repository's files."""

    scope: Scope
    ids: list[str] = field(default_factory=list)
    blocked: list[Failure] = field(default_factory=list)
    """What couldn't be listed."""
    _is_without_dates: bool = False

    async def changes(
        self, memory: FilesMemory, known: Mapping[str, str]
    ) -> AsyncGenerator[SourceDocument | Failure | Estimate | None, None]:
        """Yield every file whose version isn't the known one; None after each batch. Fills ``ids``."""
        head = await self._head(memory)
        begin = self.scope.identity(PLACE)
        held = {identity: version for identity, version in known.items() if identity.startswith(begin)}
        if head and (head.tree, digest(held.items())) == (memory.tree, memory.digest):
            self.ids = list(held)
            memory.commit, memory.etag = head.commit, head.etag
            return
        entries = await self._listed(head)
        for failure in self.blocked:
            yield failure
        due = [entry for entry in entries if known.get(self._identity(entry)) != self._version(entry)]
        yield Estimate(documents=len(due))
        if head:
            async for change in self._read_all(due, head):
                yield change
        memory.commit, memory.tree, memory.etag = (head.commit, head.tree, head.etag) if head else ("", "", "")
        told = digest((self._identity(entry), self._version(entry)) for entry in entries)
        memory.digest = "" if self.blocked else told

    async def list_ids(self) -> None:
        """Fill ``ids`` alone."""
        await self._listed(await self._head(FilesMemory()))

    async def fetch(self, paths: Sequence[str]) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield these files as they are now."""
        head, wanted = await self._head(FilesMemory()), dict.fromkeys(paths)
        due = [entry for entry in await self._listed(head) if entry.path in wanted]
        if head:
            async for change in self._read_all(due, head):
                if change is not None:
                    yield change
        for path in wanted.keys() - {entry.path for entry in due}:
            identity = self.scope.identity(PLACE + path)
            hiding = [spot for spot in self.blocked if identity.startswith(spot.covers)]
            if hiding:
                yield Failure(id=identity, reason=hiding[0].reason, mend=hiding[0].mend)
            else:
                yield Tombstone(id=identity)

    async def _head(self, memory: FilesMemory) -> Head | None:
        """Return the end of the branch, None when nothing was ever committed."""
        scope = self.scope
        name = scope.options.branch or scope.about.default_branch
        etag = memory.etag if memory.commit else ""
        got = await scope.api.get(
            BRANCH, f"{scope.path}/branches/{quote(name, safe='')}", etag=etag, passing=frozenset({404})
        )
        if got.is_unchanged:
            return Head(commit=memory.commit, tree=memory.tree, etag=memory.etag)
        if got.value is None:
            any_branch = await scope.api.get(BRANCHES, f"{scope.path}/branches?per_page=1")
            if any_branch.value:
                raise SourceGone(f'{scope.name} has no branch "{name}"', mend="name the one to read as `branch`")
            return None
        return Head(commit=got.value.commit.sha, tree=got.value.commit.commit.tree.sha, etag=got.etag)

    async def _listed(self, head: Head | None) -> list[Entry]:
        options = self.scope.options
        selection = Selection.of(options.include, options.exclude, hidden=options.hidden)
        self.blocked.clear()
        found: list[Entry] = []
        if head:
            async for spot in Trees(scope=self.scope, selection=selection).walk(head.tree):
                if isinstance(spot, Entry):
                    found.append(spot)
                else:
                    identity = self.scope.identity(PLACE + spot)
                    reason, mend = "it holds more files than GitHub lists", "exclude it, or split it"
                    self.blocked.append(Failure(id=identity, reason=reason, mend=mend, covers=identity))
        self.ids = [self._identity(entry) for entry in found]
        return found

    async def _read_all(
        self, entries: Sequence[Entry], head: Head
    ) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        for batch in _batches(entries):
            changes = await self._last_changes(batch, head)
            for entry in batch:
                yield await self._read(entry, head, changes.get(entry.path))
            yield None

    async def _last_changes(self, entries: Sequence[Entry], head: Head) -> Mapping[str, LastChange]:
        """Return who changed each file last, and when, as far as that is told: no file is held back for it."""
        if not self.scope.api.has_token or self._is_without_dates:
            return {}
        try:
            return await last_changes(self.scope, head.commit, [entry.path for entry in entries])
        except SourceRateLimited:
            raise
        except SourceError:
            self._is_without_dates = True
            return {}

    async def _read(self, entry: Entry, head: Head, changed: LastChange | None) -> SourceDocument | Failure:
        scope, identity, version = self.scope, self._identity(entry), self._version(entry)
        limit = int(scope.options.max_megabytes * 1_000_000)
        if (entry.size or 0) > limit:
            reason = f"it has {(entry.size or 0) / 1e6:,.1f} MB, more than the limit of {limit / 1e6:,.1f} MB"
            mend = "exclude it, or raise max_megabytes"
            return Failure(id=identity, reason=reason, mend=mend, version=version)
        try:
            content = await scope.api.raw(f"{scope.path}/git/blobs/{entry.sha}", limit=limit)
        except SourceError as error:
            return scope.mishaps.failure(identity, error, version)
        scope.mishaps.passed()
        if len(content) <= _LONGEST_POINTER and content.startswith(_POINTER):
            reason, mend = "it is kept in Git LFS, which is not read", "keep it in Git itself, or exclude it"
            return Failure(id=identity, reason=reason, mend=mend, version=version)
        updated_at: datetime | None = changed.at if changed else None
        return scope.known(
            SourceDocument(
                id=identity,
                source=scope.origin.source,
                content=content,
                name=entry.path.rpartition("/")[2],
                url=f"{scope.about.html_url}/blob/{head.commit}/{quote(entry.path, safe='/')}",
                author=changed.author if changed else "",
                version=version,
                updated_at=updated_at,
            )
        )

    def _identity(self, entry: Entry) -> str:
        return self.scope.identity(PLACE + entry.path)

    def _version(self, entry: Entry) -> str:
        return f"{entry.sha}-{self.scope.salt}"


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    left = iter(entries)
    while batch := list(islice(left, _BATCH)):
        yield batch
