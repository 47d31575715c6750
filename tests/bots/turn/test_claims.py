"""Claims on SQLite and on PostgreSQL: each message answered once, none lost, whoever dies."""

import asyncio
import json
import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from bots.platform import Sent
from bots.turn import claims as claims_module
from bots.turn.claim import Claim, Outcome, Send, State
from bots.turn.claims import Claims
from ragcore.errors import ClaimLost
from ragcore.library.backup import backup, restore
from ragcore.stores.database import Database
from ragcore.stores.schema import claim_keys, claims, sends
from ragcore.types import ConversationKey
from tests.bots.turn.helpers import HERE, THERE, MovedClock, message, place_of, two_processes
from tests.soak import scaled

MINE = ["slack"]


@pytest.fixture(params=["sqlite", "postgresql"])
async def databases(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[tuple[Database, Database]]:
    async with two_processes(place_of(request, tmp_path)) as opened:
        yield opened


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def here(databases: tuple[Database, Database], clock: MovedClock) -> Claims:
    return Claims(databases[0], clock=clock)


@pytest.fixture
def there(databases: tuple[Database, Database], clock: MovedClock) -> Claims:
    return Claims(databases[1], clock=clock)


def sent(number: int) -> Sent:
    return Sent(channel="C1", id=f"m{number}", extra={"ts": f"1.{number}"})


async def claimed(claims: Claims, *keys: str, **facts: str) -> Claim:
    claim = await claims.claim(message(*keys, **facts))  # type: ignore[arg-type]
    assert claim is not None
    return claim


async def count(database: Database) -> tuple[int, ...]:
    async with database.connect() as connection:
        tables = (claims, claim_keys, sends)
        return tuple([await connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables])


async def aged(database: Database, claim: Claim, age: timedelta) -> None:
    async with database.begin() as connection:
        which = update(claims).where(claims.c.reference == claim.reference)
        await connection.execute(which.values(created_at=datetime.now(UTC) - age))


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


async def test_a_lease_that_runs_out_is_taken_over_with_what_was_sent(
    here: Claims, there: Claims, clock: MovedClock
) -> None:
    claim = await claimed(here, "a")
    await here.begun(claim, sent(0))
    await here.intend(claim, 0, "k0")
    await here.done(claim, 0, sent(0))
    await here.intend(claim, 1, "k1")
    clock.seconds += 29
    assert await there.abandoned(MINE) == ()
    assert await here.heartbeat([claim]) == {claim.reference}
    clock.seconds += 29
    assert await there.abandoned(MINE) == ()
    clock.seconds += 1
    assert await there.abandoned(["telegram"]) == ()
    (taken,) = await there.abandoned(MINE)
    parts = (Send(number=0, key="k0", done=True, sent=sent(0)), Send(number=1, key="k1", done=False))
    assert taken == replace(claim, attempts=2, begun=sent(0), sends=parts)
    assert await there.abandoned(MINE) == (), "and is theirs for another lease"


async def test_whoever_lost_a_claim_writes_nothing(here: Claims, there: Claims, clock: MovedClock) -> None:
    claim = await claimed(here, "a")
    clock.seconds += 30
    (taken,) = await there.abandoned(MINE)
    assert await here.heartbeat([claim]) == frozenset()
    await here.release(claim)
    for write in (
        here.begun(claim, sent(0)),
        here.intend(claim, 0, "k"),
        here.done(claim, 0, sent(0)),
        here.finish(claim, Outcome.ANSWERED),
        here.merge(claim, claim),
    ):
        with pytest.raises(ClaimLost):
            await write
    assert await there.by_reference(claim.reference) == taken
    await there.finish(taken, Outcome.ANSWERED)
    with pytest.raises(ClaimLost):
        await there.finish(taken, Outcome.FAILED)
    clock.seconds += 100
    assert await here.abandoned(MINE) == (), "what is done is done"


async def test_a_process_that_lost_its_own_claim_to_itself(here: Claims, clock: MovedClock) -> None:
    """Its loop stood still for longer than a lease: only one of its two tasks goes on."""
    claim = await claimed(here, "a")
    clock.seconds += 30
    (again,) = await here.abandoned(MINE)
    with pytest.raises(ClaimLost):
        await here.intend(claim, 0, "k")
    await here.intend(again, 0, "k")
    assert await here.heartbeat([claim, again]) == {claim.reference}


async def test_a_process_that_is_alone_takes_over_at_once(here: Claims, there: Claims) -> None:
    claim = await claimed(here, "a")
    own = await claimed(there, "b")
    (taken,) = await there.abandoned(MINE, alone=True)
    assert taken.reference == claim.reference
    assert await there.heartbeat([own]) == {own.reference}


async def test_what_is_handed_over_is_taken_at_once(here: Claims, there: Claims) -> None:
    claim = await claimed(here, "a")
    await here.release(claim)
    (taken,) = await there.abandoned(MINE)
    assert (taken.reference, taken.attempts) == (claim.reference, 2)


async def test_many_leases_are_renewed_together(
    here: Claims, there: Claims, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_module, "TAKEN_AT_ONCE", 3)
    held = [await claimed(here, f"k{n}") for n in range(8)]
    clock.seconds += 20
    assert await here.heartbeat(held[:7]) == {claim.reference for claim in held[:7]}
    assert await here.heartbeat([]) == frozenset()
    clock.seconds += 10
    (taken,) = await there.abandoned(MINE)
    assert taken.reference == held[7].reference
    clock.seconds += 20
    assert [len(await there.abandoned(MINE)) for _ in range(4)] == [3, 3, 1, 0]


async def test_an_abandoned_claim_is_taken_over_by_one(here: Claims, there: Claims, clock: MovedClock) -> None:
    for n in range(20):
        await claimed(here, f"k{n}")
    clock.seconds += 30
    taken = await asyncio.gather(*((here, there)[n % 2].abandoned(MINE) for n in range(6)))
    references = [claim.reference for claims in taken for claim in claims]
    assert len(references) == len(set(references)) == 20


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
    assert await here.answers_of(claim.reference) == (sent(0),)
    await here.done(claim, 1, sent(1))
    assert await here.answers_of(claim.reference) == (sent(0), sent(1))
    await here.begun(claim, sent(0))
    await here.begun(claim, None)
    found = await here.by_reference(claim.reference)
    assert found is not None
    assert found.begun is None
    assert await here.answers_of("ffffffff") == ()


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


async def test_of_what_was_not_for_the_bot_nothing_is_kept(here: Claims, databases: tuple[Database, ...]) -> None:
    claim = await claimed(here, "a", text="between us")
    await here.finish(claim, Outcome.IGNORED)
    kept = await claimed(Claims(databases[0], days=0), "b", text="between us")
    await Claims(databases[0], days=0).release(kept)  # not theirs: nothing happens
    async with databases[0].connect() as connection:
        rows = {row.reference: row.incoming for row in await connection.execute(select(claims))}
    assert "between us" not in rows[claim.reference]
    assert "Ann" not in rows[claim.reference]
    assert "between us" in rows[kept.reference], "until the turn is over: a crash must not lose it"


async def test_without_days_the_words_go_with_the_end_of_the_turn(databases: tuple[Database, ...]) -> None:
    forgetful = Claims(databases[0], days=0)
    claim = await claimed(forgetful, "a", text="between us")
    await forgetful.finish(claim, Outcome.ANSWERED)
    found = await forgetful.by_reference(claim.reference)
    assert found is not None
    assert found.incoming.text == ""


async def test_forgetting_a_conversation(here: Claims) -> None:
    ended, joined, running, elsewhere = (
        await claimed(here, "a", text="one"),
        await claimed(here, "b", text="two"),
        await claimed(here, "c", text="three"),
        await here.claim(message("d", text="four", where=THERE)),
    )
    assert elsewhere is not None
    assert await here.merge(joined, ended)
    await here.finish(ended, Outcome.ABSTAINED)
    await here.finish(elsewhere, Outcome.ABSTAINED)
    assert await here.forget(HERE) == 2
    assert await here.forget(HERE) == 0
    words = []
    for claim in (ended, running, elsewhere):
        found = await here.by_reference(claim.reference)
        assert found is not None
        words.append((found.incoming.text, [other.text for other in found.also]))
    assert words == [("", [""]), ("three", []), ("four", [])]


async def test_what_is_old_goes_with_its_keys(
    here: Claims, databases: tuple[Database, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_module, "SWEPT_AT_ONCE", 2)
    old = [await claimed(here, f"k{n}", f"e{n}") for n in range(5)]
    for claim in old:
        await here.intend(claim, 0, "k")
        await aged(databases[0], claim, timedelta(days=31))
    ignored, young, fresh = await claimed(here, "i"), await claimed(here, "y"), await claimed(here, "f")
    for claim in (ignored, fresh):
        await here.finish(claim, Outcome.IGNORED)
    for claim, hours in ((ignored, 49), (young, 29 * 24), (fresh, 47)):
        await aged(databases[0], claim, timedelta(hours=hours))
    assert await here.claim(message("k0", "learned later")) is None
    assert await here.sweep() == 6
    assert await count(databases[0]) == (2, 2, 0)
    assert await here.sweep() == 0
    assert await here.claim(message("y")) is None
    assert await here.claim(message("f")) is None, "a day after it was first delivered it may come again"
    assert await here.claim(message("k1")) is not None
    short = Claims(databases[0], days=0)
    assert await short.sweep(now=datetime.now(UTC) + timedelta(hours=47, minutes=30)) == 2, "two days on"


async def test_sweeping_and_claiming_at_once(here: Claims, there: Claims, databases: tuple[Database, ...]) -> None:
    """A message that comes again just as its claim goes is claimed anew or known, by exactly one."""
    for trial in range(scaled(5)):
        claim = await claimed(here, f"k{trial}")
        await aged(databases[0], claim, timedelta(days=40))
        swept, *won = await asyncio.gather(
            here.sweep(), *((here, there)[n % 2].claim(message(f"k{trial}")) for n in range(8))
        )
        assert swept == 1
        assert sum(one is not None for one in won) <= 1
        if not any(won):
            assert await here.claim(message(f"k{trial}")) is not None


async def test_leases_run_by_the_clock_of_the_database(databases: tuple[Database, ...]) -> None:
    long, over = Claims(databases[0], lease=3600), Claims(databases[0], lease=0)
    claim, lost = await claimed(long, "a"), await claimed(over, "b")
    other = Claims(databases[1], lease=3600)
    assert [taken.reference for taken in await other.abandoned(MINE)] == [lost.reference]
    async with databases[0].connect() as connection:
        until = await connection.scalar(select(claims.c.lease_until).where(claims.c.reference == claim.reference))
    assert abs(float(until or 0) - 3600 - datetime.now(UTC).timestamp()) < 300, "this machine's clock is the database's"


async def test_a_backup_carries_the_claims(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    made = Claims(database)
    claim = await claimed(made, "a", "b", text="年假")
    await made.intend(claim, 0, "k")
    await made.done(claim, 0, sent(0))
    await backup(database, tmp_path / "x.backup")
    await database.close()
    await restore(tmp_path / "x.backup", tmp_path / "other")
    restored = await Database.open(tmp_path / "other" / "citebot.sqlite")
    try:
        found = Claims(restored)
        assert await found.claim(message("b")) is None
        (taken,) = await found.abandoned(MINE, alone=True)
        assert taken.incoming == claim.incoming
        assert await found.answers_of(claim.reference) == (sent(0),)
    finally:
        await restored.close()


async def test_a_message_stands_readable_in_its_row(here: Claims, databases: tuple[Database, ...]) -> None:
    claim = await claimed(here, "a")
    async with databases[0].connect() as connection:
        written = await connection.scalar(select(claims.c.incoming))
    assert json.loads(str(written))["text"] == claim.incoming.text
