import pathlib
from typing import ClassVar

import pytest

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from tests.connectors.conformance import Conformance
from tests.connectors.folders import DiskWorld
from tests.connectors.helpers import put, settle
from tests.connectors.memory import MemoryWorld
from tests.connectors.world import World


class FolderWorld(DiskWorld):
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

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.gone = folder / "gone"
        self.spoilt: dict[str, str] = {}

    def connect(self, origin: Origin) -> FilesConnector:
        return FilesConnector(origin, FilesOptions(path=str(self.root), max_megabytes=0.01))

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = (self.root / name).read_text(encoding="utf-8")
        put(self.root, name, "too large " * 2_000)

    async def leave(self) -> None:
        self.root.rename(self.gone)

    async def mend(self) -> None:
        if self.gone.exists():
            self.gone.rename(self.root)
        await super().mend()
        for name, text in self.spoilt.items():
            put(self.root, name, text)
        self.spoilt.clear()


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
