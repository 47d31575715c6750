"""Whether a question leans on the conversation before it, and on what."""

import json
import pathlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.refine.followups import MOST_NAMES, MOST_READ, followup, stands_alone
from ragcore.types import Message


def said(*texts: str) -> tuple[Message, ...]:
    """Return a conversation, the asker's turn first."""
    return tuple(Message(role="assistant" if at % 2 else "user", text=text) for at, text in enumerate(texts))


ENGLISH = said(
    "Who leads the office in Porto?",
    "The office in Porto is led by Inês Duarte, who joined Tarnfield in 2019 [ID:0].",
)
OTHERS = {
    "de": said("Wer leitet das Büro in Kiel?", "Das Büro in Kiel leitet Jonas Brandt [ID:0]."),
    "fr": said("Qui dirige le bureau de Lyon ?", "Le bureau de Lyon est dirigé par Claire Morel [ID:0]."),
    "es": said("¿Quién dirige la oficina de Cádiz?", "La oficina de Cádiz la dirige Marta Ruiz [ID:0]."),
    "ru": said("Кто руководит офисом в Казани?", "Офисом в Казани руководит Анна Белова [ID:0]."),
    "zh": said("上海办事处由谁负责？", "上海办事处由王芳负责 [ID:0]。"),
}


@pytest.mark.parametrize(
    "question",
    [
        "When did she join?",
        "When did her contract begin?",
        "What does it cost?",
        "And in Lisbon?",
        "What about the office?",
        "why?",
        "how long?",
        "Who else?",
        "Tell me more.",
        "Is this still true?",
        "where are their desks",
        "And 3 days ago?",
        "Und in Lissabon?",
        "What is its capital?",
        "Which label released their first album?",
        "Which song on their second album is the longest?",
        "Which song did critics call their best?",
        "Which city is its capital?",
        "Are there any new releases of their works?",
        "A machine is old. What is its warranty?",
        "Pero en Lisboa?",
    ],
)
def test_it_leans_on_what_was_said(question: str) -> None:
    assert not stands_alone(question, ENGLISH)
    assert stands_alone(question, ()), "with nothing said before there is nothing to lean on"
    found = followup(question, ENGLISH)
    assert found is not None
    assert found.before == ENGLISH[0].text


@pytest.mark.parametrize(
    "question",
    [
        "How many days of annual leave does an employee in Germany get?",
        "Does Inês Duarte work from home?",
        "If a laptop is lost, who pays for it?",
        "Can an employee take her dog to work?",
        "What does ERR_CONN_104 mean?",
        "Is it possible to carry over unused holidays?",
        "How long does it take to get an expense report paid?",
        "Who approves those who travel abroad?",
        "Which holidays are there this year?",
        "What is the notice period?",
        "Which company moved its office in 2020?",
        "which state has jousting as its official sport",
        "How many companies changed their name after a merger?",
        "Does every machine keep its warranty abroad?",
        "When does a supplier lose its discount?",
    ],
)
def test_it_stands_alone(question: str) -> None:
    assert stands_alone(question, ENGLISH)
    assert followup(question, ENGLISH) is None


@pytest.mark.parametrize(
    ("language", "leans", "alone"),
    [
        ("de", "Seit wann arbeitet er dort?", "Wie viele Urlaubstage bekommen Angestellte in Österreich?"),
        ("de", "Und in Lübeck?", "Gibt es eine Kantine in Hamburg?"),
        ("fr", "Depuis quand travaille-t-elle là ?", "Combien de jours de congé ont les salariés en Belgique ?"),
        ("es", "¿Y en Vigo?", "¿Cuántos días de vacaciones hay en España?"),
        ("ru", "Когда она пришла?", "Сколько дней отпуска положено сотрудникам в Москве?"),
        ("zh", "她什么时候入职的？", "员工每年有多少天年假？"),
        ("zh", "那北京呢？", "差旅报销需要哪些发票？"),
        ("zh", "为什么？", "试用期一般是几个月？"),
    ],
)
def test_in_other_languages(language: str, leans: str, alone: str) -> None:
    assert not stands_alone(leans, OTHERS[language])
    assert stands_alone(alone, OTHERS[language])


def test_the_names_that_were_said_go_along_the_likeliest_first() -> None:
    found = followup("When did she join?", ENGLISH)
    assert found is not None
    assert set(found.names[:2]) == {"Porto", "Inês Duarte"}
    later = (*ENGLISH, *said("When did she join?", "Inês Duarte joined in 2019 [ID:1]."))
    assert (followup("Where did she work before?", later) or found).names[0] == "Inês Duarte"


def test_behind_a_followup_the_question_that_it_leans_on_goes_along() -> None:
    history = said(
        "Who leads the office in Porto?",
        "Inês Duarte does.",
        "What is paid for hotels there?",
        "120 euros.",
        "Which receipts are due when hotels are paid?",
        "All.",
        "And in Lisbon?",
        "The same.",
        "What else?",
        "Nothing.",
        "And in 2019?",
        "As now.",
        "Why?",
        "So it is ruled.",
    )
    found = followup("Who approves it?", history)
    assert found is not None
    assert found.before == "Which receipts are due when hotels are paid?\nWhy?"


def test_codes_and_quoted_titles_are_names() -> None:
    history = said('What does "Safe Start" do?', "It checks the valve, and stops with E-204 when it is stuck.")
    found = followup("How do I reset it?", history)
    assert found is not None
    assert {"Safe Start", "E-204"} <= set(found.names)


texts = st.text(max_size=80) | st.sampled_from(
    ["it", "and she?", "Who is Ann Lee?", "那呢", "それは？", "[ID:0]", "«", '"', "E-204"]
)


@given(question=texts, turns=st.lists(texts, max_size=9))
def test_whatever_is_written_it_is_told_the_same_and_little_goes_along(question: str, turns: list[str]) -> None:
    history = said(*turns)
    found = followup(question, history)
    assert found == followup(question, history)
    assert (found is None) or not stands_alone(question, history)
    if found is not None:
        assert len(found.names) <= MOST_NAMES
        asked = [one for one in turns[::2] if one.strip()]
        assert found.before in {"", *asked, *(f"{one}\n{asked[-1]}" for one in asked)}
        whole = "\n".join(turns)
        assert all(name in whole for name in found.names)


@pytest.mark.parametrize("unit", ["it ", "A", "A a ", '"', "E-2 ", "那", "of the A ", "[ID:0]", "\n", "Ann of the "])
def test_a_long_text_takes_no_longer_than_what_is_looked_at(unit: str) -> None:
    long = unit * (30_000 // len(unit))
    started = time.process_time()
    found = followup(long, said(*[long] * 9))
    assert time.process_time() - started < 2
    assert found is None or len(found.before) <= 2 * MOST_READ + 1


def test_real_followups_and_their_stand_alone_rewrites(bench: pathlib.Path) -> None:
    """``python -m benchmarks.followups`` prints the figures."""
    lines = (bench / "canard-dev" / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:100]
    leaning = alone = 0
    for row in map(json.loads, lines):
        history = tuple(Message(role=turn["role"], text=turn["content"]) for turn in row["history"])
        leaning += not stands_alone(row["query"], history)
        alone += stands_alone(row["rewrite"], history)
    assert leaning >= 70
    assert alone >= 90
