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
from tests.connectors.world import World
from tests.servers.google_drive import DOC, Drive, GoogleServer, Item, problem, user

ME = "ann@x.example"


class DriveWorld(World):
    """A folder of My Drive with another one in it, told five files and five changes a page."""

    cannot: ClassVar = {"rename": "a file keeps its id whatever it is called (test_google_drive.py)"}

    def __init__(self, server: GoogleServer) -> None:
        self.server, self.drive = server, server.drive
        self.ids: dict[str, str] = {}
        self.top = self.place()
        self.inner = self.drive.folder("inner", self.top)
        self.spoilt: set[str] = set()
        self.is_away = False

    def place(self) -> str:
        return self.drive.folder("docs")

    def options(self) -> dict[str, object]:
        return {"folders": (self.top,)}

    def content(self, text: str) -> bytes:
        return text.encode()

    def kind(self) -> dict[str, object]:
        return {}

    def connect(self, origin: Origin) -> GoogleDriveConnector:
        away = {"api_url": "http://127.0.0.1:9", "token_url": "http://127.0.0.1:9/token"}
        return connector(self.server, origin, **self.options(), **(away if self.is_away else {}))

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

    async def break_page(self, status: int = 500) -> None:
        self._break(lambda: problem(status))

    async def rate_limit(self, seconds: int) -> None:
        def once() -> web.Response:
            self.server.fault = None
            return problem(429, "rateLimitExceeded", headers={"Retry-After": str(seconds)})

        self._break(once)

    async def expire_token(self) -> None:
        def expired() -> web.Response:
            self.server.bearer, self.server.refresh = "b2", "r2"
            return problem(401)

        self._break(expired)

    async def truncate(self) -> None:
        self.server.cut, self.server.oldest = True, 1_000_000  # a cut log of changes hides changes; a cut list, files

    async def skew(self, seconds: int) -> None:
        self.drive.now = datetime.now(self.drive.now.tzinfo) + timedelta(seconds=seconds)

    async def break_form(self) -> None:
        self.server.is_html = True

    async def leave(self) -> None:
        self.is_away = True

    async def mend(self) -> None:
        server = self.server
        server.fault, server.bearer, server.refresh = None, "b1", "r1"
        server.cut, server.oldest, server.is_html, self.is_away = False, 0, False, False
        server.twice.clear()
        server.before_reading = lambda item: None
        for identity in self.spoilt:
            self.drive.edit(identity, can_download=True)
        self.spoilt.clear()

    def _break(self, answer) -> None:
        asked = 0

        def fault(request: web.Request) -> web.Response | None:
            nonlocal asked
            is_list = request.path in {"/drive/v3/files", "/drive/v3/changes"}
            asked += is_list
            return answer() if is_list and asked >= 2 else None

        self.server.fault = fault


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
