"""Whatever a model writes where a list was asked for, what comes out is short, about the passage, and no more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.replies import LONGEST_KEYWORD, LONGEST_QUESTION, keywords_of, questions_of
from ragcore.errors import ModelBadOutput
from ragcore.prompts import render
from ragcore.terms import terms
from tests.ragcore.nasty import NASTY

PASSAGE = "Handbook > Leave\nParental leave lasts 14 weeks. Forms PL-7 and PL-9 go to the HR portal."


@pytest.mark.parametrize(
    "reply",
    [
        "parental leave, PL-7, HR portal",
        "Keywords: parental leave, PL-7, HR portal",
        "1. parental leave\n2. PL-7\n3. HR portal",
        "- parental leave\n- **PL-7**\n- `HR portal`.",
        '["parental leave", "PL-7", "HR portal"]',
        '```json\n{"keywords": ["parental leave", "PL-7", "HR portal"]}\n```',
        '["parental leave", "PL-7", "HR portal',
        "parental leave、PL-7；HR portal",
        "parental leave, Parental Leave, PL-7, weather, HR portal, 14 weeks",
    ],
)
def test_a_list_of_keywords_is_read_however_it_is_written(reply: str) -> None:
    assert keywords_of(reply, PASSAGE, 3) == ("parental leave", "PL-7", "HR portal")


@pytest.mark.parametrize(
    "reply",
    [
        "How long does parental leave last?\nWhere do forms PL-7 and PL-9 go?",
        "Questions:\n1) How long does parental leave last?\n2) Where do forms PL-7 and PL-9 go?",
        'Q1: "How long does parental leave last?"\nA: 14 weeks.\nQ2: Where do forms PL-7 and PL-9 go?',
        '{"questions": ["How long does parental leave last?", "Where do forms PL-7 and PL-9 go?"]}',
    ],
)
def test_a_list_of_questions_is_read_however_it_is_written(reply: str) -> None:
    assert questions_of(reply, PASSAGE, 5) == ("How long does parental leave last?", "Where do forms PL-7 and PL-9 go?")


def test_other_scripts_have_their_own_commas_and_question_marks() -> None:
    passage = "员工手册\n年假为15天，须提前两周申请。"
    assert keywords_of("关键词：年假、提前申请，天气", passage, 5) == ("年假", "提前申请")
    assert questions_of("年假有多少天？\n什么时候申请年假？", passage, 5) == ("年假有多少天？", "什么时候申请年假？")


@pytest.mark.parametrize("reply", ['{"leave": 5, "net', '{"leave": 500, "PL-7": "7"}', '{"leave": {"HR portal": 1}}'])
def test_json_that_holds_no_list_is_not_read_as_words_between_commas(reply: str) -> None:
    with pytest.raises(ModelBadOutput, match="no list"):
        keywords_of(reply, PASSAGE, 3)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "I'm sorry, but I can't help with that.",
        "```\n```",
        "[]",
        "{}",
        "null",
        "Das Wetter, 天气",
        "?" * 9_000,
    ],
)
@pytest.mark.parametrize("read", [keywords_of, questions_of])
def test_what_is_not_about_the_passage_is_nothing(reply: str, read: type) -> None:
    with pytest.raises(ModelBadOutput) as raised:
        read(reply, PASSAGE, 3)
    assert raised.value.raw == reply


def test_the_rules_given_back_are_no_keywords() -> None:
    with pytest.raises(ModelBadOutput):
        questions_of(render("questions", count=3), "Invoice 17 of Contoso is due in May.", 3)


def test_ten_thousand_are_cut_to_those_asked_for() -> None:
    reply = json.dumps([f"parental leave {n}" for n in range(10_000)])
    assert keywords_of(reply, PASSAGE, 4) == tuple(f"parental leave {n}" for n in range(4))


@given(reply=NASTY, passage=NASTY, count=st.integers(1, 6))
def test_whatever_is_written_the_list_is_short_different_and_about_the_passage(
    reply: str, passage: str, count: int
) -> None:
    said = {term.text for term in terms(passage)}
    for read, longest in ((keywords_of, LONGEST_KEYWORD), (questions_of, LONGEST_QUESTION)):
        try:
            found = read(reply, passage, count)
        except ModelBadOutput:
            continue
        assert 0 < len(found) <= count
        assert len({item.casefold() for item in found}) == len(found)
        assert all(0 < len(item) <= longest and "\n" not in item for item in found)
        assert all(said & {term.text for term in terms(item)} for item in found)
