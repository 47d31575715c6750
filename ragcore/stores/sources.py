"""Where each source stands: its cursor, its last runs, and the deletions it is doubted in."""

import json
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from types import EllipsisType
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.reports import Fault
from ragcore.stores.database import Database
from ragcore.stores.rows import database_clock, insert_new, upsert, utc
from ragcore.stores.schema import sources

_LEFT = 1.0
"""A lease that ended long ago: of a run that was broken off, and that anybody may take up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What one run of a source leaves for the next.

    ``basis`` names what the cursor was reached with; under another one the cursor counts for nothing.
    ``doubted`` are the documents that a listing missed and that were kept all the same, ``doubted_since`` the time of
    that listing. ``faults`` counts the runs that broke off since the last that did not, ``fault`` is the kind of the
    last one's. ``not_before`` is until when the source asked to be left alone, and ``refused`` the fingerprint of the
    credential that it refused: it pauses until that changes. Times are in UTC.
    """

    name: str
    cursor: str | None = None
    basis: str = ""
    last_run_at: datetime | None = None
    last_success_at: datetime | None = None
    last_error: str = ""
    doubted: frozenset[str] = frozenset()
    doubted_since: datetime | None = None
    faults: int = 0
    fault: Fault = Fault.NONE
    not_before: datetime | None = None
    refused: str = ""


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

    async def begin(
        self,
        name: str,
        *,
        after: datetime | EllipsisType | None = ...,
        at: datetime | None,
        lease: float = 0.0,
        owner: str = "",
    ) -> bool:
        """Record that a run begins at this time; False when another process began one since ``after``, the last known.

        Of several processes that wake at the same time one alone gets True, and none while a lease lasts.

        Args:
            name: The source's.
            after: When its last run began, as far as the caller knows; left out: whenever that was.
            at: When this one begins; None: it is none that the timetable counts from.
            lease: Seconds that the run is taken for alive without a sign of life (``renew``); 0: there is nobody else,
                so whatever hasn't ended counts as broken off.
            owner: Who runs it, for ``renew`` and ``end``.
        """
        async with self._database.begin() as connection:
            row = (await connection.execute(select(sources).where(sources.c.name == name))).one_or_none()
            if row is None:
                await insert_new(connection, sources, [{"name": name}])
            same = true() if after is ... else _last_run(after)
            clock = database_clock(connection)
            free = sources.c.lease_until <= clock
            until = clock + lease if lease else _LEFT
            values: dict[str, Any] = {"lease_until": until, "lease_owner": owner}
            if at is not None:
                values["last_run_at"] = at.astimezone(UTC)
            begun = update(sources).where(sources.c.name == name, same, free).values(values)
            return (await connection.execute(begun.returning(sources.c.name))).first() is not None

    async def held(self, name: str) -> tuple[str, float] | None:
        """Return who holds a source's lease, and until when by the database's clock; None when nobody does."""
        async with self._database.connect() as connection:
            lasts = and_(sources.c.name == name, sources.c.lease_until > database_clock(connection))
            row = (await connection.execute(select(sources.c.lease_owner, sources.c.lease_until).where(lasts))).first()
            return None if row is None else (str(row.lease_owner), float(row.lease_until))

    async def renew(self, name: str, lease: float, *, owner: str = "") -> bool:
        """Let a run that goes on be taken for alive for so many more seconds; False when it is another's by now."""
        async with self._database.begin() as connection:
            until = database_clock(connection) + lease
            mine = update(sources).where(sources.c.name == name, sources.c.lease_owner == owner)
            renewed = await connection.execute(mine.values(lease_until=until).returning(sources.c.name))
            return renewed.first() is not None

    async def end(self, name: str, *, broken: bool = False, owner: str = "") -> None:
        """End the lease of a run; one that was ``broken`` off is to be taken up by whoever asks next."""
        async with self._database.begin() as connection:
            until = _LEFT if broken else 0.0
            mine = update(sources).where(sources.c.name == name, sources.c.lease_owner == owner)
            await connection.execute(mine.values(lease_until=until))

    async def broken_off(self) -> frozenset[str]:
        """Return the sources whose run was broken off: its lease ran out, and nobody ended it."""
        async with self._database.connect() as connection:
            ran_out = and_(sources.c.lease_until > 0.0, sources.c.lease_until <= database_clock(connection))
            return frozenset((await connection.execute(select(sources.c.name).where(ran_out))).scalars())

    async def forget(self, name: str) -> None:
        """Drop what is known of a source."""
        async with self._database.begin() as connection:
            await connection.execute(delete(sources).where(sources.c.name == name))


async def put_cursor(connection: AsyncConnection, name: str, cursor: str | None) -> None:
    """Write in a transaction how far a source has been read; all else about it stays."""
    await insert_new(connection, sources, [{"name": name}])
    await connection.execute(update(sources).where(sources.c.name == name).values(cursor=cursor))


def _last_run(at: datetime | None) -> ColumnElement[bool]:
    return sources.c.last_run_at.is_(None) if at is None else sources.c.last_run_at == at.astimezone(UTC)


def _from_row(row: Row[Any]) -> SourceState:
    state = SourceState(**{field.name: row._mapping[field.name] for field in fields(SourceState)})
    return replace(
        state,
        doubted=frozenset(json.loads(row.doubted)),
        last_run_at=utc(state.last_run_at),
        last_success_at=utc(state.last_success_at),
        doubted_since=utc(state.doubted_since),
        not_before=utc(state.not_before),
        fault=Fault(state.fault),
    )
