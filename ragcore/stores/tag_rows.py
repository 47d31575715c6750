"""The rows of tag sets: the live chunks of knowledge bases that carry tags, with their vectors."""

from collections.abc import Sequence

from sqlalchemy import and_, false, func, select

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import StoredChunk, select_chunks, stored_from_row
from ragcore.stores.schema import chunks, documents


class TagRows:
    """Reads tag sets."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def state(self, knowledge_bases: Sequence[str]) -> tuple[int, int]:
        """Return two numbers that stay the same while these knowledge bases do: the last switch, and their chunks."""
        query = select(func.max(documents.c.revision), func.sum(documents.c.chunk_count)).where(
            documents.c.knowledge_base.in_(knowledge_bases)
        )
        async with self._database.connect() as connection:
            row = (await connection.execute(query)).one()
        return int(row[0] or 0), int(row[1] or 0)

    async def read(self, knowledge_bases: Sequence[str], most: int) -> list[StoredChunk]:
        """Return the live chunks with tags, at most so many, by id."""
        live = and_(
            documents.c.knowledge_base.in_(knowledge_bases),
            documents.c.deleted == false(),
            documents.c.generation == chunks.c.generation,
            chunks.c.enrichment.contains('"tags":'),
        )
        query, after = select_chunks().where(live).order_by(chunks.c.id).limit(PAGE), ""
        found: list[StoredChunk] = []
        async with self._database.connect() as connection:
            while len(found) < most:
                rows = (await connection.execute(query.where(chunks.c.id > after))).all()
                found += [stored for row in rows if (stored := stored_from_row(row)).chunk.tags]
                if len(rows) < PAGE:
                    break
                after = rows[-1].id
        return found[:most]
