"""Answers that people gave and that were kept: what a source of its own makes documents of."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, select

from ragcore.stores.database import Database
from ragcore.stores.rows import utc
from ragcore.stores.schema import people_replies as replies


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """One answer: ``question`` is its title, ``said_at`` when it was said as it is now.

    ``version`` changes with its words, and with each time that it is accepted.
    """

    id: str
    question: str
    text: str
    author: str
    said_at: datetime
    version: str


class KeptAnswers:
    """The kept answers of one knowledge base."""

    def __init__(self, database: Database, knowledge_base: str) -> None:
        """Read in an open database."""
        self._database = database
        self._knowledge_base = knowledge_base

    async def all(self) -> tuple[KeptAnswer, ...]:
        """Return all that are kept now, oldest first.

        Raises:
            StoreError: the database failed.
        """
        kept = and_(replies.c.accepted_at.is_not(None), replies.c.removed_at.is_(None), replies.c.deleted_at.is_(None))
        wanted = select(replies).where(replies.c.knowledge_base == self._knowledge_base, kept)

        def read(connection: Connection) -> tuple[KeptAnswer, ...]:
            found = []
            for row in connection.execute(wanted.order_by(replies.c.said_at, replies.c.id)):
                said, accepted = utc(row.edited_at) or utc(row.said_at), utc(row.accepted_at)
                assert said is not None
                assert accepted is not None
                found.append(
                    KeptAnswer(
                        id=row.id,
                        question=row.title,
                        text=row.text,
                        author=row.author,
                        said_at=said,
                        version=f"{said.isoformat()} {accepted.isoformat()}",
                    )
                )
            return tuple(found)

        return await self._database.read(read)
