"""What changes the registry: a document's new generation is staged, switched live in one commit, and the old one swept.

The order of a change, and what a crash after each step leaves:

1. ``stage``: rows of the new chunks, and a note in ``staged``. Left behind: rows that nobody sees, named by the note.
2. The caller adds the chunks to the indexes. Left behind: entries that the live filter drops, named by the note.
3. ``switch``: the new generation is live, the old one takes its place in ``staged``, all in one commit; in the same
   one what failed is recorded, what is gone is deleted, and the source's cursor moves past all of it.
4. The caller removes the old chunks from the indexes. Left behind: as after 2.
5. ``forget``: the old rows and the note go.

So whatever is in ``staged`` and not live is garbage to sweep, and sweeping twice does no harm.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from sqlalchemy import Column, Delete, and_, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.stores.database import PAGE, Database, scalar
from ragcore.stores.failures import drop_failures, put_failures
from ragcore.stores.graph_rows import drop_graph, put_graph
from ragcore.stores.registry import KnowledgeBase
from ragcore.stores.rows import (
    Document,
    StoredChunk,
    chunk_record,
    document_from_row,
    document_record,
    insert_new,
    pages,
    upsert,
)
from ragcore.stores.schema import chunks, counters, documents, knowledge_bases, retired, staged, vector_sums
from ragcore.stores.sources import put_cursor
from ragcore.stores.together import Switched, Together
from ragcore.stores.value_rows import drop_values, put_values
from ragcore.stores.vector_rows import VectorSum, add_to_sums, sums_of

_NOTHING = Together()


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A generation that is not live: what a sweep is to remove from one knowledge base."""

    document_id: str
    generation: str
    knowledge_base: str


