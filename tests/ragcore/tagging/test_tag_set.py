"""Tags come from rows about the same matter, with scores of 1 to 10, and from no others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.tagging.scores import TagScores, likeness, scores_of
from ragcore.tagging.tag_set import TagRow, TagSet
from tests.ragcore.nasty import NASTY

ROWS = [
    ("The parcel came with a broken lid and a dent.", ("damage", "returns")),
    ("The vase was broken when the parcel was opened.", ("damage",)),
    ("How do I send a parcel back to you?", ("returns",)),
    ("Can I pay by invoice or by credit card?", ("payment",)),
    ("The credit card was charged twice for one invoice.", ("payment", "complaint")),
    ("年假怎么申请", ("休假",)),
]
SET = TagSet.of([TagRow(text=text, tags=tags) for text, tags in ROWS])


def tags(text: str, most: int = 3) -> list[str]:
    return [tag for tag, _ in SET.similar(text, None, most).scores]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My parcel arrived broken.", "damage"),
        ("Paying an invoice by credit card", "payment"),
        ("怎样申请年假？", "休假"),
    ],
)
def test_similar_rows_give_their_tags(text: str, expected: str) -> None:
    assert tags(text)[0] == expected
    assert tags(text, 1) == [expected]


@pytest.mark.parametrize("text", ["", "?!", "Roses grow in the garden.", "病假工资按月发放。", "the and of"])
def test_what_resembles_no_row_gets_none(text: str) -> None:
    assert SET.similar(text, None, 3).scores == ()


def test_what_is_near_but_not_the_same_is_told_for_examples() -> None:
    far = SET.similar(
        "The broken window of the office, the broken lift, the cellar and the roof need a repair.", None, 3
    )
    assert far.scores == ()
    assert [row.tags for row in far.nearest][:1] == [("damage",)]


def test_meaning_finds_what_words_do_not() -> None:
    rng = np.random.default_rng(3)
    matters = np.linalg.qr(rng.standard_normal((32, 32)))[0][:6]
    drawn = np.stack([matters[n % 6] + 0.1 * rng.standard_normal(32) for n in range(60)])
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    rows = [
        TagRow(text=f"matter{n % 6} and {n}", tags=(f"tag {n % 6}",), vector=vector) for n, vector in enumerate(vectors)
    ]
    tag_set = TagSet.of(rows)
    assert tag_set.similar("something else", vectors[7], 3).scores == (("tag 1", 10),)
    assert tag_set.similar("something else", None, 3).scores == ()


def test_the_same_rows_in_another_order_are_the_same_set() -> None:
    rows = [TagRow(text=text, tags=marks) for text, marks in ROWS]
    other = TagSet.of(rows[::-1])
    assert (other.digest, other.tags) == (SET.digest, SET.tags)
    assert other.similar("My parcel arrived broken.", None, 3) == SET.similar("My parcel arrived broken.", None, 3)
    assert TagSet.of(rows[1:]).digest != SET.digest
    assert TagSet.of([]).similar("My parcel arrived broken.", None, 3).scores == ()


def test_a_tag_written_in_several_ways_is_one() -> None:
    rows = [("broken lid", ("Damage",)), ("broken cup", ("damage",)), ("broken vase", ("damage", "DAMAGE"))]
    tag_set = TagSet.of([TagRow(text=text, tags=marks) for text, marks in rows])
    assert tag_set.tags == ("damage",)
    assert all(row.tags == ("damage",) for row in tag_set.rows)


def test_a_tag_counts_by_how_far_it_is_above_its_usual_share() -> None:
    usual = {"all": 0.9, "rare": 0.1, "some": 0.5}
    found = [(("all", "rare"), 1.0), (("all", "some"), 1.0)]
    assert scores_of(found, usual, 3) == (("all", 10), ("rare", 4))
    assert scores_of([(("all",), 0.3), (("rare",), 0.1)], usual, 3) == (("rare", 2),)


SHARES = st.fixed_dictionaries({tag: st.floats(0.01, 0.99) for tag in "abcd"})
FOUND = st.lists(
    st.tuples(st.lists(st.sampled_from("abcd"), unique=True, min_size=1), st.floats(0.1, 1.0)), min_size=1, max_size=8
)


@given(found=FOUND, usual=SHARES, most=st.integers(1, 5))
def test_scores_are_few_in_range_and_in_order(
    found: list[tuple[list[str], float]], usual: dict[str, float], most: int
) -> None:
    scores = scores_of(found, usual, most)
    assert len(scores) <= most
    assert len({tag for tag, _ in scores}) == len(scores)
    assert {tag for tag, _ in scores} <= {tag for marks, _ in found for tag in marks}
    assert all(1 <= score <= 10 for _, score in scores)
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)


TAGGED = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 10)).map(lambda told: tuple(told.items()))


@given(one=TAGGED, other=TAGGED)
def test_likeness_is_a_cosine(one: TagScores, other: TagScores) -> None:
    assert 0.0 <= likeness(one, other) <= 1.0
    assert likeness(one, other) == pytest.approx(likeness(other, one))
    assert likeness(one, one) == pytest.approx(1.0 if one else 0.0)
    assert (likeness(one, other) > 0) == bool(dict(one).keys() & dict(other).keys())


@given(texts=st.lists(NASTY, max_size=6), text=NASTY, with_vectors=st.booleans())
def test_whatever_stands_in_rows_and_text_the_tags_are_of_the_set(
    texts: list[str], text: str, with_vectors: bool
) -> None:
    vector = np.eye(4, dtype=np.float32)
    rows = [
        TagRow(text=one, tags=(f"t{n % 2}",), vector=vector[n % 4] if with_vectors else None)
        for n, one in enumerate(texts)
    ]
    similar = TagSet.of(rows).similar(text, vector[0] if with_vectors else None, 2)
    assert {tag for tag, _ in similar.scores} <= {"t0", "t1"}
    assert all(1 <= score <= 10 for _, score in similar.scores)
