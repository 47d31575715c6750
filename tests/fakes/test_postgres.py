"""The server starts, gives each test its own empty database, and speaks through SQLAlchemy."""

import asyncio
import importlib.machinery
import pathlib
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from ragcore.stores.database import Database, scalar
from ragcore.stores.schema import heard, metadata
from tests.fakes import postgres


async def test_a_database_of_its_own(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.execute(sa.text("CREATE TABLE things (name text)"))
        await connection.execute(sa.text("INSERT INTO things VALUES ('年假')"))
        assert (await connection.execute(sa.text("SELECT name FROM things"))).scalar_one() == "年假"
    await engine.dispose()


async def test_an_empty_one_for_the_next_test(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.connect() as connection:
        tables = await connection.execute(
            sa.text("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'")
        )
        assert tables.scalar_one() == 0
    await engine.dispose()


async def instance_of(url: str) -> int:
    """Return what tells this database from others, after it was seen that nothing stands in its tables."""
    database = await Database.open(url)
    async with database.begin() as connection:
        rows = [(await connection.execute(sa.select(table))).all() for table in metadata.sorted_tables]
        assert [len(one) for one in rows if one] == [2]
        assert await scalar(connection, "revision") == 0
        found = await scalar(connection, "instance")
        await connection.execute(sa.text("UPDATE counters SET value = 7"))
        row = dict.fromkeys(("platform", "workspace", "channel", "thread", "message", "author", "text"), "one")
        made = await connection.execute(heard.insert(), row | {"said_at": datetime(2026, 3, 3, tzinfo=UTC)})
        assert made.inserted_primary_key == (1,)
    await database.close()
    return found


def test_tables_are_as_new_ones_in_each_test(postgres_server: postgres.PostgresServer) -> None:
    found: dict[str, int] = {}
    for _ in range(3):
        with postgres._database(postgres_server, postgres._NO_ROWS) as name:
            found[name] = asyncio.run(instance_of(postgres_server.url(name)))
            with postgres._database(postgres_server, postgres._NO_ROWS) as beside:
                found[beside] = asyncio.run(instance_of(postgres_server.url(beside)))
    assert len(found) == len(set(found.values())) == 6
    assert 7 not in found.values()


def test_what_a_test_forgot_finds_no_database(postgres_server: postgres.PostgresServer) -> None:
    async def forgotten() -> None:
        with postgres._database(postgres_server, postgres._NOTHING) as name:
            engine = create_async_engine(postgres_server.url(name), pool_pre_ping=True)
            async with engine.begin() as connection:
                await connection.execute(sa.text("CREATE TABLE things (name text)"))
                await connection.execute(sa.text("CREATE SCHEMA more CREATE TABLE others (name text)"))
        with postgres._database(postgres_server, postgres._NOTHING) as name:
            with pytest.raises(Exception, match="does not exist"):
                async with engine.connect():
                    pass
            after = create_async_engine(postgres_server.url(name))
            async with after.connect() as connection:
                tables = (
                    "SELECT count(*) FROM pg_tables WHERE schemaname !~ '^pg_' AND schemaname <> 'information_schema'"
                )
                assert (await connection.execute(sa.text(tables))).scalar_one() == 0
            await after.dispose()
        await engine.dispose()

    asyncio.run(forgotten())


def test_the_server_of_a_wheel_is_taken_where_the_machine_has_none(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def server(folder: pathlib.Path) -> pathlib.Path:
        folder.mkdir(parents=True)
        for name in ("initdb", "postgres"):
            (folder / name).touch(0o755)
        return folder

    wheel = server(tmp_path / "pgserver" / "pginstall" / "bin")
    package = importlib.machinery.ModuleSpec("pgserver", None, origin=str(tmp_path / "pgserver" / "__init__.py"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: package)
    monkeypatch.setattr(postgres, "_PACKAGED", tmp_path / "debian")
    monkeypatch.setenv("PATH", "")
    assert postgres._binaries() == wheel
    on_path = server(tmp_path / "path")
    monkeypatch.setenv("PATH", str(on_path))
    assert postgres._binaries() == on_path
    server(tmp_path / "debian" / "9" / "bin")
    newest = server(tmp_path / "debian" / "15" / "bin")
    assert postgres._binaries() == newest
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(postgres, "_PACKAGED", tmp_path / "none")
    monkeypatch.setenv("PATH", "")
    assert postgres._binaries() is None
