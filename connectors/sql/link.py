"""A connection to the database of a source, in a transaction that only reads.

Drivers that are asynchronous run on the loop, the others in a thread of their own; SQLAlchemy lets both be written as
one. Each step has a limit, and one that is cancelled, or takes longer, is broken off in the database, too.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import NoSuchModuleError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from connectors.sql.faults import SLOW, refused_settings, shown, told
from connectors.sql.options import SqlOptions
from ragcore.errors import ConfigError, SourceBadReply, SourceError

_ROWS = 32
IDS = 2_000
"""Rows that are fetched in one step, where they are ids alone."""
_CONNECTING = 30.0
_CLOSING = 5.0
_ASKING = 0.1

_DRIVERS = {"postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
_READ_ONLY = dict.fromkeys(("mysql", "mariadb", "oracle"), "SET TRANSACTION READ ONLY")

T = TypeVar("T")


class _Steps(Protocol):
    """How blocking work is done with the one connection."""

    async def open(self, url: URL, prepare: Callable[[sa.Connection], None]) -> None: ...

    async def run(self, work: Callable[[sa.Connection], T]) -> T: ...

    async def close(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class Link:
    """An open transaction; ``dialect`` is the database's name in SQLAlchemy."""

    url: URL
    timeout: float
    _steps: _Steps

    @property
    def dialect(self) -> str:
        """Return the database's name in SQLAlchemy."""
        return self.url.get_backend_name()

    async def rows(
        self, statement: sa.TextClause, *, batch: int = _ROWS
    ) -> AsyncGenerator[tuple[tuple[str, ...], list[tuple[Any, ...]]], None]:
        """Yield the names of the columns with each batch of so many rows, at least once."""
        options = {"stream_results": True, "max_row_buffer": batch}
        result = await self.run(lambda connection: connection.execute(statement, execution_options=options))
        if not result.returns_rows:
            raise SourceBadReply("the query gives no rows at all", mend="write a SELECT")
        columns = tuple(result.keys())
        found = await self.run(lambda _: result.fetchmany(batch))
        yield columns, [tuple(row) for row in found]
        while found:
            found = await self.run(lambda _: result.fetchmany(batch))
            if found:
                yield columns, [tuple(row) for row in found]

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one step of blocking work; SourceError when it takes longer than ``timeout``."""
        with told(self.url):
            try:
                async with asyncio.timeout(self.timeout) as limit:
                    return await self._steps.run(work)
            except TimeoutError:
                if not limit.expired():
                    raise
                said = f"{shown(self.url)}: the database took longer than {self.timeout:g} s"
                raise SourceError(said, mend=SLOW) from None


@asynccontextmanager
async def reading(options: SqlOptions, folder: Path) -> AsyncIterator[Link]:
    """Open a read-only transaction, which is rolled back at the end.

    Raises:
        ConfigError: there is no driver for this database, or it doesn't take what stands in the URL.
        SourceError: as ``faults`` tells it.
    """
    url = _url(options, folder)
    steps: _Steps = _OnLoop() if _is_async(url) else _InThread()
    try:
        with told(url):
            try:
                async with asyncio.timeout(_CONNECTING):
                    await steps.open(url, partial(_begin, options=options))
            except ModuleNotFoundError as error:
                raise _no_driver(url, error) from None
            except (TypeError, ValueError) as error:
                if isinstance(error, OSError):  # a certificate that isn't trusted is both
                    raise
                raise refused_settings(error, url) from None
        yield Link(url=url, timeout=options.timeout, _steps=steps)
    finally:
        await steps.close()


def _url(options: SqlOptions, folder: Path) -> URL:
    url = make_url(options.url.get_secret_value())
    if options.password is not None:
        url = url.set(password=options.password.get_secret_value())
    if url.get_backend_name() != "sqlite":
        return url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise ConfigError("url: name a file: sqlite:///relative/path.db or sqlite:////absolute/path.db")
    return URL.create("sqlite+pysqlite", database=str(folder / os.path.expanduser(url.database)))


def _is_async(url: URL) -> bool:
    try:
        return bool(url.get_dialect().is_async)
    except NoSuchModuleError:
        raise ConfigError(
            f'url: SQLAlchemy knows no "{url.drivername}"; install the package that brings it, or mend the name'
        ) from None
    except ModuleNotFoundError as error:
        raise _no_driver(url, error) from None


def _no_driver(url: URL, error: ModuleNotFoundError) -> ConfigError:
    if error.name == "asyncpg":
        return ConfigError("url: PostgreSQL needs asyncpg: pip install 'citebot[postgres]'")
    return ConfigError(
        f'url: "{url.drivername}" needs the module {error.name}, which is not installed: install it with pip, or name '
        "another driver, as in mysql+pymysql://"
    )


def _begin(connection: sa.Connection, *, options: SqlOptions) -> None:
    """Begin the transaction; a limit of the server's own holds where we are gone before the answer."""
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        settings = {"statement_timeout": str(int(options.timeout * 1000)), "TimeZone": options.timezone}
        for name, value in settings.items():
            connection.execute(sa.text("SELECT set_config(:name, :value, true)"), {"name": name, "value": value})
    elif dialect == "sqlite":
        connection.exec_driver_sql("BEGIN")
    elif dialect in _READ_ONLY:
        connection.exec_driver_sql(_READ_ONLY[dialect])


