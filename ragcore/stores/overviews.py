"""Overviews: what models wrote of many documents together, in documents of our own.

There is one for each kind of overview and each set of readers of a knowledge base. Its chunks are summaries that rest
on chunks of other documents (``Chunk.rests_on``), all of which have exactly these readers. It is written, indexed,
switched, swept and told to other processes as every document is, and is no document of a source: the name of its
source begins with a colon, which no other has. So it is left out where documents are listed and counted, enriched or
chosen by a filter.

Whether a summary may be shown is the registry's word: only where it may be read itself, and each chunk that it rests on
is live and may be read by the same readers, at that moment.
"""

import json
from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sqlalchemy import false, select

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import (
    Document,
    StoredChunk,
    digest,
    document_from_row,
    pages,
    reader_set_of,
    select_chunks,
    stored_from_row,
)
from ragcore.stores.schema import chunks, documents

_MARK = ":"
COMMUNITIES = "communities"
"""The kind that tells of communities of the knowledge graph."""

OF_A_SOURCE = documents.c.source.not_like(f"{_MARK}%")
"""Says of a row of ``documents`` that it is no overview."""


def is_overview(source: str) -> bool:
    """Tell of a document's source whether the document is an overview."""
    return source.startswith(_MARK)


def source_of(kind: str) -> str:
    """Return the source of the overviews of a kind."""
    return f"{_MARK}{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readership:
    """All live documents of a knowledge base that have exactly the same readers, as they stood at one moment.

    ``readers`` is None where their sources told none. ``generations`` are their live ones by document id, in order.
    """

    knowledge_base: str
    readers: frozenset[str] | None = None
    generations: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def without(self, document_ids: Collection[str]) -> "Readership":
        """Return it as if some documents were gone."""
        left = {name: live for name, live in self.generations.items() if name not in document_ids}
        return replace(self, generations=MappingProxyType(left))

    def overview_id(self, kind: str) -> str:
        """Return the id of its overview of a kind: no words, which would be searched."""
        return f"{_MARK}{digest('overview', kind, self.knowledge_base, reader_set_of(self.readers))[:32]}"


class Overviews:
    """Reads which overviews a knowledge base has, and of what it could have some."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def standing(self, knowledge_base: str) -> dict[str, Document]:
        """Return the live overviews of a knowledge base by id."""
        query = select(documents).where(
            documents.c.knowledge_base == knowledge_base, documents.c.deleted == false(), ~OF_A_SOURCE
        )
        async with self._database.connect() as connection:
            return {row.id: document_from_row(row) for row in await connection.execute(query)}

    async def readerships(self, knowledge_base: str) -> list[Readership]:
        """Return the documents of a knowledge base by who may read them, those open to all its readers first."""
        columns = (documents.c.id, documents.c.generation, documents.c.reader_set, documents.c.readers)
        query = select(*columns).where(
            documents.c.knowledge_base == knowledge_base, documents.c.deleted == false(), OF_A_SOURCE
        )
        readers: dict[str, str | None] = {}
        generations: dict[str, dict[str, str]] = {}
        async with self._database.connect() as connection:
            for row in await connection.execute(query.order_by(documents.c.id)):
                readers[row.reader_set] = row.readers
                generations.setdefault(row.reader_set, {})[row.id] = row.generation
        return [
            Readership(
                knowledge_base=knowledge_base,
                readers=None if (told := readers[reader_set]) is None else frozenset(json.loads(told)),
                generations=MappingProxyType(generations[reader_set]),
            )
            for reader_set in sorted(readers)
        ]

    async def ends(self, readership: Readership, count: int) -> AsyncGenerator[list[list[StoredChunk]], None]:
        """Yield the last ``count`` chunks of each of its documents that still stands as it did, some documents at once.

        In the order of the documents' ids. A document's summary of all of it, if it has one, is the last.
        """
        of_some = chunks.c.generation == documents.c.generation, documents.c.deleted == false()
        query = select_chunks().where(*of_some, chunks.c.ordinal >= documents.c.chunk_count - count)
        names = {generation: name for name, generation in readership.generations.items()}
        for page in pages(names, PAGE):
            found: dict[str, list[StoredChunk]] = {generation: [] for generation in page}
            async with self._database.connect() as connection:
                rows = await connection.execute(
                    query.where(chunks.c.generation.in_(page)).order_by(chunks.c.generation, chunks.c.ordinal)
                )
                for row in rows:
                    stored = stored_from_row(row)
                    found[stored.generation].append(stored)
            yield [some for some in found.values() if some]
