"""The one SQL database: SQLite beside the data, or PostgreSQL when its address says so; the same tables in both.

SQLite runs in WAL mode: readers never wait for the writer. Its writers queue in here rather than poll for the file's
lock, so a write transaction must not open another one.
"""

import asyncio
import functools
import os
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, create_mock_engine, event, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ragcore.errors import ConfigError, StoreError
from ragcore.stores import one_step
from ragcore.stores.schema import counters, metadata
from ragcore.stores.writing import Writer

SCHEMA_VERSION = "0024"
"""The newest revision in migrations/versions."""

BUSY_TIMEOUT_MS = 30_000
"""How long SQLite waits for another process (a backup, a second command) before giving up."""

PAGE = 500
"""Most ids in one statement: PostgreSQL and older SQLite take 32,767 and 999 variables."""

_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -32768",
    "PRAGMA journal_size_limit = 67108864",
)
T = TypeVar("T")

_MADE_BY = {"sqlite": "sqlite+aiosqlite://", "postgresql": "postgresql+asyncpg://"}
_ADVISORY_LOCK = 0x43_69_74_65  # any fixed number: creating the tables is for one process at a time
_CHANGING_LOCK = _ADVISORY_LOCK + 1


class Database:
    """An open database whose tables are those of ragcore.stores.schema."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Wrap an engine; use Database.open."""
        self._engine = engine
        self._sqlite = engine.dialect.name == "sqlite"
        # PostgreSQL's own default shows each statement what was committed before it.
        self._reading = engine if self._sqlite else engine.execution_options(isolation_level="REPEATABLE READ")
        self._reader = _reader(engine.url) if self.path else None
        self._writing = asyncio.Lock()
        self._writer = Writer(self._reader, self._writing) if self._reader else None
        self._changing = asyncio.Lock()

    @classmethod
    async def open(cls, where: str | Path) -> "Database":
        """Open, and create or migrate where needed.

        Args:
            where: the path of a SQLite file (its folder is created), or an address such as
                ``postgresql+asyncpg://user@host/name``.

        Raises:
            ConfigError: the address cannot be read, or its driver is not installed.
            StoreError: the file is no database, cannot be opened, or was written by a newer Citebot.
        """
        url = _url(where)
        if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        database = cls(_engine(url))
        try:
            if database.path is not None:
                create_private(database.path)
            await database._prepare()
        except (DBAPIError, OSError) as error:
            await database.close()
            raise StoreError(f"{_shown(url)} cannot be opened as a database: {_cause(error)}") from error
        except StoreError:
            await database.close()
            raise
        return database

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite rather than PostgreSQL."""
        return self._sqlite

    @property
    def path(self) -> Path | None:
        """Return the SQLite file, None for PostgreSQL or memory."""
        name = self._engine.url.database
        return Path(name) if self._sqlite and name and name != ":memory:" else None

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Open a write transaction: committed at the end, rolled back on an error. Never nest two.

        Raises:
            StoreError: the database failed: its disk is full, its file is damaged, its server is away.
        """
        with _failures_told():
            if not self._sqlite:
                async with self._engine.begin() as connection:
                    yield connection
                return
            async with self._writing, self._engine.connect() as connection:
                await connection.execution_options(citebot_write=True)
                async with connection.begin():
                    yield connection

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Hold the right to change rows and indexes together; one at a time, also among processes.

        Raises:
            StoreError: the database failed.
        """
        async with self._changing:
            if self._sqlite:
                yield
                return
            with _failures_told():
                async with self._engine.begin() as connection:
                    await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CHANGING_LOCK})
                    yield

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection for reading; what it reads in one block is one state of the database.

        Raises:
            StoreError: the database failed.
        """
        with _failures_told():
            async with self._reading.connect() as connection:
                yield connection

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work``, which only reads, on a connection; what it reads is one state of the database.

        For what every question needs: a SQLite file is read in one step of a thread, where ``connect`` would go to a
        thread and back for each of the eight or more calls that a statement takes.

        Raises:
            StoreError: the database failed.
        """
        with _failures_told():
            if self._reader is not None:
                return await asyncio.to_thread(_run, self._reader, work)
            async with self._reading.connect() as connection:
                return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a write transaction of its own: committed on return, rolled back on an error.

        For what every question needs, as ``read``: see ragcore.stores.writing. Never nest it in another transaction.

        Raises:
            StoreError: the database failed.
        """
        if self._writer is None:
            async with self.begin() as connection:
                return await connection.run_sync(work)
        with _failures_told():
            return await self._writer.run(work)

    async def close(self) -> None:
        """Close all connections; the last one folds the write-ahead log into the file."""
        if self._writer is not None:
            await self._writer.close()
        if self._reader is not None:
            await asyncio.to_thread(self._reader.dispose)
        await self._engine.dispose()

    async def _prepare(self) -> None:
        if self._writer is not None and self._reader is not None:
            # Some sixty statements, each of which an asynchronous connection would take to a thread and back.
            if await asyncio.to_thread(_run, self._reader, _version) != SCHEMA_VERSION:
                await self._writer.run(_create_or_migrate)
            return
        async with self._engine.connect() as connection:
            found = await connection.run_sync(_version)
        if found == SCHEMA_VERSION:
            return
        async with self.begin() as connection:
            if not self._sqlite:
                await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
            await connection.run_sync(_create_or_migrate)


