"""Works run side by side, and are handed over in their order, whichever is done first and whatever fails."""

import asyncio
from contextlib import aclosing
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.ingest.in_order import InOrder
from tests.soak import scaled


@settings(max_examples=scaled(60))
@given(st.lists(st.integers(0, 5), max_size=12), st.integers(1, 4), st.integers(0, 20))
async def test_they_are_handed_over_in_order_up_to_the_first_that_fails(
    turns: list[int], most: int, failing: int
) -> None:
    handed: list[int] = []
    at_work = most_at_work = 0

    async def work(number: int, turns: int) -> int:
        nonlocal at_work, most_at_work
        at_work += 1
        most_at_work = max(most_at_work, at_work)
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
            if number == failing:
                raise ValueError(number)
            return number
        finally:
            at_work -= 1

    async def hand_over(number: int) -> None:
        await asyncio.sleep(0)
        handed.append(number)

    async def run() -> None:
        async with aclosing(InOrder(most, hand_over)) as line:
            for number, long in enumerate(turns):
                await line.begin(partial(work, number, long))
            await line.all()

    if failing < len(turns):
        with pytest.raises(ValueError, match=str(failing)):
            await run()
    else:
        await run()
    assert handed == list(range(min(failing, len(turns))))
    assert most_at_work <= most
    assert at_work == 0


async def test_closing_ends_what_is_under_way() -> None:
    ended = asyncio.Event()

    async def work() -> int:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async def hand_over(number: int) -> None:
        raise AssertionError

    async with aclosing(InOrder(2, hand_over)) as line:
        await line.begin(work)
        await asyncio.sleep(0)
    assert ended.is_set()
