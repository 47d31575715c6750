"""Embedding each text once: for any calls beside each other, and whatever becomes of some of them."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.errors import ModelUnreachable
from ragcore.models import once
from ragcore.models.once import OnceEmbedder
from tests.fakes.embedding import HashEmbedder
from tests.soak import scaled

CALLS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdef"), max_size=5), st.integers(0, 3), st.booleans()),
    min_size=1,
    max_size=6,
)


class Slow(HashEmbedder):
    """Takes a few turns of the loop for each call, and can fail at some."""

    def __init__(self, failing: Sequence[int] = ()) -> None:
        super().__init__()
        self._failing = failing
        self._calls = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        number, self._calls = self._calls, self._calls + 1
        for _ in range(3):
            await asyncio.sleep(0)
        if number in self._failing:
            raise ModelUnreachable("not there")
        return await super().embed(texts)


@settings(max_examples=scaled(40), deadline=None)
@given(CALLS)
async def test_each_text_is_embedded_once(calls: list[tuple[list[str], int, bool]]) -> None:
    within = Slow()
    embedder = OnceEmbedder(within)

    async def call(texts: list[str], later: int) -> None:
        for _ in range(later):
            await asyncio.sleep(0)
        vectors = await embedder.embed(texts or ["a"])
        assert np.array_equal(vectors, [within.vector(text) for text in texts or ["a"]])

    await asyncio.gather(*(call(texts, later) for texts, later, _ in calls))
    assert len(within.texts) == len(set(within.texts))


@settings(max_examples=scaled(40), deadline=None)
@given(CALLS, st.frozensets(st.integers(0, 5), max_size=3))
async def test_whoever_waits_gets_it_where_another_call_fails_or_ends(
    calls: list[tuple[list[str], int, bool]], failing: frozenset[int]
) -> None:
    within = Slow(sorted(failing))
    embedder = OnceEmbedder(within)

    async def call(texts: list[str], later: int) -> object:
        for _ in range(later):
            await asyncio.sleep(0)
        return await embedder.embed(texts)

    wanted = [texts or ["a"] for texts, _, _ in calls]
    tasks = [asyncio.create_task(call(texts, later)) for texts, (_, later, _) in zip(wanted, calls, strict=True)]
    await asyncio.sleep(0)
    for task, (_, _, ends) in zip(tasks, calls, strict=True):
        if ends:
            task.cancel()
    async with asyncio.timeout(5):
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for texts, (_, _, ends), one in zip(wanted, calls, ended, strict=True):
        if ends:
            assert isinstance(one, asyncio.CancelledError)
        elif isinstance(one, np.ndarray):
            assert np.array_equal(one, [within.vector(text) for text in texts])
        else:
            assert isinstance(one, ModelUnreachable)
    assert sum(isinstance(one, ModelUnreachable) for one in ended) <= len(failing)


async def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "MOST_KEPT", 3)
    within = HashEmbedder()
    embedder = OnceEmbedder(within)
    for text in "abcabcdefabcdefgh":
        assert np.array_equal(
            await embedder.embed([text, "z", text]), [within.vector(one) for one in (text, "z", text)]
        )
    assert np.array_equal(await embedder.embed(list("abcdefgh")), [within.vector(one) for one in "abcdefgh"])
    assert within.texts[:4] == ["a", "z", "b", "c"]
    assert len(within.texts) > len(set(within.texts))


async def test_nothing_is_nothing() -> None:
    class Nothing(HashEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.zeros((len(texts), self.dimension), dtype=np.float32)

    assert (await OnceEmbedder(Nothing()).embed([])).shape == (0, 16)
