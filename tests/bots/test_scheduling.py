"""Which process runs a source that is due."""

import asyncio
import contextlib
import logging
import pathlib
import time
import types
from datetime import UTC, datetime, timedelta

import pytest

from bots.app import scheduling as scheduling_module
from bots.app.scheduling import Schedule, scheduling
from bots.requests import Sync
from bots.settings import Settings
from ragcore.stores.database import Database
from ragcore.stores.sources import SourceState, SourceStates
from tests.fakes.operations import Scripted
from tests.fakes.waiting import until

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)


async def test_of_many_that_wake_one_begins_the_run(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    states = SourceStates(database)
    for number in range(3):
        last = (await states.get("docs")).last_run_at
        at = NOW + timedelta(hours=number)
        begun = await asyncio.gather(*(states.begin("docs", after=last, at=at) for _ in range(8)))
        assert sum(begun) == 1
        assert (await states.get("docs")).last_run_at == at
    await database.close()


async def test_a_run_begun_meanwhile_is_not_begun_again(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    states = SourceStates(database)
    assert await states.begin("docs", after=None, at=NOW)
    assert not await states.begin("docs", after=None, at=NOW + timedelta(hours=1))
    assert not await states.begin("docs", after=NOW - timedelta(hours=1), at=NOW + timedelta(hours=1))
    assert await states.begin("docs", after=NOW, at=NOW + timedelta(hours=1))
    await database.close()


async def test_a_source_does_not_wait_for_what_a_clock_told_that_was_ahead(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    table = {"name": "docs", "type": "files", "path": "docs", "schedule": "15m"}
    settings = Settings.model_validate({"data_dir": tmp_path, "sources": [table]})
    day, states, backend = timedelta(days=1), SourceStates(database), Scripted()
    await states.put(SourceState(name="docs", last_run_at=datetime.now(UTC)))
    clock = [time.time() + day.total_seconds()]
    monkeypatch.setattr(scheduling_module, "_CLOCK", 0.01)
    shown = types.SimpleNamespace(time=lambda: clock[0], monotonic=time.monotonic)
    monkeypatch.setattr(scheduling_module, "time", shown)
    schedule = Schedule(settings, database, backend)
    await schedule.start()
    await states.put(SourceState(name="docs", last_run_at=datetime.now(UTC) + day))
    schedule._wake_at("docs", datetime.now(UTC) + day)
    await asyncio.sleep(0.1)
    assert not backend.asked
    clock[0] -= day.total_seconds()
    await until(lambda: backend.asked)
    assert backend.asked == [Sync(sources=("docs",), scheduled=True)]
    await schedule.stop()
    await database.close()


async def test_a_sweep_under_way_is_broken_off_without_a_word(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    entered, left = asyncio.Event(), asyncio.Event()

    async def sweep() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    settings = Settings.model_validate({"data_dir": tmp_path})
    with caplog.at_level(logging.WARNING):
        async with scheduling(settings, database, Scripted(), [sweep]):
            await asyncio.wait_for(entered.wait(), 5)
        assert left.is_set()
        await asyncio.sleep(0)
    assert not caplog.records
    await database.close()


async def test_a_loop_that_stood_still_at_the_start_sweeps_all_the_same(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    swept = asyncio.Event()

    async def sweep() -> None:
        swept.set()

    settings = Settings.model_validate({"data_dir": tmp_path})
    with caplog.at_level(logging.WARNING):
        async with scheduling(settings, database, Scripted(), [sweep]):
            time.sleep(1.1)  # noqa: ASYNC251 (a busy machine; APScheduler lets a second pass by itself)
            await asyncio.wait_for(swept.wait(), 5)
    assert not caplog.records
    await database.close()


@pytest.mark.parametrize("ended", [False, True])
async def test_a_run_that_a_crash_broke_off_is_due_at_once(tmp_path: pathlib.Path, ended: bool) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    states, backend, now = SourceStates(database), Scripted(), datetime.now(UTC)
    # Some documents could not be read in the run before: that is no reason to leave this one lying.
    await states.put(SourceState(name="handbook", last_error="2 documents could not be read", last_success_at=now))
    assert await states.begin("handbook", at=now)
    if ended:
        await states.end("handbook")
    settings = Settings.model_validate(
        {"data_dir": tmp_path, "sources": [{"name": "handbook", "type": "files", "schedule": "1d", "path": "."}]}
    )
    async with scheduling(settings, database, backend):
        with contextlib.suppress(TimeoutError):
            await until(lambda: backend.asked, 0.5 if ended else 10.0)
        assert backend.asked == ([] if ended else [Sync(sources=("handbook",), scheduled=True)])
    await database.close()
