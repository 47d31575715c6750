"""No call that the pacer lets go breaks a limit, whoever asks when; waits are as short as the limits allow."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.platform import Limit
from bots.turn.pacing import Pacer
from tests.fakes.virtual import run

LIMITS = st.lists(
    st.builds(
        lambda name, calls, seconds: Limit(
            bucket=f"{name}{calls}/{seconds}", calls=calls, seconds=seconds, kept=calls // 3
        ),
        name=st.sampled_from("abc"),
        calls=st.integers(1, 5),
        seconds=st.sampled_from((1.0, 3.0, 10.0)),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda limit: limit.bucket,
)
ASKING = st.lists(
    st.tuples(st.sampled_from((0.0, 0.05, 0.4, 2.0)), st.booleans(), LIMITS, st.sampled_from((0.0, 0.0, 4.0))),
    min_size=1,
    max_size=25,
)


@given(ASKING)
def test_no_window_ever_holds_more_than_its_limit(asking: list[tuple[float, bool, list[Limit], float]]) -> None:
    went: list[tuple[float, list[Limit]]] = []
    paused: list[tuple[float, float, Limit]] = []

    async def call(pacer: Pacer, limits: list[Limit], final: bool) -> None:
        if final:
            await pacer.take(limits)
        elif not pacer.take_now(limits):
            return
        went.append((asyncio.get_running_loop().time(), limits))

    async def ask() -> None:
        pacer = Pacer()
        async with asyncio.TaskGroup() as group:
            for after, final, limits, pause in asking:
                await asyncio.sleep(after)
                if pause:
                    now = asyncio.get_running_loop().time()
                    pacer.pause(limits[:1], pause)
                    paused.append((now, now + pause, limits[0]))
                group.create_task(call(pacer, limits, final))

    run(ask())
    for limit in {limit for _, limits, _ in ((0, one[2], 0) for one in asking) for limit in limits}:
        moments = sorted(moment for moment, limits in went if limit in limits)
        for first, last in zip(moments, moments[limit.calls :], strict=False):
            assert last - first >= limit.seconds - 1e-6
        for start, end, stopped in paused:
            if stopped.bucket == limit.bucket:
                assert not [moment for moment in moments if start < moment < end - 1e-6]
    assert len(went) >= sum(final for _, final, _, _ in asking)


def test_calls_go_as_soon_as_they_may_and_what_shows_progress_leaves_room() -> None:
    limit = Limit(bucket="b", calls=3, seconds=10.0, kept=1)

    async def ask() -> None:
        pacer, start = Pacer(slack=0.0), asyncio.get_running_loop().time()
        assert [pacer.take_now([limit]) for _ in range(3)] == [True, True, False]
        assert await pacer.take([limit]) == 0
        assert pacer.delay([limit]) == pytest.approx(10.0)
        assert await pacer.take([limit]) == pytest.approx(10.0)
        waits = await asyncio.gather(*(pacer.take([limit]) for _ in range(4)))
        assert waits == pytest.approx([0.0, 0.0, 10.0, 10.0])
        assert asyncio.get_running_loop().time() - start == pytest.approx(20.0)

    run(ask())


def test_whoever_gives_up_gives_its_place_to_others() -> None:
    limit = Limit(bucket="b", calls=1, seconds=10.0)

    async def ask() -> None:
        pacer = Pacer(slack=0.0)
        await pacer.take([limit])
        waiting = asyncio.create_task(pacer.take([limit]))
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await pacer.take([limit]) == pytest.approx(9.0)

    run(ask())
