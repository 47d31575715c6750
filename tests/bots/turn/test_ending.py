"""Tasks beside a turn, at their end."""

import asyncio

import pytest

from bots.turn.ending import end, to_its_end
from ragcore.errors import ClaimLost
from tests.fakes.virtual import run


@pytest.mark.parametrize(("error", "is_told"), [(KeyError("ts"), True), (ClaimLost("theirs"), False), (None, False)])
def test_work_that_is_begun_comes_to_its_end_and_its_fault_is_told(
    error: Exception | None, is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[bool] = []

    async def work() -> bool:
        await asyncio.sleep(5)
        ended.append(True)
        if error is not None:
            raise error
        return True

    async def wait() -> None:
        await to_its_end(work())

    async def talk() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(1)
        await end(task)
        assert task.cancelled()
        assert ended == [True]

    run(talk())
    assert ("KeyError: 'ts'" in caplog.text) is is_told
