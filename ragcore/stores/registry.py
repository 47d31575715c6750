"""What is known of documents and chunks: the one place that says which chunks are live, and who may read them.

A chunk is live when its generation is its document's. Indexes may hold more than that for a while (a generation being
written, one not yet swept); what they return is looked up here and the rest is dropped. A summary of many documents
(ragcore.stores.overviews) goes with the first of the chunks that it rests on that is not live, or closed to the asker.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select, and_, bindparam, case, false, func, select

from ragcore.stores.database import PAGE, Database, scalar
from ragcore.stores.indexes import Permitted
from ragcore.stores.lacking import Readers, holds
from ragcore.stores.overviews import OF_A_SOURCE
from ragcore.stores.reader_sets import ReaderSets
from ragcore.stores.rows import (
    Document,
    StoredChunk,
    chunk_from_row,
    document_from_row,
    is_open,
    pages,
    select_chunks,
    stored_from_row,
)
from ragcore.stores.schema import chunks, documents, knowledge_bases, retired, staged
from ragcore.types import Chunk

SEARCH_ATTEMPTS = 32
"""How often a search is made at most because documents were replaced under it. With a switch under two of three
searches 32 in a row come once in 400,000 questions; eight came once in 25, and an answer could miss a document."""
FIRST_EXTRA, MAX_EXTRA = 64, 1_024
"""Fewest and most places that are added to a search for chunks which are not live."""

T = TypeVar("T")
Admits = Callable[[Row[Any]], bool]
"""Tells of a row of a chunk whether it may be given out."""
_NO_READERS = Readers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much stands in a source or a knowledge base."""

    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBase:
    """Which embedder a knowledge base is indexed with, and in which Chroma collection."""

    name: str
    embedder: str
    dimension: int
    collection: str
    dead_slots: int = 0


_IS_LIVE = and_(documents.c.deleted == false(), documents.c.generation == chunks.c.generation)
_IN_FLUX = and_(staged.c.document_id == chunks.c.document_id, staged.c.generation == chunks.c.generation)

# Every question runs these: built once, they are compiled once and cost nothing to build.
_LIVE_CHUNKS = (
    select_chunks()
    .add_columns(documents.c.readers, documents.c.source)
    .where(chunks.c.id.in_(bindparam("ids", expanding=True)), _IS_LIVE)
)
_LIVE_PLACES: Select[Any] = (
    select(chunks.c.id, chunks.c.knowledge_base, documents.c.readers, documents.c.source)
    .join(documents, documents.c.id == chunks.c.document_id)
    .where(chunks.c.id.in_(bindparam("ids", expanding=True)), _IS_LIVE)
)
_NEWEST = select(func.max(documents.c.revision)).where(documents.c.knowledge_base == bindparam("name"))
_NOT_LIVE = (
    select(func.count())
    .select_from(staged.join(chunks, _IN_FLUX))
    .where(staged.c.knowledge_base.in_(bindparam("names", expanding=True)))
)


