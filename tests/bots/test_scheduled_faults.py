"""The timetable of a running process: a refused credential pauses its source and is told once; what fails comes back."""

import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bots.app import open_operations
from bots.app.operations import Operations
from bots.app.scheduling import Schedule
from bots.requests import Sync
from bots.settings import Settings
from ragcore.errors import SourceAuthError, SourceGone
from ragcore.stores.sources import SourceStates
from tests.bots.handbook import told
from tests.bots.made_source import Made, made_settings, made_type


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return made_type(monkeypatch)


class Timetable:
    """A timetable that is woken by hand."""

    def __init__(self, settings: Settings, operations: Operations) -> None:
        self.words: list[str] = []
        self.moments: list[datetime] = []
        self._schedule = Schedule(settings, operations.database, operations, tell=self._tell)
        self._schedule._wake_at = lambda name, moment, **_: self.moments.append(moment)  # type: ignore[method-assign]

    async def _tell(self, words: str) -> None:
        self.words.append(words)

    async def wake(self) -> timedelta:
        """Wake the source, and return in what time it is to be woken next."""
        await self._schedule._wake("docs", whatever=False)
        return self.moments[-1] - datetime.now(UTC)


@pytest.fixture
async def operations(tmp_path: pathlib.Path, made: Made) -> AsyncIterator[Operations]:
    made.source("docs", a="Valve a is open.")
    async with open_operations(settings_of(tmp_path), mending=False, warming=False) as opened:
        yield opened


def settings_of(folder: pathlib.Path, key: str = "k1") -> Settings:
    return made_settings(folder, "docs", schedule="15m", key=key)


async def test_a_refused_credential_pauses_the_source_and_is_told_once(
    tmp_path: pathlib.Path, made: Made, operations: Operations
) -> None:
    memory = made.sources["docs"]
    memory.breaks_after, memory.error = 0, SourceAuthError("the token has expired", mend="renew it")
    timetable = Timetable(settings_of(tmp_path), operations)
    await timetable.wake()
    assert timetable.words == [
        "Source docs pauses until its credential is changed or a sync by hand works: the token has expired; renew it"
    ]
    # Neither this process nor one that begins anew asks again with what was refused.
    for again in (timetable, Timetable(settings_of(tmp_path), operations)):
        await again.wake()
        assert made.runs == ["docs"]
    assert timetable.moments[-1] > datetime.now(UTC)
    # By hand it is tried, and whoever does so sees what comes of it.
    await told(operations, Sync(sources=("docs",)))
    assert made.runs == ["docs"] * 2
    assert len(timetable.words) == 1
    # Another credential in the file goes on by itself, without a restart; it is refused as well, which is news.
    settings_of(tmp_path, "another")
    await timetable.wake()
    assert made.runs == ["docs"] * 3
    assert made.keys == ["k1", "k1", "another"]
    assert len(timetable.words) == 2
    # A file that is wrong changes nothing.
    (tmp_path / "citebot.toml").write_text("[[sources", encoding="utf-8")
    await timetable.wake()
    assert made.runs == ["docs"] * 3
    memory.error = None
    settings_of(tmp_path, "the right one")
    assert timedelta(minutes=14) < await timetable.wake() < timedelta(minutes=17)
    assert made.keys[-1] == "the right one"
    assert len(timetable.words) == 2
    assert (await SourceStates(operations.database).get("docs")).refused == ""


async def test_a_sync_by_hand_that_works_ends_the_pause(
    tmp_path: pathlib.Path, made: Made, operations: Operations
) -> None:
    memory = made.sources["docs"]
    memory.breaks_after, memory.error = 0, SourceAuthError("a scope is missing", mend="grant it")
    timetable = Timetable(settings_of(tmp_path), operations)
    await timetable.wake()
    memory.error = None
    await told(operations, Sync(sources=("docs",)))
    assert await timetable.wake() > timedelta(minutes=13)
    assert timetable.words[1:] == []


async def test_a_source_that_fails_is_tried_again_later_and_later(
    tmp_path: pathlib.Path, made: Made, operations: Operations
) -> None:
    memory = made.sources["docs"]
    memory.breaks_after, memory.error = 0, SourceGone("the folder is not there")
    timetable = Timetable(settings_of(tmp_path), operations)
    states = SourceStates(operations.database)
    waits = []
    for _ in range(4):
        waits.append(await timetable.wake())
        state = await states.get("docs")
        # The wait is over.
        await states.put(replace(state, last_run_at=datetime.now(UTC) - timedelta(days=2)))
    assert [round(wait / timedelta(minutes=5)) for wait in waits] == [1, 2, 4, 8]
    memory.error = None
    assert await timetable.wake() > timedelta(minutes=13)
    assert timetable.words == [], "what passes by itself is no news"


async def test_runs_that_were_missed_are_made_up_for_by_one(
    tmp_path: pathlib.Path, made: Made, operations: Operations
) -> None:
    timetable = Timetable(settings_of(tmp_path), operations)
    await timetable.wake()
    states = SourceStates(operations.database)
    state = await states.get("docs")
    await states.put(replace(state, last_run_at=datetime.now(UTC) - timedelta(days=3)))
    for _ in range(2):
        assert timedelta(minutes=13) < await timetable.wake() < timedelta(minutes=17)
    assert made.runs == ["docs"] * 2, "the first, and one for three days"


async def test_a_failed_document_is_left_until_it_is_due(
    tmp_path: pathlib.Path, made: Made, operations: Operations
) -> None:
    memory = made.sources["docs"]
    memory.put("b", "Valve b is open.")
    memory.broken = {"b"}
    timetable = Timetable(settings_of(tmp_path), operations)
    await timetable.wake()
    failures = operations._parts.library.failures
    (first,) = (await failures.of_source("docs")).values()
    states = SourceStates(operations.database)
    for _ in range(2):
        state = await states.get("docs")
        await states.put(replace(state, last_run_at=datetime.now(UTC) - timedelta(hours=2)))
        await timetable.wake()
    assert len(made.runs) == 3
    (later,) = (await failures.of_source("docs")).values()
    assert later.attempts == first.attempts, "it was not tried before its time"
    await told(operations, Sync(sources=("docs",)))
    (tried,) = (await failures.of_source("docs")).values()
    assert tried.attempts == first.attempts + 1
