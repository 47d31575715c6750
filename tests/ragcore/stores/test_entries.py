"""What reading the entries of an index costs: a page costs the page, however many entries stand behind it."""

import pathlib
import sqlite3
from contextlib import closing
from typing import Any

from sqlalchemy import event

from ragcore.stores.database import Database
from ragcore.stores.entries import Entries
from ragcore.stores.staging import Staging
from tests.fakes.stored import made


async def test_a_page_of_entries_costs_the_page_alone(tmp_path: pathlib.Path) -> None:
    database = await Database.open(path := tmp_path / "x.sqlite")
    entries, staging = Entries(database), Staging(database)
    told = [frozenset({f"slack:T/@U{n}"}) for n in range(5)]
    for n in range(40):
        document, chunks = made(f"s:{n}", [f"text {n} {m}" for m in range(50)], readers=told[n % 5] if n % 2 else None)
        await staging.stage(chunks)
        await staging.switch([document])
    asked: list[tuple[str, Any]] = []

    def seen(_1: object, _2: object, statement: str, values: Any, _3: object, _4: object) -> None:
        if statement.startswith("SELECT"):
            asked.append((statement, values))

    event.listen(database._engine.sync_engine, "before_cursor_execute", seen)
    found, after, pages = [], "", 0
    while page := await entries.page("kb", after=after, limit=100):
        found += page
        after, pages = page[-1], pages + 1
    assert (pages, len(found), set(found)) == (20, 2_000, await entries.ids("kb"))
    assert found == sorted(found)
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        steps = [_steps(connection, statement, values) for statement, values in asked[:pages]]
    assert max(steps) < 3 * min(steps), "the first page has all others behind it, and the last none"


def _steps(connection: sqlite3.Connection, statement: str, values: Any) -> int:
    """Count the hundreds of steps that SQLite takes for a statement."""
    counted = 0

    def step() -> int:
        nonlocal counted
        counted += 1
        return 0

    connection.set_progress_handler(step, 100)
    connection.execute(statement, values).fetchall()
    connection.set_progress_handler(None, 0)
    return counted
