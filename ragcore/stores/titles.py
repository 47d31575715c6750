"""Documents by the words of their titles."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, false, or_, select

from ragcore.stores.database import Database
from ragcore.stores.schema import documents

MOST = 200
"""Documents that are looked at: those whose titles hold most of the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Titled:
    """A document, by its id and its live generation."""

    document_id: str
    generation: str


class Titles:
    """The titles of one database. Who may read a document is for whoever reads its chunks to look up."""

    def __init__(self, database: Database) -> None:
        """Read in an open database."""
        self._database = database

    async def generations(self, knowledge_bases: Sequence[str], words: Sequence[str]) -> list[Titled]:
        """Return live documents of which title or name hold one of the words, those with most of them first.

        Raises:
            StoreError: The database failed.
        """
        if not words or not knowledge_bases:
            return []
        table = documents.c
        title = table.title + " " + table.name
        # SQLite folds the case of ASCII alone, and PostgreSQL none.
        forms = [sorted({word, word.capitalize(), word.upper()}) for word in words]
        holds = [or_(*(title.contains(form, autoescape=True) for form in of)) for of in forms]
        count = sum((case((one, 1), else_=0) for one in holds[1:]), case((holds[0], 1), else_=0))
        query = (
            select(table.id, table.generation)
            .where(table.knowledge_base.in_(knowledge_bases), table.deleted == false(), or_(*holds))
            .order_by(count.desc(), table.id)
            .limit(MOST)
        )

        def work(connection: Connection) -> list[Titled]:
            return [Titled(document_id=row.id, generation=row.generation) for row in connection.execute(query)]

        return await self._database.read(work)
