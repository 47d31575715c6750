"""History on SQLite and on PostgreSQL: nothing lost, nothing recalled that should not be."""

import asyncio
import pathlib
import time
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select, update

from ragcore import history as history_module
from ragcore.history import History
from ragcore.stores.database import Database
from ragcore.stores.schema import turn_citations, turns
from ragcore.tokens import BpeTokenizer, offline_tokenizer
from ragcore.types import Answer, Chunk, Citation, ConversationKey, Leaf, Message, ScoredChunk, Support
from tests.ragcore.counting import CountingEncoder
from tests.soak import scaled

HERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
THERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.6")


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[Database]:
    where = tmp_path / "history.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_tables_url")
    opened = await Database.open(where)
    yield opened
    await opened.close()


@pytest.fixture
def history(database: Database) -> History:
    return History(database)


def answer(question: str, text: str = "Yes [ID:1].", cited: bool = True) -> Answer:
    chunks = tuple(
        ScoredChunk(
            chunk=Chunk(
                id=f"g-{n}", document_id="s:d", knowledge_base="k", ordinal=n, text="t", title="T", token_count=1
            ),
            score=0.5 + n / 10,
        )
        for n in range(2)
    )
    citation = Citation(
        number=1, id=1, chunk_id="g-1", document_id="s:d", title="Leave", url="https://x.example/#a", location="page 2",
        quote="年假为15天",
    )  # fmt: skip
    return Answer(
        question=question, raw_text=text, support=Support.CITED, chunks=chunks, citations=(citation,) if cited else ()
    )


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages]


async def rows(database: Database) -> tuple[int, int]:
    async with database.connect() as connection:
        counts = [await connection.scalar(select(func.count()).select_from(t)) for t in (turns, turn_citations)]
    return counts[0] or 0, counts[1] or 0


async def test_it_is_known_who_typed_a_question_where_somebody_did(history: History, database: Database) -> None:
    for name in ("slack:T1/@U1", "", "slack:T1/@Ü\0"):
        await history.append(HERE, answer("What?"), typed_by=name)
    recalled = await history.recall(HERE)
    assert [message.typed_by for message in recalled if message.role == "user"] == ["slack:T1/@U1", "", "slack:T1/@Ü"]
    assert {message.typed_by for message in recalled if message.role == "assistant"} == {""}
    # A process of an older version, which works on the same database, knows no such column.
    known = [column for column in turns.c if column.name not in {"id", "typed_by"}]
    async with database.begin() as connection:
        await connection.execute(turns.insert().from_select([one.name for one in known], select(*known).limit(1)))
    assert (await history.recall(HERE))[-2].typed_by == ""


