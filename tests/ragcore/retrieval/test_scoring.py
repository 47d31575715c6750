from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.retrieval.scoring import (
    Background,
    agreement,
    dense_share,
    idf,
    lifted,
    relevance,
    relevance_of_words,
    trust,
)

ENGLISH = Background(mean=0.05, deviation=0.09, count=1000, agreement=0.45)
UNREAD = Background(mean=0.35, deviation=0.1, count=1000, agreement=0.19)
SHARES = st.floats(0, 1)
COSINES = st.floats(-1, 1)


@given(st.lists(st.tuples(COSINES, SHARES), min_size=1, max_size=20), SHARES, st.sampled_from([ENGLISH, UNREAD]))
def test_relevance_never_exceeds_one_and_grows_with_both_legs(
    scores: list[tuple[float, float]], weight: float, background: Background
) -> None:
    cosines, coverage = np.array(scores).T
    found = relevance(cosines, coverage, background, weight)
    assert np.all(found <= 1 + 1e-9)
    for one, first in zip(scores, found, strict=True):
        for other, second in zip(scores, found, strict=True):
            if one[0] <= other[0] and one[1] <= other[1]:
                assert first <= second + 1e-9


@given(st.lists(st.tuples(COSINES, SHARES), min_size=2, max_size=20))
def test_a_chunk_is_not_judged_by_the_weaker_ones_beside_it(scores: list[tuple[float, float]]) -> None:
    cosines, coverage = np.array(scores).T
    best = int(np.argmax(cosines))
    alone = relevance(cosines[[best]], coverage[[best]], ENGLISH, 0.5)
    assert relevance(cosines, coverage, ENGLISH, 0.5)[best] == pytest.approx(alone[0])


def test_a_leg_that_knows_nothing_has_no_say_unless_a_chunk_stands_out() -> None:
    assert trust(0.65, ENGLISH) == 1.0
    assert trust(0.68, UNREAD) == 0.0
    assert 0.0 < trust(0.99, UNREAD) < 1.0
    assert trust(0.99, replace(UNREAD, deviation=0.08)) == 1.0
    cosines, coverage = np.array([0.7, 0.5]), np.array([0.1, 0.4])
    assert list(np.argsort(-relevance(cosines, coverage, UNREAD, 0.5))) == [1, 0]
    assert list(np.argsort(-relevance(cosines, coverage, ENGLISH, 0.9))) == [0, 1]


def test_the_share_of_the_dense_leg() -> None:
    assert dense_share(0.5, 1.0) == 0.5
    assert dense_share(0.5, 0.0) == 0.0
    assert dense_share(1.0, 0.3) == 1.0
    assert dense_share(1.0, 0.0) == 0.0


def test_what_chance_reaches_is_not_relevant() -> None:
    assert relevance(np.array([0.25]), np.array([0.08]), ENGLISH, 0.5)[0] < 0.1
    assert relevance(np.array([0.6]), np.array([0.4]), ENGLISH, 0.5)[0] > 0.3


@given(SHARES, SHARES)
def test_exact_matches_lift_and_never_lower(score: float, exact: float) -> None:
    (found,) = lifted(np.array([score]), np.array([exact]))
    assert score - 1e-9 <= found <= 1 + 1e-9


@given(st.integers(1, 10_000), st.integers(0, 10_000))
def test_rarer_is_worth_more(count: int, frequency: int) -> None:
    frequency = min(frequency, count)
    assert idf(count, frequency) > 0
    if frequency:
        assert idf(count, frequency) < idf(count, frequency - 1)


@given(COSINES, SHARES, st.booleans())
def test_what_an_embedder_cannot_read_is_not_relevant_without_a_word_in_common(
    cosine: float, weight: float, searched: bool
) -> None:
    coverage = np.array([0.0]) if searched else None
    assert relevance(np.array([cosine]), coverage, UNREAD, weight)[0] <= 0.0


@given(st.lists(SHARES, min_size=1, max_size=20))
def test_words_alone_order_as_they_do_beside_a_leg_that_knows_nothing(scores: list[float]) -> None:
    coverage = np.array(scores)
    beside = relevance(np.full(len(scores), UNREAD.mean), coverage, UNREAD, 0.5)
    assert relevance_of_words(coverage) == pytest.approx(beside)


def agreeing(documents: Sequence[str], *, topics: int = 6, seed: int = 0, knowing: bool = True) -> float:
    """Measure texts of a few topics; place by place, a document after the other."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((topics, 32))
    words = [[f"w{topic}{number}" for number in range(8)] for topic in range(topics)]
    bags = [frozenset(draw.choice(words[place % topics], 5, replace=False)) for place in range(len(documents))]
    meant = np.array([centres[place % topics] * knowing for place in range(len(documents))])
    vectors = meant + 0.5 * draw.standard_normal(meant.shape)
    return agreement((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), bags, documents)


def test_words_and_vectors_agree_when_the_vectors_are_made_of_the_words() -> None:
    apart = [str(place) for place in range(60)]
    assert 0.5 < agreeing(apart) <= 1.0
    assert abs(agreeing(apart, knowing=False)) < 0.2


def test_chunks_of_one_document_say_nothing() -> None:
    assert agreeing([str(place % 6) for place in range(60)]) < 0.2 < agreeing([str(place // 6) for place in range(60)])


def test_nothing_to_compare_is_no_agreement() -> None:
    assert agreement(np.zeros((0, 4), dtype=np.float32), [], []) == 0.0
    same = np.ones((5, 4), dtype=np.float32) / 2
    assert agreement(same, [frozenset({"a"})] * 5, list("abcde")) == 0.0
    assert agreement(same, [frozenset()] * 5, list("abcde")) == 0.0
