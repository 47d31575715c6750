"""What the passages name and do not answer is told to be missing: extremes, comparisons, amounts of something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.extractive.degrees import degrees
from ragcore.extractive.extremes import Extremes
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import Chunk, ScoredChunk, SectionKind
from tests.ragcore.extractive.asking import direct

MACHINES = "The Hall mill has 40 looms. The River mill has 25 looms and is the oldest. Looms run from 6:00 to 22:00."
RULES = (
    "During probation the notice period is one week on either side; after it, the notice period is two months.\n\n"
    "Requests for leave go into the calendar at least three weeks ahead."
)
ADJECTIVES = ["large", "small", "old", "young", "heavy", "cheap", "busy", "big", "near", "hot", "easy", "safe"]


def scored(
    text: str,
    *,
    title: str = "Doc",
    headings: tuple[str, ...] = (),
    kind: SectionKind = SectionKind.TEXT,
    score: float = 0.6,
) -> ScoredChunk:
    chunk = Chunk(
        id="g-0",
        document_id="s:a",
        knowledge_base="kb",
        ordinal=0,
        text=text,
        title=title,
        token_count=1,
        kind=kind,
        heading_path=headings,
    )
    return ScoredChunk(chunk=chunk, score=score)


async def both(question: str, *chunks: ScoredChunk) -> str:
    """Return the answer, which must be given or withheld alike whether words are compared by meaning or not."""
    by_words = await direct(question, chunks, None)
    by_meaning = await direct(question, chunks, MiniLMEmbedder())
    assert bool(by_words) is bool(by_meaning), (by_words, by_meaning)
    return by_meaning


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Which mill is the oldest?", "River mill"),
        ("Which mill has the most looms?", ""),
        ("Which mill is the largest?", ""),
        ("Which of our mills has the fewest looms?", ""),
        ("Does the Hall mill have more looms than the River mill?", ""),
        ("Is the Hall mill or the River mill bigger?", ""),
        ("How many looms does the Hall mill have?", "40 looms"),
    ],
)
async def test_an_extreme_is_answered_only_where_it_is_stated(question: str, answered: str) -> None:
    answer = await both(question, scored(MACHINES, title="Mills"))
    assert answered in answer
    assert bool(answer) is bool(answered)


@pytest.mark.parametrize(
    ("text", "question", "answered"),
    [
        ("The Hall mill is the biggest of our mills.", "Which mill is the largest?", True),
        ("The Hall mill is the smallest of our mills.", "Which mill is the largest?", False),
        ("The Hall mill has more looms than any other mill.", "Which mill has the most looms?", True),
        ("The Hall mill has more looms than the River mill.", "Which mill has the most looms?", False),
        (
            "The Hall mill has fewer looms than the River mill.",
            "Has the Hall mill more looms than the River mill?",
            True,
        ),
        ("The Hall mill is older than the River mill.", "Has the Hall mill more looms than the River mill?", False),
        ("大厂房有四十台织机，是织机最多的厂房。", "哪个厂房的织机最多？", True),
        ("大厂房有四十台织机，每天开机。", "哪个厂房的织机最多？", False),
        ("大厂房的织机比小厂房早开机。", "大厂房和小厂房的织机哪个更早开机？", True),
        ("大厂房和小厂房的织机每天开机。", "大厂房和小厂房的织机哪个更早开机？", False),
        ("Unser größter Webstuhl steht in Halle zwei.", "Wo steht der größte Webstuhl?", True),
        ("Unser ältester Webstuhl steht in Halle zwei.", "Wo steht der größte Webstuhl?", False),
    ],
)
async def test_what_is_stated_is_the_same_extreme(text: str, question: str, answered: bool) -> None:
    assert bool(await direct(question, [scored(text, title="Mills")], None)) is answered


async def test_an_extreme_may_stand_in_the_heading() -> None:
    said = "Hall mill, with the looms of three floors, stands by the canal."
    assert await both("Which is the largest mill?", scored(said, headings=("The largest mill",)))
    assert not await both("Which is the largest mill?", scored(said, headings=("The mills",)))


@pytest.mark.parametrize(
    "question",
    [
        "How many days may I borrow a loom at most?",
        "What is the longest time that I may borrow a loom?",
        "What is the best way to borrow a loom for longer than two days?",
        "Who lends me a loom if it takes longer than the course?",
        "What do most of us borrow, a loom?",
        "每人最多可以借几天织机？",
        "织机最晚什么时候归还？",
        "Wie viele Tage darf ich den Webstuhl höchstens leihen?",
    ],
)
def test_a_limit_a_condition_and_advice_are_no_extremes(question: str) -> None:
    assert not Extremes(question).asked


@given(st.sampled_from(ADJECTIVES), st.sampled_from(ADJECTIVES))
def test_each_extreme_states_itself_and_what_lies_at_the_same_end(asked: str, said: str) -> None:
    """Of two English adjectives the superlatives answer each other just when they go the same way of one scale."""
    forms = {adjective: superlative(adjective) for adjective in (asked, said)}
    [wanted], [found] = (list(degrees(f"the {forms[one]} of all")) for one in (asked, said))
    question = Extremes(f"Which mill is the {forms[asked]}?")
    assert question.asked
    assert question.stated(f"The Hall mill is the {forms[said]}.") is (wanted == found)
    assert (wanted == found) is (asked == said or {asked, said} == {"large", "big"})


def superlative(adjective: str) -> str:
    doubled = adjective[-1] if adjective in {"big", "hot"} else ""
    return adjective.removesuffix("e").removesuffix("y") + doubled + ("i" if adjective.endswith("y") else "") + "est"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_question_can_be_read_for_extremes(question: str, text: str) -> None:
    extremes = Extremes(question)
    assert extremes.asked or extremes.stated(text)


async def test_the_notice_of_another_circumstance_is_no_answer() -> None:
    chunks = scored(RULES, title="Rules")
    embedder = MiniLMEmbedder()
    assert "two months" in await direct("How long is the notice period?", [chunks], embedder)
    assert "one week" in await direct("How long is the notice period during probation?", [chunks], embedder)
    off = await direct("How much notice do I need to give before taking a week off?", [chunks], embedder)
    assert "notice period" not in off


@pytest.mark.parametrize("count", [4, 5, 6])
async def test_what_several_sentences_hold_one_word_of_each_is_no_answer(count: int) -> None:
    things = ["copper", "kettle", "garden", "ladder", "violin", "anchor"][:count]
    question = f"Who gave the {' and the '.join(things)} away?"
    apart = " ".join(f"Somebody painted the {thing} on day {n} of {n} weeks." for n, thing in enumerate(things))
    together = f"Somebody painted the {' and the '.join(things)} yesterday."
    assert await direct(question, [scored(apart, score=0.2)], None) == ""
    assert await direct(question, [scored(together, score=0.2)], None)


async def test_words_gathered_from_several_sentences_are_no_answer() -> None:
    tickets = scored("Tickets for adults cost 6 euros. Groups of over twenty book two weeks ahead.", title="Visits")
    assert "6 euros" in await direct("How much are tickets for adults?", [tickets], MiniLMEmbedder())
    assert await direct("What does a guided tour of the stables cost for groups?", [tickets], MiniLMEmbedder()) == ""


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("How long is the warranty on probes?", "12 months"),
        ("How long is the warranty on a loan meter?", ""),
        ("How long are repairs?", "ten working days"),
    ],
)
async def test_the_number_must_stand_in_what_speaks_of_the_matter(question: str, answered: str) -> None:
    text = (
        "Probes carry a warranty of 12 months.\n\nMost repairs are finished within ten working days. "
        "While a TW-200 is being repaired under warranty, a loan meter is sent free of charge."
    )
    answer = await direct(question, [scored(text, title="Returns and warranty")], MiniLMEmbedder())
    assert answered in answer
    assert bool(answer) is bool(answered)


async def test_the_number_may_stand_in_the_next_sentence() -> None:
    text = (
        "Members book the long hall and its kitchen for parties. A weekend costs 30 euros, and the key is at the gate."
    )
    question = "What does it cost to book the hall with its kitchen for a party?"
    assert "30 euros" in await direct(question, [scored(text)], MiniLMEmbedder())
    assert "30 euros" in await direct(question, [scored(text)], None)


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("how much is the allowance", "The home office allowance is 30 euros a month.", SectionKind.TEXT),
        (
            "how much is the allowance",
            "| Benefit | Amount |\n| --- | --- |\n| Meal allowance | 30 a day |",
            SectionKind.TABLE,
        ),
        ("水泵多久换一次机油", "水泵每运行30小时须更换机油一次。", SectionKind.TEXT),
        ("how much per mile", "Drivers get 30 cents a mile.", SectionKind.TEXT),
        ("水泵机油", "水泵每运行30小时须更换机油一次。", SectionKind.TEXT),
        ("Wie hoch ist das Pfand", "Für eine Flasche beträgt das Pfand 30 Cent.", SectionKind.TEXT),
    ],
)
async def test_a_short_question_is_answered_by_what_names_it(question: str, text: str, kind: SectionKind) -> None:
    assert "30" in await both(question, scored(text, kind=kind))


async def test_a_subordinate_when_asks_for_no_time() -> None:
    text = "Press the red button when the belt stops."
    assert await both("Which button do I press when the belt stops?", scored(text))
    assert not await both("When did the belt stop?", scored(text))


async def test_how_often_something_is_done_frames_a_chinese_question() -> None:
    """Of 多久换一次机油 the oil is asked; 一次机 and its like are nobody's words."""
    oil = scored("水泵的机油在30天后更换。", score=0.1)
    assert await direct("水泵多久换一次机油", [oil], None, sure=False)
    assert not await direct("第一次更换机油的是谁家的水泵", [scored("水泵在院子里。", score=0.1)], None, sure=False)
