"""Files on an SFTP server, as asyncssh serves them: nothing here was tried against a live service."""

import asyncio
import os
import threading
import time
from typing import ClassVar

import asyncssh
import pytest

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from ragcore.errors import SourceAuthError, SourceError, SourceGone
from tests.connectors.conformance import Conformance
from tests.connectors.folders import ServedWorld
from tests.connectors.helpers import collect, put
from tests.fakes.sftp_server import PASSWORD, USER, sftp_server


class SftpWorld(ServedWorld):
    """A folder on an SFTP server."""

    cannot: ClassVar = {
        "duplicate": "no folder holds a name twice",
        "restrict": "a file's rights are of the server's users, who are no readers",
        "rate_limit": "SFTP has no answer that asks to wait",
        "expire_token": "SFTP asks for a login once, when a connection begins: a refused one is tested below",
        "break_form": "what is no SSH is no connection: that is tested below",
    }

    def connect(self, origin: Origin, *, password: str = PASSWORD, known: str = "", path: str = "") -> FilesConnector:
        storage = {"username": USER, "password": password, "known_hosts": known or self.server.known_hosts}
        url = f"sftp://127.0.0.1:{self.port}{path or f'/{self.name}/in'}"
        return FilesConnector(origin, FilesOptions(path=url, storage_options=storage))

    async def spoil(self, name: str) -> None:
        self.fault_at("open", name, asyncssh.SFTPPermissionDenied("no"))

    async def vanish(self, name: str) -> None:
        def vanishes(call, path):
            if call == "open" and path.endswith(f"/{name}"):
                self.server.fault = None
                (self.root / name).unlink()

        self.server.fault = vanishes

    async def break_page(self, status: int = 500) -> None:
        self.fault_at("list", "sub", asyncssh.SFTPFailure("out of order"))

    def fault_at(self, call: str, name: str, error: Exception) -> None:
        at = call

        def fault(call: str, path: str) -> None:
            if call == at and path.endswith(f"/{name}"):
                raise error

        self.server.fault = fault


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with sftp_server(tmp_path_factory.mktemp("sftp"), tmp_path_factory.mktemp("keys")) as faults:
        yield faults


@pytest.fixture
def world(server, monkeypatch, tmp_path):
    monkeypatch.setattr("connectors.files.remote.infos._FRESH", 0.0)
    server.fault = None
    return SftpWorld(server, server.folder / tmp_path.name)


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


class TestSftp(Conformance):
    """The suite, on an SFTP server."""

    at_length_in_soak = True


async def test_a_host_that_is_not_known_is_refused(world, origin, tmp_path):
    await world.add("a.md", "one")
    (tmp_path / "none").write_text("")
    with pytest.raises(SourceAuthError, match="host key") as refused:
        await collect(world.connect(origin, known=str(tmp_path / "none")).changes(None, {}))
    assert "known hosts" in refused.value.mend


async def test_without_a_word_on_hosts_an_unknown_one_is_refused(world, origin, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    url = f"sftp://127.0.0.1:{world.port}/{world.name}/in"
    storage = {"username": USER, "password": PASSWORD}
    connector = FilesConnector(origin, FilesOptions(path=url, storage_options=storage))
    with pytest.raises(SourceAuthError, match="host key"):
        await collect(connector.changes(None, {}))


async def test_a_wrong_password_is_told_without_it(world, origin, caplog):
    caplog.set_level(0)
    with pytest.raises(SourceAuthError, match="refused the credential") as refused:
        await collect(world.connect(origin, password="wrong-and-secret").changes(None, {}))
    assert "wrong-and-secret" not in str(refused.value) + caplog.text


async def test_a_missing_folder_is_gone_and_never_empty(world, origin):
    with pytest.raises(SourceGone, match="mend `path`"):
        await collect(world.connect(origin, path="/none/such").changes(None, {}))


async def test_what_is_no_ssh_server_is_told(world, origin):
    async def answer(_reader, writer):
        writer.write(b"HTTP/1.1 400 No\r\n\r\n")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1")
    world.port = listener.sockets[0].getsockname()[1]
    with pytest.raises(SourceError):
        await collect(world.connect(origin).changes(None, {}))
    listener.close()


async def test_links_are_passed_by_and_special_files_too(world, origin):
    await world.add("a.md", "one")
    put(world.server.folder, "outside.md", "secret")
    (world.root / "out.md").symlink_to(world.server.folder / "outside.md")
    (world.root / "loop").symlink_to(world.root)
    os.mkfifo(world.root / "fifo.md")
    documents, failures, _, _ = await collect(world.connect(origin).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert not failures


async def test_a_name_that_is_no_utf8_is_told(world, origin):
    await world.add("a.md", "one")
    try:
        os.mknod(os.fsencode(world.root) + b"/caf\xe9.md")
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    documents, failures, _, _ = await collect(world.connect(origin).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert failures["s:caf\\xe9.md"].reason == "its name is not valid UTF-8"


async def test_a_server_that_hangs_is_left_at_once_when_the_run_is_cancelled(world, origin):
    await world.add("sub/a.md", "one")
    hung, let_go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def hang(call, path):
        if call == "list" and path.endswith("/sub"):
            loop.call_soon_threadsafe(hung.set)
            let_go.wait(30)

    world.server.fault = hang
    run = asyncio.create_task(collect(world.connect(origin).changes(None, {})))
    try:
        await asyncio.wait_for(hung.wait(), 20)
        ticks = 0
        began = time.monotonic()
        run.cancel()
        while not run.done() and time.monotonic() - began < 10:
            await asyncio.sleep(0.01)
            ticks += 1
        assert run.cancelled()
        assert ticks < 600, "closing has its own limit"
    finally:
        let_go.set()


async def test_a_server_that_hangs_is_given_up(world, origin, monkeypatch):
    monkeypatch.setattr("connectors.files.remote.place._PATIENCE", 0.3)
    let_go = threading.Event()
    await world.add("sub/a.md", "one")
    world.server.fault = lambda call, path: let_go.wait(30) if (call, path[-4:]) == ("list", "/sub") else None
    try:
        with pytest.raises(SourceError, match="did not answer in time"):
            await collect(world.connect(origin).changes(None, {}))
    finally:
        let_go.set()
