"""SQLAlchemy's connections to SQLite: what comes with a statement, and what is read when it is asked for."""

import asyncio
import pathlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError

from ragcore.stores.database import Database
from ragcore.stores.one_step import AT_ONCE, OneStep

MANY = 2 * AT_ONCE + 7
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"


class Counted(OneStep):
    """Counts the ways to its thread."""

    steps = 0

    async def step(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        self.steps += 1
        return await super().step(work)


@pytest.fixture
async def connection() -> AsyncIterator[Counted]:
    async with Counted(partial(sqlite3.connect, ":memory:"), AT_ONCE) as opened:
        assert isinstance(opened, Counted)
        yield opened


@pytest.mark.parametrize("rows", [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, MANY])
async def test_a_statement_takes_one_step_and_a_long_answer_one_more(connection: Counted, rows: int) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute(f"SELECT * FROM ({NUMBERS}) WHERE i <= ?", (rows + 1, rows))
        assert [one[0] for one in cursor.description] == ["i"]
        assert await cursor.fetchall() == [(n,) for n in range(1, rows + 1)]
        assert await cursor.fetchall() == []
    assert connection.steps == (1 if rows < AT_ONCE else 2)


@given(sizes=st.lists(st.integers(1, 3 * AT_ONCE), max_size=6), rows=st.integers(1, MANY))
def test_rows_come_in_order_however_many_are_asked_for(sizes: list[int], rows: int) -> None:
    async def read() -> None:
        async with OneStep(partial(sqlite3.connect, ":memory:"), AT_ONCE) as opened:
            assert isinstance(opened, OneStep)
            cursor, found = opened.cursor(), list[tuple[int]]()
            await cursor.execute(NUMBERS, (rows,))
            for size in sizes:
                some = await cursor.fetchmany(size)
                assert len(some) == min(size, rows - len(found))
                found += some
            assert await cursor.fetchone() == ((len(found) + 1,) if len(found) < rows else None)
            found += [(len(found) + 1,)][: rows - len(found)]
            assert found + await cursor.fetchall() == [(n,) for n in range(1, rows + 1)]

    asyncio.run(read())


async def test_what_a_statement_changed_is_told(connection: Counted) -> None:
    cursor = connection.cursor()
    await cursor.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
    assert cursor.description is None
    await cursor.executemany("INSERT INTO things (name) VALUES (?)", [("a",), ("b",), ("c",)])
    assert cursor.rowcount == 3
    await cursor.execute("INSERT INTO things (name) VALUES ('d') RETURNING id")
    assert (await cursor.fetchall(), cursor.rowcount, cursor.lastrowid) == ([(4,)], 1, 4)
    await cursor.execute("DELETE FROM things WHERE id > 1")
    assert (cursor.rowcount, cursor.description, await cursor.fetchone()) == (3, None, None)
    with pytest.raises(sqlite3.IntegrityError):
        await cursor.execute("INSERT INTO things (name) VALUES ('a')")
    with pytest.raises(sqlite3.OperationalError):
        await cursor.execute("SELECT nothing FROM things")
    await cursor.execute("SELECT name FROM things")
    assert await cursor.fetchmany() == [("a",)]


async def test_rows_that_nobody_read_hold_nothing(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x.sqlite"
    async with OneStep(partial(sqlite3.connect, file), AT_ONCE) as opened:
        await opened.cursor().execute("CREATE TABLE things (name TEXT)")
        await opened.cursor().executemany("INSERT INTO things VALUES (?)", [("x",)] * MANY)
        await opened.commit()
        async with opened.cursor() as cursor:
            await cursor.execute("SELECT name FROM things")
            assert await cursor.fetchone() == ("x",)
        # A cursor that were still open would read on, and hold the lock that a change of the table needs.
        other = sqlite3.connect(file, timeout=0)
        other.execute("DROP TABLE things")
        other.close()


async def test_errors_reach_sqlalchemy_as_its_own(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "x.sqlite")
    with pytest.raises(OperationalError, match="no such table"):
        async with database._engine.connect() as connection:
            await connection.execute(text("SELECT * FROM nowhere"))
    with pytest.raises(IntegrityError):
        async with database.begin() as connection:
            await connection.execute(text("INSERT INTO counters (name, value) VALUES ('revision', 0)"))
    async with database.connect() as connection:
        assert (await connection.execute(text("PRAGMA journal_mode"))).scalar() == "wal"
        async with connection.stream(text(NUMBERS.replace("?", ":n")), {"n": MANY}) as rows:
            assert [one async for one in rows.scalars()] == list(range(1, MANY + 1))
    await database.close()


async def test_a_statement_that_is_given_up_leaves_the_file_free(tmp_path: pathlib.Path) -> None:
    """It goes on in its thread; what it had begun is rolled back."""
    database, slow, goes_on = await Database.open(tmp_path / "x.sqlite"), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def wait() -> int:
        loop.call_soon_threadsafe(slow.set)
        goes_on.wait(30)
        return 1

    async def write() -> None:
        async with database.begin() as connection:
            raw = (await connection.get_raw_connection()).driver_connection
            assert isinstance(raw, OneStep)
            await raw.create_function("wait", 0, wait)
            await connection.execute(text("INSERT INTO counters (name, value) VALUES ('left', wait())"))

    writing = asyncio.create_task(write())
    await slow.wait()
    writing.cancel()
    loop.call_later(0.1, goes_on.set)
    with pytest.raises(asyncio.CancelledError):
        await writing
    async with asyncio.timeout(10), database.begin() as connection:
        left = await connection.execute(text("SELECT count(*) FROM counters WHERE name = 'left'"))
        assert left.scalar() == 0
    await database.close()
