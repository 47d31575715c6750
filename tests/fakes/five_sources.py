"""Five sources of as many kinds, in a test's hand: each is edited, broken and mended while a process reads it."""

import pathlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import Protocol

from aiohttp import web

from tests.connectors.helpers import put
from tests.connectors.notes import NotesServer
from tests.connectors.webs import linked
from tests.fakes.website import Website
from tests.servers.github import GithubServer

ANCHOR = "anchor"
"""A document that always stays, so that no listing misses everything."""
FAULTS = ("away", "refuses", "busy", "broken document")


class Source(Protocol):
    """One source: its settings, its documents by name, and its faults."""

    settings: str

    def write(self, name: str, text: str) -> None:
        """Add a document or change it."""
        ...

    def delete(self, name: str) -> None:
        """Delete a document; nothing happens when there is none."""
        ...

    def fail(self, fault: str, name: str) -> None:
        """Break it in one of the ways of ``FAULTS``; one that this source can't break in is passed over."""
        ...

    def mend(self) -> None:
        """Let it be whole again."""
        ...


class Folder:
    """Type ``files``."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder / "docs"
        self.away = folder / "away"
        self.settings = 'type = "files"\npath = "docs"'
        self.broken: set[pathlib.Path] = set()

    def _path(self, name: str) -> pathlib.Path:
        return (self.away if self.away.exists() else self.folder) / f"{name}.md"

    def write(self, name: str, text: str) -> None:
        put(self._path(name).parent, f"{name}.md", text)

    def delete(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def fail(self, fault: str, name: str) -> None:
        if fault == "away" and not self.away.exists():
            self.folder.rename(self.away)
        elif fault == "broken document" and not self.away.exists():
            path = self.folder / "rows.jsonl"
            path.write_text('{"id": "r0", "te', encoding="utf-8")
            self.broken.add(path)

    def mend(self) -> None:
        if self.away.exists():
            self.away.rename(self.folder)
        for path in self.broken:
            path.unlink(missing_ok=True)
        self.broken.clear()


class Table:
    """Type ``sql``, with a cursor."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.path = folder / "rows.db"
        self.settings = (
            'type = "sql"\nurl = "sqlite:///rows.db"\n'
            'query = "SELECT id, text, updated_at FROM docs WHERE updated_at >= :since"'
        )
        self.clock = 0
        self._do("CREATE TABLE docs (id TEXT PRIMARY KEY, text TEXT, updated_at TEXT)")
        self.is_away = False

    def _do(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            connection.execute(statement, values)

    @property
    def _table(self) -> str:
        return "away" if self.is_away else "docs"

    def write(self, name: str, text: str) -> None:
        self.clock += 1
        at = f"2026-03-01 {self.clock // 3600:02}:{self.clock // 60 % 60:02}:{self.clock % 60:02}"
        self._do(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", name, text, at)

    def delete(self, name: str) -> None:
        self._do(f"DELETE FROM {self._table} WHERE id = ?", name)

    def fail(self, fault: str, name: str) -> None:
        if fault == "away" and not self.is_away:
            self._do("ALTER TABLE docs RENAME TO away")
            self.is_away = True
        elif fault == "broken document" and name != ANCHOR:
            self.write(name, "")

    def mend(self) -> None:
        if self.is_away:
            self._do("ALTER TABLE away RENAME TO docs")
            self.is_away = False
        self._do("DELETE FROM docs WHERE text = ''")


class Site:
    """Type ``web``."""

    def __init__(self, site: Website) -> None:
        self.site = site
        self.settings = (
            f'type = "web"\nstart_urls = ["{site.url("/")}"]\nnetworks = ["127.0.0.0/8"]\nrequests_per_second = 1000'
        )
        self.texts: dict[str, str] = {}
        self.fault = self.spoiled = ""

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text
        self._show()

    def delete(self, name: str) -> None:
        self.texts.pop(name, None)
        self._show()

    def fail(self, fault: str, name: str) -> None:
        if fault == "broken document":
            self.spoiled = name
        else:
            self.fault = fault
        self._show()

    def mend(self) -> None:
        self.fault = self.spoiled = ""
        self._show()

    def _show(self) -> None:
        self.site.pages.clear()
        paths = [f"/{name}" for name in self.texts]
        self.site.page("/", linked(*paths, title="Start", text="Here begins the handbook of this place."))
        for name, text in self.texts.items():
            self.site.page(f"/{name}", linked("/", title=name, text=text))
        if self.spoiled in self.texts:
            self.site.raises(f"/{self.spoiled}", 500)
        if self.fault:
            _fail(self.site, list(self.site.pages), self.fault)


class Repository:
    """Type ``github``: the files of a branch."""

    def __init__(self, server: GithubServer) -> None:
        self.server = server
        self.repo = server.repo()
        self.settings = (
            f'type = "github"\nurl = "{server.url}"\nrepositories = ["octo/docs"]\nkinds = ["files"]\ntoken = "t1"\n'
            "max_megabytes = 0.01"
        )
        self.spoilt: dict[str, str] = {}

    def write(self, name: str, text: str) -> None:
        self.spoilt.pop(name, None)
        self.repo.write(f"{name}.md", text)

    def delete(self, name: str) -> None:
        if f"{name}.md" in self.repo.files:
            self.spoilt.pop(name, None)
            self.repo.write(f"{name}.md", None)

    def fail(self, fault: str, name: str) -> None:
        match fault:
            case "away":
                self.server.fault = lambda path: web.Response(status=503)
            case "refuses":
                self.server.token = "another"
            case "busy":
                self.server.fault = lambda path: web.Response(status=429, headers={"Retry-After": "2"})
            case _ if f"{name}.md" in self.repo.files and name not in self.spoilt:
                self.spoilt[name] = self.repo.files[f"{name}.md"].decode()
                self.repo.write(f"{name}.md", "too large " * 2_000)

    def mend(self) -> None:
        self.server.fault, self.server.token = None, "t1"
        for name, text in self.spoilt.items():
            self.repo.write(f"{name}.md", text)
        self.spoilt.clear()


class Notes:
    """The type of ``connectors/README.md``, with a cursor and a listing."""

    def __init__(self, server: NotesServer, url: str) -> None:
        self.server = server
        self.settings = f'type = "notes"\nurl = "{url}"\ntoken = "t1"'

    def write(self, name: str, text: str) -> None:
        self.server.put(name, text)

    def delete(self, name: str) -> None:
        self.server.notes.pop(name, None)

    def fail(self, fault: str, name: str) -> None:
        match fault:
            case "away":
                self.server.html = True
            case "refuses":
                self.server.expires = True
            case "busy":
                self.server.wait = 2
            case _ if name in self.server.notes:
                self.server.notes[name].locked = True

    def mend(self) -> None:
        server = self.server
        server.html = server.expires = False
        server.wait, server.token = 0, "t1"
        for note in server.notes.values():
            note.locked = False


def _fail(site: Website, paths: list[str], fault: str) -> None:
    for path in paths:
        if fault == "busy":
            site.raises(path, 429, Retry_After="2")
        else:
            site.raises(path, 401 if fault == "refuses" else 503)


@asynccontextmanager
async def five_sources(folder: pathlib.Path) -> AsyncIterator[dict[str, Source]]:
    """Serve a source of each kind, with an anchor and two more documents in each."""
    async with AsyncExitStack() as stack:
        notes = NotesServer()
        found: dict[str, Source] = {
            "folder": Folder(folder),
            "table": Table(folder),
            "site": Site(await stack.enter_async_context(Website())),
            "code": Repository(await stack.enter_async_context(GithubServer(prefix="/api/v3", limit=10**9).serving())),
            "notes": Notes(notes, await stack.enter_async_context(notes.serving())),
        }
        for name, source in found.items():
            for document in (ANCHOR, "d0", "d1"):
                source.write(document, f"The {document} of the {name} is here from the beginning.")
        yield found


def settings_of(sources: dict[str, Source], data_dir: str) -> str:
    """Return the settings of a bot that reads them once an hour, and now when it is told to."""
    tables = (
        f'[[sources]]\nname = "{name}"\nknowledge_base = "{"closed" if name == "notes" else "kb"}"\n'
        f'schedule = "1h"\n{source.settings}\n'
        for name, source in sources.items()
    )
    return f'data_dir = "{data_dir}"\n' + "\n".join(tables)
