"""A private PostgreSQL server for tests: on a free loopback port, in a folder of its own, gone afterwards.

``postgres_url``, which every test can ask for, is the address of an empty database; ``postgres_tables_url`` that of one
with our tables, all empty, for what opens it as a Database and changes no table. Each test has one under a name of its
own. To make a database and drop it takes the server ten times as long as to empty it, so it is emptied and renamed.

The server is the machine's own, where it has one (the wheel's knows no TLS), else that of the package pgserver, which
has a wheel for most machines. Without either the test is skipped with the reason.
"""

import asyncio
import contextlib
import importlib.util
import itertools
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from tests.fakes.ports import free_port

_PACKAGED = pathlib.Path("/usr/lib/postgresql")
"""Where Debian puts servers, which aren't on its PATH."""

_numbers = itertools.count(1)

_LEFT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
"""Ends the connections that a test left open."""

_NOTHING = """
    DO $$ DECLARE one record; BEGIN
      FOR one IN SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
      LOOP EXECUTE format('DROP SCHEMA %I CASCADE', one.name); END LOOP;
      CREATE SCHEMA public AUTHORIZATION pg_database_owner;
      GRANT USAGE ON SCHEMA public TO PUBLIC;
    END $$
"""
"""Makes a database as empty as a new one is."""

_NO_ROWS = """
    DO $$ DECLARE one record; BEGIN
      FOR one IN SELECT oid::regclass AS name FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
          AND pg_relation_size(oid) > 0
      LOOP EXECUTE format('TRUNCATE %s RESTART IDENTITY CASCADE', one.name); END LOOP;
      INSERT INTO counters (name, value) VALUES ('revision', 0), ('instance', floor(random() * 2.0 ^ 48));
    END $$
"""
"""Makes our tables as empty as new ones are, with another instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A running server; ``trust`` authentication, so any password will do."""

    port: int
    emptied: dict[str, list[str]] = field(default_factory=lambda: {_NOTHING: [], _NO_ROWS: []})
    """The databases that nobody uses, by how they are emptied."""

    def url(self, database: str) -> str:
        """Return SQLAlchemy's address of one of its databases."""
        return f"postgresql+asyncpg://postgres@127.0.0.1:{self.port}/{database}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Start one server for the whole session, or skip."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed, and pgserver has no wheel for this Python or machine")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="citebot-pg-"))
    try:
        with _running(binaries, folder) as port:
            yield PostgresServer(port=port)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """Give the address of an empty database, which is nobody else's and gone after the test."""
    with _database(postgres_server, _NOTHING) as name:
        yield postgres_server.url(name)


@pytest.fixture
def postgres_tables_url(postgres_server: PostgresServer) -> Iterator[str]:
    """Give the address of a database with our tables, all empty, which is nobody else's and gone after the test."""
    with _database(postgres_server, _NO_ROWS) as name:
        yield postgres_server.url(name)


@contextlib.contextmanager
def _database(server: PostgresServer, emptying: str) -> Iterator[str]:
    """Give the name of a database that no test had before; the first one with tables gets them when it is opened."""
    name, spare = f"test_{os.getpid()}_{next(_numbers)}", server.emptied[emptying]
    if spare:
        _administer(server, f"ALTER DATABASE {spare.pop()} RENAME TO {name}")
    else:
        _administer(server, f"CREATE DATABASE {name}")
    yield name
    try:
        # Whoever is still at work there, such as a process that a test forgot, finds no database of this name.
        _administer(server, _LEFT.format(name), f"ALTER DATABASE {name} RENAME TO spare_{name}")
        _administer(server, emptying, database=f"spare_{name}")
    except _refusals():
        # An older server, or a test that never opened it: there are no tables.
        for one in (name, f"spare_{name}"):
            _administer(server, f"DROP DATABASE IF EXISTS {one} WITH (FORCE)")
    else:
        spare.append(f"spare_{name}")


def _binaries() -> pathlib.Path | None:
    """Return the newest folder of the machine that holds a server, or that of a wheel."""
    packaged = sorted(_PACKAGED.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    on_path = [pathlib.Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    package = importlib.util.find_spec("pgserver")
    in_wheel = [pathlib.Path(package.origin).parent / "pginstall" / "bin"] if package and package.origin else []
    for folder in [*packaged, *on_path, *in_wheel]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


@contextlib.contextmanager
def _running(binaries: pathlib.Path, folder: pathlib.Path) -> Iterator[int]:
    data = folder / "data"
    data.mkdir(mode=0o700)
    user = _hand_over(folder)
    initdb: list[str | pathlib.Path] = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
    initdb += ["-E", "UTF8", "--no-locale", "--no-sync"]
    try:
        made = subprocess.run(initdb, user=user, cwd=folder, capture_output=True, text=True, check=False)
    except PermissionError as error:  # a wheel in a folder that is closed to whom root hands it over
        pytest.skip(f"initdb may not be run by user {user}: {error}")
    if made.returncode:
        pytest.skip(f"initdb failed: {made.stderr.strip()[-300:]}")
    port = free_port()
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off"}
    command: list[str | pathlib.Path] = [binaries / "postgres", "-D", data]
    command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
    try:
        _wait_until_ready(server, port, folder / "log")
        yield port
    finally:
        server.send_signal(2)  # SIGINT: the fast shutdown, which does not wait for clients
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        server.kill()
        server.wait()


def _hand_over(folder: pathlib.Path) -> int | None:
    """PostgreSQL refuses to run as root: give the folder to somebody else, and return whom; None when not root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            for path in (folder, *folder.iterdir()):
                os.chown(path, entry.pw_uid, -1)
            return entry.pw_uid
    pytest.skip("PostgreSQL does not run as root, and there is no other user here")


def _wait_until_ready(server: "subprocess.Popen[bytes]", port: int, log: pathlib.Path) -> None:
    async def ready() -> None:
        import asyncpg  # type: ignore[import-untyped]

        async with asyncio.timeout(30):
            while server.poll() is None:
                try:
                    connection = await asyncpg.connect(
                        host="127.0.0.1", port=port, user="postgres", database="postgres", password="x"
                    )
                except (OSError, asyncpg.CannotConnectNowError):
                    await asyncio.sleep(0.05)
                else:
                    await connection.close()
                    return

    _run(ready())
    if server.poll() is not None:
        pytest.skip(f"the PostgreSQL server did not start: {log.read_text(errors='replace')[-300:]}")


def _refusals() -> type[Exception]:
    import asyncpg

    refused: type[Exception] = asyncpg.PostgresError
    return refused


def _administer(server: PostgresServer, *statements: str, database: str = "postgres") -> None:
    async def run() -> None:
        import asyncpg

        connection = await asyncpg.connect(
            host="127.0.0.1", port=server.port, user="postgres", database=database, password="x"
        )
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    _run(run())


def _run(work: Coroutine[object, object, None]) -> None:
    """Run to the end in a loop of its own: the one of pytest-asyncio belongs to the tests."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()
