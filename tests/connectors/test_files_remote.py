"""Places that fsspec opens: in its memory, for all that no server here speaks, and in real archives."""

import os
import time
import zipfile
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import fsspec
import pytest

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from tests.connectors.conformance import Conformance
from tests.connectors.world import World
from tests.fakes.memory_place import FaultyMemory, HttpFault, no_fault

ROOT = "/in"


class MemoryPlace(World):
    """A folder in memory; its second page is the folder in it."""

    cannot: ClassVar = {
        "duplicate": "no folder holds a name twice",
        "restrict": "a file's rights are of the service's users, who are no readers",
        "break_form": "that is for each client to notice: on real servers of S3 and WebDAV it is tried",
    }

    def __init__(self) -> None:
        self.skewed = timedelta()
        self.away: dict[str, object] = {}
        FaultyMemory.store.clear()
        FaultyMemory.pseudo_dirs[:] = ["", ROOT]
        FaultyMemory.fault = staticmethod(no_fault)

    def connect(self, origin: Origin, **options: object) -> FilesConnector:
        return FilesConnector(origin, FilesOptions(path=f"memory:/{ROOT}", **options))

    async def add(self, name: str, text: str) -> None:
        FaultyMemory().pipe_file(f"{ROOT}/{name}", text.encode())
        FaultyMemory.store[f"{ROOT}/{name}"].created += self.skewed

    change = add

    async def delete(self, name: str) -> None:
        del FaultyMemory.store[f"{ROOT}/{name}"]

    async def rename(self, old: str, new: str) -> None:
        FaultyMemory.store[f"{ROOT}/{new}"] = FaultyMemory.store.pop(f"{ROOT}/{old}")

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        FaultyMemory.store[f"{ROOT}/{name}"].created = datetime.now(UTC) - timedelta(minutes=5)

    async def skew(self, seconds: int) -> None:
        self.skewed = timedelta(seconds=seconds)

    async def spoil(self, name: str) -> None:
        self.raise_at("get", name, PermissionError(13, "Permission denied"))

    async def vanish(self, name: str) -> None:
        def vanishes(call, path):
            if (call, path) == ("get", f"{ROOT}/{name}"):
                FaultyMemory.fault = staticmethod(no_fault)
                del FaultyMemory.store[path]

        FaultyMemory.fault = staticmethod(vanishes)

    async def break_page(self, status: int = 500) -> None:
        self.raise_at("ls", "sub", HttpFault(status))

    async def rate_limit(self, seconds: int) -> None:
        def once(call, path):
            if (call, path) == ("ls", f"{ROOT}/sub"):
                FaultyMemory.fault = staticmethod(no_fault)
                raise HttpFault(429, retry_after=str(seconds))

        FaultyMemory.fault = staticmethod(once)

    async def expire_token(self) -> None:
        self.raise_at("ls", "sub", HttpFault(401))

    async def truncate(self) -> None:
        for path in sorted(FaultyMemory.store)[2:]:
            self.away[path] = FaultyMemory.store.pop(path)

    async def leave(self) -> None:
        self.raise_at("info", "", ConnectionRefusedError(111, "Connection refused"))

    async def mend(self) -> None:
        FaultyMemory.fault = staticmethod(no_fault)
        FaultyMemory.store.update(self.away)
        self.away.clear()

    def raise_at(self, call: str, name: str, error: Exception) -> None:
        at = (call, f"{ROOT}/{name}".rstrip("/"))

        def fault(call: str, path: str) -> None:
            if (call, path) == at:
                raise error

        FaultyMemory.fault = staticmethod(fault)


@pytest.fixture(autouse=True)
def _memory(monkeypatch):
    registered = fsspec.get_filesystem_class("memory")
    fsspec.register_implementation("memory", FaultyMemory, clobber=True)
    yield
    fsspec.register_implementation("memory", registered, clobber=True)


class TestPlaceInMemory(Conformance):
    """The suite, on fsspec's memory."""

    at_length_in_soak = True

    @pytest.fixture
    def world(self, monkeypatch):
        monkeypatch.setattr("connectors.files.remote.infos._FRESH", 0.0)
        return MemoryPlace()


class ArchiveWorld(World):
    """A zip archive of this machine, written anew with every change, the documents in a folder of it."""

    cannot: ClassVar = {
        "duplicate": "of two entries of one name the later counts",
        "restrict": "an archive knows no readers",
        "vanish": "an archive stays as it was opened",
        "break_page": "an archive is listed at once",
        "rate_limit": "a disk sets no limit",
        "expire_token": "an archive wants no credential",
        "skew": "an entry's checksum tells, whatever its time",
    }

    def __init__(self, folder) -> None:
        self.path = folder / "docs.zip"
        self.texts: dict[str, bytes] = {}
        self.hidden: set[str] = set()
        self.locked: set[str] = set()
        self.write()

    def connect(self, origin: Origin, **options: object) -> FilesConnector:
        return FilesConnector(origin, FilesOptions(path="zip://in::docs.zip", **options))

    def write(self) -> None:
        new = self.path.with_suffix(".new")
        with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.mkdir("in")
            for name in self.texts.keys() - self.hidden:
                archive.writestr(f"in/{name}", self.texts[name])
        if self.locked:
            content = bytearray(new.read_bytes())
            for name in self.locked:  # set the flag that says an entry is encrypted, where it is listed
                at = content.rindex(f"in/{name}".encode()) - 46
                content[at + 8] |= 1
            new.write_bytes(content)
        os.replace(new, self.path)

    async def add(self, name: str, text: str) -> None:
        self.texts[name] = text.encode()
        self.write()

    change = add

    async def delete(self, name: str) -> None:
        del self.texts[name]
        self.write()

    async def rename(self, old: str, new: str) -> None:
        self.texts[new] = self.texts.pop(old)
        self.write()

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        at = time.time() - 300
        os.utime(self.path, (at, at))

    async def spoil(self, name: str) -> None:
        self.locked.add(name)
        self.write()

    async def truncate(self) -> None:
        self.hidden = set(sorted(self.texts)[2:])
        self.write()

    async def break_form(self) -> None:
        self.path.write_bytes(b"<!doctype html><html><body>Log in</body></html>")

    async def leave(self) -> None:
        self.path.unlink()

    async def mend(self) -> None:
        self.hidden.clear()
        self.locked.clear()
        self.write()


class TestArchive(Conformance):
    """The suite, on a real zip."""

    at_length_in_soak = True

    @pytest.fixture
    def world(self, tmp_path):
        return ArchiveWorld(tmp_path)
