"""Vectors of chunks, read from SQL: what retrieval needs beside the nearest neighbours.

They are read from SQL and not from the vector index because the truth is at hand there also while an index is being
built anew, and a hundred of them cost 2 ms.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, bindparam, false, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.errors import StoreError
from ragcore.stores.database import PAGE, Database
from ragcore.stores.indexes import Hit, Matching, Permitted
from ragcore.stores.rows import pages, vector_from_bytes
from ragcore.stores.schema import chunks, documents, vectors

_SAMPLE_FACTOR = 4
"""How many candidates are listed for each one drawn: ids are hashes, so any stretch of them is a random one."""
MOST_LISTED = 20_000
"""Chunks that are looked at for a sample of those that an audience may read: about 0.1 s."""
BLOCK = 4_000
"""Chunks whose vectors are read and compared at once, or those of one document: 6 MB at 384 dimensions."""
MOST_COUNTED = 4_000
"""Documents meeting a filter whose chunks are counted: 40 ms, as long as the vector index takes."""

_LIVE = and_(documents.c.id == chunks.c.document_id, documents.c.generation == chunks.c.generation)
_NAMED = and_(
    documents.c.id.in_(bindparam("documents", expanding=True)),
    documents.c.knowledge_base == bindparam("name"),
    documents.c.deleted == false(),
)
_CHUNK_COUNTS = select(documents.c.id, documents.c.chunk_count, documents.c.reader_set).where(_NAMED)

_COUNTS_BY_GENERATION = (
    select(chunks.c.generation, func.count())
    .where(chunks.c.generation.in_(bindparam("generations", expanding=True)))
    .group_by(chunks.c.generation)
)
_LANGUAGES = select(chunks.c.id, chunks.c.language).where(chunks.c.id.in_(bindparam("ids", expanding=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledChunk:
    """A chunk drawn at random: its document, text and language, and its unit vector, float32 ``(dim,)``."""

    document_id: str
    text: str
    language: str
    vector: NDArray[np.float32]


class ChunkVectors:
    """The vectors of one embedder, by chunk."""

    def __init__(self, database: Database, *, embedder: str) -> None:
        """Read from an open database; vectors of other embedders are not seen."""
        self._database = database
        self._mine = and_(vectors.c.key == chunks.c.vector_key, vectors.c.embedder == embedder)
        # Most questions run these: built once, they are compiled once and cost nothing to build.
        found = select(chunks.c.id, vectors.c.data).join(vectors, self._mine)
        self._by_chunk = found.where(chunks.c.id.in_(bindparam("ids", expanding=True)))
        self._by_generation = found.where(chunks.c.generation.in_(bindparam("generations", expanding=True)))
        self._by_document = found.join(documents, _LIVE).where(_NAMED)

    async def of(self, chunk_ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those of the chunks that have one, by chunk id."""
        if not chunk_ids:
            return {}

        def work(connection: Connection) -> dict[str, NDArray[np.float32]]:
            rows = (row for page in pages(chunk_ids, PAGE) for row in connection.execute(self._by_chunk, {"ids": page}))
            return {row[0]: vector_from_bytes(row[1]) for row in rows}

        return await self._database.read(work)

    async def languages(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return in which language each of the chunks is written, by chunk id; chunks that are gone are left out."""

        def work(connection: Connection) -> dict[str, str]:
            rows = (row for page in pages(chunk_ids, PAGE) for row in connection.execute(_LANGUAGES, {"ids": page}))
            return {row[0]: row[1] for row in rows}

        return await self._database.read(work)

    async def nearest(
        self,
        knowledge_base: str,
        vector: NDArray[np.float32],
        k: int,
        document_ids: Sequence[str],
        only: Permitted | None = None,
    ) -> list[Hit]:
        """Return the k nearest live chunks of some documents with their exact cosines, best first.

        Documents that ``only`` doesn't admit are passed over.

        They are all compared, which costs what was named: 20,000 chunks take 0.15 s. The vector index would take 0.1 s
        to keep to three documents of 100,000 chunks.

        Raises:
            StoreError: the database lacks vectors of theirs, or fails.
        """
        name = {"name": knowledge_base}

        def work(connection: Connection) -> list[Hit]:
            counts = {
                row[0]: row[1]
                for page in pages(document_ids, PAGE)
                for row in connection.execute(_CHUNK_COUNTS, {**name, "documents": page})
                if only is None or only.admits(row[2])
            }
            best: list[Hit] = []
            for group in _groups(counts):
                found = connection.execute(self._by_document, {**name, "documents": group})
                best = _best([*best, *_compared(_all(found, group, counts), vector)], k)
            return best

        return await self._database.read(work)

    async def nearest_of(
        self, vector: NDArray[np.float32], k: int, matching: Matching, most: int | None = None
    ) -> list[Hit] | None:
        """Return the k nearest chunks of what meets a filter with their exact cosines, best first.

        None when these are more than ``most`` chunks, or so many documents that counting alone would take long: then
        they are not compared.

        Raises:
            StoreError: the database lacks vectors of theirs, or fails.
        """

        def work(connection: Connection) -> list[Hit] | None:
            counts: dict[str, int] = {}
            total = len(matching.chunk_ids)
            if most is not None and len(matching.generations) > MOST_COUNTED:
                return None
            for page in pages(sorted(matching.generations), PAGE):
                rows = [(row[0], row[1]) for row in connection.execute(_COUNTS_BY_GENERATION, {"generations": page})]
                counts.update(rows)
                total += sum(count for _, count in rows)
                if most is not None and total > most:
                    return None
            if most is not None and total > most:
                return None
            best: list[Hit] = []
            for ids in pages(sorted(matching.chunk_ids), PAGE):
                rows_of = [(row[0], row[1]) for row in connection.execute(self._by_chunk, {"ids": ids})]
                best = _best([*best, *(_compared(rows_of, vector) if rows_of else ())], k)
            for group in _groups(counts):
                vectors_of = connection.execute(self._by_generation, {"generations": group})
                best = _best([*best, *_compared(_all(vectors_of, group, counts), vector)], k)
            return best

        return await self._database.read(work)

    async def sample(self, knowledge_base: str, count: int, only: Permitted | None = None) -> list[SampledChunk]:
        """Draw live chunks at random, the same ones while the knowledge base stays the same.

        Of what ``only`` admits, which is looked for among the first ``MOST_LISTED`` chunks.

        Generations are hashes, so ids in order are documents at random; of one document not all chunks are taken.
        """
        async with self._database.connect() as connection:
            ids = await _listed(connection, knowledge_base, count * _SAMPLE_FACTOR, only)
            drawn = ids[:: max(1, len(ids) // count)][:count]
            found: list[SampledChunk] = []
            for page in pages(drawn, PAGE):
                query = (
                    select(chunks.c.document_id, chunks.c.text, chunks.c.language, vectors.c.data)
                    .join(vectors, self._mine)
                    .where(chunks.c.id.in_(page))
                    .order_by(chunks.c.id)
                )
                rows = await connection.execute(query)
                found += [
                    SampledChunk(document_id=row[0], text=row[1], language=row[2], vector=vector_from_bytes(row[3]))
                    for row in rows
                ]
        return found


async def _listed(connection: AsyncConnection, knowledge_base: str, wanted: int, only: Permitted | None) -> list[str]:
    """Return the first live chunks that may be read, by id."""
    query = (
        select(chunks.c.id, documents.c.reader_set)
        .join(documents, _LIVE)
        .where(chunks.c.knowledge_base == knowledge_base, documents.c.deleted == false())
        .order_by(chunks.c.id)
        .limit(wanted)
    )
    found: list[str] = []
    after, looked_at = "", 0
    while looked_at < MOST_LISTED and len(found) < wanted:
        rows = (await connection.execute(query.where(chunks.c.id > after))).all()
        found += [row[0] for row in rows if only is None or only.admits(row[1])]
        if len(rows) < wanted:
            break
        after, looked_at = rows[-1][0], looked_at + len(rows)
    return found[:wanted]


def _all(found: Iterable[Any], group: Sequence[str], counts: Mapping[str, int]) -> list[tuple[str, bytes]]:
    """Return the chunks of a group with their vectors; StoreError where one has none."""
    rows = [(row[0], row[1]) for row in found]
    if len(rows) != sum(counts[name] for name in group):
        raise StoreError("vectors of some chunks are missing: run `citebot sync --full`")
    return rows


def _groups(counts: Mapping[str, int]) -> Iterator[list[str]]:
    """Gather documents, or their generations, until they hold about a block of chunks, at most a page of them."""
    group: list[str] = []
    held = 0
    for document_id, count in counts.items():
        if group and (held + count > BLOCK or len(group) == PAGE):
            yield group
            group, held = [], 0
        if count:
            group.append(document_id)
            held += count
    if group:
        yield group


def _compared(rows: Sequence[tuple[str, bytes]], vector: NDArray[np.float32]) -> list[Hit]:
    data = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), -1)
    return [Hit(chunk_id=row[0], score=float(cosine)) for row, cosine in zip(rows, data @ vector, strict=True)]


def _best(hits: list[Hit], k: int) -> list[Hit]:
    return heapq.nsmallest(k, hits, key=lambda hit: (-hit.score, hit.chunk_id))