class Staging:
    """Writes documents and chunks. One at a time per data directory: ``owner`` names it in what is under way."""

    def __init__(self, database: Database, *, owner: str = "") -> None:
        """Write to an open database."""
        self._database = database
        self._owner = owner

    async def adopt_embedder(self, base: KnowledgeBase) -> None:
        """Make a knowledge base one of another embedder: its row, and the sums of the vectors, in one commit."""
        async with self._database.begin() as connection:
            await upsert(connection, knowledge_bases, [dataclasses.asdict(base)])
            await connection.execute(delete(vector_sums).where(vector_sums.c.knowledge_base == base.name))
            live = select(documents.c.generation).where(
                documents.c.knowledge_base == base.name, documents.c.generation != ""
            )
            for page in pages((await connection.scalars(live)).all(), PAGE):
                await add_to_sums(connection, await sums_of(connection, page))

    async def stage(self, stored: Sequence[StoredChunk]) -> None:
        """Write chunks of generations that are not live, in one commit; done twice it changes nothing."""
        notes = {(c.chunk.document_id, c.generation): c.chunk.knowledge_base for c in stored}
        now = datetime.now(UTC)
        async with self._database.begin() as connection:
            await insert_new(
                connection,
                staged,
                [
                    {
                        "document_id": document_id,
                        "generation": generation,
                        "knowledge_base": knowledge_base,
                        "owner": self._owner,
                        "started_at": now,
                    }
                    for (document_id, generation), knowledge_base in notes.items()
                ],
            )
            await insert_new(connection, chunks, [chunk_record(c) for c in stored])
            await put_graph(connection, stored)

    async def switch(
        self,
        fresh: Sequence[Document],
        also: Together = _NOTHING,
        *,
        replacing: Mapping[str, str] = MappingProxyType({}),
    ) -> Switched:
        """Make each document's ``generation`` its live one, in one commit, and note the replaced ones for sweeping.

        What is to hold ``also`` is written by the same commit. Each document once. ``revision`` and ``indexed_at`` of
        the values are ignored. ``replacing`` names, for documents that were made of what is live, that generation:
        where another one is live by now, the document stays as it is, and what was staged of it is garbage.
        """
        async with self._database.begin() as connection:
            revision = 0
            fresh = await _not_overtaken(connection, fresh, replacing)
            if fresh:
                revision = await _next_revision(connection)
                await self._make_live(connection, revision, fresh)
            for document in also.refreshed:
                await _refresh(connection, document)
            read = (document.id for document in (*fresh, *also.refreshed) if document.id not in replacing)
            over = [*read, *also.read]
            await drop_failures(connection, over)
            gone = await self._bury(connection, also.gone, revision)
            await put_failures(connection, also.failed)
            for cursor in also.cursors:
                await put_cursor(connection, cursor.source, cursor.value)
        return Switched(revision=revision, gone=frozenset(gone))

    async def _make_live(self, connection: AsyncConnection, revision: int, fresh: Sequence[Document]) -> None:
        now = datetime.now(UTC)
        old = await _live_generations(connection, [document.id for document in fresh])
        written = [dataclasses.replace(d, revision=revision, deleted=False, indexed_at=now) for d in fresh]
        await upsert(connection, documents, [document_record(d) for d in written])
        await put_values(connection, written)
        gained = [d.generation for d in fresh if d.id not in old or old[d.id].generation != d.generation]
        lost = [old[d.id] for d in fresh if d.id in old and old[d.id].generation != d.generation]
        await self._account(connection, revision, gained=gained, lost=lost)
        await _execute_paged(connection, delete(staged), staged.c.generation, [d.generation for d in fresh])

    async def mark_enriched(self, generations: Mapping[str, str], fingerprint: str) -> None:
        """Note of documents, by id and live generation, that they have this enrichment as they are."""
        async with self._database.begin() as connection:
            for document_id, generation in generations.items():
                same = and_(documents.c.id == document_id, documents.c.generation == generation)
                await connection.execute(update(documents).where(same).values(enriched=fingerprint))

    async def tombstone(self, document_ids: Sequence[str]) -> list[str]:
        """Mark documents as deleted, in one commit, and note their generations for sweeping.

        The row stays, so that others who follow the revisions learn of it.

        Returns:
            The ids of those that were live.
        """
        async with self._database.begin() as connection:
            return await self._bury(connection, document_ids, 0)

    async def _bury(self, connection: AsyncConnection, ids: Sequence[str], revision: int) -> list[str]:
        """Mark documents as deleted, under the revision of this commit if it has one already."""
        old = await _live_generations(connection, ids)
        await drop_failures(connection, ids)
        if not old:
            return []
        revision = revision or await _next_revision(connection)
        values = {
            "revision": revision,
            "deleted": True,
            "generation": "",
            "hash": "",
            "version": "",
            "chunk_count": 0,
            "token_count": 0,
            "indexed_at": datetime.now(UTC),
        }
        for page in pages(old, PAGE):
            await connection.execute(update(documents).where(documents.c.id.in_(page)).values(**values))
        await drop_values(connection, list(old))
        await self._account(connection, revision, gained=[], lost=list(old.values()))
        return list(old)

    async def garbage(self, *, abandoned_before: datetime | None = None) -> list[Staged]:
        """Return the generations to sweep: this owner's, and anyone's that were begun before a given time."""
        mine = staged.c.owner == self._owner
        if abandoned_before is not None:
            mine = mine | (staged.c.started_at < abandoned_before)
        query = (
            select(staged.c.document_id, staged.c.generation, staged.c.knowledge_base)
            .select_from(staged.outerjoin(documents, documents.c.id == staged.c.document_id))
            .where(mine, func.coalesce(documents.c.generation, "") != staged.c.generation)
            .order_by(staged.c.document_id, staged.c.generation)
        )
        async with self._database.connect() as connection:
            rows = await connection.execute(query)
            return [Staged(document_id=row[0], generation=row[1], knowledge_base=row[2]) for row in rows]

    async def forget(self, swept: Sequence[Staged], *, dead: Mapping[str, int] | None = None) -> None:
        """Drop rows and notes of generations that the indexes no longer hold.

        Args:
            swept: the generations.
            dead: how many entries of the vector index went with them, by knowledge base.
        """
        generations = [note.generation for note in swept]
        async with self._database.begin() as connection:
            await _execute_paged(connection, delete(chunks), chunks.c.generation, generations)
            await drop_graph(connection, generations)
            await _execute_paged(connection, delete(staged), staged.c.generation, generations)
            for name, count in (dead or {}).items():
                slots = knowledge_bases.c.dead_slots + count
                await connection.execute(
                    update(knowledge_bases).where(knowledge_bases.c.name == name).values(dead_slots=slots)
                )

    async def prune_retired(self, *, before: datetime) -> None:
        """Forget generations that were replaced before a time; whoever is further behind is filled anew."""
        async with self._database.begin() as connection:
            await connection.execute(delete(retired).where(retired.c.retired_at < before))

    async def save_knowledge_base(self, base: KnowledgeBase) -> None:
        """Write which embedder and collection a knowledge base has."""
        async with self._database.begin() as connection:
            await upsert(connection, knowledge_bases, [dataclasses.asdict(base)])

    async def _account(
        self, connection: AsyncConnection, revision: int, *, gained: Sequence[str], lost: Sequence[Staged]
    ) -> None:
        """Book a change of live generations: what to sweep, and the sums of the vectors."""
        now = datetime.now(UTC)
        notes = [{**dataclasses.asdict(note), "owner": self._owner, "started_at": now} for note in lost]
        await upsert(connection, staged, notes)
        if not self._database.is_sqlite:
            gone = [{"generation": note.generation, "revision": revision, "retired_at": now} for note in lost]
            await upsert(connection, retired, gone)
            await _execute_paged(connection, delete(retired), retired.c.generation, gained)
        change: dict[tuple[str, str], VectorSum] = {}
        for generations, sign in ((list(gained), 1), ([note.generation for note in lost], -1)):
            for key, found in (await sums_of(connection, generations)).items():
                total = found if sign > 0 else -found
                change[key] = change[key] + total if key in change else total
        await add_to_sums(connection, change)


