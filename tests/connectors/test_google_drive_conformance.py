"""The conformance suite on ``google_drive``: files of a folder, and Google's own documents in a shared drive."""

from datetime import datetime, timedelta
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.google_drive import GoogleDriveConnector
from ragcore.types import SourceDocument
from tests.connectors.conformance import Conformance
from tests.connectors.drives import connector, office, words
from tests.connectors.served import NOWHERE, ServedWorld
from tests.servers.google_drive import DOC, Drive, GoogleServer, Item, problem, user

ME = "ann@x.example"


class DriveWorld(ServedWorld):
    """A folder of My Drive with another one in it, told five files and five changes a page."""

    cannot: ClassVar = {"rename": "a file keeps its id whatever it is called (test_google_drive.py)"}
    faulty = ("fault", "is_html", "bearer", "refresh", "cut", "oldest", "before_reading")
    away: ClassVar = {"api_url": NOWHERE, "token_url": f"{NOWHERE}/token"}

    def __init__(self, server: GoogleServer) -> None:
        super().__init__(server)
        self.drive = server.drive
        self.ids: dict[str, str] = {}
        self.top = self.place()
        self.inner = self.drive.folder("inner", self.top)
        self.spoilt: set[str] = set()

    def place(self) -> str:
        return self.drive.folder("docs")

    def options(self) -> dict[str, object]:
        return {"folders": (self.top,)}

    def content(self, text: str) -> bytes:
        return text.encode()

    def kind(self) -> dict[str, object]:
        return {}

    def source(self, origin: Origin, **changes: object) -> GoogleDriveConnector:
        return connector(self.server, origin, **self.options(), **changes)

    def is_list(self, asked: web.Request) -> bool:
        return asked.path in {"/drive/v3/files", "/drive/v3/changes"}

    def refusal(self, status: int) -> web.Response:
        return problem(status, "rateLimitExceeded" if status == 429 else "")

    def revoke(self) -> None:
        self.server.bearer, self.server.refresh = "b2", "r2"

    def identity(self, name: str) -> str:
        return self.ids.get(name, "none")

    async def add(self, name: str, text: str) -> None:
        parent = self.inner if len(self.ids) % 2 else self.top
        self.ids[name] = self.drive.put(name, self.content(text), parent, **self.kind())

    async def change(self, name: str, text: str) -> None:
        self.drive.write(self.ids[name], self.content(text))

    async def delete(self, name: str) -> None:
        self.drive.delete(self.ids[name])

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text)
        self.drive.items[self.ids[name]].modified -= timedelta(minutes=4)

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.ids[name])

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        self.drive.share(self.ids[name], *(user(address) for address in sorted(addresses - {ME})))

    async def spoil(self, name: str) -> None:
        self.drive.edit(self.ids[name], can_download=False)
        self.spoilt.add(self.ids[name])

    async def vanish(self, name: str) -> None:
        def goes(item: Item) -> None:
            if item.id == self.ids[name]:
                self.drive.delete(item.id)

        self.server.before_reading = goes

    async def truncate(self) -> None:
        self.server.cut, self.server.oldest = True, 1_000_000  # a cut log of changes hides changes; a cut list, files

    async def skew(self, seconds: int) -> None:
        self.drive.now = datetime.now(self.drive.now.tzinfo) + timedelta(seconds=seconds)

    async def mend(self) -> None:
        await super().mend()
        for identity in self.spoilt:
            self.drive.edit(identity, can_download=True)
        self.spoilt.clear()


class SharedWorld(DriveWorld):
    """A whole shared drive, of Google's own documents."""

    def place(self) -> str:
        return self.drive.shared("shared-1")

    def options(self) -> dict[str, object]:
        return {"shared_drives": (self.top,)}

    def content(self, text: str) -> bytes:
        return office(text)

    def kind(self) -> dict[str, object]:
        return {"mime": DOC}

    def text_of(self, document: SourceDocument) -> str:
        return words(document.content)


class TestFolder(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with GoogleServer(Drive(me=ME)).serving() as server:
            yield DriveWorld(server)


@pytest.mark.soak  # its ways are those of the folder, and its readers are held in test_google_drive_readers.py
class TestSharedDrive(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self):
        async with GoogleServer(Drive(me=ME)).serving() as server:
            yield SharedWorld(server)
