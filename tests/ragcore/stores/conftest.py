"""The same tests on SQLite and, where a server can be started, on PostgreSQL."""

import pathlib
from collections.abc import AsyncIterator

import pytest

from ragcore.stores.database import Database
from tests.fakes.vector_stores import stores

__all__ = ["stores"]


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        opened = await Database.open(tmp_path / "test.sqlite")
    else:
        opened = await Database.open(request.getfixturevalue("postgres_tables_url"))
    yield opened
    await opened.close()
