"""Documents that could not be read, and when to try them again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import pages, upsert, utc
from ragcore.stores.schema import failures

FIRST_RETRY = timedelta(hours=1)
LAST_RETRY = timedelta(days=1)
"""The wait doubles from the first to the last; a document that changed is tried at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a document could not be read, and what its owner can do about it.

    ``version`` is the source's, as of the attempt; ``next_try_at`` when to try again if it stays the same. ``readers``
    are those that it has now, where that is told: what is indexed of it and open to others goes with the commit that
    keeps the failure. They are not kept themselves.
    """

    document_id: str
    source: str
    reason: str
    mend: str
    version: str = ""
    attempts: int = 1
    failed_at: datetime | None = None
    next_try_at: datetime | None = None
    readers: frozenset[str] | None = None


class Failures:
    """The failures of the last attempts; a document that is indexed or deleted loses its entry."""

    def __init__(self, database: Database) -> None:
        """Read and write in an open database."""
        self._database = database

    async def among(self, document_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the documents that failed at their last attempt."""
        found: set[str] = set()
        async with self._database.connect() as connection:
            for page in pages(document_ids, PAGE):
                query = select(failures.c.document_id).where(failures.c.document_id.in_(page))
                found.update((await connection.scalars(query)).all())
        return frozenset(found)

    async def of_source(self, source: str) -> dict[str, Failure]:
        """Return the failures of a source by document id."""
        query = select(failures).where(failures.c.source == source).order_by(failures.c.document_id)
        async with self._database.connect() as connection:
            rows = await connection.execute(query)
            found = [Failure(**row._mapping) for row in rows]
        return {f.document_id: _in_utc(f) for f in found}

    async def forget(self, document_ids: Sequence[str]) -> None:
        """Drop the failures of documents, because they were read or are no longer there."""
        async with self._database.begin() as connection:
            await drop_failures(connection, document_ids)


async def put_failures(connection: AsyncConnection, failed: Sequence[Failure]) -> None:
    """Keep failures in a transaction, each document's once; attempts and times are counted here."""
    now = datetime.now(UTC)
    before: dict[str, int] = {}
    for page in pages((failure.document_id for failure in failed), PAGE):
        query = select(failures.c.document_id, failures.c.attempts).where(failures.c.document_id.in_(page))
        before.update((row[0], row[1]) for row in await connection.execute(query))
    records = []
    for failure in failed:
        attempts = before.get(failure.document_id, 0) + 1
        records.append(
            {
                "document_id": failure.document_id,
                "source": failure.source,
                "version": failure.version,
                "reason": failure.reason,
                "mend": failure.mend,
                "attempts": attempts,
                "failed_at": now,
                "next_try_at": now + min(FIRST_RETRY * 2 ** min(attempts - 1, 10), LAST_RETRY),
            }
        )
    await upsert(connection, failures, records)


async def drop_failures(connection: AsyncConnection, document_ids: Sequence[str]) -> None:
    """Drop the failures of documents in a transaction."""
    for page in pages(document_ids, PAGE):
        await connection.execute(delete(failures).where(failures.c.document_id.in_(page)))


def _in_utc(failure: Failure) -> Failure:
    return Failure(
        document_id=failure.document_id,
        source=failure.source,
        reason=failure.reason,
        mend=failure.mend,
        version=failure.version,
        attempts=failure.attempts,
        failed_at=utc(failure.failed_at),
        next_try_at=utc(failure.next_try_at),
    )
