"""One run of a source at a time across processes, by hand as by schedule; what was left is taken over."""

import asyncio
import pathlib
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from bots.app import open_operations
from bots.app.leasing import leased
from bots.requests import Sync
from ragcore.errors import BusyError
from ragcore.reports import SyncProgress, SyncReport
from ragcore.stores.database import Database
from ragcore.stores.schema import sources
from ragcore.stores.sources import SourceStates
from tests.bots.handbook import told
from tests.bots.made_source import Made, made_settings, made_type
from tests.fakes.waiting import until

LEASE = 3.0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return made_type(monkeypatch)


async def test_a_run_by_hand_is_not_begun_beside_one_of_another_process(
    tmp_path: pathlib.Path, postgres_url: str, made: Made
) -> None:
    made.source("docs", a="Valve a is open.")
    made.hangs = {"docs"}
    more = f'[database]\nurl = "{postgres_url}"\n[turns]\nlease = 5\n'
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    one, other = (made_settings(folder, "docs", more=more) for folder in folders)
    async with (
        open_operations(one, mending=False, warming=False) as first,
        open_operations(other, mending=False, warming=False) as second,
    ):
        running = asyncio.create_task(told(first, Sync()))
        await until(lambda: made.running)
        waiting, refused = await told(second, Sync())
        assert isinstance(waiting, SyncProgress)
        assert waiting.document_id.startswith("waiting for another process")
        assert isinstance(refused, SyncReport)
        assert refused.error == "another process is syncing docs now; `citebot sources` tells when it has"
        assert made.runs == ["docs"]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        # What was broken off is free at once.
        made.hangs = set()
        reports = [one for one in await told(second, Sync()) if isinstance(one, SyncReport)]
        assert [(report.error, report.added) for report in reports] == [("", 1)]


async def test_whoever_lost_its_lease_stops(postgres_url: str) -> None:
    one, other = [await Database.open(postgres_url) for _ in range(2)]
    entered = asyncio.Event()

    async def run() -> None:
        async with leased(SourceStates(one), "docs", LEASE):
            entered.set()
            await asyncio.Event().wait()

    frozen = asyncio.create_task(run())
    await entered.wait()
    states = SourceStates(other)
    with pytest.raises(BusyError):
        async with leased(states, "docs", LEASE):
            pass
    # As if it had stood still past its lease: another process takes over between two signs of life.
    await states.end("docs", broken=True, owner=await owner_of(other))
    async with leased(states, "docs", 60.0):
        with pytest.raises(BusyError, match="another process has taken over the sync of docs"):
            await asyncio.wait_for(frozen, 10)
        assert await states.broken_off() == set(), "the one that left ended no lease but its own"
    for database in (one, other):
        await database.close()


async def test_what_is_done_out_of_turn_leaves_a_broken_run_to_be_taken_up(postgres_url: str) -> None:
    database = await Database.open(postgres_url)
    states = SourceStates(database)
    with pytest.raises(asyncio.CancelledError):
        async with leased(states, "docs", 60.0):
            raise asyncio.CancelledError
    assert await states.broken_off() == {"docs"}
    async with leased(states, "docs", 60.0, counts=False):
        pass
    assert await states.broken_off() == {"docs"}
    async with leased(states, "docs", 60.0):
        pass
    async with leased(states, "docs", 60.0, counts=False):
        pass
    assert await states.broken_off() == set()
    await database.close()


async def test_a_source_that_another_process_took_over_breaks_off_no_other(
    tmp_path: pathlib.Path, postgres_url: str, made: Made
) -> None:
    made.source("docs", a="Valve a is open.")
    made.source("notes", b="Valve b is open.")
    made.hangs = {"docs", "notes"}
    more = f'[database]\nurl = "{postgres_url}"\n[turns]\nlease = {LEASE:.0f}\n'
    settings = made_settings(tmp_path, "docs", "notes", more=more)
    other = await Database.open(postgres_url)
    states = SourceStates(other)
    async with open_operations(settings, mending=False, warming=False) as operations:
        running = asyncio.create_task(told(operations, Sync()))
        await until(lambda: made.running == {"docs", "notes"})
        await states.end("docs", broken=True, owner=await owner_of(other))
        async with leased(states, "docs", 60.0):
            await until(lambda: "docs" not in made.running)
            await asyncio.sleep(0.2)
            assert made.running == {"notes"}
            assert not running.done()
            made.goes_on.set()
            reports = [one for one in await running if isinstance(one, SyncReport)]
    assert [(one.source, one.error, one.added) for one in reports] == [
        ("docs", "another process has taken over the sync of docs", 0),
        ("notes", "", 1),
    ]
    await other.close()


async def owner_of(database: Database) -> str:
    async with database.connect() as connection:
        return str(await connection.scalar(select(sources.c.lease_owner).where(sources.c.name == "docs")))


async def test_what_a_killed_process_left_is_waited_for(postgres_url: str) -> None:
    database = await Database.open(postgres_url)
    states, told = SourceStates(database), []

    async def waits() -> None:
        told.append(await states.held("docs"))

    await states.begin("docs", at=datetime.now(UTC), lease=1.0, owner="killed")
    async with leased(states, "docs", LEASE, waits=waits):
        ((owner, _),) = told
        assert owner == "killed"
        held = await states.held("docs")
        assert held is not None
        assert held[0] != "killed"
    assert await states.held("docs") is None
    await database.close()


async def test_whoever_waits_is_refused_once_the_other_proves_alive(postgres_url: str) -> None:
    database = await Database.open(postgres_url)
    states = SourceStates(database)
    began = asyncio.Event()

    async def waits() -> None:
        began.set()

    async def ask() -> None:
        async with leased(states, "docs", LEASE, waits=waits):
            pass

    async with leased(states, "docs", LEASE):
        asking = asyncio.create_task(ask())
        await asyncio.wait_for(began.wait(), 10)
        with pytest.raises(BusyError):
            await asyncio.wait_for(asking, 10)
    await asyncio.wait_for(ask(), 10)
    await database.close()


async def test_an_end_is_no_break(postgres_url: str) -> None:
    database = await Database.open(postgres_url)
    states = SourceStates(database)
    async with leased(states, "docs", LEASE):
        pass
    with pytest.raises(ValueError, match="no"):
        async with leased(states, "docs", LEASE):
            raise ValueError("no")
    assert await states.broken_off() == set()
    assert (await states.get("docs")).last_run_at <= datetime.now(UTC)
    await database.close()
