"""The conformance suite on ``sql``: a SQLite file and a PostgreSQL server, read whole and by ``:since``."""

import abc
import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from connectors.base import Origin
from connectors.sql import SqlConnector, SqlOptions
from tests.connectors.conformance import Conformance
from tests.connectors.world import World
from tests.fakes.ports import free_port

COLUMNS = "id, title, text, updated_at, readers"
WHOLE = f"SELECT {COLUMNS} FROM documents"
SINCE = f"{WHOLE} WHERE updated_at >= :since"


class TableWorld(World):
    """A table behind a view, which is broken where the source is to be."""

    limits = "a database asks nobody to wait"
    reads = "a transaction sees one state from its beginning on; test_sql.py deletes between listing and fetching"

    def __init__(self, query: str) -> None:
        self.query = query
        self.skewed = 0
        self.spoilt: dict[str, str] = {}

    @property
    @abc.abstractmethod
    def url(self) -> str: ...

    @abc.abstractmethod
    async def do(self, *statements: str, **values: object) -> None:
        """Run statements as the database's owner."""

    @abc.abstractmethod
    def time(self, age: int = 0) -> object: ...

    def connect(self, origin: Origin) -> SqlConnector:
        return SqlConnector(origin, SqlOptions(url=SecretStr(self.url), query=self.query))

    async def show(self, columns: str = COLUMNS, rest: str = "") -> None:
        await self.do("DROP VIEW IF EXISTS documents", f"CREATE VIEW documents AS SELECT {columns} FROM rows {rest}")

    async def add(self, name: str, text: str, age: int = 0) -> None:
        await self.do(
            "INSERT INTO rows (id, title, text, updated_at, readers) VALUES (:id, :id, :text, :time, '*')",
            id=name,
            text=text,
            time=self.time(age),
        )

    async def change(self, name: str, text: str) -> None:
        await self.do(
            "UPDATE rows SET text = :text, updated_at = :time WHERE id = :id", id=name, text=text, time=self.time()
        )

    async def delete(self, name: str) -> None:
        await self.do("DELETE FROM rows WHERE id = :id", id=name)

    async def rename(self, old: str, new: str) -> None:
        await self.do(
            "UPDATE rows SET id = :new, updated_at = :time WHERE id = :old", old=old, new=new, time=self.time()
        )

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text, age=300)

    async def duplicate(self, name: str) -> None:
        await self.show(rest=f"UNION ALL SELECT {COLUMNS} FROM rows WHERE id = '{name}'")

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        await self.do(
            "UPDATE rows SET readers = :readers, updated_at = :time WHERE id = :id",
            id=name,
            readers=", ".join(sorted(addresses)),
            time=self.time(),
        )

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = f"The text of {name[:20]} stands here."
        await self.do("UPDATE rows SET text = NULL, updated_at = :time WHERE id = :id", id=name, time=self.time())

    async def truncate(self) -> None:
        await self.show(rest="ORDER BY number LIMIT 3")

    async def break_form(self) -> None:
        await self.show("number, updated_at")

    async def skew(self, seconds: int) -> None:
        self.skewed = seconds

    async def mend(self) -> None:
        await self.show()
        for name, text in self.spoilt.items():
            await self.change(name, text)
        self.spoilt.clear()

    def moment(self, age: int) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.skewed - age)


class SqliteWorld(TableWorld):
    cannot: ClassVar = {
        "break_page": "a file that fails half way is damaged, which is another fault: test_sql_refusals.py",
        "rate_limit": TableWorld.limits,
        "vanish": TableWorld.reads,
        "expire_token": "a file wants no credential",
    }

    def __init__(self, query: str, folder) -> None:
        super().__init__(query)
        self.file, self.away = folder / "data.db", folder / "away.db"

    @property
    def url(self) -> str:
        return "sqlite:///data.db"

    async def do(self, *statements: str, **values: object) -> None:
        def work() -> None:
            connection = sqlite3.connect(self.file)
            with connection:
                for statement in statements:
                    connection.execute(statement, values)
            connection.close()

        await asyncio.to_thread(work)

    def time(self, age: int = 0) -> str:
        return f"{self.moment(age):%Y-%m-%d %H:%M:%S}"

    async def leave(self) -> None:
        self.file.rename(self.away)

    async def mend(self) -> None:
        if self.away.exists():
            self.away.rename(self.file)
        await super().mend()


class PostgresWorld(TableWorld):
    cannot: ClassVar = {"rate_limit": TableWorld.limits, "vanish": TableWorld.reads}

    def __init__(self, query: str, url: str) -> None:
        super().__init__(query)
        owner = sa.make_url(url)
        self.role = f"reader_{owner.database}"
        self.engine = create_async_engine(owner, poolclass=NullPool)
        self.port = owner.port

    @property
    def url(self) -> str:
        return f"postgresql://{self.role}@127.0.0.1:{self.port}/{self.engine.url.database}"

    async def do(self, *statements: str, **values: object) -> None:
        async with self.engine.begin() as connection:
            for statement in statements:
                await connection.execute(sa.text(statement), values)

    async def show(self, columns: str = COLUMNS, rest: str = "") -> None:
        await super().show(columns, rest)
        await self.do(f"GRANT SELECT ON documents TO {self.role}")

    def time(self, age: int = 0) -> datetime:
        return self.moment(age)

    async def break_page(self, status: int = 500) -> None:
        await self.do(
            "CREATE OR REPLACE FUNCTION fail() RETURNS text LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the disk failed' USING ERRCODE = 'io_error'; END $$"
        )
        await self.show(COLUMNS.replace("text", "CASE WHEN number > 5 THEN fail() ELSE text END AS text"))

    async def expire_token(self) -> None:
        await self.do(f"REVOKE SELECT ON documents FROM {self.role}")

    async def leave(self) -> None:
        self.port = free_port()

    async def mend(self) -> None:
        self.port = self.engine.url.port
        await super().mend()


@pytest.fixture(params=[pytest.param(WHOLE, marks=pytest.mark.soak), SINCE], ids=["whole", "since"])
def query(request) -> str:
    return request.param


class TestSqlite(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, query, tmp_path):
        world = SqliteWorld(query, tmp_path)
        await world.do(
            "CREATE TABLE rows (number INTEGER PRIMARY KEY, id TEXT, title TEXT, text TEXT, updated_at TEXT, readers TEXT)"
        )
        await world.show()
        return world


class TestPostgres(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, query, postgres_url):
        world = PostgresWorld(query, postgres_url)
        await world.do(
            f"CREATE ROLE {world.role} LOGIN",
            "CREATE TABLE rows (number serial PRIMARY KEY, id text, title text, text text, updated_at timestamptz, readers text)",
        )
        await world.show()
        yield world
        await world.do("DROP VIEW documents", f"DROP ROLE {world.role}")
