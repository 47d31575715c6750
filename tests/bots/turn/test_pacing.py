"""No call that the pacer lets go breaks a limit, whoever asks when; waits are as short as the limits allow."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.platform import Limit
from bots.turn.replying.pacing import Pacer
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
WAITS = st.one_of(st.sampled_from((0.0, 0.05, 0.4, 2.0)), st.floats(0.0, 2.0))
"""Seconds between two who ask; those with many digits leave waits that rounding has made too short for a timer."""
TRAVELS = st.tuples(st.sampled_from((0.0, 0.0, 0.3, 2.5)), st.sampled_from((0.0, 0.4, 6.0)))
"""How long a call takes to the platform, and its answer back."""
ASKING = st.lists(
    st.tuples(WAITS, st.booleans(), LIMITS, st.sampled_from((0.0, 0.0, 4.0)), TRAVELS),
    min_size=1,
    max_size=25,
)


@given(ASKING)
def test_no_window_ever_holds_more_than_its_limit(
    asking: list[tuple[float, bool, list[Limit], float, tuple[float, float]]],
) -> None:
    counted: list[tuple[float, list[Limit]]] = []
    begun: list[tuple[float, list[Limit]]] = []
    paused: list[tuple[float, float, Limit]] = []

    async def call(pacer: Pacer, limits: list[Limit], final: bool, there: float, back: float) -> None:
        going = await pacer.take(limits) if final else pacer.take_now(limits)
        if going is None:
            return
        with going:
            begun.append((_now(), limits))
            await asyncio.sleep(there)
            counted.append((_now(), limits))
            await asyncio.sleep(back)

    async def ask() -> None:
        pacer = Pacer()
        async with asyncio.TaskGroup() as group:
            for after, final, limits, pause, (there, back) in asking:
                await asyncio.sleep(after)
                if pause:
                    pacer.pause(limits[:1], pause)
                    paused.append((_now(), _now() + pause, limits[0]))
                group.create_task(call(pacer, limits, final, there, back))

    run(ask())
    for limit in {limit for one in asking for limit in one[2]}:
        moments = sorted(moment for moment, limits in counted if limit in limits)
        for first, last in zip(moments, moments[limit.calls :], strict=False):
            assert last - first >= limit.seconds - 1e-6
        for start, end, stopped in paused:
            if stopped.bucket == limit.bucket:
                assert not [one for one, limits in begun if limit in limits and start < one < end - 1e-6]
    assert len(begun) >= sum(final for _, final, _, _, _ in asking)


def test_calls_go_as_soon_as_they_may_and_what_shows_progress_leaves_room() -> None:
    limit = Limit(bucket="b", calls=3, seconds=10.0, kept=1)

    async def ask() -> None:
        pacer, start = Pacer(slack=0.0), _now()
        for _ in range(2):
            going = pacer.take_now([limit])
            assert going is not None
            with going:
                pass
        assert pacer.take_now([limit]) is None
        assert await waited(pacer, limit) == 0
        assert pacer.delay([limit]) == pytest.approx(10.0)
        assert await waited(pacer, limit) == pytest.approx(10.0)
        waits = await asyncio.gather(*(waited(pacer, limit) for _ in range(4)))
        assert waits == pytest.approx([0.0, 0.0, 10.0, 10.0])
        assert _now() - start == pytest.approx(20.0)

    run(ask())


def test_a_call_counts_as_long_as_it_is_under_way() -> None:
    limit = Limit(bucket="b", calls=2, seconds=1.0)

    async def ask() -> None:
        pacer = Pacer(slack=0.0)
        with await pacer.take([limit]):
            await asyncio.sleep(5)
            assert await waited(pacer, limit) == 0
            assert await waited(pacer, limit) == pytest.approx(1.0)
        assert await waited(pacer, limit) == pytest.approx(1.0)

    run(ask())


def test_whoever_gives_up_gives_its_place_to_others() -> None:
    limit = Limit(bucket="b", calls=1, seconds=10.0)

    async def ask() -> None:
        pacer = Pacer(slack=0.0)
        await waited(pacer, limit)
        waiting = asyncio.create_task(pacer.take([limit]))
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await waited(pacer, limit) == pytest.approx(9.0)

    run(ask())


async def waited(pacer: Pacer, limit: Limit) -> float:
    """Make a call that takes no time, and return how long it waited."""
    asked = _now()
    with await pacer.take([limit]):
        return _now() - asked


def _now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("paused", [False, True])
def test_a_wait_too_short_for_a_timer_is_none(paused: bool) -> None:
    """A loop runs timers that are almost due at once, so that two tasks that wait so shortly would let no time pass."""
    limit = Limit(bucket="b", calls=2, seconds=1.0, kept=0)
    begun: list[float] = []

    async def call(pacer: Pacer, at: float, turns: int) -> None:
        await asyncio.sleep(at)
        for _ in range(turns):
            await asyncio.sleep(0)
        with await pacer.take([limit]):
            begun.append(_now())
            await asyncio.sleep(0.5)

    async def ask() -> None:
        pacer = Pacer(slack=0.0)
        if paused:
            pacer.pause([limit], 1.5)
        first = () if paused else ((0.0, 0), (0.0, 0))
        async with asyncio.TaskGroup() as group:
            for at, turns in (*first, (1.5 - 1e-10, 0), (1.5 - 1e-10, 1)):
                group.create_task(call(pacer, at, turns))

    run(ask())
    assert [round(moment, 6) for moment in begun] == [*([] if paused else [1_000.0] * 2), 1_001.5, 1_001.5]
