"""A document that can't be read is tried again later and later, up to a day, and from the beginning once it was read."""

import pathlib
from datetime import timedelta

from ragcore.stores.database import Database
from ragcore.stores.failures import Failure, Failures, put_failures


async def test_the_wait_doubles_from_an_hour_to_a_day(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "citebot.sqlite")
    failures = Failures(database)

    async def fail() -> Failure:
        async with database.begin() as connection:
            await put_failures(connection, [Failure(document_id="s:a", source="s", reason="no", mend="mend it")])
        (kept,) = (await failures.of_source("s")).values()
        return kept

    def wait(kept: Failure) -> timedelta:
        assert kept.next_try_at is not None
        assert kept.failed_at is not None
        return kept.next_try_at - kept.failed_at

    waits = [wait(await fail()) for _ in range(7)]
    assert waits == [timedelta(hours=hours) for hours in (1, 2, 4, 8, 16, 24, 24)]
    for _ in range(40):  # as many that doubling would overflow
        kept = await fail()
    assert (kept.attempts, wait(kept)) == (47, timedelta(days=1))
    await failures.forget(["s:a"])
    kept = await fail()
    assert (kept.attempts, wait(kept)) == (1, timedelta(hours=1))
    await database.close()
