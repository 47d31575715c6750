"""What happens on a platform reaches the sources that are read from it, out of turn and beside no run."""

import asyncio
import contextlib
import logging
import pathlib
from collections.abc import AsyncIterator, Iterator

import pytest

from bots.app import Operations, open_operations
from bots.app.following import Following
from bots.app.leasing import leased
from bots.requests import Sync
from bots.settings import Settings
from ragcore.errors import SourceAuthError, SourceError
from ragcore.stores.sources import SourceStates
from tests.bots.handbook import told
from tests.bots.made_source import Made, made_settings, made_type
from tests.fakes.waiting import until

JOIN = 0.05


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return made_type(monkeypatch)


@contextlib.asynccontextmanager
async def followed(settings: Settings, operations: Operations) -> AsyncIterator[Following]:
    following = Following(settings, ["made"], operations.refresh, join=JOIN)
    async with following.going_on():
        yield following


def tell(following: Following, *documents: str) -> None:
    take = following.of("made")
    assert take is not None
    take({"documents": documents})


async def texts(operations: Operations) -> dict[str, str]:
    registry = operations._parts.library.registry
    return {chunk.document_id: chunk.text for chunk in await registry.chunks_of(await registry.document_ids("docs"))}


async def become(operations: Operations, expected: dict[str, str]) -> None:
    async with asyncio.timeout(20):
        while await texts(operations) != expected:  # noqa: ASYNC110 (a database tells no event)
            await asyncio.sleep(0.02)


async def test_what_is_touched_is_indexed_deleted_or_named_as_failed(tmp_path: pathlib.Path, made: Made) -> None:
    memory = made.source("docs", a="Valve a is open.", b="Valve b is open.", c="Valve c is open.")
    settings = made_settings(tmp_path, "docs")
    async with open_operations(settings, mending=False) as operations, followed(settings, operations) as following:
        await told(operations, Sync())
        states = SourceStates(operations.database)
        before = await states.get("docs")
        memory.put("a", "Valve a is shut.")
        memory.drop("b")
        memory.put("new", "Valve d is new.")
        memory.put("c", "Valve c is broken.")
        memory.broken = {"c"}
        tell(following, "a", "b")
        tell(following, "new", "c", "a")
        await become(
            operations, {"docs:a": "Valve a is shut.", "docs:c": "Valve c is open.", "docs:new": "Valve d is new."}
        )
        assert set(await operations._parts.library.failures.of_source("docs")) == {"docs:c"}
        assert await states.get("docs") == before, "neither cursor nor timetable moves"
        assert made.runs == ["docs"]
        assert memory.reads == 5, "each was read once, however often it was told of"


async def test_it_waits_for_a_run_that_is_under_way(tmp_path: pathlib.Path, made: Made) -> None:
    memory = made.source("docs", a="Valve a is open.")
    settings = made_settings(tmp_path, "docs")
    async with open_operations(settings, mending=False) as operations, followed(settings, operations) as following:
        await told(operations, Sync())
        made.hangs = {"docs"}
        running = asyncio.create_task(told(operations, Sync()))
        await until(lambda: made.running)
        reads = memory.reads
        memory.put("a", "Valve a is shut.")
        tell(following, "a")
        await asyncio.sleep(4 * JOIN)
        assert memory.reads == reads
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await become(operations, {"docs:a": "Valve a is shut."})


async def test_it_waits_for_a_run_of_another_process(
    tmp_path: pathlib.Path, postgres_url: str, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.app.following.AGAIN_SECONDS", 0.05)
    memory = made.source("docs", a="Valve a is open.")
    settings = made_settings(tmp_path, "docs", more=f'[database]\nurl = "{postgres_url}"\n')
    async with open_operations(settings, mending=False) as operations, followed(settings, operations) as following:
        await told(operations, Sync())
        reads = memory.reads
        async with leased(SourceStates(operations.database), "docs", 60.0):
            memory.put("a", "Valve a is shut.")
            tell(following, "a")
            await asyncio.sleep(0.5)
            assert memory.reads == reads
        await become(operations, {"docs:a": "Valve a is shut."})
        state = await SourceStates(operations.database).get("docs")
        assert state.cursor == "1", "the next run looks at it again"


@pytest.mark.parametrize("why", ["never read", "refused"])
async def test_a_source_that_was_never_read_or_pauses_is_left_to_its_next_run(
    tmp_path: pathlib.Path, made: Made, why: str
) -> None:
    memory = made.source("docs", a="Valve a is open.")
    settings = made_settings(tmp_path, "docs")
    async with open_operations(settings, mending=False) as operations:
        if why == "refused":
            await told(operations, Sync())
            memory.put("a", "Valve a is shut.")
            memory.error, memory.breaks_after = SourceAuthError("the token has expired", mend="renew it"), 0
            await told(operations, Sync())
            memory.error = None
        reads = memory.reads
        assert await operations.refresh("docs", ["docs:a"]) is None
        assert memory.reads == reads


async def test_what_is_too_much_or_not_to_be_read_is_left(
    tmp_path: pathlib.Path, made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bots.app.following.MOST_DOCUMENTS", 3)
    monkeypatch.setattr("bots.app.following.MOST_EVENTS", 4)
    asked: list[list[str]] = []

    async def refresh(name: str, ids: list[str]) -> None:
        asked.append(list(ids))

    following = Following(made_settings(tmp_path, "docs"), ["made", "other"], refresh, join=JOIN)  # type: ignore[arg-type]
    assert following.of("other") is None
    take = following.of("made")
    assert take is not None
    with caplog.at_level(logging.INFO):
        take({"of": "another form"})
        for number in range(8):
            take({"documents": [f"a{number}", f"b{number}"]})
        async with following.going_on():
            await until(lambda: asked)
            assert asked == [["docs:a0", "docs:b0", "docs:a1"]]
            tell(following, "later")
            await until(lambda: len(asked) == 2)
    assert asked[1] == ["docs:later"]
    assert "more happens than can be followed" in caplog.text
    assert "an event can't be read" in caplog.text


async def test_a_type_that_breaks_on_one_event_still_follows_the_next(tmp_path: pathlib.Path, made: Made) -> None:
    class Broken:
        def __iter__(self) -> Iterator[str]:
            raise RuntimeError("nobody foresaw this")

    asked: list[list[str]] = []

    async def refresh(name: str, ids: list[str]) -> None:
        asked.append(list(ids))

    following = Following(made_settings(tmp_path, "docs"), ["made"], refresh, join=JOIN)  # type: ignore[arg-type]
    take = following.of("made")
    assert take is not None
    async with following.going_on():
        take({"documents": Broken()})
        tell(following, "a")
        await until(lambda: asked)
    assert asked == [["docs:a"]]


async def test_what_cannot_be_read_is_left_to_the_next_run(tmp_path: pathlib.Path, made: Made) -> None:
    tries = []

    async def refresh(name: str, ids: object) -> None:
        tries.append(ids)
        if len(tries) == 1:
            raise SourceError("it is away")

    following = Following(made_settings(tmp_path, "docs"), ["made"], refresh, join=JOIN)  # type: ignore[arg-type]
    async with following.going_on():
        tell(following, "a")
        await until(lambda: len(tries) == 1)
        tell(following, "b")
        await until(lambda: len(tries) == 2)
