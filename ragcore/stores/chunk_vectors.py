"""Vectors of chunks, read from SQL: what retrieval needs beside the nearest neighbours.

They are read from SQL and not from the vector index because the truth is at hand there also while an index is being
built anew, and a hundred of them cost 2 ms.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, func, select

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import pages, vector_from_bytes
from ragcore.stores.schema import chunks, documents, vectors

_SAMPLE_FACTOR = 4
"""How many candidates are listed for each one drawn: ids are hashes, so any stretch of them is a random one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledChunk:
    """A chunk drawn at random: its text, its language, and its unit vector, float32 ``(dim,)``."""

    text: str
    language: str
    vector: NDArray[np.float32]


class ChunkVectors:
    """The vectors of one embedder, by chunk."""

    def __init__(self, database: Database, *, embedder: str) -> None:
        """Read from an open database; vectors of other embedders are not seen."""
        self._database = database
        self._mine = and_(vectors.c.key == chunks.c.vector_key, vectors.c.embedder == embedder)

    async def of(self, chunk_ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those of the chunks that have one, by chunk id."""
        found: dict[str, NDArray[np.float32]] = {}
        async with self._database.connect() as connection:
            for page in pages(chunk_ids, PAGE):
                query = select(chunks.c.id, vectors.c.data).join(vectors, self._mine).where(chunks.c.id.in_(page))
                found.update((row[0], vector_from_bytes(row[1])) for row in await connection.execute(query))
        return found

    async def sample(self, knowledge_base: str, count: int) -> list[SampledChunk]:
        """Draw live chunks at random, the same ones while the knowledge base stays the same.

        Generations are hashes, so ids in order are documents at random; of one document not all chunks are taken.
        """
        live = and_(documents.c.id == chunks.c.document_id, documents.c.generation == chunks.c.generation)
        here = and_(chunks.c.knowledge_base == knowledge_base, documents.c.deleted.is_(False))
        listed = select(chunks.c.id).join(documents, live).where(here).order_by(chunks.c.id)
        async with self._database.connect() as connection:
            total = int(await connection.scalar(select(func.count()).select_from(listed.subquery())) or 0)
            ids = list((await connection.scalars(listed.limit(count * _SAMPLE_FACTOR))).all())
            step = max(1, len(ids) // count) if total > count else 1
            drawn = ids[::step][:count]
            found: list[SampledChunk] = []
            for page in pages(drawn, PAGE):
                query = (
                    select(chunks.c.text, chunks.c.language, vectors.c.data)
                    .join(vectors, self._mine)
                    .where(chunks.c.id.in_(page))
                    .order_by(chunks.c.id)
                )
                rows = await connection.execute(query)
                found += [SampledChunk(text=row[0], language=row[1], vector=vector_from_bytes(row[2])) for row in rows]
        return found
