"""Names in doubt are those that somebody might mix up, few of each, the same whatever their order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.graph.doubtful import MOST_OF_ONE, TOGETHER, Pair, batches, pair_of, pairs_of
from ragcore.graph.names import key_of
from tests.ragcore.nasty import NASTY


def pairs(*names: str) -> list[Pair]:
    return pairs_of(dict.fromkeys((key for key in map(key_of, names) if key), 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Brightwater", "Brigthwater"),
        ("Brightwater", "Brightwatter"),
        ("Brightwater", "Brightwater's"),
        ("Bright Water", "Brightwater"),
        ("International Fruit Board", "IFB"),
        ("Bank of America", "BoA"),
        ("Ann Lee", "Lee"),
        ("Lee Ann", "Ann Lee"),
        ("Acme Trading Company", "Acme"),
        ("世界卫生组织", "世卫组织"),
        ("Московский банк", "Московскй банк"),
    ],
)
def test_what_may_be_the_same_is_asked_about(one: str, other: str) -> None:
    expected = {pair_of(key_of(one), key_of(other))} if key_of(one) != key_of(other) else set[Pair]()
    assert set(pairs(one, other, "Port Elm", "Cleo Day", "2019", "柏林")) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPT-3", "GPT-4"),
        ("Annex A", "Annex B"),
        ("Directive 2016/679", "Directive 2016/680"),
        ("Maine", "Mali"),
        ("Northern Region", "Southern Region"),
        ("Berlin", "Ann Lee"),
        ("北京", "北京大学"),
        ("IFB", "International Board"),
    ],
)
def test_what_is_told_apart_is_not(one: str, other: str) -> None:
    assert pairs(one, other) == []


def test_a_general_word_is_asked_about_a_few_times_or_never() -> None:
    some = pairs("Bank", *(f"{name} Bank" for name in ("Elm", "Oak", "Ash", "Fir", "Yew", "Bay")))
    assert 0 < len(some) <= MOST_OF_ONE
    assert pairs("Bank", *(f"Bank of {chr(97 + n)}{n}" for n in range(40))) == []


def test_what_is_known_is_not_asked() -> None:
    known = {pair_of("ifb", "international fruit board")}
    assert pairs_of({"ifb": 1, "international fruit board": 3}, known) == []


_NAMES = st.lists(
    st.one_of(
        st.sampled_from(
            ["Acme", "Acme Bank", "Acmes Bank", "AB", "Ann Lee", "An Lee", "Lee", "GPT-3", "北大", "北京大学"]
        ),
        st.lists(st.sampled_from(["Elm", "Oak", "Port", "Water", "Waters", "of", "3"]), min_size=1, max_size=4).map(
            " ".join
        ),
        NASTY,
    ).map(key_of),
    max_size=14,
)


@given(keys=_NAMES, most=st.integers(0, 30), rng=st.randoms(use_true_random=False))
def test_pairs_are_of_these_names_few_and_the_same_in_any_order(keys: list[str], most: int, rng: random.Random) -> None:
    told = {key: 1 + len(key) % 3 for key in keys if key}
    found = pairs_of(told, most=most)
    assert len(found) == len(set(found)) <= most
    for pair in found:
        assert pair.key < pair.other
        assert {pair.key, pair.other} <= set(told)
        assert sum(pair.key in (one.key, one.other) for one in found) <= MOST_OF_ONE
    mixed = list(told.items())
    rng.shuffle(mixed)
    assert pairs_of(dict(mixed), most=most) == found
    assert not set(found) & set(pairs_of(told, frozenset(found), most=most))
    assert [pair for some in batches(found) for pair in some] == sorted(found)
    assert all(0 < len(some) <= TOGETHER for some in batches(reversed(found)))


def test_a_pair_more_or_less_leaves_the_other_batches() -> None:
    some = [Pair(key=f"a{n:03}", other=f"b{n}") for n in range(300)]
    whole = {tuple(batch) for batch in batches(some)}
    assert 300 / TOGETHER < len(whole) < 100
    changed = [len({tuple(batch) for batch in batches(p for p in some if p != gone)} - whole) for gone in some[::6]]
    assert sum(changed) / len(changed) < 2.5
