"""Claims on SQLite and on PostgreSQL: each message answered once, none lost, whoever dies."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from bots.turn import claims as claims_module
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome, Send, State
from ragcore.errors import ClaimLost
from ragcore.stores.database import Database
from ragcore.stores.schema import claims
from ragcore.types import ConversationKey
from tests.bots.turn.helpers import (
    HERE,
    MINE,
    THERE,
    MovedClock,
    aged,
    claimed,
    message,
    sent,
    sent_of,
)
from tests.soak import scaled


async def test_a_message_is_claimed_once_under_all_its_names(here: Claims, there: Claims) -> None:
    first = await claimed(here, "event:1", "ts:1.5")
    assert int(first.reference, 16) >= 0
    assert len(first.reference) == 8
    assert await there.claim(message("event:2", "ts:1.5")) is None
    assert await here.claim(message("event:2")) is None, "a key learned from a redelivery counts too"
    assert await here.claim(message("event:1")) is None
    for other in (replace(HERE, workspace="T2"), replace(HERE, platform="discord")):
        assert await here.claim(message("event:1", where=other)) is not None
    assert await here.claim(message("event:1", where=THERE)) is None, "keys are the workspace's, not the thread's"


async def test_what_was_claimed_is_read_again(here: Claims, there: Claims) -> None:
    text = "半分\ud800 \0 👍"
    first = await claimed(here, "a", text=text)
    assert await there.by_reference(first.reference) == replace(first, created_at=first.created_at)
    assert await there.by_reference("00000000" if first.reference != "00000000" else "00000001") is None


async def test_a_message_without_a_key_is_a_mistake(here: Claims) -> None:
    with pytest.raises(ValueError, match="without a key"):
        await here.claim(replace(message("a"), keys=()))


async def test_fifty_tasks_in_two_processes_claim_one_message(here: Claims, there: Claims) -> None:
    for trial in range(scaled(2)):
        won = await asyncio.gather(
            *(
                (here, there)[n % 2].claim(message(f"{trial}:{n}", f"{trial}:all", f"{trial}:{n // 2}"))
                for n in range(50)
            )
        )
        assert sum(claim is not None for claim in won) == 1


async def test_a_taken_reference_is_drawn_again(here: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["0000000a", "0000000a", "0000000b"])
    monkeypatch.setattr(claims_module.secrets, "token_hex", lambda _: next(drawn))
    assert (await claimed(here, "a")).reference == "0000000a"
    assert (await claimed(here, "b")).reference == "0000000b"


async def test_a_restarted_question_is_answered_by_the_first(here: Claims, there: Claims, clock: MovedClock) -> None:
    first, second = await claimed(here, "a", text="How many"), await claimed(here, "b", text="days?")
    third, fourth = await claimed(here, "c", text="In May?"), await claimed(here, "d")
    assert await here.merge(second, first)
    assert await here.merge(third, first)
    assert not await here.merge(fourth, second), "that one is no longer running"
    assert not await here.merge(fourth, fourth)
    with pytest.raises(ClaimLost):
        await here.finish(second, Outcome.ANSWERED)
    clock.seconds += 30
    taken, other = await there.abandoned(MINE)
    assert taken == replace(first, attempts=2, also=(second.incoming, third.incoming))
    assert other.reference == fourth.reference
    assert await here.by_reference(second.reference) == taken
    assert await here.by_message(HERE, "c") == (taken,)
    assert await here.claim(message("b")) is None


async def test_merging_carries_along_what_was_merged_before(here: Claims) -> None:
    first, second, third = [await claimed(here, key) for key in "abc"]
    assert await here.merge(third, second)
    assert await here.merge(second, first)
    found = await here.by_reference(third.reference)
    assert found == replace(first, also=(second.incoming, third.incoming))


async def test_a_part_that_is_changed_stays_known(here: Claims) -> None:
    claim = await claimed(here, "a")
    await here.intend(claim, 0, "k0")
    await here.done(claim, 0, sent(0))
    await here.intend(claim, 0, "k1")
    found = await here.by_reference(claim.reference)
    assert found is not None
    assert found.sends == (Send(number=0, key="k1", done=False, sent=sent(0)),)
    await here.intend(claim, 1, "k2")
    assert await sent_of(here, claim) == [sent(0), None]
    await here.done(claim, 1, sent(1))
    assert await sent_of(here, claim) == [sent(0), sent(1)]
    await here.begun(claim, sent(0))
    await here.begun(claim, None)
    found = await here.by_reference(claim.reference)
    assert found is not None
    assert found.begun is None


async def test_a_question_is_found_by_its_message_whatever_its_thread(
    here: Claims, databases: tuple[Database, ...]
) -> None:
    first = await claimed(here, "a", number="7")
    await here.finish(first, Outcome.ANSWERED)
    await aged(databases[0], first, timedelta(seconds=30))
    edited = await claimed(here, "a:edited", number="7")
    found = await here.by_message(THERE, "7")
    assert [claim.reference for claim in found] == [edited.reference, first.reference]
    assert (found[1].state, found[1].outcome) == (State.DONE, Outcome.ANSWERED)
    assert await here.by_message(replace(HERE, channel="C2"), "7") == ()


async def test_a_withdrawn_question_ends_for_whoever_answers_it(here: Claims, there: Claims) -> None:
    claim = await claimed(here, "a", text="secret")
    await here.begun(claim, sent(0))
    await here.intend(claim, 0, "k")
    await here.done(claim, 0, sent(0))
    withdrawn = await there.withdraw(claim.reference)
    assert withdrawn is not None
    assert (withdrawn.begun, [part.sent for part in withdrawn.sends]) == (sent(0), [sent(0)])
    with pytest.raises(ClaimLost):
        await here.intend(claim, 1, "k2")
    found = await here.by_reference(claim.reference)
    assert found is not None
    assert (found.outcome, found.incoming.text) == (Outcome.WITHDRAWN, "")
    assert await here.withdraw("ffffffff") is None


async def test_conversations_with_a_recent_turn(here: Claims, databases: tuple[Database, ...]) -> None:
    places = [replace(HERE, thread=str(n)) for n in range(4)]
    made = [await here.claim(message(f"k{n}", where=place)) for n, place in enumerate(places)]
    again = await here.claim(message("again", where=places[0]))
    other = await here.claim(message("other", where=ConversationKey(platform="discord", channel="1")))
    assert all(made)
    assert again
    assert other
    for age, claim in zip((9, 5, 30, 1), made, strict=True):
        assert claim
        await aged(databases[0], claim, timedelta(hours=age))
    assert made[3]
    await here.finish(made[3], Outcome.IGNORED)
    since = datetime.now(UTC) - timedelta(hours=24)
    assert await here.active_conversations("slack", since) == (places[0], places[1])
    assert await here.active_conversations("telegram", since) == ()


async def test_a_message_stands_readable_in_its_row(here: Claims, databases: tuple[Database, ...]) -> None:
    claim = await claimed(here, "a")
    async with databases[0].connect() as connection:
        written = await connection.scalar(select(claims.c.incoming))
    assert json.loads(str(written))["text"] == claim.incoming.text
