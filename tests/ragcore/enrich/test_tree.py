"""Which parts are summarised together: each once, neighbours, within the limits, the same for the same parts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.enrich.tree import MOST_TOGETHER, Limits, gathered
from ragcore.errors import ContextTooSmall


def unit(count: int, seed: int, *, dimension: int = 8) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).standard_normal((count, dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


LIMITS = st.builds(Limits, tokens=st.integers(1, 400), parts=st.integers(2, 12))
SIZES = st.lists(st.integers(0, 300), max_size=40)


@given(SIZES, st.integers(0, 999), LIMITS)
def test_each_part_is_in_one_range_of_neighbours_within_the_limits(sizes: list[int], seed: int, limits: Limits) -> None:
    ranges = gathered(unit(len(sizes), seed), sizes, limits)
    assert [part for one in ranges for part in one] == list(range(len(sizes)))
    for one in ranges:
        assert len(one) == 1 or (sum(sizes[part] for part in one) <= limits.tokens and len(one) <= limits.parts)
    for one, other in pairwise(ranges):
        together = [*one, *other]
        too_many = len(together) > limits.parts or sum(sizes[part] for part in together) > limits.tokens
        assert too_many, "two neighbours that fit are joined"


@given(SIZES, st.integers(0, 999), LIMITS)
def test_the_same_parts_are_gathered_the_same_way(sizes: list[int], seed: int, limits: Limits) -> None:
    vectors = unit(len(sizes), seed)
    before = vectors.copy()
    assert gathered(vectors, sizes, limits) == gathered(before, list(sizes), limits)
    assert (vectors == before).all()


@given(st.integers(1, 400), st.integers(1, 160), st.integers(1, 50), st.integers(0, 99))
def test_level_by_level_one_is_left(count: int, tokens: int, summary: int, seed: int) -> None:
    limits, sizes = Limits(tokens=4 * max(tokens, summary), parts=MOST_TOGETHER), [tokens] * count
    levels = 0
    while len(sizes) > 1:
        ranges = gathered(unit(len(sizes), seed + levels), sizes, limits)
        assert len(ranges) <= (2 * len(sizes)) // 4 + 1
        sizes = [summary if len(one) > 1 else sizes[one.start] for one in ranges]
        levels += 1
    assert levels <= 10


def test_what_speaks_of_the_same_is_gathered() -> None:
    first, second = unit(2, 1)
    vectors = np.stack([first, first, first, second, second])
    assert gathered(vectors, [50] * 5, Limits(tokens=200)) == [range(3), range(3, 5)]


@given(st.integers(0, 50), st.integers(20, 60))
def test_a_change_at_one_end_leaves_the_other_as_it_was(seed: int, count: int) -> None:
    vectors = unit(count, seed)
    changed = np.concatenate([unit(1, seed + 1_000), vectors])
    before = {(one.start + 1, one.stop + 1) for one in gathered(vectors, [50] * count, Limits(parts=4))}
    after = {(one.start, one.stop) for one in gathered(changed, [50] * (count + 1), Limits(parts=4))}
    assert len(before - after) <= len(before) / 2 + 2


@pytest.mark.parametrize(("tokens", "parts"), [(0, 10), (-5, 10), (100, 1)])
def test_limits_that_join_nothing_are_refused(tokens: int, parts: int) -> None:
    with pytest.raises(ContextTooSmall, match="context_window"):
        Limits(tokens=tokens, parts=parts)
