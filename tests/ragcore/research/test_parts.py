"""The planner without a model: a question's own parts, and names that lead on."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.research.parts import MOST_READ, asked_apart, bridges, parts_of
from ragcore.research.queries import distinct, same
from ragcore.research.values import Finding
from ragcore.types import Message, ScoredChunk
from tests.fakes.researching import chunk
from tests.soak import scaled


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the hotel limit?", ()),
        ("Compare the warranty of TW-200 and TW-300.", ("TW-200 warranty", "TW-300 warranty")),
        ("Are Frozen and Bambi both animated?", ("Frozen animated", "Bambi animated")),
        ("How long is the notice? Who signs the form for parental leave?", ("Who signs the form for parental leave?",)),
        ("How many days of leave do I get, and who approves them?", ("who approves them? days leave",)),
        ("Which sports are official in the state whose capital city is Annapolis?", ("capital city is Annapolis?",)),
        ("年假有多少天，以及病假需要什么证明？", ("病假需要什么证明？",)),
        ("Wie viele Urlaubstage habe ich und wer genehmigt sie?", ("wer genehmigt sie? urlaubstage habe",)),
    ],
)
def test_the_parts_of_a_question_are_searched_for(question: str, parts: tuple[str, ...]) -> None:
    found = parts_of(question)
    assert all(any(same(part, one) for one in found) for part in parts), found
    assert parts or not found


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "When are expenses paid? Who approves travel and when are accounts closed?",
            ("When are expenses paid?", "Who approves travel", "when are accounts closed?"),
        ),
        ("年假有多少天，以及病假需要什么证明？", ("年假有多少天 病假 证明", "病假需要什么证明？")),
        (
            "Wie viele Urlaubstage habe ich und wer genehmigt Reisen?",
            ("Wie viele Urlaubstage habe ich", "wer genehmigt Reisen?"),
        ),
        ("Which film was directed by Kim Lee and released in 2001?", ()),
        ("How much is paid for meals and hotels?", ()),
        ("Who approves travel?", ()),
    ],
)
def test_the_parts_that_ask_by_themselves_are_told_apart(question: str, parts: tuple[str, ...]) -> None:
    assert asked_apart(question) == parts


def test_a_part_that_leans_on_the_conversation_takes_along_what_it_leans_on() -> None:
    history = (
        Message(role="user", text="Tell me about the Kestrel glider."),
        Message(role="assistant", text="It flies."),
    )
    assert all(
        "Kestrel" in part for part in parts_of("What does it cost, and how long is its warranty period?", history)
    )


def test_what_was_found_leads_on_by_a_name_and_the_words_that_lack() -> None:
    question = "When did the state whose official sport is jousting make anglicanism its religion?"
    found = Finding(
        question=question,
        chunks=(
            ScoredChunk(chunk=chunk("m", "Jousting is the official sport of Maryland.", title="Sports"), score=0.5),
        ),
    )
    first = bridges(question, [found], [question], 4)
    assert "Maryland state anglicanism religion" in {one.replace(" make", "") for one in first}
    assert bridges(question, [found], [question, *first], 4) == ()


def test_a_text_that_has_all_that_was_asked_leads_nowhere() -> None:
    question = "What is the official sport of Maryland?"
    found = Finding(
        question=question,
        chunks=(
            ScoredChunk(chunk=chunk("m", "Jousting is the official sport of Maryland.", title="Sports"), score=0.5),
        ),
    )
    assert bridges(question, [found], [question], 4) == ()


WORDS = [
    "Who",
    "the",
    "state",
    "whose",
    "sport",
    "is",
    "Jousting,",
    "and",
    "Maryland",
    "or",
    "TW-200",
    "?",
    ",",
    "年假",
    "和",
    "病假",
    "it",
    "(see",
    "https://x.example)",
    "\n",
    "\x00",
]


@settings(max_examples=scaled(4))
@given(seed=st.integers(0, 10**9))
def test_any_question_gives_a_few_different_parts(seed: int) -> None:
    draw = random.Random(seed)
    question = " ".join(draw.choices(WORDS, k=draw.choice((1, 5, 30, 500))))
    parts = parts_of(question)
    assert len(parts) <= MOST_READ
    assert distinct(parts) == parts
    apart = asked_apart(question)
    assert set(apart) <= set(parts)
    assert len(apart) != 1
    found = [
        Finding(
            question=question, chunks=(ScoredChunk(chunk=chunk("a", " ".join(draw.choices(WORDS, k=60))), score=1.0),)
        )
    ]
    most = draw.randint(1, 5)
    following = bridges(question, found, parts, most)
    assert len(following) <= most
    assert not any(same(one, other) for one in following for other in parts)
