"""What a run that is shorter than usual leaves out."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.soak import in_half


@given(sizes=st.lists(st.integers(2, 4), min_size=3, max_size=4))
def test_in_half_of_a_grid_each_two_values_meet(sizes: list[int]) -> None:
    places = list(itertools.product(*map(range, sizes)))
    half = [place for place in places if in_half(place)]
    assert abs(2 * len(half) - len(places)) <= 1
    for one, other in itertools.combinations(range(len(sizes)), 2):
        met = {(place[one], place[other]) for place in half}
        assert met == set(itertools.product(range(sizes[one]), range(sizes[other])))
