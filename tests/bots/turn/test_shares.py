"""An answer is shared once: however many press, in however many processes, and whatever becomes of one in between."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from bots.platform import Share
from bots.turn.claims import KEPT, Claims
from bots.turn.claims.claim import Claim, Outcome
from bots.turn.claims.sharing import SHARE_SECONDS
from ragcore.stores.database import Database
from ragcore.stores.schema import shares
from tests.bots.turn.helpers import MovedClock, claimed


@pytest.fixture
async def answered(here: Claims) -> Claim:
    claim = await claimed(here, "a")
    await here.finish(claim, Outcome.ANSWERED)
    return claim


async def test_of_many_presses_at_once_one_shares(here: Claims, there: Claims, answered: Claim) -> None:
    presses = [claims.shares.begin(answered.reference) for claims in (here, there) * 4]
    shared = await asyncio.gather(*presses)
    assert Counter([share.state for share in shared]) == {"now": 1, "going": 7}
    (lease,) = (share.lease for share in shared if share.state == "now")
    await here.shares.end(answered.reference, lease=lease, done=True)
    assert [await claims.shares.begin(answered.reference) for claims in (here, there)] == [Share(state="done")] * 2


async def test_what_was_begun_and_not_ended_is_gone_on_with(
    here: Claims, there: Claims, answered: Claim, clock: MovedClock
) -> None:
    before = datetime.now(UTC)
    first = await here.shares.begin(answered.reference)
    assert (first.state, first.since) == ("now", None)
    clock.seconds += SHARE_SECONDS - 1
    assert await there.shares.begin(answered.reference) == Share(state="going")
    clock.seconds += 2
    presses = await asyncio.gather(*(claims.shares.begin(answered.reference) for claims in (here, there)))
    (since,) = (share.since for share in presses if share.state == "now")
    assert since is not None
    assert before - timedelta(minutes=2) < since < before, "a platform's clock may be a little behind"


async def test_a_press_that_failed_leaves_it_to_the_next_one_at_once(here: Claims, answered: Claim) -> None:
    first = await here.shares.begin(answered.reference)
    await here.shares.end(answered.reference, lease=first.lease, done=False)
    again = await here.shares.begin(answered.reference)
    assert (again.state, again.since is not None) == ("now", True)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_press_that_fails_after_its_lease_takes_nothing_from_the_one_that_goes_on(
    here: Claims, there: Claims, answered: Claim, clock: MovedClock, elsewhere: bool
) -> None:
    first = await here.shares.begin(answered.reference)
    clock.seconds += SHARE_SECONDS + 1
    other = there if elsewhere else here
    second = await other.shares.begin(answered.reference)
    assert second.state == "now"
    await here.shares.end(answered.reference, lease=first.lease, done=False)
    assert await here.shares.begin(answered.reference) == Share(state="going")
    await other.shares.end(answered.reference, lease=second.lease, done=False)
    assert (await here.shares.begin(answered.reference)).state == "now"


async def test_alone_a_process_waits_for_none_that_is_gone(here: Claims, there: Claims, answered: Claim) -> None:
    await there.shares.begin(answered.reference)
    share = await here.shares.begin(answered.reference, alone=True)
    assert (share.state, share.since is not None) == ("now", True)
    assert await here.shares.begin(answered.reference, alone=True) == Share(state="going"), "that is its own press"


async def test_it_goes_with_its_claim(here: Claims, answered: Claim, databases: tuple[Database, Database]) -> None:
    await here.shares.begin(answered.reference)
    await here.sweep(now=datetime.now(UTC) + 100 * KEPT)
    async with databases[0].connect() as connection:
        assert (await connection.execute(select(func.count()).select_from(shares))).scalar() == 0