async def test_turns_come_back_in_order_without_markers(history: History) -> None:
    for number in range(3):
        await history.append(HERE, answer(f"question {number}", f"Answer {number} [ID:1]."), author="Ann")
    recalled = await history.recall(HERE)
    assert texts(recalled) == [
        "question 0", "Answer 0.", "question 1", "Answer 1.", "question 2", "Answer 2.",
    ]  # fmt: skip
    assert [message.role for message in recalled] == ["user", "assistant"] * 3
    assert recalled[0].author == "Ann"
    assert recalled[0].sent_at is not None
    assert abs(recalled[0].sent_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_citations_are_kept(history: History) -> None:
    await history.append(HERE, answer("first", cited=False))
    await history.append(HERE, answer("second"))
    second, first = await history.turns(HERE, limit=5)
    assert first.citations == ()
    (citation,) = second.citations
    assert (citation.number, citation.chunk_id, citation.quote) == (1, "g-1", "年假为15天")
    assert (citation.url, citation.location, citation.title) == ("https://x.example/#a", "page 2", "Leave")
    assert second.answer == "Yes [ID:1]."


async def test_newest_first_within_the_budget_and_whole_turns_only(history: History) -> None:
    for number in range(6):
        await history.append(HERE, answer(f"question {number}", "word " * 40))
    tokenizer = offline_tokenizer()
    turn = tokenizer.count("question 1") + tokenizer.count("word " * 40)
    assert len(await history.recall(HERE, tokens=3 * turn)) == 6
    assert len(await history.recall(HERE, tokens=3 * turn - 1)) == 4
    assert texts(await history.recall(HERE, tokens=turn))[0] == "question 5"
    assert await history.recall(HERE, tokens=0) == ()
    assert len(await history.recall(HERE, limit=2)) == 4


async def test_counts_are_stored_not_taken_again(database: Database) -> None:
    encoder = CountingEncoder()
    history = History(database, tokenizer=BpeTokenizer(encoder))
    for number in range(5):
        await history.append(HERE, answer(f"question {number}"))
    encoder.characters = 0
    await history.recall(HERE)
    assert encoder.characters == 0


async def test_conversations_are_apart(history: History) -> None:
    await history.append(HERE, answer("here"))
    await history.append(THERE, answer("there"))
    await history.append(ConversationKey(platform="discord"), answer("elsewhere"))
    assert texts(await history.recall(HERE))[0] == "here"
    assert len(await history.recall(THERE)) == 2


async def test_forgetting_one_conversation(history: History, database: Database) -> None:
    for _ in range(3):
        await history.append(HERE, answer("here"))
    await history.append(THERE, answer("there"))
    assert await history.forget(HERE) == 3
    assert await history.forget(HERE) == 0
    assert await history.recall(HERE) == ()
    assert await rows(database) == (1, 1)


async def test_age(history: History, database: Database) -> None:
    now = datetime.now(UTC)
    await history.append(HERE, answer("first"))  # and with it the hourly sweep
    assert await history.forget(HERE) == 1
    await history.append(HERE, answer("old"), asked_at=now - timedelta(days=31))
    zone = timezone(timedelta(hours=14))
    await history.append(HERE, answer("young"), asked_at=(now - timedelta(days=29, hours=20)).astimezone(zone))
    assert texts(await history.recall(HERE))[0] == "young", "what has expired is not recalled, swept or not"
    assert await history.expire() == 1
    assert await rows(database) == (1, 1)
    assert await history.expire(now=now + timedelta(days=40)) == 1


async def test_what_expires_while_the_bot_runs_goes_with_an_append(
    history: History, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = datetime.now(UTC) - timedelta(days=31)
    await history.append(HERE, answer("first"))
    for number in range(5):
        await history.append(THERE, answer(f"old {number}"), asked_at=old + timedelta(minutes=number))
    assert await rows(database) == (6, 6), "swept once an hour, not at every turn"

    clock = time.monotonic() + history_module.SWEEP_SECONDS
    monkeypatch.setattr(history_module, "time", SimpleNamespace(monotonic=lambda: clock))
    monkeypatch.setattr(history_module, "SWEPT_TURNS", 2)
    counts = []
    for _ in range(4):
        await history.append(HERE, answer("new"))
        counts.append(await rows(database))
    assert counts == [(5, 5), (4, 4), (4, 4), (5, 5)], "a few at a time until none is left, then not again for an hour"
    assert texts(await history.recall(HERE))[::2] == ["first", "new", "new", "new", "new"]


async def test_expiring_many_at_the_start_takes_all(
    history: History, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "SWEPT_TURNS", 3)
    await history.append(HERE, answer("young"))
    for number in range(7):
        await history.append(THERE, answer("old"), asked_at=datetime.now(UTC) - timedelta(days=31 + number))
    assert await history.expire() == 7
    assert await rows(database) == (1, 1)


async def test_those_that_sweep_and_forget_at_once_do_not_hinder_each_other(database: Database) -> None:
    first, second = History(database), History(database)
    await first.append(HERE, answer("young"))
    for number in range(20):
        await first.append(THERE, answer("old"), asked_at=datetime.now(UTC) - timedelta(days=31 + number))
    await asyncio.gather(
        *(one.append(HERE, answer("new")) for one in (first, second)),
        *(one.expire() for one in (first, second)),
        *(one.forget(THERE) for one in (first, second)),
    )
    assert await rows(database) == (3, 3)


async def test_zero_days_remember_nothing(database: Database) -> None:
    history = History(database, days=0)
    assert await history.append(HERE, answer("x")) == 0
    assert await history.recall(HERE) == ()
    assert await rows(database) == (0, 0)


async def test_turns_at_once_lose_nothing(history: History, database: Database) -> None:
    count = scaled(40)
    await asyncio.gather(
        *(history.append((HERE, THERE)[n % 2], answer(f"question {n}")) for n in range(count)),
        *(history.recall(HERE) for _ in range(10)),
    )
    assert await rows(database) == (count, count)
    recalled = texts(await history.recall(HERE, limit=count)) + texts(await history.recall(THERE, limit=count))
    assert sorted(recalled[::2]) == sorted(f"question {n}" for n in range(count))


async def test_a_turn_is_written_with_its_citations_or_not_at_all(history: History, database: Database) -> None:
    broken = answer("x")
    twice = Answer(
        question="x", raw_text="y", support=Support.CITED, chunks=broken.chunks, citations=broken.citations * 2
    )
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        await history.append(HERE, twice)
    assert await rows(database) == (0, 0)
    await history.append(HERE, broken)
    assert await rows(database) == (1, 1)


async def test_text_that_databases_refuse(history: History) -> None:
    await history.append(HERE, answer("a\0b\ud800c", "d\0e\udfff 👍 [ID:1]"), author="x" * 500)
    assert texts(await history.recall(HERE)) == ["ab\ufffdc", "de\ufffd 👍"]


async def test_history_is_recalled_for_the_audience_that_heard_it(history: History) -> None:
    await history.append(HERE, answer("to all"), audience="all")
    await history.append(HERE, answer("to one"), audience="one")
    await history.append(HERE, answer("to the operator"))
    for audience, question in (("all", "to all"), ("one", "to one"), ("", "to the operator")):
        assert texts(await history.recall(HERE, audience=audience)) == [question, "Yes."]
    assert await history.recall(HERE, audience="other") == ()


async def test_a_turn_is_replaced_found_and_forgotten_by_its_reference(history: History, database: Database) -> None:
    await history.append(HERE, answer("first"), reference="aaaaaaaa")
    await history.append(HERE, answer("second"), reference="bbbbbbbb")
    await history.append(HERE, answer("first, edited"), reference="aaaaaaaa")
    await history.append(HERE, answer("without one"))
    assert await rows(database) == (3, 3)
    assert texts(await history.recall(HERE, but="aaaaaaaa"))[::2] == ["second", "without one"]
    found = await history.by_reference("aaaaaaaa")
    assert found is not None
    assert (found.question, found.conversation, [c.id for c in found.citations]) == ("first, edited", HERE, [1])
    assert await history.by_reference("cccccccc") is None
    assert await history.by_reference("") is None
    assert await history.forget(HERE, reference="bbbbbbbb") == 1
    assert await rows(database) == (2, 2)


async def test_how_many_passages_each_document_gave_is_remembered_in_order(
    database: Database, history: History
) -> None:
    one = answer("first").chunks[0]
    other = replace(one, chunk=replace(one.chunk, document_id="s:b"))
    summary = replace(
        one, chunk=replace(one.chunk, document_id=":all", rests_on=(Leaf(chunk_id="c", document_id="s:e"),))
    )
    several = replace(answer("first"), chunks=(one, other, summary, one))
    await history.append(HERE, several, reference="aaaaaaaa", rests_on=["s:a", "s:d"])
    turn = await history.by_reference("aaaaaaaa")
    assert turn is not None
    assert turn.given == (("s:d", 2), ("s:b", 1))
    assert turn.rests_on == {"s:a", "s:b", "s:d", "s:e", ":all"}
    async with database.begin() as connection:
        await connection.execute(update(turns).values(rests_on='["s:a", "s:d"]'))  # as an older version wrote it
    turn = await history.by_reference("aaaaaaaa")
    assert turn is not None
    assert (turn.given, turn.rests_on) == ((), {"s:a", "s:d"})


async def test_what_may_repeat_a_closed_document_or_rests_on_nobody_knows_what_is_left_out(
    database: Database, history: History
) -> None:
    await history.append(HERE, answer("first"), rests_on=["s:other"])
    await history.append(HERE, replace(answer("second"), chunks=()))
    await history.append(HERE, answer("third"))
    asked: list[list[str]] = []

    async def but_other(documents: Collection[str]) -> Collection[str]:
        asked.append(sorted(documents))
        return {"s:d"}

    recalled = await history.recall(HERE, open_to=but_other)
    assert texts(recalled)[::2] == ["second", "third"]
    assert recalled[-1].rests_on == {"s:d"}
    assert asked == [["s:d", "s:other"]]
    async with database.begin() as connection:
        await connection.execute(update(turns).where(turns.c.question == "third").values(rests_on=""))
    assert texts(await history.recall(HERE, open_to=but_other))[::2] == ["second"]
    assert texts(await history.recall(HERE))[::2] == ["first", "second", "third"]
