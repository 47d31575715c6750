"""A Checkpoint is one commit: its documents, its failures, its deletions and the cursor; and a run may die around it."""

import asyncio
import contextlib
import copy
import pathlib
import shutil
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import Checkpoint, Failure, Origin, Tombstone
from connectors.sync import SyncJob, sync
from ragcore.library import Library
from ragcore.stores.database import Database
from ragcore.stores.sources import SourceStates
from tests.connectors.helpers import at_once, live, memory_of, run
from tests.connectors.memory import Memory, MemoryConnector
from tests.fakes.libraries import opened
from tests.soak import scaled

WHEN = ("within", *(pytest.param(one, marks=pytest.mark.soak) for one in ("before", "after")))


class Death(BaseException):
    """The process ends here."""


@contextlib.contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, look: Callable[[str], Any]) -> Any:
    """Call ``look`` before each write transaction, in it just before its commit, and after that."""
    real = Database.begin

    @contextlib.asynccontextmanager
    async def begin(self: Database) -> AsyncIterator[Any]:
        await look("before")
        async with real(self) as connection:
            yield connection
            await look("within")
        await look("after")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "begin", begin)
        yield


async def events(library: Library, memory: Memory, batch: int) -> None:
    job = SyncJob(source="s", type="t", knowledge_base="kb", connector=memory.connector(batch=batch))
    async for _ in sync(library, job, sleep=at_once):
        pass


async def standing(library: Library) -> tuple[Any, ...]:
    """Return what is live and what failed, and the cursor."""
    documents = await library.registry.documents(await library.registry.document_ids("s"))
    failed = await library.failures.of_source("s")
    return (
        {name: document.version for name, document in documents.items()},
        {name: failure.attempts for name, failure in failed.items()},
        (await SourceStates(library.database).get("s")).cursor,
    )


async def assert_passed(library: Library, memory: Memory, what: str) -> None:
    """Check that all before the cursor is live as it is at the source, deleted, or recorded as failed."""
    there, failed, cursor = await standing(library)
    connector = memory.connector()
    passed = int(cursor or 0)
    for name in sorted(set(memory.journal[:passed]) - set(memory.journal[passed:])):
        identity = f"s:{name}"
        if name in memory.broken:
            assert identity in failed, f"{name} is passed and not recorded, {what}"
        elif name in memory.texts:
            assert there.get(identity) == connector._version(name), f"{name} is passed and not live, {what}"
        else:
            assert identity not in there, f"{name} is passed and still live, {what}"


def changed_memory() -> Memory:
    """A source of which everything happened since it was synced: changed, gone, broken, mended, new."""
    memory = memory_of(**{f"d{number}": f"Valve {number} is open." for number in range(6)})
    memory.strict, memory.lists = True, False
    memory.broken = {"d5"}
    return memory


def change(memory: Memory) -> None:
    memory.put("d0", "Valve 0 is shut.")
    memory.drop("d1")
    memory.broken = {"d2"}
    memory.put("d2", "Valve 2 can't be read.")
    memory.put("d5", "Valve 5 can be read.")
    memory.put("new", "Valve 6 is new.")