class Registry:
    """Reads documents, chunks and counts; what changes them stands in ragcore.stores.staging."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self.database = database
        self._reader_sets = ReaderSets()

    async def revision(self) -> int:
        """Return the number of the last switch, 0 before the first."""
        async with self.database.connect() as connection:
            return await scalar(connection, "revision")

    async def revisions(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of the last switch in each knowledge base, all at one moment; 0: there was none."""
        return await self.database.read(lambda connection: {name: _newest(connection, [name]) for name in names})

    async def live_chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return those of the chunks that are live, by id, in the order asked for."""
        return await self.database.read(lambda connection: _live_of(connection, ids))

    async def settled_search(
        self,
        knowledge_bases: Sequence[str],
        search: Callable[[int, Mapping[str, Permitted]], Awaitable[T]],
        ids_of: Callable[[T], Sequence[str]],
        *,
        readers: frozenset[str] | None = None,
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[T, dict[str, Chunk]]:
        """Search the indexes so that every document is seen in exactly one version, and none by who may not read it.

        A document replaced between the search and the look-up of what is live would be seen in no version: when a
        switch came meanwhile, the search is repeated. Chunks that are not live take places in a search: when what is
        dropped makes up most of what it found, it is repeated with more places, which costs something only then.

        Args:
            knowledge_bases: where the search looks; a chunk of another one is dropped, whatever an index says.
            search: runs the search on the indexes; it is told by how much to raise ``k``, and what of each knowledge
                base is permitted, where something in it is closed to these readers.
            ids_of: names the chunks that a result holds.
            readers: who sees what is found; a document that names its readers must name one of them. None sees all.
            homes: the knowledge base of each source. What still stands in another one, from before, is dropped.

        Returns:
            What the search returned, and the live ones of its chunks by id.
        """
        before, filters = await self._state(knowledge_bases, readers)
        extra = widened = 0
        for _ in range(SEARCH_ATTEMPTS):
            result = await search(extra, filters)
            ids = list(dict.fromkeys(ids_of(result)))
            live, now = await self._settled(ids, knowledge_bases, readers, homes)
            dropped = len(ids) - len(live)
            crowd = await self._not_live(knowledge_bases) if 2 * dropped > len(ids) else 0
            if now == before and crowd <= extra:
                break
            if now != before:
                before, filters = await self._state(knowledge_bases, readers)
            extra = max(extra, min(crowd, FIRST_EXTRA * 4**widened))
            widened += bool(crowd)
        return result, live

    async def _settled(
        self, ids: Sequence[str], names: Sequence[str], readers: frozenset[str] | None, homes: Mapping[str, str]
    ) -> tuple[dict[str, Chunk], int]:
        """Return those of the live chunks that may be read, and the last switch seen along with them."""
        admits = _admitting(names, readers, homes)
        return await self.database.read(
            lambda connection: (_live_of(connection, ids, admits), _newest(connection, names))
        )

    async def readable_chunks(
        self,
        ids: Sequence[str],
        knowledge_bases: Sequence[str],
        *,
        readers: frozenset[str] | None = None,
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Chunk]:
        """Return those of the chunks that are live and that these readers may read, by id, in the order asked for.

        The arguments are those of ``settled_search``, and mean the same.
        """
        admits = _admitting(knowledge_bases, readers, homes)
        return await self.database.read(lambda connection: _live_of(connection, ids, admits))

    async def _state(self, names: Sequence[str], readers: frozenset[str] | None) -> tuple[int, Mapping[str, Permitted]]:
        """Return the last switch in these knowledge bases, and what of each is permitted at that moment."""

        def work(connection: Connection) -> tuple[int, Mapping[str, Permitted]]:
            newest = {name: _newest(connection, [name]) for name in names}
            filters = self._reader_sets.permitted(connection, newest, readers)
            return max(newest.values(), default=0), filters

        return await self.database.read(work)

    async def permitted(self, names: Sequence[str], readers: frozenset[str] | None) -> Mapping[str, Permitted]:
        """Return what of each knowledge base is permitted now, where something in it is closed to these readers."""
        return (await self._state(names, readers))[1]

    async def _not_live(self, names: Sequence[str]) -> int:
        """Return how many chunks of these knowledge bases stand in indexes without being live; at most MAX_EXTRA."""
        asked = {"names": list(names)}
        count = await self.database.read(lambda connection: int(connection.scalar(_NOT_LIVE, asked) or 0))
        return min(count, MAX_EXTRA)

    async def document(self, document_id: str) -> Document | None:
        """Return a document, also a deleted one, or None."""
        return (await self.documents([document_id])).get(document_id)

    async def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """Return those of the documents that are known, deleted ones too, by id."""
        found: dict[str, Document] = {}
        async with self.database.connect() as connection:
            for page in pages(ids, PAGE):
                rows = await connection.execute(select(documents).where(documents.c.id.in_(page)))
                found.update((row.id, document_from_row(row)) for row in rows)
        return found

    async def document_ids(self, source: str) -> list[str]:
        """Return the ids of the live documents of a source, sorted."""
        query = select(documents.c.id).where(documents.c.source == source, documents.c.deleted == false())
        async with self.database.connect() as connection:
            return list((await connection.scalars(query.order_by(documents.c.id))).all())

    async def known_versions(
        self,
        source: str,
        *,
        knowledge_base: str,
        pipeline_of: Callable[[str, str], str],
        readers: Readers = _NO_READERS,
    ) -> dict[str, str]:
        """Return by id the version of each document that need not be fetched again while its version stays.

        Left out are documents without a version, and those that were cut by another parser or chunker, with other
        options, or into another knowledge base: they are due whatever their version says, and so are those that
        lacked what is among the ``readers`` now, or lack something else once it is time to try again. ``pipeline_of``
        tells by id and file name how one would be cut now.
        """
        query = select(documents.c.id, documents.c.version, documents.c.name, documents.c.pipeline).where(
            documents.c.source == source,
            documents.c.knowledge_base == knowledge_base,
            documents.c.deleted == false(),
            documents.c.version != "",
        )
        async with self.database.connect() as connection:
            rows = (await connection.execute(query)).all()

        now = datetime.now(UTC)

        def current() -> dict[str, str]:
            known = (row for row in rows if holds(row.pipeline, pipeline_of(row.id, row.name), readers, now))
            return {row.id: row.version for row in known}

        # 10 microseconds each, where patterns choose the method: a second of a large source, and somebody may ask.
        return await asyncio.to_thread(current)

    async def changed_since(self, revision: int, *, limit: int) -> list[Document]:
        """Return documents switched or deleted after a revision, oldest switch first.

        At most ``limit``, and then so many more that no revision is cut in two.
        """
        query = select(documents).where(documents.c.revision > revision).order_by(documents.c.revision)
        async with self.database.connect() as connection:
            found = [document_from_row(row) for row in await connection.execute(query.limit(limit))]
            if len(found) < limit:
                return found
            last = found[-1].revision
            whole = await connection.execute(select(documents).where(documents.c.revision == last))
            return [d for d in found if d.revision < last] + [document_from_row(row) for row in whole]

    async def retired_since(self, revision: int) -> list[str]:
        """Return the generations that were replaced or deleted after a revision; PostgreSQL alone keeps them."""
        query = select(retired.c.generation).where(retired.c.revision > revision).order_by(retired.c.revision)
        async with self.database.connect() as connection:
            return list((await connection.scalars(query)).all())

    async def chunks_of(self, document_ids: Sequence[str]) -> list[Chunk]:
        """Return the live chunks of documents, by document and in order."""
        found: list[Chunk] = []
        for page in pages(document_ids, PAGE):
            query = select_chunks().where(documents.c.id.in_(page), _IS_LIVE)
            async with self.database.connect() as connection:
                rows = await connection.execute(query.order_by(chunks.c.document_id, chunks.c.ordinal))
                found.extend(chunk_from_row(row) for row in rows)
        return found

    async def live_page(self, knowledge_base: str, *, after: str = "", limit: int = PAGE) -> list[StoredChunk]:
        """Return the next live chunks of a knowledge base by id, for filling an index in pages."""
        query = (
            select_chunks()
            .where(chunks.c.knowledge_base == knowledge_base, chunks.c.id > after, _IS_LIVE)
            .order_by(chunks.c.id)
            .limit(limit)
        )
        async with self.database.connect() as connection:
            return [stored_from_row(row) for row in await connection.execute(query)]

    async def ids(self, *, live: bool = True) -> set[str]:
        """Return the ids of all live chunks, or of all chunks."""
        rows = select(chunks.c.id)
        query = rows.join(documents, documents.c.id == chunks.c.document_id).where(_IS_LIVE) if live else rows
        async with self.database.connect() as connection:
            return set((await connection.scalars(query)).all())

    async def live_count(self, knowledge_base: str) -> int:
        """Return how many live chunks a knowledge base has."""
        counts = await self.counts_by_knowledge_base()
        return counts.get(knowledge_base, Counts()).chunks

    async def counts_by_source(self, readers: frozenset[str] | None = None) -> dict[str, Counts]:
        """Return live documents and chunks of each source, of what is open to these readers; None sees all."""
        if readers is None:
            each_source = select(documents.c.source, func.count(), func.sum(documents.c.chunk_count))
            return await self._counts(each_source.where(OF_A_SOURCE))
        told = (documents.c.source, documents.c.reader_set)
        each = select(*told, func.min(documents.c.readers), func.count(), func.sum(documents.c.chunk_count))
        found: dict[str, Counts] = {}
        async with self.database.connect() as connection:
            live = each.where(documents.c.deleted == false(), OF_A_SOURCE)
            for row in await connection.execute(live.group_by(*told)):
                if is_open(json.loads(row[2]) if row[1] else None, readers):
                    so_far = found.get(row[0], Counts())
                    found[row[0]] = Counts(documents=so_far.documents + row[3], chunks=so_far.chunks + int(row[4] or 0))
        return found

    async def counts_by_knowledge_base(self) -> dict[str, Counts]:
        """Return live documents and chunks of each knowledge base, its overviews among the chunks alone."""
        ours = func.sum(case((OF_A_SOURCE, 1), else_=0))
        return await self._counts(select(documents.c.knowledge_base, ours, func.sum(documents.c.chunk_count)))

    async def _counts(self, query: "Select[str, int, int]") -> dict[str, Counts]:
        group = query.selected_columns[0]
        async with self.database.connect() as connection:
            rows = await connection.execute(query.where(documents.c.deleted == false()).group_by(group).order_by(group))
            return {row[0]: Counts(documents=row[1], chunks=int(row[2] or 0)) for row in rows}

    async def knowledge_bases(self) -> dict[str, KnowledgeBase]:
        """Return every knowledge base that has been indexed, by name."""
        async with self.database.connect() as connection:
            rows = await connection.execute(select(knowledge_bases).order_by(knowledge_bases.c.name))
            return {row.name: KnowledgeBase(**row._mapping) for row in rows}


def _admitting(names: Sequence[str], readers: frozenset[str] | None, homes: Mapping[str, str]) -> Admits:
    """Return what tells of a row whether it stands where it belongs, and whether these readers may read it."""

    def admits(row: Row[Any]) -> bool:
        told = json.loads(row.readers) if row.readers is not None else None
        is_home = homes.get(row.source, row.knowledge_base) == row.knowledge_base
        return is_home and row.knowledge_base in names and is_open(told, readers)

    return admits


def _live_of(connection: Connection, ids: Sequence[str], admits: Admits = lambda _: True) -> dict[str, Chunk]:
    rows = (row for page in pages(ids, PAGE) for row in connection.execute(_LIVE_CHUNKS, {"ids": page}))
    found = {row.id: chunk_from_row(row) for row in rows if admits(row)}
    # What a model wrote of many documents says what each of them does: where one is gone, changed or closed, it goes.
    leaves = {leaf.chunk_id for chunk in found.values() for leaf in chunk.rests_on}
    places = (row for page in pages(sorted(leaves), PAGE) for row in connection.execute(_LIVE_PLACES, {"ids": page}))
    gone = leaves - {row.id for row in places if admits(row)}
    return {
        chunk_id: found[chunk_id]
        for chunk_id in ids
        if chunk_id in found and not any(leaf.chunk_id in gone for leaf in found[chunk_id].rests_on)
    }


def _newest(connection: Connection, names: Sequence[str]) -> int:
    """Return the number of the last switch in these knowledge bases; each is one step into an index."""
    return max((int(connection.scalar(_NEWEST, {"name": name}) or 0) for name in names), default=0)
