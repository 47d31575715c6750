"""Messages to claim, databases to claim them in, and a clock that tests move."""

import pathlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from sqlalchemy import ColumnElement, Float, cast, literal
from sqlalchemy.ext.asyncio import AsyncConnection

from bots.platform import Asker, Incoming, Reach
from ragcore.stores.database import Database
from ragcore.types import ConversationKey

HERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
THERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.6")


class MovedClock:
    """A clock of the database's that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self, _: AsyncConnection) -> ColumnElement[float]:
        """Return the expression that the claims write."""
        return cast(literal(self.seconds), Float)


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
    url: str = request.getfixturevalue("postgres_url")
    return url
