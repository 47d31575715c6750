"""Connections to a SQLite file of which a statement, with its rows, takes one step of a thread.

SQLAlchemy has aiosqlite make a cursor, run the statement, fetch its rows and close the cursor: four ways to the thread
and back, each of which takes longer than most statements do.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

import aiosqlite

AT_ONCE = 200
"""Rows that come with the statement itself; of more, the rest is read when it is asked for."""


async def connect(connector: Callable[[], sqlite3.Connection]) -> "OneStep":
    """Return an open connection, for ``create_async_engine(async_creator=...)``.

    Args:
        connector: Opens the file; it is run in the connection's own thread.

    Raises:
        sqlite3.Error: the file cannot be opened.
    """
    connection = OneStep(connector, AT_ONCE)
    # A connection that is left open, as by a test that failed, keeps no process from ending.
    connection._thread.daemon = True
    await connection
    return connection


class OneStep(aiosqlite.Connection):
    """A connection whose cursors go to its thread only with a statement, or for rows that are still there."""

    def cursor(self) -> "Statement":  # type: ignore[override]
        """Return a cursor; none of SQLite's is made yet."""
        return Statement(self)

    async def step(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Run ``work`` in the thread.

        Raises:
            ValueError: the connection is closed.
            sqlite3.Error: what ``work`` raises.
        """
        return await self._execute(lambda: work(self._conn))  # type: ignore[no-untyped-call]


class Statement:
    """What SQLAlchemy takes for a cursor of aiosqlite; a statement at a time."""

    def __init__(self, connection: OneStep) -> None:
        """Run statements on this connection."""
        self._connection = connection
        self._open: sqlite3.Cursor | None = None
        self._rows: deque[Any] = deque()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Self:
        """Run a statement and fetch its first rows."""

        def work(connection: sqlite3.Connection) -> None:
            cursor = connection.cursor()
            try:
                cursor.execute(sql, parameters)
                self._take(cursor, AT_ONCE)
            except BaseException:
                cursor.close()
                raise

        await self.close()
        await self._connection.step(work)
        return self

    async def executemany(self, sql: str, parameters: Iterable[Sequence[Any]]) -> Self:
        """Run a statement that gives no rows with each of these values."""

        def work(connection: sqlite3.Connection) -> None:
            cursor = connection.cursor()
            try:
                cursor.executemany(sql, parameters)
                self.description, self.rowcount, self.lastrowid = None, cursor.rowcount, cursor.lastrowid
            finally:
                cursor.close()

        await self.close()
        await self._connection.step(work)
        return self

    async def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        if self._open is not None:
            cursor = self._open
            await self._connection.step(lambda _: self._take(cursor, None))
        rows = list(self._rows)
        self._rows.clear()
        return rows

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return so many of the rows that are left, or all where there are fewer."""
        wanted = self.arraysize if size is None else size
        if self._open is not None and len(self._rows) < wanted:
            cursor, missing = self._open, max(wanted - len(self._rows), AT_ONCE)
            await self._connection.step(lambda _: self._take(cursor, missing))
        return [self._rows.popleft() for _ in range(min(wanted, len(self._rows)))]

    async def fetchone(self) -> Any:
        """Return the next row, None when there is none."""
        found = await self.fetchmany(1)
        return found[0] if found else None

    async def close(self) -> None:
        """Drop the rows that are left."""
        self._rows.clear()
        if (cursor := self._open) is not None:
            self._open = None
            await self._connection.step(lambda _: cursor.close())

    def _take(self, cursor: sqlite3.Cursor, count: int | None) -> None:
        """Fetch rows, in the thread; the cursor is closed with the last of them."""
        if cursor.description is not None:
            rows = cursor.fetchall() if count is None else cursor.fetchmany(count)
            self._rows.extend(rows)
            is_open = count is not None and len(rows) == count
        else:
            is_open = False
        self.description, self.rowcount, self.lastrowid = cursor.description, cursor.rowcount, cursor.lastrowid
        self._open = cursor if is_open else None
        if not is_open:
            cursor.close()
