"""Questions to go on with: they stand in what was found, were not asked yet, and nothing else gets onto a button."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.related import LONGEST, related
from ragcore.on_web import WEB
from ragcore.types import Chunk, Message, Question, ScoredChunk
from tests.ragcore.answer.test_answer_pipeline import FakeModel, Found, answerer, ask, say, scored

MATTERS = ("How do I carry over", "Who approves", "What happens to", "When is", "Can I be paid for", "Where do I find")
ENDINGS = ("unused leave", "my travel expenses", "the warranty of a host", "the night shift", "the VPN client", "it")


def found(
    number: int, text: str = "", *, heading: str = "Part", title: str = "A document", questions: tuple[str, ...] = ()
) -> ScoredChunk:
    chunk = Chunk(
        id=f"g-{number}",
        document_id="d",
        knowledge_base="kb",
        ordinal=number,
        text=text or "Thirty days.",
        title=title,
        heading_path=(heading,),
        token_count=3,
        questions=questions,
    )
    return ScoredChunk(chunk=chunk, score=0.5)


def asked(text: str, *before: str) -> Question:
    return Question(text=text, knowledge_bases=("kb",), history=tuple(Message(role="user", text=one) for one in before))


LEAVE = asked("How many days of leave are there?", "Who approves my travel expenses?")


def test_questions_of_ingest_headings_and_entries_are_offered() -> None:
    chunks = [
        found(1, questions=("How do I carry over unused leave?", "Can leave be paid out?")),
        found(2, heading="Who do I tell when I am ill?"),
        found(3, "## What happens to leave when I quit?\n\nIt is paid out."),
    ]
    assert related(LEAVE, chunks, {"g-3"}, most=3) == (
        "What happens to leave when I quit?",
        "How do I carry over unused leave?",
        "Who do I tell when I am ill?",
    )
    assert related(LEAVE, chunks, {"g-1"}, most=1) == ("How do I carry over unused leave?",)
    assert related(LEAVE, chunks, set(), most=0) == ()


@pytest.mark.parametrize(
    "text",
    [
        "How many days of leave do we have?",
        "Who approves the expenses of my travel?",
        "Wie viele Tage Urlaub werden in das nächste Jahr übertragen?",
        "未休的年假可以结转吗？",
        "Why not see https://evil.example/now?",
        "Why does @everyone not look?",
        "Is [this](https://evil.example) it?",
        "What is in [ID:3]?",
        f"What about {'very ' * 20}long ones?",
        "?",
        "The?",
    ],
    ids=["asked", "asked before", "German", "Chinese", "link", "mention", "markup", "marker", "long", "none", "empty"],
)
def test_what_was_asked_or_is_no_plain_question_in_the_language_is_left_out(text: str) -> None:
    assert related(LEAVE, [found(1, questions=(text,)), found(2, heading=text)], set(), most=3) == ()


def test_pages_of_the_web_put_no_words_on_a_button() -> None:
    page = found(1, heading="Who do I tell when I am ill?")
    page = replace(page, chunk=replace(page.chunk, document_id=f"{WEB}:1"))
    assert related(LEAVE, [page], set(), most=3) == ()
    assert related(LEAVE, [page, found(2, heading="Who do I tell when I am ill?")], set(), most=3) != ()


def test_headings_that_do_not_ask_are_no_questions() -> None:
    assert related(LEAVE, [found(1, heading="Carrying over leave")], set(), most=3) == ()


def test_a_question_in_chinese_is_offered_questions_in_chinese() -> None:
    chunks = [found(1, questions=("未休的年假可以结转吗？", "Can leave be paid out?"))]
    assert related(asked("每年有几天年假？"), chunks, set(), most=3) == ("未休的年假可以结转吗？",)


WORDS = st.builds("{} {}?".format, st.sampled_from(MATTERS), st.sampled_from(ENDINGS)) | st.text(max_size=90)


@given(st.lists(st.tuples(*[WORDS] * 4), max_size=5), WORDS, st.integers(0, 5))
def test_each_stands_in_a_chunk_fits_a_button_and_comes_once(
    drawn: list[tuple[str, ...]], question: str, most: int
) -> None:
    chunks = [
        found(number, text, heading=heading, title=title, questions=(own,))
        for number, (text, heading, title, own) in enumerate(drawn)
    ]
    offered = related(asked(question), chunks, {"g-1"}, most=most)
    assert len(offered) == len(set(offered)) <= most
    squeezed = ["".join("".join(one).split()) for one in drawn]
    for one in offered:
        assert 0 < len(one) <= LONGEST
        assert one.isprintable()
        assert any("".join(one.split()) in text for text in squeezed)
        assert one != question
    assert related(asked(question, *offered), chunks, {"g-1"}, most=5)[: len(offered)] != offered or not offered


@pytest.mark.parametrize(
    ("said", "offers"),
    [
        ("Up to five unused days may be carried into the next year [ID:0].", ("When must leave be taken?",)),
        ("Bananas are yellow, and the moon is made of cheese.", ()),
    ],
    ids=["cited", "unsupported"],
)
async def test_an_answer_that_the_documents_bear_out_offers_questions(said: str, offers: tuple[str, ...]) -> None:
    asking = replace(scored(0), chunk=replace(scored(0).chunk, questions=("When must leave be taken?",)))
    _, answer = await ask(answerer(FakeModel([say(said)]), Found(chunks=(asking,))))
    assert answer.related == offers
    _, answer = await ask(answerer(FakeModel([say(said)]), Found(chunks=(asking,)), related_questions=0))
    assert answer.related == ()
