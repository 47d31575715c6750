"""Files on a WebDAV server, as wsgidav serves them: nothing here was tried against a live service."""

import ssl
from typing import ClassVar

import pytest
import trustme
from wsgidav.wsgidav_app import WsgiDAVApp

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from ragcore.errors import SourceAuthError, SourceError
from tests.connectors.conformance import Conformance
from tests.connectors.folders import ServedWorld
from tests.connectors.helpers import collect, known_of, listed, put
from tests.fakes.website import Website
from tests.fakes.wsgi import Answer, served

PASSWORD = "app-pass-not-a-real-one"


def is_listing_of_sub(environ) -> bool:
    return environ["REQUEST_METHOD"] == "PROPFIND" and environ["PATH_INFO"].rstrip("/").endswith("/sub")


class WebdavWorld(ServedWorld):
    """A folder on a WebDAV server."""

    cannot: ClassVar = {
        "duplicate": "no folder holds a name twice",
        "restrict": "a file's rights are of the server's users, who are no readers",
    }

    def connect(self, origin: Origin, *, password: str = PASSWORD, **options: object) -> FilesConnector:
        path = f"webdav+http://127.0.0.1:{self.port}/{self.name}/in"
        storage = {"username": "ann", "password": password}
        return FilesConnector(origin, FilesOptions(path=path, storage_options=storage, **options))

    async def spoil(self, name: str) -> None:
        self.fault_at("GET", name, Answer(status="403 Forbidden"))

    async def vanish(self, name: str) -> None:
        def vanishes(environ):
            if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].endswith(name):
                self.server.fault = None
                (self.root / name).unlink()

        self.server.fault = vanishes

    async def break_page(self, status: int = 500) -> None:
        broken = Answer(status=f"{status} Out of order")
        self.server.fault = lambda environ: broken if is_listing_of_sub(environ) else None

    async def rate_limit(self, seconds: int) -> None:
        def once(environ):
            if is_listing_of_sub(environ):
                self.server.fault = None
                return Answer(status="429 Too Many Requests", headers=(("Retry-After", str(seconds)),))
            return None

        self.server.fault = once

    async def expire_token(self) -> None:
        refused = Answer(status="401 Unauthorized", headers=(("WWW-Authenticate", "Basic"),))
        self.server.fault = lambda environ: refused if is_listing_of_sub(environ) else None

    async def break_form(self) -> None:
        page = Answer(status="200 OK", body=b"<!doctype html><html><body>Log in<br></body></html>")
        self.server.fault = lambda environ: page if environ["REQUEST_METHOD"] == "PROPFIND" else None

    def fault_at(self, method: str, name: str, answer: Answer) -> None:
        def fault(environ):
            is_meant = environ["REQUEST_METHOD"] == method and environ["PATH_INFO"].endswith(f"/{name}")
            return answer if is_meant else None

        self.server.fault = fault


@pytest.fixture(scope="module")
def served_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("webdav")
    settings = {
        "provider_mapping": {"/": str(folder)},
        "http_authenticator": {"domain_controller": None, "accept_basic": True, "accept_digest": False,
                               "default_to_digest": False},
        "simple_dc": {"user_mapping": {"*": {"ann": {"password": PASSWORD}}}},
        "verbose": 0, "logging": {"enable": False}, "dir_browser": {"enable": False},
        "lock_storage": False, "property_manager": False,
    }  # fmt: skip
    with served(WsgiDAVApp(settings)) as faulty:
        yield faulty, folder


@pytest.fixture
def world(served_folder, monkeypatch, tmp_path):
    monkeypatch.setattr("connectors.files.remote.infos._FRESH", 0.0)
    server, folder = served_folder
    server.fault = None
    return WebdavWorld(server, folder / tmp_path.name)


class TestServer(Conformance):
    """The suite, on a WebDAV server."""

    at_length_in_soak = True


async def test_names_that_an_address_would_take_for_its_own_are_read(world, tmp_path):
    origin = Origin(source="s", folder=tmp_path)
    names = ["a%20b.md", "c+d.md", "e&f=g.md", "sub dir/100%.md", "f#o?/b%20c/d.md", "x;y.md", "[z].md"]
    for name in names:
        await world.add(name, f"text of {name}")
    documents, failures, _, _ = await collect(world.connect(origin).changes(None, {}))
    assert not failures
    assert {identity: document.content.decode() for identity, document in documents.items()} == {
        f"s:{name}": f"text of {name}" for name in names
    }
    assert documents["s:a%20b.md"].url.endswith("/in/a%2520b.md")


