"""What the worlds of forges do alike: files of a branch, and issues with a comment each."""

import abc
from datetime import datetime, timedelta
from typing import Any, ClassVar

from tests.connectors.served import ServedWorld


class ForgeWorld(ServedWorld):
    """One repository of a forge, whose ``server`` has a clock; ``place`` begins the ids of its documents."""

    kinds: ClassVar[tuple[str, ...]]
    place: ClassVar[str]

    def __init__(self, server: Any, repository: Any) -> None:
        super().__init__(server)
        self.repository = repository

    async def skew(self, seconds: int) -> None:
        self.server.clock.now = datetime.now(self.server.clock.now.tzinfo) + timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        self.server.garbled.clear()


class ForgeFiles(ForgeWorld):
    """Files of a branch."""

    cannot: ClassVar = {
        "duplicate": "a commit holds a path once",
        "vanish": "a commit holds what it lists, for good",
        "late": "Git's hashes tell what has changed, not times",
    }
    kinds = ("files",)

    def __init__(self, server: Any, repository: Any) -> None:
        super().__init__(server, repository)
        self.spoilt: dict[str, str] = {}

    def identity(self, name: str) -> str:
        return f"{self.place}{name}"

    async def add(self, name: str, text: str) -> None:
        self.repository.write(name, text)

    change = add

    async def delete(self, name: str) -> None:
        self.repository.write(name, None)

    async def rename(self, old: str, new: str) -> None:
        self.repository.files[new] = self.repository.files.pop(old)
        self.repository.commit()

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = self.repository.files[name].decode()
        self.repository.write(name, "too large " * 2_000)

    async def mend(self) -> None:
        await super().mend()
        for name, text in self.spoilt.items():
            self.repository.write(name, text)
        self.spoilt.clear()


class ForgeIssues(ForgeWorld):
    """Issues with a comment each."""

    kinds = ("issues",)

    def __init__(self, server: Any, repository: Any) -> None:
        super().__init__(server, repository)
        self.numbers: dict[str, int] = {}

    @abc.abstractmethod
    def opened(self, title: str, text: str) -> int:
        """Open an issue with a comment; return its number."""

    def identity(self, name: str) -> str:
        return f"{self.place}{self.numbers.get(name, 9_999)}"

    async def add(self, name: str, text: str) -> None:
        self.numbers[name] = self.opened(name, text)

    async def change(self, name: str, text: str) -> None:
        self.repository.edit(self.repository.issues[self.numbers[name]], text)

    async def delete(self, name: str) -> None:
        del self.repository.issues[self.numbers[name]]

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        self.repository.issues[self.numbers[name]].updated -= timedelta(minutes=4)

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.numbers[name])

    async def spoil(self, name: str) -> None:
        self.server.garbled.add(self.numbers[name])

    async def vanish(self, name: str) -> None:
        self.server.vanishing.add(self.numbers[name])

    async def truncate(self) -> None:
        self.server.cut = True