async def test_a_checkpoint_is_one_commit(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = changed_memory()
    async with opened(tmp_path) as library:
        await events(library, memory, 100)
        change(memory)
        seen = [await standing(library)]

        async def look(when: str) -> None:
            if when == "after":
                seen.append(await standing(library))

        with watched(monkeypatch, look):
            await events(library, memory, 100)
    distinct = [state for number, state in enumerate(seen) if not number or state != seen[number - 1]]
    assert len(distinct) == 2, "documents, failures, deletions and the cursor change in one step"
    before, after = distinct
    assert before[2] == "6"
    assert after[2] == str(len(memory.journal))
    assert after[0].keys() == {"s:d0", "s:d2", "s:d3", "s:d4", "s:d5", "s:new"}
    assert after[1] == {"s:d2": 1}


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("size", [2, pytest.param(256, marks=pytest.mark.soak)])
async def test_a_run_that_dies_at_any_step_of_a_checkpoint(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, when: str, size: int
) -> None:
    """With batches of ingest that are smaller than what a Checkpoint closes, and larger."""
    monkeypatch.setattr("ragcore.ingest.SLICE", size)
    original = changed_memory()
    async with opened(tmp_path / "before") as library:
        await events(library, original, 3)
    change(original)
    step, alive = 1, False
    while not alive:
        folder, memory, left = tmp_path / str(step), copy.deepcopy(original), step
        what = f"died {when} write {step}"
        shutil.copytree(tmp_path / "before", folder)
        async with opened(folder) as library:

            async def look(now: str) -> None:
                nonlocal left
                left -= now == when
                if now == when and left <= 0:
                    raise Death

            with watched(monkeypatch, look), contextlib.suppress(Death, BaseExceptionGroup):
                await events(library, memory, 3)
            alive = left > 0
        async with opened(folder) as library:
            await assert_passed(library, memory, what)
            report = await run(library, memory.connector(), retry=False)
            assert not report.error
            await assert_passed(library, memory, what)
            assert await live(library) == memory.texts.keys(), what
            _, failed, cursor = await standing(library)
            assert failed == {"s:d2": 1}, f"an attempt counts once, {what}"
            assert cursor == str(len(memory.journal))
        step += 1 if size > 2 or scaled(1) > 1 else 3
    assert step > 4, "the run was to die at some writes"


names = st.sampled_from(["a", "b", "c", "d", "e"])
changes = st.lists(
    st.tuples(st.sampled_from(["put", "drop", "break", "mend"]), names, st.integers(0, 2)), min_size=1, max_size=10
)


@settings(max_examples=scaled(12), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(plan=st.lists(changes, min_size=1, max_size=3), batch=st.integers(1, 4), size=st.sampled_from([1, 2, 256]))
def test_the_cursor_never_stands_beyond_what_is_live_or_recorded(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, plan: Any, batch: int, size: int
) -> None:
    """After every commit of every run."""
    monkeypatch.setattr("ragcore.ingest.SLICE", size)
    memory = Memory(strict=True, lists=False)

    async def drive() -> None:
        async with opened(tmp_path_factory.mktemp("cursor")) as library:

            async def look(when: str) -> None:
                if when == "after":
                    await assert_passed(library, memory, f"{plan}")

            for steps in plan:
                for step, name, number in steps:
                    if step == "drop" or (step in {"break", "mend"} and name not in memory.texts):
                        memory.drop(name)
                        memory.broken.discard(name)
                        continue
                    if step != "put":
                        (memory.broken.add if step == "break" else memory.broken.discard)(name)
                    memory.put(name, f"{name} says {number}.")
                with watched(monkeypatch, look):
                    await events(library, memory, batch)
            assert await live(library) >= memory.texts.keys() - memory.broken

    asyncio.run(drive())


async def test_what_was_told_as_gone_and_then_as_failed_is_kept_as_failed(tmp_path: pathlib.Path) -> None:
    """The later word counts: it came back, and can't be read as yet."""

    class Back(MemoryConnector):
        async def changes(self, cursor: str | None, known: Any) -> AsyncIterator[Any]:
            yield Tombstone(id="s:a")
            yield Failure(id="s:a", reason="it is broken", mend="mend it")
            yield Checkpoint(cursor="9")

    memory = memory_of(a="Valve a is open.", b="Valve b is open.")
    memory.lists = False
    async with opened(tmp_path) as library:
        await events(library, memory, 100)
        report = await run(library, Back(memory, Origin(source="s", folder=tmp_path), 100))
        assert (report.deleted, [failed.id for failed in report.failed]) == (0, ["s:a"])
        assert await live(library) == {"a", "b"}
        _, failed, cursor = await standing(library)
        assert (failed, cursor) == ({"s:a": 1}, "9")
