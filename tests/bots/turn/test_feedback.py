"""Votes and unanswered questions: kept with what they are about, and listed."""

import io
import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from sqlalchemy import update

from bots.cli.judging import numbered, show_feedback
from bots.requests import ReadChunk
from bots.turn.claims import Claims
from bots.turn.claims.claim import UNANSWERED, Outcome
from bots.turn.feedback import Feedback, listed
from bots.votes import Vote
from ragcore.stores.database import Database
from ragcore.stores.schema import claims as claims_table
from ragcore.types import Answer, Chunk, Citation, Location, ScoredChunk, Support
from tests.bots.turn.helpers import HERE, message, place_of
from tests.fakes.operations import UNANSWERED as QUESTION
from tests.fakes.operations import VOTE


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[Database]:
    opened = await Database.open(place_of(request, tmp_path))
    yield opened
    await opened.close()


CHUNKS = tuple(
    ScoredChunk(
        chunk=Chunk(
            id=f"g-{n}", document_id="s:d", knowledge_base="k", ordinal=n, text="t", title="T\0 年", token_count=1,
            url="https://x.example/d", location=Location(anchor=f"a{n}"),
        ),
        score=0.5,
    )
    for n in range(2)
)  # fmt: skip
CITATION = Citation(
    number=1,
    id=1,
    chunk_id="g-1",
    document_id="s:d",
    title="T",
    url="https://x.example/d#page=2",
    location="",
    quote="",
)
ANSWER = Answer(
    question="?", raw_text="Five days\0 [ID:1].", support=Support.CITED, chunks=CHUNKS, citations=(CITATION,)
)


async def answered(database: Database, *keys: str, text: str = "How many?", outcome: Outcome = Outcome.ANSWERED) -> str:
    made = Claims(database)
    claim = await made.claim(message(*keys, text=text))
    assert claim is not None
    await made.finish(claim, outcome, answer=ANSWER if outcome is Outcome.ANSWERED else None)
    return claim.reference


