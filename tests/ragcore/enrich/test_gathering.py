"""Documents are gathered by what they are, whatever stands beside them: once each, within limits, and nearly for good."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.enrich.gathering import BITS, Group, levels, rank_of
from ragcore.enrich.tree import Limits
from tests.soak import scaled

DIMENSIONS = 12


def drawn(count: int, seed: int, topics: int = 0) -> NDArray[np.float32]:
    """Return unit vectors; of so many topics, if any."""
    draw = np.random.default_rng(seed)
    vectors = draw.standard_normal((count, DIMENSIONS))
    if topics:
        centres = draw.standard_normal((topics, DIMENSIONS))
        vectors = centres[np.arange(count) % topics] + 0.2 * vectors
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def summaries(names: list[str], found: list[list[Group]]) -> set[frozenset[object]]:
    """Return what each summary is made of, down to the names: two are equal if nothing below them differs."""
    nodes: list[object] = list(names)
    told: set[frozenset[object]] = set()
    for groups in found:
        nodes = [frozenset(nodes[at] for at in group) if len(group) > 1 else nodes[group[0]] for group in groups]
        told |= {node for node in nodes if isinstance(node, frozenset)}
    return told


def names_of(count: int) -> list[str]:
    return [f"s:{number}" for number in range(count)]


@settings(max_examples=scaled(60), deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=70),
    st.integers(0, 9),
    st.sampled_from([0, 1, 3]),
    st.builds(Limits, tokens=st.integers(1, 200), parts=st.integers(2, 10)),
)
def test_each_part_is_held_once_within_the_limits_whatever_the_order(
    tokens: list[int], seed: int, topics: int, limits: Limits
) -> None:
    count = len(tokens)
    vectors, names = drawn(count, seed, topics), names_of(count)
    vectors[count // 2 :] = vectors[0]  # many copies
    ranks = [rank_of(name) for name in names]
    found = levels(ranks, vectors, tokens, limits)
    below = count
    for number, groups in enumerate(found):
        assert sorted(at for group in groups for at in group) == list(range(below))
        assert len(groups) < below
        assert all(len(group) <= limits.parts for group in groups)
        if not number:
            assert all(len(group) == 1 or sum(tokens[at] for at in group) <= limits.tokens for group in groups)
        below = len(groups)
    turned = np.random.default_rng(seed).permutation(count)
    other = levels([ranks[at] for at in turned], vectors[turned], [tokens[at] for at in turned], limits)
    assert summaries([names[at] for at in turned], other) == summaries(names, found)


@settings(max_examples=scaled(30), deadline=None)
@given(st.integers(2, 400), st.integers(0, 9), st.sampled_from([0, 1, 5]))
def test_all_ends_in_one_where_the_limits_let_it(count: int, seed: int, topics: int) -> None:
    found = levels([rank_of(name) for name in names_of(count)], drawn(count, seed, topics), [150] * count, Limits())
    assert len(found[-1]) == 1
    assert len(found) <= 6
    calls = sum(len(group) > 1 for groups in found for group in groups)
    assert calls <= 2 + count // 2


@pytest.mark.parametrize("topics", [pytest.param(0, marks=pytest.mark.soak), 40])
def test_a_document_that_changes_comes_or_goes_touches_few_summaries(topics: int) -> None:
    count = 1_000
    names, vectors = names_of(count), drawn(count, 1, topics)
    ranks, limits = [rank_of(name) for name in names], Limits()

    def made(kept: list[int], data: NDArray[np.float32]) -> set[frozenset[object]]:
        found = levels([ranks[at] for at in kept], data[kept], [150] * len(kept), limits)
        return summaries([names[at] for at in kept], found)

    everything = list(range(count))
    before = made(everything, vectors)
    assert 150 < len(before) < 300
    gone, changed = [], []
    for at in range(0, count, 50):
        gone.append(len(made([one for one in everything if one != at], vectors) - before))
        fresh = vectors.copy()
        fresh[at] = drawn(1, at + 7)[0]
        moved = made(everything, fresh)
        changed.append(len(moved - before) + sum(contains(one, names[at]) for one in moved & before))
    for calls in (gone, changed):
        assert np.median(calls) <= 8
        assert np.mean(calls) <= 16


def contains(made_of: object, name: str) -> bool:
    """Tell whether a summary stands above a document."""
    return made_of == name or (isinstance(made_of, frozenset) and any(contains(part, name) for part in made_of))


def test_what_is_alike_stands_together() -> None:
    topics = 60
    vectors = drawn(600, 3, topics)
    found = levels([rank_of(name) for name in names_of(600)], vectors, [150] * 600, Limits())
    pairs = [(one % topics, other % topics) for group in found[0] for one in group for other in group if one < other]
    assert np.mean([one == other for one, other in pairs]) > 0.3, "by chance it would be one pair in sixty"


def test_copies_are_halved_and_not_peeled_off_one_by_one() -> None:
    count = 3_000
    vectors = np.repeat(drawn(1, 5), count, axis=0)
    found = levels([rank_of(name) for name in names_of(count)], vectors, [150] * count, Limits())
    assert len(found[-1]) == 1
    assert np.mean([len(group) for group in found[0]]) > 3


def test_a_rank_is_drawn_evenly() -> None:
    ranks = [rank_of(name) for name in names_of(4_000)]
    assert len(set(ranks)) == 4_000
    assert max(ranks) < 1 << BITS
    assert 400 < sum(rank < (1 << BITS) // 8 for rank in ranks) < 600
