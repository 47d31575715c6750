import asyncio

import pytest

from ragcore.stores.waiting import uninterrupted


@pytest.mark.parametrize("cancellations", [0, 1, 2, 5])
async def test_work_comes_to_its_end_however_often_its_caller_is_cancelled(cancellations: int) -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> str:
        begun.set()
        await may_end.wait()
        ended.set()
        return "done"

    caller = asyncio.create_task(uninterrupted(work()))
    await begun.wait()
    for _ in range(cancellations):
        caller.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not caller.done(), "whoever holds a lock meanwhile would give it up"
    may_end.set()
    await asyncio.wait({caller})
    assert ended.is_set()
    assert caller.cancelled() if cancellations else caller.result() == "done"


async def test_work_that_is_cancelled_itself_ends_its_caller() -> None:
    work = asyncio.create_task(asyncio.sleep(3600))
    caller = asyncio.create_task(uninterrupted(work))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
