"""What models write as questions: read, told apart, cut and cleaned."""

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import ModelBadOutput
from ragcore.research.queries import LONGEST, SHOWN, distinct, plan_of, planned, same, shown
from tests.soak import scaled


@pytest.mark.parametrize(
    ("reply", "questions"),
    [
        ('{"questions": ["Who owns it?", "Since when?"]}', ("Who owns it?", "Since when?")),
        ('```json\n["Who owns it?",\n"Since when?"]\n```', ("Who owns it?", "Since when?")),
        ('Sure! {"questions": [{"question": "Who owns it?", "why": "x"}, {"query": "Since when?"}]} Good luck.',
         ("Who owns it?", "Since when?")),
        ('{"questions": ["Who owns it?", 7, null, "", "?!", "who OWNS it", "Since when?"', ("Who owns it?", "Since when?")),
        ('{"questions": []}', ()),
        (f'["{"x " * LONGEST}", "Since when?"]', ("Since when?",)),
    ],
)  # fmt: skip
def test_questions_are_read_however_they_are_wrapped(reply: str, questions: tuple[str, ...]) -> None:
    assert plan_of(reply, 5).questions == questions


@pytest.mark.parametrize("reply", ["", "Who owns it?", '{"questions": [1, 2]}', '"text"', "[[[", '{"a": {"b": 1}}'])
def test_what_holds_no_question_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput):
        plan_of(reply, 5)


def test_more_than_may_be_are_counted() -> None:
    plan = plan_of(str([f"glider {number}" for number in range(500)]).replace("'", '"'), 6, ["glider 3"])
    assert plan.questions == tuple(f"glider {number}" for number in (0, 1, 2, 4, 5, 6))
    assert len(plan.cut) == 500 - 7


@given(st.lists(st.integers(0, 150), max_size=400), st.integers(1, 6))
def test_each_is_left_over_once_however_often_it_is_named(numbers: list[int], most: int) -> None:
    plan = planned([f"glider {number}" for number in numbers], most, ["Glider 3?"])
    asked = (*plan.questions, *plan.cut)
    assert len(plan.questions) <= most
    assert sorted(asked) == sorted({f"glider {number}" for number in numbers} - {"glider 3"})


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("When was the Kestrel founded?", "when was Kestrel founded", True),
        ("When was the Kestrel founded?", "The Kestrel was founded when?", True),
        (
            "revenue of the Kestrel in the year 2023 by region",
            "revenue of the Kestrel in the year 2024 by region",
            False,
        ),
        ("warranty of TW-200 and its price in shops", "warranty of TW-300 and its price in shops", False),
        ("年假有多少天？", "年假有多少天", True),
        ("Who founded it?", "Who sold it?", False),
    ],
)
def test_what_asks_the_same_is_told(one: str, other: str, alike: bool) -> None:
    assert same(one, other) == same(other, one) == alike


@settings(max_examples=scaled(10))
@given(st.lists(st.text(max_size=20), max_size=6), st.lists(st.text(max_size=20), max_size=3))
def test_no_two_of_what_is_kept_ask_the_same(questions: list[str], asked: list[str]) -> None:
    kept = distinct(questions, asked)
    assert distinct(kept, asked) == kept
    assert all(any(same(question, one) for one in (*kept, *asked)) for question in questions)


@given(st.text(max_size=400))
def test_what_a_reader_is_shown_is_one_line_without_signs(text: str) -> None:
    line = shown(f"{text} https://evil.example/x @everyone <!channel> www.evil.example `x` [a](b) javascript:alert(1)")
    assert len(line) <= SHOWN
    assert "evil" not in line.replace(text, "")
    assert not any(one in line for one in "<>[]`@#\n") or "://" not in line
    assert "://" not in line


@pytest.mark.parametrize("part", ["{1}", "[", '{"a": [', '[{"tool": "search", "what": [', '"x", '])
def test_a_reply_that_lost_its_way_is_read_soon(part: str) -> None:
    began = time.process_time()
    with suppress(ModelBadOutput):
        plan_of(part * (20_000 // len(part)), 5)
    assert time.process_time() - began < 10.0


def test_of_a_long_list_that_was_cut_the_beginning_is_read() -> None:
    written = ", ".join(f'"What does part number {number} cost?"' for number in range(400))
    assert plan_of(f'{{"questions": [{written}, "What does', 5).questions == tuple(
        f"What does part number {number} cost?" for number in range(5)
    )


def test_times_and_notes_stay() -> None:
    assert (
        shown("Does the shop open at 10:30, and: who has the key?")
        == "Does the shop open at 10:30, and: who has the key?"
    )
