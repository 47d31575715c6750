"""The steps of researches, kept for a day: they repeat what documents say, and nobody goes on with them later."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, or_, select

from ragcore.stores.database import Database
from ragcore.stores.rows import upsert
from ragcore.stores.schema import research_steps

KEPT_DAYS = 1.0
"""A turn that was broken off is taken up again within minutes, or never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStep:
    """A step as it is kept: its key, the seconds after which it was done, and the step itself, as a line."""

    key: str
    elapsed: float
    line: str


class ResearchSteps:
    """The steps of one database."""

    def __init__(self, database: Database) -> None:
        """Read and write in an open database."""
        self._database = database

    async def steps(self, research: str, question: str) -> Sequence[KeptStep]:
        """Return the steps of a research in the order in which they were done; none of another question.

        Raises:
            StoreError: The database failed.
        """
        table = research_steps.c
        query = select(table.key, table.elapsed, table.step).where(
            table.research == research, table.question == question, table.done_at >= _oldest(None)
        )
        ordered = query.order_by(table.elapsed, table.key)

        def work(connection: Connection) -> list[KeptStep]:
            return [
                KeptStep(key=row.key, elapsed=row.elapsed, line=row.step) for row in connection.execute(ordered).all()
            ]

        return await self._database.read(work)

    async def keep(self, research: str, question: str, step: KeptStep) -> None:
        """Keep a step, in place of one with its key; what stands there of another question goes.

        Raises:
            StoreError: The database failed.
        """
        table = research_steps.c
        record = {
            "research": research,
            "key": step.key,
            "question": question,
            "step": step.line,
            "elapsed": step.elapsed,
            "done_at": datetime.now(UTC),
        }
        others = or_(table.question != question, table.done_at < _oldest(None))
        async with self._database.begin() as connection:
            await connection.execute(delete(research_steps).where(table.research == research, others))
            await upsert(connection, research_steps, [record])

    async def forget(self, research: str) -> None:
        """Drop the steps of a research.

        Raises:
            StoreError: The database failed.
        """
        async with self._database.begin() as connection:
            await connection.execute(delete(research_steps).where(research_steps.c.research == research))

    async def expire(self, *, now: datetime | None = None) -> int:
        """Drop the steps that are older than they are kept, and return how many there were.

        Raises:
            StoreError: The database failed.
        """
        async with self._database.begin() as connection:
            dropped = await connection.execute(delete(research_steps).where(research_steps.c.done_at < _oldest(now)))
            return dropped.rowcount


def _oldest(now: datetime | None) -> datetime:
    return (now or datetime.now(UTC)) - timedelta(days=KEPT_DAYS)
