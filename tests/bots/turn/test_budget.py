"""How long somebody waits, to the moment."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from bots.turn.budget import TooSlow, within
from tests.fakes.virtual import run


async def never() -> AsyncGenerator[int]:
    await asyncio.sleep(10**6)
    yield 1


def test_a_rest_of_patience_too_short_for_a_timer_is_none() -> None:
    """A loop runs timers that are almost due at once, so that two tasks that wait so shortly would let no time pass."""

    async def wait(turns: int) -> None:
        await asyncio.sleep(1.0 - 1e-10)
        for _ in range(turns):
            await asyncio.sleep(0)
        with pytest.raises(TooSlow):
            async for _ in within(never(), lambda: 1_001.0):
                pass

    async def talk() -> None:
        await asyncio.gather(*(wait(turns) for turns in range(6)))

    run(talk())
