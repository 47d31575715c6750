"""What is kept of claims, for how long, and what a backup carries."""

import asyncio
import pathlib
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from bots.turn import claims as claims_module
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from ragcore.library.backup import backup, restore
from ragcore.stores.database import Database
from ragcore.stores.schema import claims
from tests.bots.turn.helpers import (
    HERE,
    MINE,
    THERE,
    aged,
    claimed,
    count,
    message,
    sent,
    sent_of,
)
from tests.soak import scaled


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
        assert await sent_of(found, claim) == [sent(0)]
    finally:
        await restored.close()
