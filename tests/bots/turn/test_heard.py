"""What was heard is kept once, for a while, as many as there is room for, and goes with what is withdrawn or forgotten."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import bots.turn.claims.hearing
from bots.platform import Incoming, Reach
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from ragcore.stores.database import Database
from tests.fakes.platform import asked

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def said(number: int, text: str = "", *, thread: str = "topic 1", channel: str = "C1") -> Incoming:
    """Return a message of a channel; a higher number was said later."""
    message = asked(text or f"word {number}")
    return replace(
        message,
        keys=(f"k{channel}{number}",),
        message=f"m{number}",
        reach=Reach.MENTION,
        conversation=replace(message.conversation, channel=channel, thread=thread),
        sent_at=NOW + timedelta(seconds=number // 2),
    )


async def before(claims: Claims, incoming: Incoming, limit: int = 30) -> list[str]:
    return [message.text for message in await claims.heard.before(incoming, limit=limit)]


async def test_what_was_said_before_in_the_thread_is_read_in_order(here: Claims) -> None:
    for number in range(6):
        await here.heard.keep(said(number))
        await here.heard.keep(said(number))
        await here.heard.keep(said(100 + number, thread="topic 2"))
        await here.heard.keep(said(number, channel="C2"))
    assert await before(here, said(4)) == ["word 0", "word 1", "word 2", "word 3"]
    assert await before(here, said(9), limit=2) == ["word 4", "word 5"]
    assert await here.heard.thread_of(said(0).conversation, "m100") == "topic 2"
    assert await here.heard.thread_of(said(0).conversation, "m7") is None


async def test_an_edit_takes_the_place_of_the_words_whenever_it_comes(here: Claims) -> None:
    for number in (1, 2):
        edit = replace(said(number, f"edited {number}"), edited_at=NOW)
        for incoming in ((said(number), edit), (edit, said(number)))[number - 1]:
            await here.heard.keep(incoming)
    assert await before(here, said(5)) == ["edited 1", "edited 2"]


async def test_what_was_answered_and_what_was_said_before_it_is_history(here: Claims) -> None:
    for number in range(4):
        await here.heard.keep(said(number))
    claim = await here.claim(said(1))
    assert claim is not None
    assert await before(here, said(4)) == ["word 0", "word 1", "word 2", "word 3"]
    await here.finish(claim, Outcome.ANSWERED)
    assert await before(here, said(4)) == ["word 2", "word 3"]


async def test_a_withdrawn_question_is_not_read(here: Claims) -> None:
    for number in range(3):
        await here.heard.keep(said(number))
        await here.heard.keep(said(number, channel="C2"))
    claim = await here.claim(said(1))
    assert claim is not None
    await here.withdraw(claim.reference)
    assert await before(here, said(4)) == ["word 0", "word 2"]
    assert await before(here, said(4, channel="C2")) == ["word 0", "word 1", "word 2"]


async def test_a_conversation_is_forgotten_and_no_other(here: Claims) -> None:
    for thread in ("topic 1", "topic 2"):
        await here.heard.keep(said(int(thread[-1]), thread=thread))
    await here.forget(said(1).conversation)
    assert await before(here, said(5)) == []
    assert await before(here, said(5, thread="topic 2")) == ["word 2"]


async def test_only_the_newest_of_a_channel_are_kept(here: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots.turn.claims.hearing, "KEPT_MESSAGES", 3)
    await here.heard.keep(said(0, channel="C2"))
    for number in range(8):
        await here.heard.keep(said(number))
    assert await before(here, said(9)) == ["word 5", "word 6", "word 7"]
    assert await before(here, said(9, channel="C2")) == ["word 0"]


@pytest.mark.parametrize(("days", "kept"), [(30.0, 7.0), (2.0, 2.0)])
async def test_it_is_kept_for_a_week_and_no_longer_than_the_history(
    databases: tuple[Database, Database], days: float, kept: float
) -> None:
    here = Claims(databases[0], days=days)
    await here.heard.keep(said(1))
    for age, expected in ((kept - 0.1, ["word 1"]), (kept + 0.1, [])):
        await here.sweep(now=NOW + timedelta(days=age))
        assert await before(here, said(5)) == expected


async def test_without_a_history_nothing_is_kept(databases: tuple[Database, Database]) -> None:
    here = Claims(databases[0], days=0)
    await here.heard.keep(said(1))
    assert await before(here, said(5)) == []


async def test_another_process_reads_what_one_heard(here: Claims, there: Claims) -> None:
    await here.heard.keep(said(1))
    assert await before(there, said(5)) == ["word 1"]