async def test_what_is_unchanged_costs_one_question_a_folder(world, tmp_path):
    origin = Origin(source="s", folder=tmp_path)
    for number in range(30):
        await world.add(f"{number % 3}/{number}.md", f"text {number}")
    documents, _, _, cursor = await collect(world.connect(origin).changes(None, {}))
    world.server.asked.clear()
    connector = world.connect(origin)
    again, _, _, _ = await collect(connector.changes(cursor, known_of(documents)))
    assert not again
    assert (await listed(connector))[0] == documents.keys()
    assert len(world.server.asked) == 1 + 4, "the root itself, and what it and three folders hold"
    await world.change("0/0.md", "changed")
    world.server.asked.clear()
    again, _, _, _ = await collect(world.connect(origin).changes(cursor, known_of(documents)))
    assert again.keys() == {"s:0/0.md"}
    assert len(world.server.asked) == 5 + 2, "its content, and whether it has stayed as it was"


async def test_a_file_that_changes_while_it_is_read_is_read_again(world, tmp_path):
    await world.add("a.md", "one")
    changes = ["two and", "three and more"]

    def rewrite(environ):
        if environ["REQUEST_METHOD"] == "GET" and changes:
            put(world.root, "a.md", changes.pop(0))

    world.server.fault = rewrite
    documents, failures, _, _ = await collect(world.connect(Origin(source="s", folder=tmp_path)).changes(None, {}))
    assert not failures
    assert documents["s:a.md"].content == b"three and more"


async def test_a_file_that_never_stands_still_is_told(world, tmp_path):
    await world.add("a.md", "one")
    await world.add("b.md", "calm")
    sizes = iter(range(1, 1000))

    def rewrite(environ):
        if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].endswith("a.md"):
            put(world.root, "a.md", "x" * next(sizes))

    world.server.fault = rewrite
    documents, failures, _, _ = await collect(world.connect(Origin(source="s", folder=tmp_path)).changes(None, {}))
    assert documents.keys() == {"s:b.md"}
    assert failures["s:a.md"].reason == "it kept changing while it was read"


async def test_a_file_just_written_is_read_again_until_its_time_tells(world, tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.files.remote.infos._FRESH", 120.0)
    origin = Origin(source="s", folder=tmp_path)
    await world.add("fresh.md", "old")
    await world.late("settled.md", "text")
    documents, _, _, _ = await collect(world.connect(origin).changes(None, {}))
    assert documents["s:fresh.md"].version == ""
    await world.add("fresh.md", "new")  # within the same second, with the same size
    again, _, _, _ = await collect(world.connect(origin).changes(None, known_of(documents)))
    assert {identity: document.content for identity, document in again.items()} == {"s:fresh.md": b"new"}


async def test_a_wrong_password_is_told_without_it(world, tmp_path, caplog):
    caplog.set_level(0)
    await world.add("a.md", "one")
    wrong = "wrong-and-secret"
    with pytest.raises(SourceAuthError, match="refused the credential") as refused:
        await collect(world.connect(Origin(source="s", folder=tmp_path), password=wrong).changes(None, {}))
    assert refused.value.mend
    assert wrong not in str(refused.value)
    assert wrong not in caplog.text


async def test_a_certificate_that_nobody_vouches_for_is_told(tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with Website(tls=context) as site:
        options = FilesOptions(path=f"webdav://127.0.0.1:{site.port}/in")
        with pytest.raises(SourceError, match="its TLS certificate could not be verified; mend the certificate"):
            await collect(FilesConnector(Origin(source="s", folder=tmp_path), options).changes(None, {}))
        assert not site.requests


async def test_a_closed_folder_covers_what_is_in_it(world, tmp_path):
    await world.add("a.md", "one")
    await world.add("sub/b.md", "two")
    forbidden = Answer(status="403 Forbidden")
    world.server.fault = lambda environ: forbidden if is_listing_of_sub(environ) else None
    documents, failures, _, _ = await collect(world.connect(Origin(source="s", folder=tmp_path)).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert failures["s:sub/"].covers == "s:sub/"
