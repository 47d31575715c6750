"""What a message asks is searched for apart from what it tells around it, and nothing of either is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.refine.apart import MOST_SENTENCES, with_asking
from ragcore.types import Message, Question

TOLD = (
    "My team travels to the trade fair next month and the agency wants an answer today.",
    "Yesterday I sat together with two colleagues, and we could not agree.",
    "The link in the folder was dead.",
    "Our customer called again this morning!",
)
ASKED = (
    "How many unused leave days may be carried over?",
    "Who approves travel to Munich?",
    "What does error E-104 mean",
    "Is a certificate needed for the first day of an illness?",
)


def searched(text: str, *history: str, wordings: tuple[str, ...] = ()) -> tuple[str, ...]:
    said = tuple(Message(role="user", text=one) for one in history)
    return with_asking(Question(text=text, knowledge_bases=("kb",), history=said, wordings=wordings)).searched


@given(
    before=st.lists(st.sampled_from(TOLD), max_size=12),
    asked=st.lists(st.sampled_from(ASKED), min_size=1, max_size=MOST_SENTENCES, unique=True),
    after=st.lists(st.sampled_from(TOLD), max_size=12),
)
def test_the_sentences_that_ask_are_searched_for_by_themselves_and_the_whole_besides(
    before: list[str], asked: list[str], after: list[str]
) -> None:
    asked = [one if one.endswith("?") or not after else f"{one}?" for one in asked]
    asked = [one if one.endswith("?") or one == asked[-1] else f"{one}?" for one in asked]
    message = " ".join((*before, *asked, *after))
    assert searched(message) == ((" ".join(asked), message) if before or after else (message,))


@pytest.mark.parametrize(
    "message",
    [
        "",
        "?",
        "👍",
        "Hello there.",
        "The machine is in Leeds;\nthe link was dead.",
        *TOLD,
        *ASKED,
        " ".join(TOLD),
        " ".join(ASKED[:2]),
        "Really? Why? The link was dead.",
    ],
)
def test_what_only_tells_or_only_asks_is_searched_for_as_it_is(message: str) -> None:
    assert searched(message) == (message,)


def test_a_name_that_the_question_leans_on_goes_along_and_without_one_it_is_not_taken_apart() -> None:
    named = "We have a TW-200 in the hall. When was it calibrated?"
    assert searched(named) == ("When was it calibrated? TW-200", named)
    assert searched(unnamed := "We bought a new machine. When was it calibrated?") == (unnamed,)
    assert searched(thanks := "The link works again, many thanks. When was it calibrated?", "Where is the TW-200?") == (
        "When was it calibrated? TW-200",
        thanks,
    )


def test_every_wording_is_taken_apart_and_stays_itself() -> None:
    german = "Die Agentur wartet auf eine Antwort. Wie viele Urlaubstage verfallen im März?"
    english = "The agency waits for an answer. How many days of leave lapse in March?"
    assert searched(german, wordings=(german, english)) == (
        "Wie viele Urlaubstage verfallen im März?",
        german,
        "How many days of leave lapse in March?",
        english,
    )


def test_chinese_asks_without_a_mark_as_well() -> None:
    assert searched("我们下个月去参加展会，旅行社在等答复。未休完的年假可以结转几天") == (
        "未休完的年假可以结转几天",
        "我们下个月去参加展会，旅行社在等答复。未休完的年假可以结转几天",
    )
