"""A place elsewhere, through the file system that fsspec has for its URL."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from connectors.files.place import Blocked, Found, Unread, Whole, too_large
from connectors.files.remote.address import Address
from connectors.files.remote.download import TooMuch, download, temporary_file
from connectors.files.remote.faults import Fault, Kind, fault_of
from connectors.files.remote.infos import Info, info_of
from connectors.files.remote.schemes import Opened, Scheme, expected_errors, open_place, scheme_for
from connectors.files.remote.tree import Tree
from connectors.patterns import Selection
from connectors.threads import Pulse, Threads

T = TypeVar("T")
Spot = tuple[str, Info] | Blocked

_PATIENCE = 90.0
"""Seconds for which a call may get nowhere: longer than the clients' own limits, which tell more."""
_LISTING = 3_600.0
"""Seconds for one listing of all there is; the clients limit each of the requests that it takes."""
_CLOSING = 5.0  # seconds
_PAGE = 1_000  # files told of before others may run
_ATTEMPTS = 3
_MOST_IN_A_ROW = 5  # files that fail by a fault of the server's, until it is taken for down
_OF_THE_SERVER = {Kind.SERVER, Kind.FOREIGN, Kind.OTHER}


class _Failed(Exception):
    """A call to the place failed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.told())
        self.fault = fault


@dataclass(slots=True, kw_only=True)
class RemotePlace:
    """A folder of a server or a bucket, or one file there. ``salt`` is part of every version."""

    address: Address
    salt: str
    lists_dearly: bool = True
    _scheme: Scheme = field(init=False)
    _threads: Threads = field(init=False)
    _opened: Opened | None = field(init=False, default=None)
    _opening: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _infos: dict[str, Info] = field(init=False, default_factory=dict)
    """What was told of each file when it was listed, by its name there."""
    _copied: dict[str, str] = field(init=False, default_factory=dict)
    """The versions of which copies were made, by native id."""
    _failed_in_a_row: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Work out the kind of place."""
        self._scheme = scheme_for(self.address)
        self._threads = Threads(most=self._scheme.threads)

    async def __aenter__(self) -> "RemotePlace":
        """Wait with the connection until it is needed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what was opened."""
        opened, self._opened = self._opened, None
        if opened is not None:
            held = [opened[0]]
            del opened
            # The clients tidy up when they are let go of, and do so where that happens: in the thread.
            try:
                await self._threads.call(lambda: self._scheme.close(held.pop()), patience=_CLOSING)
            except expected_errors(self._scheme):
                return

    async def files(self, selection: Selection) -> AsyncGenerator[Found | Blocked, None]:
        """Yield what is listed."""
        try:
            system, root = await self._system()
            tree = Tree(root=root, selection=selection)
            spots = await self._call(lambda: self._top(system, tree), patience=_LISTING)
        except _Failed as failed:
            raise failed.fault.as_error(self.address.shown()) from failed
        while True:
            for number, spot in enumerate(spots, start=1):
                yield self._found(*spot) if isinstance(spot, tuple) else spot
                if number % _PAGE == 0:
                    await asyncio.sleep(0)
            if not tree.folders:
                return
            spots = await self._below(system, tree, tree.folders.pop())

    async def read(self, files: Sequence[Found], *, limit: int) -> list[Whole | Unread]:
        """Return the files' contents, some read at a time."""
        reading = [asyncio.ensure_future(self._read(file, limit)) for file in files]
        try:
            return await asyncio.gather(*reading)
        finally:
            for task in reading:
                task.cancel()

    @asynccontextmanager
    async def copied(self, file: Found) -> AsyncIterator[Path | Unread]:
        """Return a copy on this machine's disk, which is removed afterwards."""
        target = await asyncio.to_thread(temporary_file)
        try:
            copy = await self._copy(file, target, limit=None)
            if isinstance(copy, Found):
                self._copied[file.native_id] = copy.version
            yield copy if isinstance(copy, Unread) else target
        finally:
            target.unlink(missing_ok=True)

    async def is_unchanged(self, file: Found) -> bool:
        """Tell whether the copy that was made is of the version that was listed."""
        return bool(file.version) and self._copied.get(file.native_id) == file.version

    def url(self, file: Found) -> str:
        """Return the file's address, where a browser can open it."""
        return self._scheme.url(self.address, file.where)

    async def _system(self) -> Opened:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._call(lambda: open_place(self.address))
            return self._opened

    def _top(self, system: Any, tree: Tree) -> list[Spot]:
        """List the root, or all that is under it. Blocking."""
        if self._scheme.flat:
            found = tree.take_all(_infos(system.find(tree.root, detail=True).values()))
            if not found and self._scheme.keeps_folders and tree.root.strip("/"):
                system.info(tree.root)  # FileNotFoundError, unless it is there and empty
            return found
        top = info_of(system.info(tree.root))
        if top.kind == "file":
            return tree.take_single(top)
        return tree.take_folder(tree.root, _infos(system.ls(tree.root, detail=True)))

    async def _below(self, system: Any, tree: Tree, folder: str) -> list[Spot]:
        try:
            return await self._call(lambda: tree.take_folder(folder, _infos(system.ls(folder, detail=True))))
        except _Failed as failed:
            if failed.fault.kind is Kind.GONE:
                return []  # gone since its parent was listed
            if failed.fault.kind is not Kind.DENIED:
                raise failed.fault.as_error(self.address.shown()) from failed
            native = tree.relative(folder).rstrip("/")
            reason = f"the folder cannot be listed: {failed.fault.told()}"
            return [Blocked(native_id=f"{native}/", reason=reason, mend=failed.fault.mend, hides=f"{native}/")]

    def _found(self, native: str, info: Info) -> Found:
        self._infos[info.name] = info
        return Found(
            native_id=native,
            where=info.name,
            size=info.size,
            modified=info.modified,
            version=info.version(salt=self.salt, is_exact=self._scheme.exact),
        )

    async def _read(self, file: Found, limit: int) -> Whole | Unread:
        target = await asyncio.to_thread(temporary_file)
        try:
            copy = await self._copy(file, target, limit=limit)
            if isinstance(copy, Unread):
                return copy
            content = await asyncio.to_thread(target.read_bytes)
            return Whole(content=content, version=copy.version, modified=copy.modified)
        finally:
            target.unlink(missing_ok=True)

    async def _copy(self, file: Found, target: Path, *, limit: int | None) -> Found | Unread:
        """Copy a file to the disk as it stood at one moment, and return it as it was then, or why not."""
        for _ in range(_ATTEMPTS):
            if limit is not None and file.size is not None and file.size > limit:
                return too_large(file.size, limit)
            try:
                after = await self._copy_once(file, target, limit)
            except TooMuch:
                return too_large(limit or 0, limit or 0)
            except _Failed as failed:
                return self._unread(failed)
            self._failed_in_a_row = 0
            if after is None:
                return file
            file = self._found(file.native_id, after)
        return Unread(reason="it kept changing while it was read", mend="sync again when it is complete")

    async def _copy_once(self, file: Found, target: Path, limit: int | None) -> Info | None:
        """Copy a file, and return None if it is whole; what is told of it now if it is another by now."""
        system, _ = await self._system()
        pulse = Pulse()
        size = await self._call(lambda: download(system, file.where, target, pulse=pulse, limit=limit), pulse=pulse)
        if self._scheme.exact and size == file.size:
            return None
        before = self._infos[file.where]
        after = await self._call(lambda: info_of(system.info(file.where)))
        if not before.agrees_with(after):
            return after
        if after.size is not None and size < after.size:
            raise _Failed(Fault(kind=Kind.CUT, detail=f"after {size:,} of {after.size:,} bytes"))
        return None

    def _unread(self, failed: _Failed) -> Unread:
        """Return why a file wasn't read; SourceError if no other would fare better."""
        fault = failed.fault
        self._failed_in_a_row += fault.kind in _OF_THE_SERVER
        if fault.is_of_the_whole or self._failed_in_a_row >= _MOST_IN_A_ROW:
            raise fault.as_error(self.address.shown()) from failed
        return fault.as_unread()

    async def _call(self, function: Callable[[], T], *, pulse: Pulse | None = None, patience: float | None = None) -> T:
        try:
            return await self._threads.call(function, pulse=pulse, patience=patience or _PATIENCE)
        except expected_errors(self._scheme) as error:
            raise _Failed(fault_of(error)) from error


def _infos(told: Iterable[Mapping[str, object]]) -> list[Info]:
    return [info_of(one) for one in told]
