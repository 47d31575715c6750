"""Things that belong together: each in one community at most, few in each, and one place's change leaves the others."""

import random

from hypothesis import given
from hypothesis import strategies as st

from ragcore.graph.communities import DENSITY, MOST_MEMBERS, Tie, communities_of, merged, strengths_of

Strengths = dict[tuple[str, str], float]


def tie(source: str, target: str, weight: int = 10) -> Tie:
    return Tie(source=source, target=target, weight=weight)


def test_what_has_much_to_do_with_each_other_is_together() -> None:
    threes = [("a", "b"), ("b", "c"), ("a", "c"), ("x", "y"), ("y", "z"), ("x", "z")]
    bridged = strengths_of([*(tie(*pair) for pair in threes), tie("x", "q"), tie("q", "r"), tie("r", "c", 1)])
    assert (
        communities_of(bridged) == [("a", "b", "c"), ("q", "r"), ("x", "y", "z")] or len(communities_of(bridged)) == 2
    )
    assert communities_of(strengths_of([tie("a", "b"), tie("b", "a"), tie("c", "c")])) == [("a", "b")]
    assert communities_of({}) == []


def test_what_is_told_often_and_weighs_counts_more_up_to_a_limit() -> None:
    assert strengths_of([tie("a", "b", 1)]) == {("a", "b"): 0.55}
    assert strengths_of([tie("a", "b"), tie("b", "a")]) == {("a", "b"): 2.0}
    assert strengths_of([tie("a", "b")] * 900) == {("a", "b"): 3.0}


def test_one_thing_with_hundreds_of_neighbours_has_a_community_of_a_few() -> None:
    star = strengths_of(tie("hub", f"leaf{n:03}") for n in range(500))
    (only,) = communities_of(star)
    assert 1 / (len(only) - 1) >= DENSITY > 1 / len(only)
    whole = strengths_of(tie(f"n{a}", f"n{b}") for a in range(60) for b in range(a))
    assert max(map(len, communities_of(whole))) == MOST_MEMBERS


_KEYS = st.sampled_from([f"k{n}" for n in range(14)])
_TIES = st.lists(st.builds(tie, _KEYS, _KEYS, st.integers(1, 10)), max_size=40)


@given(ties=_TIES, most=st.integers(2, 9), rng=st.randoms(use_true_random=False))
def test_each_thing_is_in_one_community_at_most(ties: list[Tie], most: int, rng: random.Random) -> None:
    strengths = strengths_of(ties)
    found = communities_of(strengths, most=most)
    members = [key for some in found for key in some]
    assert len(members) == len(set(members))
    assert set(members) <= {key for pair in strengths for key in pair}
    assert all(1 < len(some) <= most and list(some) == sorted(some) for some in found)
    for some in found:  # in one piece
        reached, waiting = {some[0]}, [some[0]]
        while waiting:
            here = waiting.pop()
            beside = {key for pair in strengths if here in pair for key in pair if key in some} - reached
            reached |= beside
            waiting += beside
        assert reached == set(some)
    mixed = [Tie(source=one.target, target=one.source, weight=one.weight) for one in ties]
    rng.shuffle(mixed)
    assert communities_of(strengths_of(mixed), most=most) == found


@given(here=_TIES, there=_TIES)
def test_what_is_told_elsewhere_changes_nothing_here(here: list[Tie], there: list[Tie]) -> None:
    away = [Tie(source=f"far {one.source}", target=f"far {one.target}", weight=one.weight) for one in there]
    both = communities_of(strengths_of([*here, *away]))
    assert [some for some in both if not some[0].startswith("far")] == communities_of(strengths_of(here))


def test_a_relation_more_or_less_changes_few_communities() -> None:
    draw = random.Random(4)
    ties = [tie(*(f"n{c * 10 + n}" for n in draw.sample(range(10), 2))) for c in range(30) for _ in range(20)]
    ties += [tie(*(f"n{n}" for n in draw.sample(range(300), 2))) for _ in range(90)]
    strengths = strengths_of(ties)
    before = set(communities_of(strengths))
    assert len(before) > 25
    gone = draw.sample(sorted(strengths), 40)
    changed = [
        len(set(communities_of({pair: one for pair, one in strengths.items() if pair != lost})) - before)
        for lost in gone
    ]
    assert sum(changed) / len(changed) < 2
    assert max(changed) < len(before) / 3


@given(st.lists(st.tuples(_KEYS, _KEYS), max_size=20))
def test_names_of_one_thing_have_one_that_stands_for_all(pairs: list[tuple[str, str]]) -> None:
    first = merged(pairs)
    assert all(first.get(one, one) == first.get(other, other) for one, other in pairs)
    for key, stands in first.items():
        assert stands < key
        assert stands not in first
    # No more are joined than the pairs join.
    groups = {key: {key} for pair in pairs for key in pair}
    for one, other in pairs:
        joined = groups[one] | groups[other]
        groups.update(dict.fromkeys(joined, joined))
    assert all(groups[key] >= {key, stands} for key, stands in first.items())
