"""Batches hold what fits, in its order, and nothing that would also have fitted is put off."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from connectors.batches import batches


@given(st.lists(st.integers(0, 12)), st.integers(1, 20), st.integers(1, 5) | st.none())
def test_batches_are_as_large_as_they_may_be(sizes, most_bytes, most):
    items = list(enumerate(sizes))
    found = list(batches(items, lambda item: item[1], most_bytes=most_bytes, most=most))
    assert [item for batch in found for item in batch] == items

    def fits(batch):
        return (most is None or len(batch) <= most) and sum(size for _, size in batch) <= most_bytes

    assert all(batch and (fits(batch) or len(batch) == 1) for batch in found)
    assert not any(fits([*batch, following[0]]) for batch, following in pairwise(found))
