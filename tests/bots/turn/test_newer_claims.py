"""After a downgrade: claims that a newer version wrote, and this one cannot read, are left to that version."""

import json
import logging
import pathlib
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome
from bots.turn.feedback import Feedback
from ragcore.stores.database import Database
from ragcore.stores.schema import claims
from tests.bots.turn.flows import final, flowing, outcome
from tests.bots.turn.helpers import HERE, MINE, MovedClock, claimed, message
from tests.fakes.platform import asked
from tests.fakes.virtual import run

NEWER: list[dict[str, Any]] = [
    {"incoming": {"reach": "telepathy"}},
    {"incoming": {"sent_at": 17}},
    {"incoming": {"asker": {"name": "Ann"}}},
    {"outcome": "postponed"},
]
"""What a newer version may have written: a reach, a time, an asker or an outcome that we know nothing of."""


async def by_newer(database: Database, claim: Claim, **columns: Any) -> None:
    """Let a newer version have written a claim."""
    async with database.begin() as connection:
        which = claims.c.reference == claim.reference
        if "incoming" in columns:
            known = json.loads(str(await connection.scalar(select(claims.c.incoming).where(which))))
            columns["incoming"] = json.dumps(known | columns["incoming"])
        await connection.execute(update(claims).where(which).values(columns))


@pytest.mark.parametrize("columns", NEWER)
async def test_a_claim_of_a_newer_version_is_left_to_it_and_told_once(
    here: Claims,
    there: Claims,
    databases: tuple[Database, ...],
    clock: MovedClock,
    caplog: pytest.LogCaptureFixture,
    columns: dict[str, Any],
) -> None:
    newer, other = await claimed(here, "a"), await claimed(here, "b")
    await by_newer(databases[0], newer, **columns)
    for _ in range(2):
        clock.seconds += 30
        assert [claim.reference for claim in await there.abandoned(MINE)] == [other.reference]
    (told,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert newer.reference in told.getMessage()
    assert "newer version" in told.getMessage()
    assert await there.by_reference(newer.reference) is None
    assert await there.by_message(HERE, "a") == ()
    assert await there.claim(message("a")) is None, "nobody answers it twice"
    async with databases[0].connect() as connection:
        row = (await connection.execute(select(claims).where(claims.c.reference == newer.reference))).one()
    assert (row.state, row.attempts, row.lease_until) == ("running", 1, 1_000_030.0), "as that version left it"


async def test_a_claim_with_a_message_of_a_newer_version_is_left_to_it(
    here: Claims, there: Claims, databases: tuple[Database, ...], clock: MovedClock
) -> None:
    first, second = await claimed(here, "a"), await claimed(here, "b")
    assert await here.merge(second, first)
    await by_newer(databases[0], second, **NEWER[0])
    clock.seconds += 30
    assert await there.abandoned(MINE) == ()


@pytest.mark.parametrize("columns", NEWER[:3])
async def test_a_deleted_message_is_dropped_also_as_a_newer_version_wrote_it(
    here: Claims, databases: tuple[Database, ...], columns: dict[str, Any]
) -> None:
    first = await claimed(here, "a", text="between us")
    edit = await here.claim(replace(message("a 2", text="just between us"), message="a"), replaces=first.reference)
    assert edit is not None
    await by_newer(databases[0], edit, **columns)
    await here.leave_out(HERE, "a")
    async with databases[0].connect() as connection:
        rows = (await connection.execute(select(claims.c.incoming))).scalars().all()
    assert len(rows) == 2
    assert not any("between us" in row for row in rows)


async def test_what_a_newer_version_wrote_is_withdrawn_forgotten_and_listed(
    here: Claims, databases: tuple[Database, ...]
) -> None:
    claim, kept = await claimed(here, "a", text="between us"), await claimed(here, "b", text="Why?")
    for one in (claim, kept):
        await here.finish(one, Outcome.ABSTAINED)
        await by_newer(databases[0], one, **NEWER[0])
    assert {one.question for one in await Feedback(databases[0]).unanswered()} == {"between us", "Why?"}
    assert await here.withdraw(claim.reference) is None
    assert await here.forget(HERE) == 2
    async with databases[0].connect() as connection:
        rows = (await connection.execute(select(claims.c.incoming))).scalars().all()
    assert not any(words in row for row in rows for words in ("between us", "Why?", "Ann"))


def test_a_process_that_meets_one_answers_the_rest(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        where = tmp_path / "claims.sqlite"
        async with flowing(where) as flow:
            for number in range(2):
                question = asked(f"Why {number}?", message=f"q{number}", channel=f"C{number}")
                assert await flow.claims.claim(question) is not None
            (first,) = await flow.claims.by_message(asked("", channel="C0").conversation, "q0")
            await by_newer(flow.database, first, **NEWER[0])
        async with flowing(where) as flow:
            await flow.turns.connected()
            await flow.idle()
            assert flow.texts("q0") == []
            assert flow.texts("q1") == [final("Why 1?")]
            await flow.turns.receive(asked("And now?", message="q2"))
            await flow.idle()
            assert await outcome(flow, "q2") is Outcome.ANSWERED

    run(talk())
