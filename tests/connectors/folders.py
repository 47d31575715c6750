"""Folders on this machine's disk as worlds: as they are, or as a server shows them."""

import os
import pathlib
import time
from typing import Protocol

from tests.connectors.helpers import put
from tests.connectors.world import World
from tests.fakes.ports import free_port


class DiskWorld(World):
    """What is done to a folder whoever shows it; what a test takes away stands in ``away`` until ``mend``."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.root, self.away = folder / "in", folder / "away"
        self.root.mkdir(parents=True)
        self.skewed = 0

    async def add(self, name: str, text: str) -> None:
        self.date(put(self.root, name, text), self.skewed)

    change = add

    async def delete(self, name: str) -> None:
        (self.root / name).unlink()

    async def rename(self, old: str, new: str) -> None:
        (self.root / old).rename(self.root / new)

    async def late(self, name: str, text: str) -> None:
        self.date(put(self.root, name, text), -300)

    async def skew(self, seconds: int) -> None:
        self.skewed = seconds

    async def truncate(self) -> None:
        self.away.mkdir(exist_ok=True)
        for path in sorted(self.root.glob("*.md"))[2:]:
            path.rename(self.away / path.name)

    async def mend(self) -> None:
        for path in self.away.glob("*.md"):
            path.rename(self.root / path.name)

    @staticmethod
    def date(path: pathlib.Path, seconds: int) -> None:
        at = time.time() + seconds
        os.utime(path, (at, at))


class Server(Protocol):
    """A server in a thread, which calls ``fault`` at each request, if there is one."""

    port: int
    fault: object | None


class ServedWorld(DiskWorld):
    """A folder on a server; its second page is the folder in it."""

    def __init__(self, server: Server, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.server, self.port, self.name = server, server.port, folder.name

    async def leave(self) -> None:
        self.port = free_port()

    async def mend(self) -> None:
        self.port, self.server.fault = self.server.port, None
        await super().mend()
