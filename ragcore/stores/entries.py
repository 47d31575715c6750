"""One entry of the vector index for each distinct text of a knowledge base, and the chunks that stand behind it.

Hundreds of equal vectors (the same footer in every document) would link to each other alone in a graph of neighbours,
and hide the rest from it. So a vector is indexed once, under the hash of its text, and which live chunks have that text
is looked up at query time. An entry comes with its first chunk and goes with its last: a changed document costs the
entries of what changed in it.
"""

from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, exists, false, func, select

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import pages
from ragcore.stores.schema import chunks, documents

READ = 2_000
"""Entries that are read at once where there may be very many."""

_HERE = chunks.c.knowledge_base == bindparam("name")
_LIVE = and_(
    documents.c.id == chunks.c.document_id,
    documents.c.generation == chunks.c.generation,
    documents.c.deleted == false(),
)
_ASKED = chunks.c.vector_key.in_(bindparam("keys", expanding=True))
# Every question runs this: built once, it is compiled once.
_LIVE_CHUNKS = select(chunks.c.vector_key, chunks.c.id).join(documents, _LIVE).where(_HERE, _ASKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCount:
    """How many entries an index should hold: those of live chunks at least, those of all rows at most."""

    live: int
    all: int


class Entries:
    """Reads which entries the index of a knowledge base should hold."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def chunks_of(self, knowledge_base: str, keys: Sequence[str]) -> dict[str, list[str]]:
        """Return the ids of the live chunks behind each entry, sorted; an entry without any is left out."""

        def work(connection: Connection) -> dict[str, list[str]]:
            found: dict[str, list[str]] = {}
            for page in pages(keys, PAGE):
                for row in connection.execute(_LIVE_CHUNKS, {"name": knowledge_base, "keys": page}):
                    found.setdefault(row[0], []).append(row[1])
            return {key: sorted(found[key]) for key in found}

        return await self._database.read(work)

    async def indexed(self, knowledge_base: str, keys: Collection[str]) -> set[str]:
        """Return those of the entries that are there for a live chunk: they need not be added again."""
        found: set[str] = set()
        query = select(chunks.c.vector_key).join(documents, _LIVE).where(_HERE, _ASKED).distinct()
        async with self._database.connect() as connection:
            for page in pages(keys, PAGE):
                found.update((await connection.scalars(query, {"name": knowledge_base, "keys": page})).all())
        return found

    async def orphans(self, knowledge_base: str, generations: Collection[str]) -> AsyncGenerator[list[str], None]:
        """Yield the entries that no chunk but those of these generations stands behind, at most ``READ`` at a time.

        Of thousands of generations, one can come more than once.
        """
        going = set(generations)
        mine = select(chunks.c.vector_key).where(
            _HERE, chunks.c.generation.in_(bindparam("generations", expanding=True))
        )
        async with self._database.connect() as connection:
            for page in pages(going, PAGE):
                values = {"name": knowledge_base, "generations": page}
                async with connection.stream_scalars(
                    mine.distinct(), values, execution_options={"yield_per": READ}
                ) as rows:
                    async for theirs in rows.partitions(READ):
                        kept = await self._used_by_others(knowledge_base, theirs, going)
                        yield [key for key in theirs if key not in kept]

    async def _used_by_others(self, knowledge_base: str, keys: Sequence[str], going: Collection[str]) -> set[str]:
        kept: set[str] = set()
        users = select(chunks.c.vector_key, chunks.c.generation).where(_HERE, _ASKED).distinct()
        async with self._database.connect() as connection:
            for page in pages(keys, PAGE):
                rows = await connection.execute(users, {"name": knowledge_base, "keys": page})
                kept.update(row[0] for row in rows if row[1] not in going)
        return kept

    async def page(self, knowledge_base: str, *, after: str = "", limit: int = PAGE) -> list[str]:
        """Return the next entries of live chunks, in order."""
        query = (
            select(chunks.c.vector_key)
            .join(documents, _LIVE)
            .where(_HERE, chunks.c.vector_key > after)
            .distinct()
            .order_by(chunks.c.vector_key)
            .limit(limit)
        )
        async with self._database.connect() as connection:
            return list((await connection.scalars(query, {"name": knowledge_base})).all())

    async def ids(self, knowledge_base: str, *, live: bool = True) -> set[str]:
        """Return all entries of live chunks, or of all chunks."""
        rows = select(chunks.c.vector_key).where(_HERE).distinct()
        async with self._database.connect() as connection:
            query = rows.join(documents, _LIVE) if live else rows
            return set((await connection.scalars(query, {"name": knowledge_base})).all())

    async def count(self, knowledge_base: str) -> EntryCount:
        """Return how many entries there should be."""
        rows = select(chunks.c.vector_key).where(_HERE).distinct()
        live = exists().where(_LIVE)
        async with self._database.connect() as connection:
            everything = select(func.count()).select_from(rows.subquery())
            every = int(await connection.scalar(everything, {"name": knowledge_base}) or 0)
            settled = select(func.count()).select_from(rows.where(live).subquery())
            return EntryCount(live=int(await connection.scalar(settled, {"name": knowledge_base}) or 0), all=every)
