"""A folder of this machine as a place: its walk keeps the rules about links, and a file's times are its version.

It may lie on a share that answers no more: what waits for it then must not take the threads that all else shares.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from connectors.files.pages import in_pages
from connectors.files.place import Blocked, Found, Unread, Whole, too_large
from connectors.files.reading import read_whole
from connectors.files.walk import FileEntry, Walk, version_of
from connectors.patterns import Selection
from connectors.threads import in_thread

_PAGE = 1_000  # files looked at in a thread before others may run


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPlace:
    """A folder, or one file. ``salt`` is part of every version."""

    root: Path
    salt: str
    lists_dearly: bool = False

    async def __aenter__(self) -> "LocalPlace":
        """Nothing has to be opened."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing has to be closed."""

    async def files(self, selection: Selection) -> AsyncGenerator[Found | Blocked, None]:
        """Yield what a walk finds."""
        walk = map(self._found, iter(Walk(self.root, selection)))
        async for page in in_pages(walk, _PAGE):
            for found in page:
                yield found

    async def read(self, files: Sequence[Found], *, limit: int) -> list[Whole | Unread]:
        """Return the files' contents, read in one thread."""
        return await in_thread(lambda: [self._read(file, limit) for file in files])

    @asynccontextmanager
    async def copied(self, file: Found) -> AsyncIterator[Path | Unread]:
        """Return the file itself."""
        yield Path(file.where)

    async def is_unchanged(self, file: Found) -> bool:
        """Tell whether the file stands as it was found; OSError as it comes."""
        status = await in_thread(Path(file.where).stat)
        return bool(file.version) and file.version == version_of(status, salt=self.salt)

    def url(self, file: Found) -> str:
        """Return a ``file://`` address."""
        return Path(file.where).absolute().as_uri()

    def _found(self, found: FileEntry | Blocked) -> Found | Blocked:
        if isinstance(found, Blocked):
            return found
        return Found(
            native_id=found.native_id,
            where=str(found.path),
            size=found.status.st_size,
            modified=found.status.st_mtime,
            version=version_of(found.status, salt=self.salt),
        )

    def _read(self, file: Found, limit: int) -> Whole | Unread:
        # The size is known already: what is too large isn't even opened.
        if file.size is not None and file.size > limit:
            return too_large(file.size, limit)
        found = read_whole(Path(file.where), limit=limit)
        if isinstance(found, Unread):
            return found
        version = version_of(found.status, salt=self.salt)
        return Whole(content=found.content, version=version, modified=found.status.st_mtime)
