"""The newest replies of a thread are found however long it is, with few calls."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.slack.newest import READ_THROUGH, TRIES, newest_replies
from bots.slack.reading import Reader
from ragcore.errors import PlatformRateLimited, PlatformUnreachable
from tests.fakes.virtual import run

END = 1_800_000_000.0


class Page:
    def __init__(self, times: Sequence[float], size: int, most: int, slow: "Slow") -> None:
        self.times, self.size, self.most, self.slow, self.whole = times, size, most, slow, False

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        for number in range(self.most):
            await self.slow.call()
            for time in self.times[number * self.size : (number + 1) * self.size]:
                yield {"ts": f"{time:.6f}"}
            if (number + 1) * self.size >= len(self.times):
                self.whole = True
                return


class Slow:
    """A thread on Slack; after ``limit`` calls it asks to wait."""

    def __init__(self, times: Sequence[float], limit: int = 1_000) -> None:
        self.times, self.limit, self.calls = sorted(times), limit, 0

    async def call(self) -> None:
        self.calls += 1
        await asyncio.sleep(0.5)
        if self.calls > self.limit:
            raise PlatformRateLimited("wait", retry_after=50)

    def replies(self, channel: str, thread: str, *, oldest: str, latest: str, size: int, most: int) -> Page:
        first, *rest = self.times
        within = [first, *(time for time in rest if float(oldest) <= time <= float(latest))]
        return Page(within, size, most, self)


def newest(thread: Slow, most: int = 501, since: float = 0.0) -> tuple[list[float], bool]:
    def counts(message: Any) -> bool:
        return since <= float(message["ts"]) < END

    async def read() -> tuple[list[float], bool]:
        reader = cast(Reader, thread)
        found, whole = await newest_replies(reader, "C1", "t", f"{since:.6f}", f"{END:.6f}", most, counts)
        return [float(message["ts"]) for message in found], whole

    return run(read())


def test_a_hundred_thousand_replies_are_not_read_through() -> None:
    thread = Slow([END - 100_000 + number for number in range(100_000)])
    found, whole = newest(thread)
    assert found == thread.times[-501:]
    assert not whole
    assert thread.calls <= READ_THROUGH + 8


@pytest.mark.soak
def test_a_burst_at_the_end_of_a_thread_of_years_is_found() -> None:
    thread = Slow([END - 1e8 + 1e4 * n for n in range(6_000)] + [END - 600 + n / 100 for n in range(20_000)])
    found, _ = newest(thread)
    assert found == thread.times[-501:]
    assert thread.calls <= READ_THROUGH + TRIES + 8


def test_what_are_not_the_newest_is_not_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [END - 20_000 + number for number in range(20_000)]
    with pytest.raises(PlatformRateLimited):
        newest(Slow(times, limit=READ_THROUGH + 1))
    monkeypatch.setattr("bots.slack.newest.TRIES", 2)
    with pytest.raises(PlatformUnreachable):
        newest(Slow(times))


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=30).map(lambda gaps: [2 ** (gap / 2) for gap in gaps]),
    st.integers(1, 12),
    st.sampled_from([1, 40, 400]),
)
def test_what_is_found_are_the_newest_messages_in_their_order(gaps: list[float], most: int, repeat: int) -> None:
    times, time = [], END
    for gap in gaps * (1 + repeat // len(gaps)):
        time -= gap / 100
        times.append(round(time, 6))
    thread = Slow(times)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bots.slack.newest.SIZE", 20)
        found, whole = newest(thread, most)
    assert found == thread.times[-len(found) :]
    assert found
    assert whole == (len(found) == len(times))
    assert thread.calls <= READ_THROUGH + TRIES
    assert len(found) == min(most, len(times)) or len(times) > READ_THROUGH * 20
