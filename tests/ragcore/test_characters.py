"""The edges around one place are those of the whole text, and cost no more in a megabyte than in a line."""

import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from ragcore.characters import edge_after, edge_before, is_edge
from tests.ragcore.nasty import CLUSTERS, NASTY
from tests.soak import scaled

PARTS = (
    "a", "^", "1", " ", "\r", "\n", "中", "\u0301", "👩", "\u200d", "👧", "🇩", "🇪", "🏴", "\U000e0067", "\U000e007f",
    "🏽", "\ufe0f", "ก", "ำ", "\u1100", "\u1161", "\u11a8", "각", "क", "\u094d", "ष", "\u0600", "ｶ", "ﾞ", "\u200c",
    "\u3099", "か", "ー", "\ud800", "\u0d4e", "ʰ",
)  # fmt: skip
TEXTS = st.one_of(NASTY, st.lists(st.sampled_from(PARTS), max_size=14).map("".join))


@given(TEXTS)
def test_the_edges_are_those_of_reading_the_text_from_its_beginning(text: str) -> None:
    edges = {0} | {match.end() for match in regex.finditer(r"\X", text)}
    for index in range(len(text) + 1):
        assert is_edge(text, index) == (index in edges)
        assert edge_before(text, index) == max(edge for edge in edges if edge <= index)
        assert edge_after(text, index) == min(edge for edge in edges if edge >= index)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_a_reader_sees_as_one_has_no_edge_within(cluster: str) -> None:
    text = cluster * 3
    assert [index for index in range(len(text) + 1) if is_edge(text, index)] == [
        number * len(cluster) for number in range(4)
    ]


def test_places_outside_the_text_are_its_ends() -> None:
    assert (edge_before("ab", -3), edge_before("ab", 9), edge_after("ab", -3), edge_after("ab", 9)) == (0, 2, 0, 2)
    assert is_edge("", 0)


@pytest.mark.parametrize("unit", ["\u0301", "🇩", "क\u094d", "👩\u200d", "\u200d", "\r\n", "a", "中", "\u0600"])
def test_an_endless_run_costs_linear_time(unit: str) -> None:
    text = unit * (scaled(200_000) // len(unit))
    began = time.process_time()
    for index in (len(text) // 2 - 1, len(text) // 2, len(text) // 2 + 1):
        edge_before(text, index)
        edge_after(text, index)
    assert time.process_time() - began < 5 + 20 * len(text) / 1_000_000
