"""Sources run side by side, so many at once; one that hangs stalls no other, and no answer."""

import asyncio
import contextlib
import pathlib

import pytest

from bots.app import open_operations
from bots.app.side_by_side import Room, side_by_side
from bots.requests import Ask, Sync
from connectors.base import Origin, SourceType
from ragcore.reports import SyncReport
from ragcore.types import Answer
from tests.bots.handbook import told
from tests.bots.made_source import Made, MadeConnector, MadeOptions, made_settings, made_type
from tests.fakes.waiting import until


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return made_type(monkeypatch)


def reports(events: list[object]) -> dict[str, SyncReport]:
    return {event.source: event for event in events if isinstance(event, SyncReport)}


async def test_sources_are_read_together_but_for_a_limit(tmp_path: pathlib.Path, made: Made) -> None:
    names = [f"s{number}" for number in range(6)]
    for name in names:
        made.source(name, **{f"d{n}": f"Valve {n} of {name} is open." for n in range(12)})
    settings = made_settings(tmp_path, *names, more="[sync]\nat_once = 3\n")
    async with open_operations(settings, mending=False, warming=False) as operations:
        found = reports(await told(operations, Sync()))
        assert list(found) == names, "reports stand in the order of the settings"
        assert [report.added for report in found.values()] == [12] * 6
        assert made.together == 3
        # What was written side by side is all there, and nothing of it is due again.
        again = reports(await told(operations, Sync()))
        assert {(report.added, report.changed, report.deleted, report.unchanged) for report in again.values()} == {
            (0, 0, 0, 12)
        }


async def test_a_source_that_hangs_stalls_no_other_and_no_answer(tmp_path: pathlib.Path, made: Made) -> None:
    made.source("good", leave="Up to five unused leave days may be carried over into the next year.")
    made.hangs = {"bad"}
    settings = made_settings(tmp_path, "bad", "good")
    async with open_operations(settings, mending=False, warming=False) as operations:
        hanging = asyncio.create_task(told(operations, Sync(sources=("bad",))))
        await until(lambda: "bad" in made.running)
        async with asyncio.timeout(60):  # a stall would last for ten minutes
            found = reports(await told(operations, Sync(sources=("good",))))
            assert found["good"].added == 1
            events = await told(operations, Ask(question="How many unused leave days may be carried over?"))
            assert isinstance(events[-1], Answer)
            assert "five" in events[-1].raw_text
        assert not hanging.done()
        hanging.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await hanging
        assert not made.running
        made.hangs = set()
        assert not reports(await told(operations, Sync(sources=("bad",))))["bad"].error


async def test_a_connector_that_cannot_even_be_made_ends_no_other_run(
    tmp_path: pathlib.Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.source("good", a="Valve a is open.")

    def create(origin: Origin, options: MadeOptions) -> MadeConnector:
        if origin.source == "bad":
            raise RuntimeError("not foreseen")
        return made.create(origin, options)

    kind = SourceType(options=MadeOptions, create=create)
    monkeypatch.setattr("connectors.registry._load", lambda name: kind)
    settings = made_settings(tmp_path, "bad", "good")
    async with open_operations(settings, mending=False, warming=False) as operations:
        found = reports(await told(operations, Sync()))
    assert found["good"].added == 1
    assert "RuntimeError" in found["bad"].error
    assert "not foreseen" not in found["bad"].error, "the log has that"


async def test_a_second_run_of_a_source_waits_for_the_first(tmp_path: pathlib.Path, made: Made) -> None:
    made.source("one", a="Valve a is open.")
    settings = made_settings(tmp_path, "one")
    async with open_operations(settings, mending=False, warming=False) as operations:
        both = await asyncio.gather(*(told(operations, Sync(sources=("one", "one"))) for _ in range(2)))
        assert sorted(reports(events)["one"].added for events in both) == [0, 1]
        assert made.runs == ["one", "one"]


async def test_whoever_is_alone_waits_for_those_that_run_and_keeps_others_out() -> None:
    room, order = Room(2), list[str]()

    async def run(name: str) -> None:
        async with room.of(name):
            order.append(f"+{name}")
            await asyncio.sleep(0.02)
            order.append(f"-{name}")

    async def alone(name: str) -> None:
        async with room.alone():
            order.append(f"+{name}")
            await asyncio.sleep(0.02)
            order.append(f"-{name}")

    async with asyncio.timeout(5):
        await asyncio.gather(run("a"), run("b"), alone("x"), alone("y"), run("c"))
    for name in ("x", "y"):
        assert order.index(f"-{name}") == order.index(f"+{name}") + 1
    assert len(order) == 10


async def test_what_one_raises_ends_the_others() -> None:
    ended = asyncio.Event()

    async def fails(tell: object) -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def waits(tell: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(ValueError, match="no"):
        await asyncio.wait_for(anext(side_by_side([waits, fails])), 5)
    assert ended.is_set()
