"""The server starts, gives each test its own empty database, and speaks through SQLAlchemy."""

import importlib.machinery
import pathlib

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

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