def create_private(file: Path) -> None:
    """Create a file that only its owner may open, unless it is there; SQLite gives its log the same permissions.

    Raises:
        OSError: it cannot be created.
    """
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))


@contextmanager
def _failures_told() -> Iterator[None]:
    """Say in our own words that the database failed; a statement that was wrong in itself stays what it is."""
    try:
        yield
    except (IntegrityError, ProgrammingError, DataError):
        raise
    except (DBAPIError, PoolTimeoutError) as error:
        raise StoreError(f"the database failed: {_cause(error)}") from error
    except OSError as error:
        # Where it refuses, has no address or lets us wait, the driver says so in the system's own errors.
        raise StoreError(f"the database cannot be reached: {_cause(error)}") from error


def _url(where: str | Path) -> URL:
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite+aiosqlite", database=str(where))
    url = make_url(where)
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
    backend = url.drivername.split("+")[0]
    if backend not in drivers:
        raise ConfigError(f"database.url: {backend!r} is not supported; use postgresql+asyncpg://... or leave it out")
    return url.set(drivername=drivers[backend])


def _engine(url: URL) -> AsyncEngine:
    # An error names its statement, and would name its values: questions, passages, tokens.
    if url.get_backend_name() != "sqlite":
        try:
            return create_async_engine(url, pool_size=5, max_overflow=10, pool_pre_ping=True, hide_parameters=True)
        except ModuleNotFoundError as error:
            raise ConfigError("database.url: PostgreSQL needs asyncpg: pip install 'citebot[postgres]'") from error
    where = url.database or ":memory:"

    def open_file() -> sqlite3.Connection:
        connection = sqlite3.connect(where, check_same_thread=False)
        try:
            _on_connect(connection, None)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    engine = create_async_engine(url, async_creator=lambda: one_step.connect(open_file), hide_parameters=True)
    _set_up(engine.sync_engine)
    return engine


def _reader(url: URL) -> Engine:
    """Return an engine for reading a SQLite file in threads; the connection used last has the warmest cache."""
    engine = create_engine(url.set(drivername="sqlite+pysqlite"), pool_use_lifo=True, hide_parameters=True)
    event.listen(engine, "connect", _on_connect)
    _set_up(engine)
    return engine


def _run(engine: Engine, work: Callable[[Connection], T]) -> T:
    with engine.connect() as connection:
        return work(connection)


def _set_up(engine: Engine) -> None:
    """Have SQLite's transactions begin as ours do."""
    event.listen(engine, "begin", _on_begin)
    event.listen(engine, "invalidate", _on_invalidate)


def _on_connect(connection: Any, _record: object) -> None:
    # Python's own transaction handling opens transactions late and not for reading: we say BEGIN ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _on_begin(connection: Connection) -> None:
    # A transaction that reads before it writes would fail at once when somebody else wrote in between.
    writes = connection.get_execution_options().get("citebot_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _on_invalidate(connection: Any, _record: object, _error: object) -> None:
    # What is cancelled is closed in the middle, and SQLite keeps the transaction, with the lock that all others wait
    # for, while a cursor of it is not collected. A second cancellation changes nothing: the rollback is on its way.
    with suppress(sqlite3.Error, ValueError, asyncio.CancelledError):
        connection.rollback()


def _version(connection: Connection) -> str | None:
    """Return the schema's version, None for a database without tables.

    The table is alembic's; reading it ourselves saves alembic's import (0.5 s) at every start.
    """
    names = set(inspect(connection).get_table_names())
    if "alembic_version" not in names:
        if names & {table.name for table in metadata.sorted_tables}:
            raise StoreError("the database holds tables named like ours, yet no schema version: is it Citebot's?")
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _create_or_migrate(connection: Connection) -> None:
    found = _version(connection)
    if found == SCHEMA_VERSION:
        return  # another process was faster
    if found is not None:
        from ragcore.stores.migrations import upgrade

        upgrade(connection, found)
        return
    for statement in _creation(connection.dialect.name):
        connection.exec_driver_sql(statement)
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    connection.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": SCHEMA_VERSION})
    # The instance tells this database's collections on a shared Chroma server from those of others.
    connection.execute(
        counters.insert(), [{"name": "revision", "value": 0}, {"name": "instance", "value": secrets.randbits(48)}]
    )


@functools.cache
def _creation(dialect: str) -> tuple[str, ...]:
    """Return what creates all tables and indexes where there are none."""
    statements: list[str] = []

    def note(made: Any, *_: object, **__: object) -> None:
        statements.append(str(made.compile(dialect=engine.dialect)))

    engine: MockConnection = create_mock_engine(_MADE_BY[dialect], note)
    metadata.create_all(engine, checkfirst=False)
    return tuple(statements)


def _shown(url: URL) -> str:
    """Return the address without its password."""
    if url.get_backend_name() == "sqlite":
        return os.fspath(url.database or ":memory:")
    return url.render_as_string(hide_password=True)


def _cause(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip() or type(error).__name__


async def scalar(connection: AsyncConnection, counter: str) -> int:
    """Return the value of a counter, 0 if it was never set."""
    value = await connection.scalar(select(counters.c.value).where(counters.c.name == counter))
    return int(value or 0)
