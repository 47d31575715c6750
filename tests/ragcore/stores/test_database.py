import asyncio
import contextlib
import gc
import pathlib
import socket
import sqlite3
import time
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import create_async_engine

from ragcore.errors import ConfigError, StoreError
from ragcore.stores.database import Database
from ragcore.stores.schema import counters


async def test_it_is_created_once_and_opened_quickly(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "deep" / "er" / "x.sqlite"
    await (await Database.open(file)).close()
    started = time.process_time()
    database = await Database.open(file)
    assert time.process_time() - started < 0.5
    assert database.path == file
    async with database.connect() as connection:
        assert await connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert await connection.scalar(text("PRAGMA foreign_keys")) == 1
    await database.close()


async def test_a_file_that_is_no_database_is_refused_in_words(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x.sqlite"
    file.write_bytes(b"hello" * 1000)
    with pytest.raises(StoreError, match=r"x\.sqlite cannot be opened as a database"):
        await Database.open(file)
    assert file.read_bytes() == b"hello" * 1000


async def test_somebody_elses_database_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE documents (id INTEGER)")
    connection.close()
    with pytest.raises(StoreError, match="is it Citebot's"):
        await Database.open(file)


async def test_a_newer_database_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x.sqlite"
    database = await Database.open(file)
    async with database.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await database.close()
    with pytest.raises(StoreError, match="newer Citebot"):
        await Database.open(file)


@pytest.mark.parametrize("url", ["mysql://localhost/x", "oracle://x"])
async def test_other_databases_are_a_matter_of_settings(url: str) -> None:
    with pytest.raises(ConfigError, match="not supported"):
        await Database.open(url)


async def test_a_password_stays_out_of_the_error() -> None:
    with pytest.raises(StoreError) as caught:
        await Database.open("postgresql://someone:hunter2@127.0.0.1:9/none")
    assert "hunter2" not in str(caught.value)


async def test_writers_queue_and_readers_do_not_wait(database: Database) -> None:
    async with database.begin() as connection:
        await connection.execute(text("INSERT INTO counters (name, value) VALUES ('n', 0)"))

    async def add() -> None:
        async with database.begin() as connection:
            value = await connection.scalar(
                text(
                    "SELECT value FROM counters WHERE name = 'n' FOR UPDATE" * (not database.is_sqlite)
                    or "SELECT value FROM counters WHERE name = 'n'"
                )
            )
            await asyncio.sleep(0)
            await connection.execute(
                text("UPDATE counters SET value = :v WHERE name = 'n'"), {"v": int(value or 0) + 1}
            )

    await asyncio.gather(*(add() for _ in range(30)))
    async with database.begin() as writer:
        await writer.execute(text("UPDATE counters SET value = -1 WHERE name = 'n'"))
        async with database.connect() as reader:
            assert await reader.scalar(text("SELECT value FROM counters WHERE name = 'n'")) == 30


async def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    async def fail() -> None:
        async with database.begin() as connection:
            await connection.execute(text("INSERT INTO counters (name, value) VALUES ('n', 1)"))
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    async with database.connect() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM counters WHERE name = 'n'")) == 0


async def test_short_transactions_stand_alone_though_they_go_together(database: Database) -> None:
    add = text("INSERT INTO counters (name, value) VALUES (:name, 0)")
    count = text("SELECT count(*) FROM counters WHERE name LIKE 'n%'")

    def write(number: int) -> Callable[[Connection], int]:
        def work(connection: Connection) -> int:
            connection.execute(add, {"name": f"n{number}"})
            if number % 7 == 3:
                raise LookupError(number)
            return number

        return work

    async def meanwhile() -> None:
        async with database.begin() as connection:
            await connection.execute(add, {"name": "other"})
            await asyncio.sleep(0.01)

    given_up = asyncio.create_task(database.write(write(1_000)))
    given_up.cancel()
    writing = asyncio.gather(*(database.write(write(number)) for number in range(150)), return_exceptions=True)
    written, _ = await asyncio.gather(writing, meanwhile())
    failed = [number for number in range(150) if number % 7 == 3]
    assert [one for one in written if isinstance(one, int)] == [n for n in range(150) if n not in failed]
    assert [one.args for one in written if isinstance(one, LookupError)] == [(number,) for number in failed]
    assert await database.read(lambda connection: connection.execute(count).scalar()) == 150 - len(failed)


async def test_a_database_that_fails_says_so(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "x.sqlite")
    async with database.connect() as connection:
        await connection.execute(text("PRAGMA max_page_count = 60"))

    async def fill() -> None:
        async with database.begin() as connection:
            await connection.execute(text("PRAGMA max_page_count = 60"))
            for n in range(1_000):
                await connection.execute(
                    text("INSERT INTO vectors (key, embedder, data) VALUES (:k, 'e', :d)"),
                    {"k": str(n), "d": b"x" * 9_000},
                )

    with pytest.raises(StoreError, match="database failed: database or disk is full"):
        await fill()
    await database.close()


@pytest.mark.parametrize("error", [socket.gaierror(-2, "Name or service not known"), TimeoutError(), OSError(113, "")])
async def test_a_server_that_cannot_be_reached_is_told_of(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise error

    database = Database(create_async_engine("postgresql+asyncpg://somebody@database.example/x"))
    monkeypatch.setattr(socket, "getaddrinfo", away)
    told = pytest.raises(StoreError, match=r"database cannot be reached: .*\w")
    for block in (database.begin, database.connect, database.changing):
        with told:
            await AsyncExitStack().enter_async_context(block())
    for run in (database.read, database.write):
        with told:
            await run(lambda connection: connection.scalar(text("SELECT 1")))
    await database.close()


async def test_a_statement_that_fails_keeps_what_it_was_to_write_to_itself(database: Database) -> None:
    row = {"name": "revision", "value": 31_415_926}
    with pytest.raises(IntegrityError) as at_once:
        await database.write(lambda connection: connection.execute(counters.insert(), row))
    with pytest.raises(IntegrityError) as in_steps:
        async with database.begin() as connection:
            await connection.execute(counters.insert(), row)
    for error in (at_once.value, in_steps.value):
        told = "".join(traceback.format_exception(error))
        assert "INSERT INTO counters" in told
        assert "31415926" not in told


async def test_a_transaction_that_is_cancelled_while_it_reads_leaves_no_lock(tmp_path: pathlib.Path) -> None:
    slow = text(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000) SELECT max(x) FROM n"
    )

    async def write() -> None:
        async with database.begin() as connection:
            began.set()
            await connection.execute(slow)

    database, began = await Database.open(path := tmp_path / "x.sqlite"), asyncio.Event()
    writing = asyncio.create_task(write())
    await began.wait()
    await asyncio.sleep(0.05)
    # What was cancelled is garbage in a cycle, and a process that only waits collects none.
    gc.disable()
    try:
        writing.cancel()
        await asyncio.wait([writing])
        assert writing.cancelled()
        with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=1)) as other:
            other.execute("BEGIN IMMEDIATE")
    finally:
        gc.enable()
    await database.close()


async def test_what_is_read_in_one_block_is_one_state(database: Database) -> None:
    """Though another transaction is committed in between."""
    counted = select(func.count()).select_from(counters)
    async with database.connect() as connection:
        before = await connection.scalar(counted)
        async with database.begin() as writing:
            await writing.execute(counters.insert(), {"name": "another", "value": 1})
        assert await connection.scalar(counted) == before
    assert await database.read(lambda reading: reading.scalar(counted)) == before + 1
