"""What an answer says about its sources is told from what it says about the world."""

import time

import pytest

from ragcore.citations.phrasing import LEAD_IN, denies, says_nothing


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not mention a second office.",
        "The provided context doesn't specify how many copies were sold.",
        "There is no information about parental leave in the given documents.",
        "It is not stated in the context how long it lasts.",
        "However, it isn't mentioned in the provided documents.",
        "I could not find an answer.",
        "I don't know who leads the team.",
        "文档中没有提到育儿假。",
        "根据提供的资料，无法确定具体日期。",
        "我不知道。",
    ],
)
def test_that_the_sources_do_not_tell_claims_nothing(sentence: str) -> None:
    assert says_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The policy does not apply to interns.",
        "Documents without a signature are not accepted.",
        "The context of the war was not economic.",
        "I do not know who bought it, but Singapore has four of them.",
        "Although the documents do not say when, they give the price as $10.",
        "员工没有年假。",
        "The passage is closed at night.",
    ],
)
def test_what_claims_something_is_not_taken_for_it(sentence: str) -> None:
    assert not says_nothing(sentence)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Based on the given contexts, there are 20 species.", "there are 20 species."),
        ("According to the documents, leave is 25 days.", "leave is 25 days."),
        ("I could not find the year, but I did find that it is in Lyon.", "it is in Lyon."),
        ("根据提供的文档，年假为10天。", "年假为10天。"),
        ("According to Keller, leave is 25 days.", "According to Keller, leave is 25 days."),
        ("In documents signed by both, the date counts.", "In documents signed by both, the date counts."),
    ],
)
def test_a_lead_in_by_the_sources_is_no_part_of_what_is_said(sentence: str, said: str) -> None:
    assert LEAD_IN.sub("", sentence) == said


def test_a_denial_is_told_from_a_concession() -> None:
    assert denies("Employees do not receive paid leave.")
    assert not denies("Employees receive paid leave.")
    assert not denies("It is not the longest, but it is the widest.")


@pytest.mark.parametrize("unit", ["the documents ", "not ", "I cannot ", "no in the context ", "文档没有"])
def test_long_sentences_take_linear_time(unit: str) -> None:
    began = time.process_time()
    says_nothing(unit * 5_000)
    LEAD_IN.sub("", unit * 5_000)
    denies(unit * 5_000)
    assert time.process_time() - began < 5
