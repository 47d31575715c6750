"""Which live documents lack the enrichment that is wanted, and their chunks, a page at a time."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, false, func, select

from ragcore.stores.database import Database
from ragcore.stores.overviews import OF_A_SOURCE
from ragcore.stores.rows import Document, StoredChunk, document_from_row, select_chunks, stored_from_row
from ragcore.stores.schema import chunks, documents

INCOMPLETE = "incomplete"
"""What stands in the place of a fingerprint where some of the enrichment is there: it is due, whatever is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """How much of a knowledge base is to be enriched."""

    documents: int = 0
    chunks: int = 0


class Enrichment:
    """Reads what is to be enriched; what changes it stands in ragcore.stores.staging."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def count(self, knowledge_base: str, fingerprint: str) -> Lacking:
        """Return how much of a knowledge base has another enrichment than this."""
        query = select(func.count(), func.sum(documents.c.chunk_count)).where(_lacks(knowledge_base, fingerprint))
        async with self._database.connect() as connection:
            row = (await connection.execute(query)).one()
        return Lacking(documents=row[0], chunks=int(row[1] or 0))

    async def documents(self, knowledge_base: str, fingerprint: str, *, after: str, limit: int) -> list[Document]:
        """Return the next documents that have another enrichment than this, by id."""
        query = select(documents).where(_lacks(knowledge_base, fingerprint), documents.c.id > after)
        async with self._database.connect() as connection:
            rows = await connection.execute(query.order_by(documents.c.id).limit(limit))
            return [document_from_row(row) for row in rows]

    async def chunks(self, generation: str, *, first: int, limit: int) -> list[StoredChunk]:
        """Return the chunks of a generation from number ``first`` on, in order; none once it is swept."""
        query = select_chunks().where(chunks.c.generation == generation, chunks.c.ordinal >= first)
        async with self._database.connect() as connection:
            rows = await connection.execute(query.order_by(chunks.c.ordinal).limit(limit))
            return [stored_from_row(row) for row in rows]


def _lacks(knowledge_base: str, fingerprint: str) -> ColumnElement[bool]:
    return and_(
        documents.c.knowledge_base == knowledge_base,
        documents.c.deleted == false(),
        documents.c.enriched != fingerprint,
        OF_A_SOURCE,
    )