class _OnLoop:
    """An asynchronous driver; what is cancelled is cancelled in the database by the driver."""

    def __init__(self) -> None:
        self._connection: AsyncConnection | None = None

    async def open(self, url: URL, prepare: Callable[[sa.Connection], None]) -> None:
        engine = create_async_engine(url, poolclass=NullPool, hide_parameters=True)
        self._connection = await engine.connect()
        await self._connection.run_sync(prepare)

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        assert self._connection is not None
        return await self._connection.run_sync(work)

    async def close(self) -> None:
        if self._connection is not None:
            with suppress(sa.exc.SQLAlchemyError, OSError, TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    await self._connection.close()


@dataclass(slots=True)
class _InThread:
    """A driver that blocks, in one thread, as some want it."""

    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="citebot-sql"))
    _connection: sa.Connection | None = None
    _is_busy: bool = False

    async def open(self, url: URL, prepare: Callable[[sa.Connection], None]) -> None:
        def connect() -> None:
            self._connection = _engine(url).connect()
            prepare(self._connection)

        await self._done(connect)

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        assert self._connection is not None
        return await self._done(partial(work, self._connection))

    async def _done(self, work: Callable[[], T]) -> T:
        self._is_busy = True
        done = await asyncio.get_running_loop().run_in_executor(self._thread, work)
        self._is_busy = False
        return done

    async def close(self) -> None:
        closing = asyncio.wrap_future(self._thread.submit(self._let_go))
        self._thread.shutdown(wait=False)
        # A step that is just about to begin doesn't hear the first time. One that can't be broken off ends by itself,
        # and the connection is closed then.
        for _ in range(round(_CLOSING / _ASKING)):
            if self._is_busy and self._connection is not None:
                await asyncio.to_thread(_interrupt, self._connection)
            if (await asyncio.wait({closing}, timeout=_ASKING))[0]:
                break

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(sa.exc.SQLAlchemyError, OSError):
                self._connection.close()


def _engine(url: URL) -> sa.Engine:
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, poolclass=NullPool, hide_parameters=True)

    def connect() -> sqlite3.Connection:
        path = quote(str(url.database))
        # Begun by us, so that several statements see one state.
        connection = sqlite3.connect(
            f"file:{path}?mode=ro", uri=True, isolation_level=None, check_same_thread=False, timeout=_CONNECTING / 2
        )
        connection.text_factory = lambda data: data.decode("utf-8", "replace")  # one bad text is not all of them
        connection.execute("PRAGMA query_only = ON")
        return connection

    return sa.create_engine(url, poolclass=NullPool, creator=connect, hide_parameters=True)


def _interrupt(connection: sa.Connection) -> None:
    """Break off what a connection is doing in another thread, where its driver has a way."""
    with suppress(sqlite3.Error, sa.exc.SQLAlchemyError, OSError):
        raw = connection.connection.dbapi_connection
        stop = getattr(raw, "interrupt", None) or getattr(raw, "cancel", None)
        if stop is not None:
            stop()
