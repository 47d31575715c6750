"""Databases for the tests of the source type ``sql``: a test writes them, and a connector reads them."""

import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from connectors.base import Origin
from connectors.sql import SqlConnector, SqlOptions
from tests.connectors.helpers import collect

WHOLE = "SELECT * FROM docs"


class Place:
    """A database that a test writes, and a connector reads."""

    def __init__(self, folder, url: str, engine: str) -> None:
        self.folder, self.url = folder, url
        self.engine = create_async_engine(engine, poolclass=NullPool)

    async def do(self, *statements: str, **values: object) -> None:
        async with self.engine.begin() as connection:
            for statement in statements:
                await connection.execute(sa.text(statement), values)

    async def count(self) -> int:
        async with self.engine.connect() as connection:
            return (await connection.execute(sa.text("SELECT count(*) FROM docs"))).scalar_one()

    def connector(self, query: str = WHOLE, **options) -> SqlConnector:
        options = {"url": SecretStr(self.url), "query": query} | options
        return SqlConnector(Origin(source="s", folder=self.folder), SqlOptions(**options))


def sqlite_place(folder) -> Place:
    return Place(folder, "sqlite:///data.db", f"sqlite+aiosqlite:///{folder}/data.db")


def postgres_place(folder, url: str) -> Place:
    return Place(folder, url.replace("+asyncpg", ""), url)


async def two_kinds(kind, folder, request) -> Place:
    """Return a table of numbered texts in either."""
    if kind == "sqlite":
        found = sqlite_place(folder)
        await found.do("CREATE TABLE docs (id INTEGER, text TEXT, title TEXT, updated_at TEXT)")
    else:
        found = postgres_place(folder, request.getfixturevalue("postgres_url"))
        await found.do("CREATE TABLE docs (id bigint, text text, title text, updated_at timestamptz)")
    return found


async def one_row(place: Place) -> Place:
    await place.do("CREATE TABLE docs (id text, text text)", "INSERT INTO docs VALUES ('1', 'one')")
    return place


async def all_of(connector, cursor=None, known=None):
    return await collect(connector.changes(cursor, known or {}))
