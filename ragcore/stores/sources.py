"""Where each source stands: its cursor, its last runs, and the deletions it is doubted in."""

import json
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, select, update

from ragcore.stores.database import Database
from ragcore.stores.rows import insert_new, upsert, utc
from ragcore.stores.schema import sources


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What one run of a source leaves for the next.

    ``basis`` names what the cursor was reached with; under another one the cursor counts for nothing.
    ``doubted`` are the documents that a listing missed and that were kept all the same, ``doubted_since`` the time of
    that listing. Times are in UTC.
    """

    name: str
    cursor: str | None = None
    basis: str = ""
    last_run_at: datetime | None = None
    last_success_at: datetime | None = None
    last_error: str = ""
    doubted: frozenset[str] = frozenset()
    doubted_since: datetime | None = None


class SourceStates:
    """The states of all sources that ever ran."""

    def __init__(self, database: Database) -> None:
        """Read and write in an open database."""
        self._database = database

    async def get(self, name: str) -> SourceState:
        """Return a source's state; that of one which never ran is empty."""
        async with self._database.connect() as connection:
            row = (await connection.execute(select(sources).where(sources.c.name == name))).one_or_none()
        return _from_row(row) if row is not None else SourceState(name=name)

    async def all(self) -> dict[str, SourceState]:
        """Return the states of all sources that ever ran, by name."""
        async with self._database.connect() as connection:
            return {row.name: _from_row(row) for row in await connection.execute(select(sources))}

    async def put(self, state: SourceState) -> None:
        """Write a source's state."""
        record: dict[str, Any] = {field.name: getattr(state, field.name) for field in fields(state)}
        record["doubted"] = json.dumps(sorted(state.doubted), ensure_ascii=False)
        async with self._database.begin() as connection:
            await upsert(connection, sources, [record])

    async def begin(self, name: str, *, after: datetime | None, at: datetime) -> bool:
        """Record that a run begins at this time; False when another process began one since ``after``, the last known.

        Of several processes that wake at the same time one alone gets True.
        """
        async with self._database.begin() as connection:
            row = (await connection.execute(select(sources).where(sources.c.name == name))).one_or_none()
            if row is None:
                await insert_new(connection, sources, [{"name": name}])
            same = sources.c.last_run_at.is_(None) if after is None else sources.c.last_run_at == after.astimezone(UTC)
            begun = update(sources).where(sources.c.name == name, same).values(last_run_at=at.astimezone(UTC))
            return (await connection.execute(begun.returning(sources.c.name))).first() is not None

    async def forget(self, name: str) -> None:
        """Drop what is known of a source."""
        async with self._database.begin() as connection:
            await connection.execute(delete(sources).where(sources.c.name == name))


def _from_row(row: Row[Any]) -> SourceState:
    state = SourceState(**row._mapping)
    return replace(
        state,
        doubted=frozenset(json.loads(row.doubted)),
        last_run_at=utc(state.last_run_at),
        last_success_at=utc(state.last_success_at),
        doubted_since=utc(state.doubted_since),
    )
