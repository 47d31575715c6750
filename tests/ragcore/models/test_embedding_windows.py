import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragcore.models.embedding_windows import pool, spread_windows, unit


@given(st.integers(0, 5000), st.integers(2, 300), st.data())
def test_every_token_lies_in_a_window(length: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    windows = spread_windows(length, size, overlap)
    assert windows[0][0] == 0
    assert windows[-1][1] == length
    assert all(end - start <= size for start, end in windows)
    for (_, end), (start, _) in itertools.pairwise(windows):
        assert start <= end - overlap


@given(st.integers(1, 5000), st.integers(2, 300), st.data())
def test_there_are_no_more_windows_than_needed(length: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    windows = spread_windows(length, size, overlap)
    reached, needed = size, 1
    while reached < length:
        reached += size - overlap
        needed += 1
    assert len(windows) == needed


def test_pooling_weighs_by_tokens() -> None:
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    pooled = pool(vectors, [0, 0, 1], [3, 1, 0], 2)
    np.testing.assert_allclose(pooled, [[3 / 10**0.5, 1 / 10**0.5], [0, 1]], atol=1e-6)
    assert pooled.dtype == np.float32


def test_a_row_of_zeros_stays() -> None:
    np.testing.assert_array_equal(unit(np.zeros((1, 3))), np.zeros((1, 3), dtype=np.float32))
