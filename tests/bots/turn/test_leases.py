"""Leases on claims: what one process leaves, one other takes over."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from bots.turn import claims as claims_module
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome, Send
from ragcore.errors import ClaimLost
from ragcore.stores.database import Database
from ragcore.stores.schema import claims
from tests.bots.turn.helpers import (
    MINE,
    MovedClock,
    claimed,
    sent,
)


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


async def test_leases_run_by_the_clock_of_the_database(databases: tuple[Database, ...]) -> None:
    long, over = Claims(databases[0], lease=3600), Claims(databases[0], lease=0)
    claim, lost = await claimed(long, "a"), await claimed(over, "b")
    other = Claims(databases[1], lease=3600)
    assert [taken.reference for taken in await other.abandoned(MINE)] == [lost.reference]
    async with databases[0].connect() as connection:
        until = await connection.scalar(select(claims.c.lease_until).where(claims.c.reference == claim.reference))
    assert abs(float(until or 0) - 3600 - datetime.now(UTC).timestamp()) < 300, "this machine's clock is the database's"
