"""The knowledge graph as chunks of the same readers tell it: which things are related, and where that is said."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, and_, false, select

from ragcore.graph.communities import Tie
from ragcore.stores.database import PAGE, Database
from ragcore.stores.graph_same import SAME
from ragcore.stores.rows import StoredChunk, pages, select_chunks, stored_from_row
from ragcore.stores.schema import chunks, documents, graph_names, graph_relations


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTie(Tie):
    """A relation, and the chunk that tells it."""

    chunk_id: str
    document_id: str

    @property
    def place(self) -> tuple[str, int]:
        """Return where the chunk stands, whatever its id is."""
        return self.document_id, int(self.chunk_id.rpartition("-")[2])


class Ties:
    """Reads what chunks of the same readers tell of the knowledge graph."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def told(self, knowledge_base: str, reader_set: str) -> list[ToldTie]:
        """Return all relations that live chunks of one set of readers tell."""
        table = graph_relations
        columns = (table.c.chunk_id, table.c.document_id, table.c.source, table.c.target, table.c.weight)
        query = select(*columns).join(
            documents,
            and_(documents.c.generation == table.c.generation, documents.c.id == table.c.document_id),
        )
        query = query.where(
            table.c.knowledge_base == knowledge_base,
            table.c.reader_set == reader_set,
            documents.c.deleted == false(),
        )
        return await self._database.read(
            lambda connection: [ToldTie(**row._mapping) for row in connection.execute(query)]
        )

    async def same(self, knowledge_base: str, reader_set: str) -> list[tuple[str, str]]:
        """Return which names mean the same by what live chunks of one set of readers tell.

        Those that a model says do, and short forms that stand for one thing alone.
        """
        table = graph_names
        query = select(table.c.key, table.c.stands_for).distinct()
        query = query.join(
            documents,
            and_(documents.c.generation == table.c.generation, documents.c.id == table.c.document_id),
        ).where(
            table.c.knowledge_base == knowledge_base,
            table.c.reader_set == reader_set,
            table.c.stands_for > "",
            documents.c.deleted == false(),
        )

        def work(connection: Connection) -> list[tuple[str, str]]:
            said = {(row.key, row.stands_for) for row in connection.execute(query)}
            longs: dict[str, list[str]] = {}
            for short, long in said:
                if not long.startswith(SAME):
                    longs.setdefault(short, []).append(long)
            found = [(short, some[0]) for short, some in longs.items() if len(some) == 1]
            for one, mark in said:
                other = mark.removeprefix(SAME)
                if mark != other and one < other and (other, f"{SAME}{one}") in said:
                    found.append((one, other))
            return sorted(found)

        return await self._database.read(work)

    async def chunks(self, ids: Collection[str]) -> dict[str, StoredChunk]:
        """Return those of the chunks that are live, by id."""
        live = and_(documents.c.deleted == false(), documents.c.generation == chunks.c.generation)

        def work(connection: Connection) -> dict[str, StoredChunk]:
            found = (
                stored_from_row(row)
                for page in pages(sorted(ids), PAGE)
                for row in connection.execute(select_chunks().where(chunks.c.id.in_(page), live))
            )
            return {stored.chunk.id: stored for stored in found}

        return await self._database.read(work)
