"""Claims on SQLite and on PostgreSQL, as two processes have them, by a clock that the test moves."""

import pathlib
from collections.abc import AsyncIterator

import pytest

from bots.turn.claims import Claims
from ragcore.stores.database import Database
from tests.bots.turn.helpers import MovedClock, place_of, two_processes


@pytest.fixture(params=["sqlite", "postgresql"])
async def databases(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[tuple[Database, Database]]:
    async with two_processes(place_of(request, tmp_path)) as opened:
        yield opened


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def here(databases: tuple[Database, Database], clock: MovedClock) -> Claims:
    return Claims(databases[0], clock=clock)


@pytest.fixture
def there(databases: tuple[Database, Database], clock: MovedClock) -> Claims:
    return Claims(databases[1], clock=clock)
