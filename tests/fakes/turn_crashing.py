"""Real processes that answer two messages as a turn does, and are killed on the way.

The platform is a file: a line for each part of an answer that it took, under its key, so that it can tell what it has.
"""

import itertools
import json
import os
import pathlib
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from bots.platform import Sent
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome
from ragcore.stores.database import Database
from tests.bots.turn.helpers import THERE, message
from tests.fakes.forking import fork_for_each_line

PARTS = 2
FIRST, SECOND = "How many", "days?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One life of a bot over the database at ``where`` and the platform's file ``taken``.

    ``die_at`` counts, from 1, the moments before and after each commit and after each send; 0 lives on.
    """

    where: str
    taken: str
    die_at: int = 0


async def live(life: Life) -> int:
    """Take over what is left, have both messages delivered, and answer; return how many moments there were."""
    moments = itertools.count(1)
    last = 0

    def moment() -> None:
        nonlocal last
        last = next(moments)
        if last == life.die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    database = await Database.open(life.where if "://" in life.where else pathlib.Path(life.where))
    _watch(database, moment)
    claims = Claims(database)
    try:
        for left in await claims.abandoned(["slack"], alone=True):
            await _answer(claims, left, pathlib.Path(life.taken), moment)
        first = await claims.claim(message("a", "event:1", text=FIRST))
        second = await claims.claim(message("b", text=SECOND, where=THERE))
        if first and second and await claims.merge(second, first):
            first, second = await claims.by_reference(first.reference), None
        for claim in filter(None, (first, second)):
            await _answer(claims, claim, pathlib.Path(life.taken), moment)
    finally:
        await database.close()
    return last


def _watch(database: Database, moment: Callable[[], None]) -> None:
    begin, write = database.begin, database.write

    @asynccontextmanager
    async def watched() -> AsyncIterator[Any]:
        async with begin() as connection:
            yield connection
            moment()
        moment()

    async def watched_write(work: Callable[[Connection], Any]) -> Any:
        def watched_work(connection: Connection) -> Any:
            done = work(connection)
            moment()
            return done

        done = await write(watched_work)
        moment()
        return done

    database.begin = watched  # type: ignore[method-assign]
    database.write = watched_write  # type: ignore[method-assign]


async def _answer(claims: Claims, claim: Claim, taken: pathlib.Path, moment: Callable[[], None]) -> None:
    """Send what is still missing of the answer, as it was recorded and as the platform can tell."""
    known = {part.number: part for part in claim.sends}
    for number in range(PARTS):
        part = known.get(number)
        if part and part.done:
            continue
        # Of each attempt another one: only what was recorded tells under which key an earlier life has sent it.
        key = part.key if part else f"{claim.reference}.{claim.attempts}.{number}"
        if part is None:
            await claims.intend(claim, number, key)
        if key not in {one["key"] for one in taken_parts(taken)}:
            asked = [one.text for one in (claim.incoming, *claim.also)]
            with taken.open("a") as file:
                file.write(json.dumps({"key": key, "number": number, "asked": asked}) + "\n")
            moment()
        await claims.done(claim, number, Sent(channel="C1", id=key))
    await claims.finish(claim, Outcome.ANSWERED)


def taken_parts(taken: pathlib.Path) -> list[dict[str, Any]]:
    """Return the parts that the platform took, in order."""
    return [json.loads(line) for line in taken.read_text().splitlines()] if taken.exists() else []


def main() -> None:
    """Fork a worker for each line."""
    import aiosqlite  # noqa: F401
    import asyncpg  # type: ignore[import-untyped]  # noqa: F401
    import sqlalchemy.ext.asyncio  # noqa: F401

    fork_for_each_line(lambda line: live(Life(**json.loads(line))))


if __name__ == "__main__":
    main()
