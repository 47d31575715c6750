"""Of several processes on one database one runs a source, and another takes up what that one left."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bots.app.scheduling import scheduling
from bots.requests import Event, Request, Sync
from bots.settings import Settings, load_settings
from connectors.registry import options_model
from ragcore.reports import SyncReport
from ragcore.stores.database import Database
from ragcore.stores.sources import SourceState, SourceStates
from tests.fakes.waiting import until

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
LEASE = 3.0


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[Database]:
    here = tmp_path / "citebot.sqlite"
    opened = await Database.open(here if request.param == "sqlite" else request.getfixturevalue("postgres_tables_url"))
    yield opened
    await opened.close()


async def test_no_run_is_begun_beside_one_that_is_alive(database: Database) -> None:
    states = SourceStates(database)
    assert await states.begin("docs", after=None, at=NOW, lease=LEASE)
    later = NOW + timedelta(hours=1)
    assert not await states.begin("docs", after=NOW, at=later, lease=LEASE)
    assert await states.broken_off() == set()
    await states.put(SourceState(name="docs", last_run_at=NOW, last_success_at=later))
    assert not await states.begin("docs", after=NOW, at=later, lease=LEASE), "what is noted meanwhile ends no lease"
    await states.end("docs")
    assert await states.broken_off() == set()
    assert not await states.begin("docs", after=NOW - timedelta(hours=1), at=later, lease=LEASE), "it ran meanwhile"
    assert await states.begin("docs", after=NOW, at=later, lease=LEASE)


async def test_what_a_dead_process_left_is_begun_by_one(database: Database) -> None:
    states = SourceStates(database)
    assert await states.begin("docs", after=None, at=NOW, lease=0.05)
    await until_broken(states)
    begun = await asyncio.gather(
        *(states.begin("docs", after=NOW, at=NOW + timedelta(hours=1), lease=LEASE) for _ in range(8))
    )
    assert sum(begun) == 1
    assert await states.broken_off() == set()


async def test_a_sign_of_life_keeps_it_and_a_broken_run_is_free_at_once(database: Database) -> None:
    states = SourceStates(database)
    assert await states.begin("docs", after=None, at=NOW, lease=0.05)
    await until_broken(states)
    await states.renew("docs", LEASE)
    assert await states.broken_off() == set()
    await states.end("docs", broken=True)
    assert await states.broken_off() == {"docs"}
    assert await states.begin("docs", after=NOW, at=NOW + timedelta(hours=1), lease=LEASE)


async def until_broken(states: SourceStates) -> None:
    async with asyncio.timeout(10):
        while await states.broken_off() != {"docs"}:  # noqa: ASYNC110 (a lease ends without a word)
            await asyncio.sleep(0.01)


class Runs:
    """A backend whose runs last until they are let go."""

    def __init__(self, database: Database) -> None:
        self.begun = self.ended = 0
        self.go = asyncio.Event()
        self._states = SourceStates(database)

    async def run(self, request: Request) -> AsyncIterator[Event]:
        assert isinstance(request, Sync)
        self.begun += 1
        await self.go.wait()
        state = await self._states.get("docs")
        await self._states.put(SourceState(name="docs", last_run_at=state.last_run_at, last_success_at=NOW))
        yield SyncReport(source="docs")
        self.ended += 1


def settings(folder: pathlib.Path) -> Settings:
    file = folder / "citebot.toml"
    source = '[[sources]]\nname = "docs"\ntype = "files"\npath = "."\nschedule = "1h"\n'
    file.write_text(f"[turns]\nlease = {LEASE}\n{source}", encoding="utf-8")
    return load_settings(file, source_model=options_model)


async def test_a_process_that_is_stopped_in_a_run_leaves_it_to_another(
    tmp_path: pathlib.Path, postgres_url: str
) -> None:
    one, other = [await Database.open(postgres_url) for _ in range(2)]
    runs = [Runs(database) for database in (one, other)]
    asked = settings(tmp_path)
    async with scheduling(asked, other, runs[1]):
        await until(lambda: runs[1].begun)
        async with scheduling(asked, one, runs[0]):
            await asyncio.sleep(0.3)
            assert runs[0].begun == 0, "it is being run already"
    async with scheduling(asked, one, runs[0]):
        await until(lambda: runs[0].begun, 10.0)
        runs[0].go.set()
        await until(lambda: runs[0].ended, 10.0)
    assert await SourceStates(one).broken_off() == set()
    assert [one.begun for one in runs] == [1, 1]
    for database in (one, other):
        await database.close()