async def _not_overtaken(
    connection: AsyncConnection, fresh: Sequence[Document], replacing: Mapping[str, str]
) -> Sequence[Document]:
    """Return the documents but those that were made of a generation which is live no more.

    What their source has newly said of the others since then (``_refresh``) stays said.
    """
    if not replacing:
        return fresh
    said: dict[str, Document] = {}
    for page in pages(replacing, PAGE):
        rows = await connection.execute(select(documents).where(documents.c.id.in_(page)))
        said.update((row.id, document_from_row(row)) for row in rows)
    kept: list[Document] = []
    for document in fresh:
        now = said.get(document.id)
        if document.id not in replacing:
            kept.append(document)
        elif now is not None and now.generation == replacing[document.id]:
            kept.append(dataclasses.replace(document, version=now.version, updated_at=now.updated_at))
    return kept


async def _refresh(connection: AsyncConnection, document: Document) -> None:
    """Write what is new of a document whose content and place stayed: version, time of change, when it is due again."""
    same = and_(documents.c.id == document.id, documents.c.generation == document.generation)
    updated_at = document_record(document)["updated_at"]
    fresh = {"version": document.version, "updated_at": updated_at, "pipeline": document.pipeline}
    if (await connection.execute(update(documents).where(same).values(**fresh))).rowcount:
        await put_values(connection, [document])


async def _next_revision(connection: AsyncConnection) -> int:
    """Raise the revision; the row stays locked until the commit, so revisions grow in the order of commits."""
    raised = update(counters).where(counters.c.name == "revision").values(value=counters.c.value + 1)
    await connection.execute(raised)
    return await scalar(connection, "revision")


async def _live_generations(connection: AsyncConnection, ids: Sequence[str]) -> dict[str, Staged]:
    found: dict[str, Staged] = {}
    for page in pages(ids, PAGE):
        rows = await connection.execute(
            select(documents.c.id, documents.c.generation, documents.c.knowledge_base).where(
                and_(documents.c.id.in_(page), documents.c.generation != "")
            )
        )
        found.update((row[0], Staged(document_id=row[0], generation=row[1], knowledge_base=row[2])) for row in rows)
    return found


async def _execute_paged(
    connection: AsyncConnection, statement: Delete, column: Column[str], ids: Sequence[str]
) -> None:
    for page in pages(ids, PAGE):
        await connection.execute(statement.where(column.in_(page)))
