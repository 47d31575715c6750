"""When hundreds ask at once, all are heard before the first is answered, if that doesn't take long."""

import asyncio

from bots.turn.receiving.rush import LONGEST, MANY, Rush
from tests.fakes.virtual import run


async def waited(rush: Rush) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await rush.over()
    return loop.time() - began


def test_answers_wait_until_few_are_being_taken() -> None:
    async def rushed(count: int, seconds: float) -> float:
        rush = Rush()

        async def take() -> None:
            async with rush.taking():
                await asyncio.sleep(seconds)

        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(take())
            await asyncio.sleep(0)
            return await waited(rush)

    assert run(rushed(MANY - 1, 0.5)) == 0.0
    assert 0.49 < run(rushed(MANY, 0.5)) < 0.51
    assert 0.99 < run(rushed(10 * MANY, 2 * LONGEST)) / LONGEST < 1.01


def test_a_rush_that_hangs_is_waited_for_once() -> None:
    async def hanging() -> tuple[float, float]:
        rush = Rush()

        async def take() -> None:
            async with rush.taking():
                await asyncio.sleep(5 * LONGEST)

        async with asyncio.TaskGroup() as group:
            for _ in range(MANY):
                group.create_task(take())
            await asyncio.sleep(0)
            return await waited(rush), await waited(rush)

    first, second = run(hanging())
    assert 0.99 < first / LONGEST < 1.01
    assert second == 0.0