async def test_a_vote_keeps_what_it_judges(database: Database) -> None:
    reference = await answered(database, "a")
    feedback = Feedback(database)
    assert await feedback.vote(Vote(reference=reference, voter="U1", side="up"))
    await Claims(database).forget(HERE)
    (vote,) = await feedback.votes()
    assert (vote.side, vote.reason, vote.platform, vote.voter) == ("up", "", "slack", "U1")
    assert (vote.question, vote.answer) == ("How many?", "Five days [ID:1].")
    assert [(chunk.id, chunk.number, chunk.chunk_id) for chunk in vote.chunks] == [(0, 0, "g-0"), (1, 1, "g-1")]
    assert [chunk.url for chunk in vote.chunks] == [f"https://x.example/d#a{n}" for n in range(2)]
    assert abs(vote.voted_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_a_later_vote_takes_the_place_of_the_first(database: Database) -> None:
    reference = await answered(database, "a")
    feedback = Feedback(database)
    for side, reason in (("up", ""), ("down", ""), ("down", "outdated")):
        assert await feedback.vote(Vote(reference=reference, voter="U1", side=side, reason=reason))  # type: ignore[arg-type]
    assert await feedback.vote(Vote(reference=reference, voter="U2", side="up"))
    votes = await feedback.votes()
    assert {(vote.voter, vote.side, vote.reason) for vote in votes} == {("U1", "down", "outdated"), ("U2", "up", "")}
    assert votes[0].voted_at >= votes[1].voted_at


async def test_a_vote_on_what_is_gone_is_not_kept(database: Database) -> None:
    assert not await Feedback(database).vote(Vote(reference="00000000", voter="U1", side="up"))
    assert await Feedback(database).votes() == ()


async def test_a_vote_after_the_words_were_forgotten(database: Database) -> None:
    reference = await answered(database, "a")
    await Claims(database).forget(HERE)
    assert await Feedback(database).vote(Vote(reference=reference, voter="U1", side="down"))
    (vote,) = await Feedback(database).votes()
    assert (vote.question, vote.answer, vote.chunks) == ("", "", ())


async def test_what_was_asked_in_two_messages_is_one_question(database: Database) -> None:
    made, feedback = Claims(database), Feedback(database)
    first, second = await made.claim(message("a", text="How many")), await made.claim(message("b", text="days?"))
    assert first
    assert second
    assert await made.merge(second, first)
    await made.finish(first, Outcome.ABSTAINED)
    (question,) = await feedback.unanswered()
    assert (question.question, question.outcome, question.asker) == ("How many\ndays?", "abstained", "U1")
    assert await feedback.vote(Vote(reference=second.reference, voter="U1", side="down"))
    (vote,) = await feedback.votes()
    assert (vote.reference, vote.question, vote.answer) == (first.reference, "How many\ndays?", "")


async def test_questions_left_without_an_answer(database: Database) -> None:
    for outcome in Outcome:
        await answered(database, outcome.value, text=outcome.value, outcome=outcome)
    feedback = Feedback(database)
    told = await feedback.unanswered()
    assert {question.question for question in told} == {outcome.value for outcome in UNANSWERED}
    assert all(question.question == question.outcome for question in told)
    assert [question.asked_at for question in told] == sorted((q.asked_at for q in told), reverse=True)
    async with database.begin() as connection:
        old = update(claims_table).where(claims_table.c.outcome == "abstained")
        await connection.execute(old.values(created_at=datetime.now(UTC) - timedelta(days=8)))
    recent = await feedback.unanswered(since=datetime.now(UTC) - timedelta(days=7))
    assert {question.outcome for question in recent} == {outcome.value for outcome in UNANSWERED} - {"abstained"}
    await Claims(database).forget(HERE)
    assert await feedback.unanswered() == ()
    assert await listed(database) == ()


async def test_votes_go_after_a_year(database: Database) -> None:
    reference = await answered(database, "a")
    feedback = Feedback(database)
    assert await feedback.vote(Vote(reference=reference, voter="U1", side="up"))
    assert await feedback.sweep(now=datetime.now(UTC) + timedelta(days=364)) == 0
    assert await feedback.sweep(now=datetime.now(UTC) + timedelta(days=366)) == 1
    assert await feedback.votes() == ()


def test_nothing_to_show_is_said() -> None:
    assert shown(80, ()) == "No votes and no unanswered questions on the chat platforms yet.\n"


def shown(width: int, votes: tuple[object, ...]) -> str:
    out = io.StringIO()
    show_feedback(votes, (), Console(file=out, width=width, highlight=False, markup=False))  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("width", [30, 80])
@given(words=st.text(max_size=60))
def test_what_people_wrote_is_safe_to_show(width: int, words: str) -> None:
    vote = replace(VOTE, question=words, answer=words, reason=words, voter=words, platform=words)
    out = io.StringIO()
    show_feedback([vote], [replace(QUESTION, question=words)], Console(file=out, width=width, highlight=False))
    lines = out.getvalue().split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert not any(character < " " for line in lines for character in line)


def test_a_forgotten_question_is_told() -> None:
    told = shown(80, (replace(VOTE, question="", answer="", chunks=()),))
    assert "What was asked was forgotten before the vote." in told


@given(st.lists(st.integers(0, 4), max_size=6))
def test_markers_become_the_numbers_that_readers_saw(ids: list[int]) -> None:
    chunks = [
        ReadChunk(id=n, number=number, chunk_id="", document_id="", title="", url="", score=0.0)
        for n, number in enumerate((3, 0, 1, 2))
    ]
    answer = "".join(f"Words. [ID:{one}] " for one in ids)
    seen = {0: "3", 2: "1", 3: "2"}
    assert [part for part in numbered(answer, chunks).split() if part != "Words."] == [
        f"[{seen[one]}]" for one in ids if one in seen
    ]
