"""Contradictions in words: told where all else is the same, and never where a source may say the same otherwise."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.citations.cite import cite
from ragcore.citations.contrary import Said, contradict, says_other
from ragcore.citations.days import DAYS, days_of, months_of, plain_days, plain_months
from ragcore.citations.scoring import CitationPolicy
from tests.ragcore.citations.test_cite import chunk, cited_ids
from tests.soak import scaled

ADLER = "the heated swimming pool of Hotel Adler in Munich"
CONTRARY = [
    ("The report is due by Monday.", "The report is due by Friday."),
    ("Registration is required online.", "Registration is not required online."),
    ("Registration is optional online.", "Registration is mandatory online."),
    (f"{ADLER} is open on Sunday.", f"{ADLER} is closed on Sunday."),
    ("The pool is closed on Mondays.", "The pool is closed every Friday."),
    ("The pool is closed on Monday.", "The pool is closed at the weekend."),
    ("The office is open Monday to Saturday.", "The office is open Mon.-Fri."),
    ("The fair takes place in March.", "The fair takes place in April."),
    ("The fair takes place in March.", "The fair takes place on 3 May."),
    ("A note is needed after one day.", "A note is needed after ten days."),
    ("The deposit for a key is one euro.", "The deposit for a key is 5 euros."),
    ("The budget was approved by Ana Ruiz.", "The budget was approved by Tom Berg on 3 March."),
    ("Parking is not reimbursed.", "Parking is reimbursed."),
    ("Parking is reimbursed.", "We do not reimburse parking and fines."),
    ("Parking is reimbursed.", "Parking can't be reimbursed, and receipts are kept."),
    ("Guests may use the pool.", "Guests may not use the pool."),
    ("The museum is open on Sunday.", "The museum is closed on Sunday."),
    ("Dogs are allowed in the office.", "Dogs are forbidden in the office."),
    ("Das Büro ist am Montag geschlossen.", "Das Büro bleibt freitags geschlossen."),
    ("Die Messe findet im März statt.", "Die Messe findet im Mai statt."),
    ("Die Probezeit dauert eine Woche.", "Die Probezeit dauert zehn Wochen."),
    ("Parkgebühren werden erstattet.", "Parkgebühren werden nicht erstattet."),
    ("图书馆周一闭馆。", "图书馆周五闭馆。"),
    ("展览在三月举行。", "展览在四月举行。"),
    ("请假一天需要证明。", "请假十天需要证明。"),
    ("停车费可以报销。", "停车费不予报销。"),
    ("员工不得携带宠物。", "员工可以携带宠物。"),
]
AGREEING = [
    ("The pool is open on Wednesday.", "The pool is open Monday to Friday."),
    ("The pool is open on Wednesday.", "The pool is open daily, and on Friday until 22:00."),
    ("The pool is open on weekdays.", "The pool is open Mon-Fri."),
    ("The market is at the weekend.", "The market is on Saturday."),
    ("The pool is closed on Monday.", "The pool is closed on Mon. and Tue."),
    ("The pool is open in May.", "The pool is open from March to June."),
    ("The pool may be closed.", "The pool may be closed in March."),
    ("No, the museum is closed on Sunday.", "The museum is closed on Sunday."),
    ("The museum is not open on Sunday.", "The museum is closed on Sunday."),
    ("The museum is not open on Sunday.", "The museum is open Monday to Saturday."),
    ("Yes, the museum is open on Sunday.", "The museum is not closed on Sunday."),
    ("Parking is reimbursed.", "Parking is not reimbursed unless approved."),
    ("Parking is reimbursed.", "Parking at the airport is not reimbursed."),
    ("Parking is reimbursed.", "Is parking not reimbursed?"),
    ("You can register online.", "You do not have to register online."),
    ("Guests leave the room by noon.", "Guests leave the room no later than noon."),
    ("Leave is allowed.", "Leave is not only allowed but encouraged."),
    ("It takes one day to ship.", "It takes a day to ship, or ten days by sea."),
    ("It takes one day to ship.", "It takes 24 hours to ship, or ten days by sea."),
    ("One of the offices opens in ten days.", "The offices open in ten days."),
    ("One day, the office moved to Lyon.", "The office moved to Lyon within ten days."),
    ("The budget was approved by Ana Ruiz.", "The budget was approved by Ana Ruiz and Tom Berg."),
    ("The budget was approved by Ana Ruiz.", "The budget was approved by Dr. Ruiz Blum."),
    ("The budget was approved by Ana Ruiz.", "The budget was approved by Human Resources. Ana Ruiz leads it."),
    ("The pool is closed on Monday.", "The pool is closed except on Friday."),
    ("The pool is closed on Monday.", "The pool is closed until Friday."),
    ("The pool is closed in May.", "The pool is closed from 1 March 2024 until the end of June."),
    ("The offer runs in May.", "The offer runs since the end of March."),
    ("The pass holds for one day.", "The pass holds for at least ten days."),
    (f"No, {ADLER} is closed on Sunday.", f"{ADLER} is closed on Sunday."),
    (f"No, {ADLER} is not open on Sunday.", f"{ADLER} is closed on Sunday."),
    (f"{ADLER} is not open on Sunday.", f"{ADLER} is open Monday to Saturday."),
    ("图书馆周一闭馆。", "图书馆周五之前闭馆。"),
    ("停车费可以报销。", "停车费除非获批，不予报销。"),
    ("假期为五天。", "假期不超过五天。"),
    ("员工可以登记。", "员工不必登记。"),
    ("每周一次例会。", "每周五次例会。"),
    ("项目需要三个月完成。", "项目在四月需要完成。"),
]
BARE = CitationPolicy(insert_at=1.0)


@pytest.mark.parametrize(("sentence", "other"), CONTRARY)
async def test_a_marker_of_what_says_the_contrary_goes_and_that_of_what_says_it_stays(
    sentence: str, other: str
) -> None:
    assert contradict(Said(sentence), Said(other)) == contradict(Said(other), Said(sentence))
    stop = sentence[-1]
    chunks = [chunk(0, f"{other} The rest is kept in the archive.", "Handbook"), chunk(1, sentence, "News")]
    alone = await cite(f"{sentence[:-1]} [ID:0]{stop}", chunks[:1], policy=BARE)
    assert alone.text == sentence
    for order in ("[ID:0][ID:1]", "[ID:1][ID:0]"):
        assert cited_ids((await cite(f"{sentence[:-1]} {order}{stop}", chunks, policy=BARE)).text) == [1]


@pytest.mark.parametrize(("sentence", "other"), AGREEING)
async def test_a_marker_of_what_may_say_the_same_is_not_taken_for_the_contrary(sentence: str, other: str) -> None:
    assert not says_other(Said(sentence), Said(other), whole=other)
    answer = f"{sentence[:-1]} [ID:0]{sentence[-1]}"
    policy = CitationPolicy(insert_at=1.0, keep_at=0.0)
    assert (await cite(answer, [chunk(0, other, "Handbook")], policy=policy)).text == answer


async def test_a_value_that_stands_anywhere_in_the_source_is_no_contradiction() -> None:
    text = "The pool is closed on Friday. In winter it is closed on Monday as well."
    answer = "The pool is closed on Monday [ID:0]."
    assert (await cite(answer, [chunk(0, text)], policy=BARE)).text == answer


def test_two_days_that_are_open_do_not_exclude_each_other_but_two_ranges_do() -> None:
    week, wednesday = Said("The shop is open Monday to Saturday."), Said("The shop is open on Wednesday.")
    assert not contradict(week, wednesday)
    assert not contradict(wednesday, week)
    assert contradict(week, Said("The shop is open Monday to Friday."))


WORDS = st.sampled_from(
    [
        "pool",
        "office",
        "is",
        "not",
        "closed",
        "open",
        "never",
        "Monday",
        "Friday",
        "March",
        "on",
        "in",
        "one",
        "day",
        "ten",
        "days",
        "weekdays",
        "周一",
        "Montag",
        "nicht",
        "may",
        "by",
        "Ana",
        "Ruiz",
        "Tom",
        "Berg",
        "allowed",
        "forbidden",
        "no",
        "and",
        "daily",
        ",",
        "only",
    ]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=10)


@settings(max_examples=scaled(60))
@given(
    words=SENTENCES,
    more=st.lists(st.sampled_from(["warm", "Sunday", "April", "three", "weeks", "Lyon", "here"]), max_size=4),
)
def test_nothing_contradicts_itself_or_itself_with_more_words(words: list[str], more: list[str]) -> None:
    sentence = " ".join(words)
    assert not says_other(Said(sentence), Said(sentence + "."))
    assert not contradict(Said(sentence), Said(sentence + "."))
    assert not says_other(Said(sentence), Said(" ".join((*words, *more))))


@settings(max_examples=scaled(60))
@given(one=SENTENCES, other=SENTENCES)
def test_the_order_of_two_sources_does_not_matter(one: list[str], other: list[str]) -> None:
    first, second = Said(" ".join(one)), Said(" ".join(other))
    assert contradict(first, second) == contradict(second, first)


SHORT_GERMAN = ("Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So.")


@given(day=st.integers(0, 6), other=st.integers(0, 6))
def test_a_day_is_no_contradiction_to_its_short_forms_in_any_language(day: int, other: int) -> None:
    name = DAYS[day].title()
    forms = (
        name[:3],
        f"{name}s",
        SHORT_GERMAN[other],
        f"周{'一二三四五六日'[other]}",
        f"am {SHORT_GERMAN[other]} 9-12",
    )
    for form in forms[:2]:
        assert days_of(f"closed {form}") == {day}
    for form in forms[2:]:
        assert days_of(form) == {other}
        sentence, said = Said(f"The pool is closed on {name}."), Said(f"The pool is closed: {form}")
        assert not says_other(sentence, said) or day != other


@pytest.mark.parametrize(
    ("text", "days", "plain"),
    [
        ("The sun is out. So to do.", {6}, set()),
        ("每周一次", {0}, set()),
        ("周一到五", {0, 1, 2, 3, 4}, {0}),
        ("between Friday and Monday", {4, 5, 6, 0}, {4, 0}),
        ("within five business days", {0, 1, 2, 3, 4}, set()),
        ("werktags", {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}),
    ],
)
def test_days_are_read(text: str, days: set[int], plain: set[int]) -> None:
    assert days_of(text) == days
    assert set().union(*(of for of, _ in plain_days(text))) == plain


@pytest.mark.parametrize(
    ("text", "months", "plain"),
    [
        ("You may march on.", {3, 5}, set()),
        ("in May 2024", {5}, {5}),
        ("March to June", {3, 4, 5, 6}, {6}),
        ("from 1 March 2024 until 30 June", {3, 4, 5, 6}, {3, 6}),
        ("am 5. Mai", {5}, {5}),
        ("Jan is here", {1}, set()),
        ("on 3 Sept.", {9}, {9}),
        ("31.3.", {3}, set()),
        ("十二月", {12}, {12}),
        ("三个月", set(), set()),
        ("every month", set(range(1, 13)), set()),
    ],
)
def test_months_are_read(text: str, months: set[int], plain: set[int]) -> None:
    assert months_of(text) == months
    assert set().union(*(of for of, _ in plain_months(text))) == plain


@pytest.mark.parametrize(
    "unit", ["Mon", "Mon-", "Mo-Fr ", "not ", "the ", "one ", "一", "周一至", "May ", "1.", "5/", "and "]
)
def test_long_texts_take_linear_time(unit: str) -> None:
    text, sentence = unit * 5_000, Said("The pool is closed on Monday in March after one day.")
    began = time.process_time()
    assert not says_other(sentence, Said(text))
    assert not says_other(
        sentence, Said("The pool is closed on Friday in May after ten days."), whole=f"{text} Monday March one day"
    )
    assert time.process_time() - began < 2
