"""Messages to claim, databases to claim them in, and a clock that tests move."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import ColumnElement, Float, bindparam, cast, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bots.platform import Asker, Incoming, Reach, Sent
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from ragcore.stores.database import Database
from ragcore.stores.schema import claim_keys, claims, sends
from ragcore.types import ConversationKey

HERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
THERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.6")
MINE = ["slack"]


class MovedClock:
    """A clock of the database's that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self, _: AsyncConnection) -> ColumnElement[float]:
        """Return the expression that the claims write: as with the database's own, its value is that of the moment."""
        return cast(bindparam("moved_clock", callable_=lambda: self.seconds, type_=Float, unique=True), Float)


class LoopClock(MovedClock):
    """A clock of the database's that shows the seconds of a loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """Return the loop's own seconds."""
        return self._loop.time()


def message(
    *keys: str, text: str = "How many days?", where: ConversationKey = HERE, number: str = "", asker: str = "U1"
) -> Incoming:
    """Return a message that arrives under these keys."""
    return Incoming(
        keys=keys,
        conversation=where,
        message=number or keys[0],
        asker=Asker(id=asker, name="Ann"),
        text=text,
        reach=Reach.MENTION,
        sent_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )


@asynccontextmanager
async def two_processes(where: str | pathlib.Path) -> AsyncIterator[tuple[Database, Database]]:
    """Open the same database twice, as two processes do."""
    first, second = await Database.open(where), await Database.open(where)
    try:
        yield first, second
    finally:
        await first.close()
        await second.close()


def place_of(request: pytest.FixtureRequest, folder: pathlib.Path) -> str | pathlib.Path:
    """Return where the database of a test's parameter is: a SQLite file, or a PostgreSQL server's."""
    if request.param == "sqlite":
        return folder / "claims.sqlite"
    url: str = request.getfixturevalue("postgres_tables_url")
    return url


def sent(number: int) -> Sent:
    """Return where a part of an answer stands."""
    return Sent(channel="C1", id=f"m{number}", extra={"ts": f"1.{number}"})


async def claimed(claims: Claims, *keys: str, **facts: str) -> Claim:
    """Claim a message that nobody has."""
    claim = await claims.claim(message(*keys, **facts))  # type: ignore[arg-type]
    assert claim is not None
    return claim


async def sent_of(here: Claims, claim: Claim) -> list[Sent | None]:
    """Return what stands of each part, by all that is recorded."""
    found = await here.by_reference(claim.reference)
    assert found is not None
    return [part.sent for part in found.sends]


async def count(database: Database) -> tuple[int, ...]:
    """Return how many claims, keys and sends are kept."""
    async with database.connect() as connection:
        tables = (claims, claim_keys, sends)
        return tuple([await connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables])


async def aged(database: Database, claim: Claim, age: timedelta) -> None:
    """Let a claim be so old."""
    async with database.begin() as connection:
        which = update(claims).where(claims.c.reference == claim.reference)
        await connection.execute(which.values(created_at=datetime.now(UTC) - age))
