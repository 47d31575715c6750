import os
import pathlib
import time
from typing import ClassVar

import pytest

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from tests.connectors.conformance import Conformance
from tests.connectors.helpers import put, settle
from tests.connectors.memory import MemoryWorld
from tests.connectors.world import World


class FolderWorld(World):
    """A folder of this machine."""

    cannot: ClassVar = {
        "duplicate": "no folder holds a name twice",
        "restrict": "a file's rights are of this machine's users, who are no readers",
        "vanish": "between listing a file and reading it lies no moment that a test can hold",
        "break_page": "a folder has no pages",
        "rate_limit": "a disk sets no limit",
        "expire_token": "a folder wants no credential",
        "break_form": "a folder has no other form",
    }

    def __init__(self, root: pathlib.Path) -> None:
        self.root, self.away = root / "documents", root / "away"
        self.root.mkdir()
        self.skewed = 0
        self.spoilt: dict[str, str] = {}

    def connect(self, origin: Origin) -> FilesConnector:
        return FilesConnector(origin, FilesOptions(path=str(self.root), max_megabytes=0.01))

    async def add(self, name: str, text: str) -> None:
        put(self.root, name, text)
        self._date(name, self.skewed)

    change = add

    async def delete(self, name: str) -> None:
        (self.root / name).unlink()

    async def rename(self, old: str, new: str) -> None:
        (self.root / old).rename(self.root / new)

    async def late(self, name: str, text: str) -> None:
        put(self.root, name, text)
        self._date(name, -300)

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = (self.root / name).read_text(encoding="utf-8")
        put(self.root, name, "too large " * 2_000)

    async def truncate(self) -> None:
        self.root.rename(self.away)
        (self.root / "sub").mkdir(parents=True)
        for path in sorted(self.away.glob("*.md"))[:2]:
            path.rename(self.root / path.name)

    async def skew(self, seconds: int) -> None:
        self.skewed = seconds

    async def leave(self) -> None:
        self.root.rename(self.away)

    async def mend(self) -> None:
        if self.away.exists():
            self.root.mkdir(exist_ok=True)
            for path in self.root.glob("*.md"):
                path.rename(self.away / path.name)
            (self.root / "sub").rmdir() if (self.root / "sub").exists() else None
            self.root.rmdir()
            self.away.rename(self.root)
        for name, text in self.spoilt.items():
            put(self.root, name, text)
        self.spoilt.clear()

    def _date(self, name: str, seconds: int) -> None:
        at = time.time() + seconds
        os.utime(self.root / name, (at, at))


class TestFolder(Conformance):
    @pytest.fixture
    def world(self, tmp_path, monkeypatch):
        settle(monkeypatch)
        return FolderWorld(tmp_path)


class TestMemory(Conformance):
    @pytest.fixture
    def world(self):
        return MemoryWorld()


class TestJournal(Conformance):
    """A source that can't list, and tells of deletions itself."""

    @pytest.fixture
    def world(self):
        class Unlisted(MemoryWorld):
            cannot: ClassVar = MemoryWorld.cannot | {"truncate": "it can't list: what it doesn't tell of isn't gone"}
            truncate = World.truncate

        world = Unlisted()
        world.memory.lists = False
        return world
