"""A run that dies at any of its writes: nothing is skipped for ever, and what failed stays named."""

import contextlib
import pathlib

import pytest

from connectors.sync import SyncJob, sync
from ragcore.stores.database import Database
from tests.connectors.helpers import at_once, live, memory_of, run
from tests.fakes.libraries import opened
from tests.soak import scaled


class Death(BaseException):
    """The process ends here."""


async def dies_at(library, memory, write: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run the source until the so-manieth write to the database, and not on; False when it ended before that."""
    real, left = Database.begin, write

    @contextlib.asynccontextmanager
    async def begin(self):
        nonlocal left
        left -= 1
        if left <= 0:
            raise Death
        async with real(self) as connection:
            yield connection

    with monkeypatch.context() as patch:
        patch.setattr(Database, "begin", begin)
        job = SyncJob(source="s", type="t", knowledge_base="kb", connector=memory.connector())
        try:
            async for _ in sync(library, job, sleep=at_once):
                pass
        except (Death, BaseExceptionGroup):
            return True
    return left <= 0


# Every second write is left to the long runs.
@pytest.mark.parametrize("first", [pytest.param(n, marks=pytest.mark.soak) if n % 2 == 0 else n for n in range(1, 12)])
async def test_a_run_that_dies_at_any_write_skips_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    monkeypatch.setattr("ragcore.ingest.SLICE", 2)  # documents that are written together
    memory = memory_of(**{f"d{number}": f"Valve {number} is open." for number in range(7)})
    memory.broken = {"d2", "d5"}
    # Nothing but the cursor and what failed leads back to what a run has passed.
    memory.strict, memory.lists = True, False
    for write in range(first, 60, 11 if scaled(1) == 1 else 5):
        folder = tmp_path / str(write)
        async with opened(folder) as library:
            died = await dies_at(library, memory, write, monkeypatch)
        async with opened(folder) as library:
            report = await run(library, memory.connector(), retry=False)
            assert not report.error
            assert await live(library) == set(memory.texts) - memory.broken, f"died at write {write}"
            assert {one.id for one in report.failed} == {"s:d2", "s:d5"}, f"died at write {write}"
            assert set(await library.failures.of_source("s")) == {"s:d2", "s:d5"}
        if not died:
            break
