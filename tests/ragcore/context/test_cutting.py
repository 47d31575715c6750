"""A text shortened by its middle: within its limits, whole characters, and the gap where there is room."""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragcore.characters import is_edge
from ragcore.context.cutting import GAP, cut_middle
from ragcore.tokens import offline_tokenizer
from tests.ragcore.nasty import CLUSTERS, NASTY

TOKENIZER = offline_tokenizer()


@given(NASTY, st.integers(1, 90), st.integers(0, 60))
def test_it_keeps_at_least_the_least_and_at_most_the_limit(text: str, least: int, more: int) -> None:
    assume(TOKENIZER.count(text) > least + more)
    assert TOKENIZER.count(cut_middle(text, least, least + more, TOKENIZER)) <= least + more
    if least >= 8:
        assert least <= TOKENIZER.count(cut_middle(text, least, least + more, TOKENIZER))


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_character_is_cut_only_when_the_least_cannot_be_kept_otherwise(cluster: str) -> None:
    text = cluster * 400
    for limit in range(64, 120):
        cut = cut_middle(text, 64, limit, TOKENIZER)
        head = next(size for size in range(len(cut), -1, -1) if text.startswith(cut[:size]))
        if not is_edge(text, head):
            whole = max(n for n in range(1, 200) if TOKENIZER.count(cluster * n) <= limit)
            assert TOKENIZER.count(cluster * whole) + TOKENIZER.count(GAP) < 64


def test_head_and_tail_are_ends_of_the_text() -> None:
    text = " ".join(map(str, range(5_000)))
    for limit in (64, 65, 66, 100, 3_000):
        cut = cut_middle(text, 64, limit, TOKENIZER)
        assert (GAP in cut) == (limit >= 64 + TOKENIZER.count(GAP))
        ends = [(cut[:size], cut[size:].removeprefix(GAP)) for size in range(1, len(cut))]
        shared = [min(len(head), len(tail)) for head, tail in ends if text.startswith(head) and text.endswith(tail)]
        assert max(shared) > 0.3 * len(cut)


@pytest.mark.parametrize("text", ["aaa" + "\u0301" * 9_000 + "bbb", "🇩🇪" * 2_000, "x" * 100_000, "👩\u200d" * 4_000])
def test_one_endless_character_costs_no_second(text: str) -> None:
    began = time.process_time()
    assert 64 <= TOKENIZER.count(cut_middle(text, 64, 64, TOKENIZER)) <= 64
    assert time.process_time() - began < 2
