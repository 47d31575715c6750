"""One entry of the vector index for each distinct text of a knowledge base, and the chunks that stand behind it.

Where sources told who may read, there is one for each text and set of readers (ragcore.stores.rows.entry_of): so an
entry never changes, and a document whose readers change costs its own entries, and no embedding.

Hundreds of equal vectors (the same footer in every document) would link to each other alone in a graph of neighbours,
and hide the rest from it. So a vector is indexed once, under the hash of its text, and which live chunks have that text
is looked up at query time. An entry comes with its first chunk and goes with its last: a changed document costs the
entries of what changed in it.
"""

from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, exists, false, func, or_, select

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import entry_of, pages, parts_of_entry
from ragcore.stores.schema import chunks, documents

READ = 2_000
"""Entries that are read at once where there may be very many."""

_PAGE = PAGE // 2
"""Entries that are asked for in one statement: each has two parts."""

_HERE = chunks.c.knowledge_base == bindparam("name")
_LIVE = and_(
    documents.c.id == chunks.c.document_id,
    documents.c.generation == chunks.c.generation,
    documents.c.deleted == false(),
)
_ENTRY = (chunks.c.vector_key, chunks.c.reader_set)
# Both parts are asked apart, which is quick and may find more than was meant: the caller compares.
_ASKED = and_(
    chunks.c.vector_key.in_(bindparam("keys", expanding=True)),
    chunks.c.reader_set.in_(bindparam("sets", expanding=True)),
)
# Every question runs this: built once, it is compiled once.
_LIVE_CHUNKS = select(*_ENTRY, chunks.c.id).join(documents, _LIVE).where(_HERE, _ASKED)


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

    async def chunks_of(self, knowledge_base: str, entries: Sequence[str]) -> dict[str, list[str]]:
        """Return the ids of the live chunks behind each entry, sorted; an entry without any is left out."""

        def work(connection: Connection) -> dict[str, list[str]]:
            found: dict[str, list[str]] = {}
            asked = set(entries)
            for page in pages(entries, _PAGE):
                for row in connection.execute(_LIVE_CHUNKS, _values(knowledge_base, page)):
                    found.setdefault(entry_of(row[0], row[1]), []).append(row[2])
            return {entry: sorted(found[entry]) for entry in found if entry in asked}

        return await self._database.read(work)

    async def indexed(self, knowledge_base: str, entries: Collection[str]) -> set[str]:
        """Return those of the entries that are there for a live chunk: they need not be added again."""
        found: set[str] = set()
        query = select(*_ENTRY).join(documents, _LIVE).where(_HERE, _ASKED).distinct()
        async with self._database.connect() as connection:
            for page in pages(entries, _PAGE):
                found.update(entry_of(*row) for row in await connection.execute(query, _values(knowledge_base, page)))
        return found & set(entries)

    async def orphans(self, knowledge_base: str, generations: Collection[str]) -> AsyncGenerator[list[str], None]:
        """Yield the entries that no chunk but those of these generations stands behind, at most ``READ`` at a time.

        Of thousands of generations, one can come more than once.
        """
        going = set(generations)
        mine = select(*_ENTRY).where(_HERE, chunks.c.generation.in_(bindparam("generations", expanding=True)))
        async with self._database.connect() as connection:
            for page in pages(going, PAGE):
                values = {"name": knowledge_base, "generations": page}
                async with connection.stream(mine.distinct(), values, execution_options={"yield_per": READ}) as rows:
                    async for some in rows.partitions(READ):
                        theirs = [entry_of(*row) for row in some]
                        kept = await self._used_by_others(knowledge_base, theirs, going)
                        yield [entry for entry in theirs if entry not in kept]

    async def _used_by_others(self, knowledge_base: str, entries: Sequence[str], going: Collection[str]) -> set[str]:
        kept: set[str] = set()
        users = select(*_ENTRY, chunks.c.generation).where(_HERE, _ASKED).distinct()
        async with self._database.connect() as connection:
            for page in pages(entries, _PAGE):
                rows = await connection.execute(users, _values(knowledge_base, page))
                kept.update(entry_of(row[0], row[1]) for row in rows if row[2] not in going)
        return kept

    async def page(self, knowledge_base: str, *, after: str = "", limit: int = PAGE) -> list[str]:
        """Return the next entries of live chunks, in order."""
        key, reader_set = parts_of_entry(after)
        beyond = or_(chunks.c.vector_key > key, chunks.c.reader_set > reader_set)
        query = (
            select(*_ENTRY)
            .join(documents, _LIVE)
            .where(_HERE, chunks.c.vector_key >= key, beyond)
            .distinct()
            .order_by(*_ENTRY)
            .limit(limit)
        )
        async with self._database.connect() as connection:
            return [entry_of(*row) for row in await connection.execute(query, {"name": knowledge_base})]

    async def ids(self, knowledge_base: str, *, live: bool = True) -> set[str]:
        """Return all entries of live chunks, or of all chunks."""
        rows = select(*_ENTRY).where(_HERE).distinct()
        async with self._database.connect() as connection:
            query = rows.join(documents, _LIVE) if live else rows
            return {entry_of(*row) for row in await connection.execute(query, {"name": knowledge_base})}

    async def are_all_open(self, knowledge_base: str) -> bool:
        """Return whether no chunk, live or not, is of a document whose source told readers."""
        told = select(chunks.c.id).where(_HERE, chunks.c.reader_set != "").limit(1)
        async with self._database.connect() as connection:
            return await connection.scalar(told, {"name": knowledge_base}) is None

    async def count(self, knowledge_base: str) -> EntryCount:
        """Return how many entries there should be."""
        rows = select(*_ENTRY).where(_HERE).distinct()
        live = exists().where(_LIVE)
        async with self._database.connect() as connection:
            everything = select(func.count()).select_from(rows.subquery())
            every = int(await connection.scalar(everything, {"name": knowledge_base}) or 0)
            settled = select(func.count()).select_from(rows.where(live).subquery())
            return EntryCount(live=int(await connection.scalar(settled, {"name": knowledge_base}) or 0), all=every)


def _values(knowledge_base: str, entries: Sequence[str]) -> dict[str, object]:
    """Return what a statement over some entries is given."""
    parts = [parts_of_entry(entry) for entry in entries]
    keys, sets = ({part[place] for part in parts} for place in (0, 1))
    return {"name": knowledge_base, "keys": list(keys), "sets": list(sets)}
