"""Vectors in SQL, and their sums by knowledge base and language.

Sums are kept in whole units of 2**-40, so that they are exact: removing a chunk undoes its adding to the last bit, in
whatever order documents came and went. A component of a unit vector is at most 1, so 2**22 chunks fit in 64 bits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import insert_new, pages, upsert, vector_bytes, vector_from_bytes
from ragcore.stores.schema import chunks, knowledge_bases, vector_sums, vectors

UNIT = 2.0**40
"""How many units of a sum make 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSum:
    """The sum of ``count`` unit vectors; ``units`` is int64 ``(dim,)`` in units of 2**-40."""

    count: int
    units: NDArray[np.int64]

    @classmethod
    def of(cls, data: NDArray[np.float32]) -> "VectorSum":
        """Sum the rows of float32 ``(n, dim)``."""
        return cls(count=len(data), units=np.rint(data.astype(np.float64) * UNIT).astype(np.int64).sum(axis=0))

    def __add__(self, other: "VectorSum") -> "VectorSum":
        """Add two sums."""
        return VectorSum(count=self.count + other.count, units=self.units + other.units)

    def __neg__(self) -> "VectorSum":
        """Return what takes this sum away again."""
        return VectorSum(count=-self.count, units=-self.units)

    @property
    def mean_cosine(self) -> float:
        """Return the mean cosine of all pairs of different vectors, 0 for fewer than two.

        The squared length of a sum of n unit vectors is n plus the cosines of all ordered pairs.
        """
        if self.count < 2:
            return 0.0
        length = float(np.square(self.units / UNIT).sum())
        return (length - self.count) / (self.count * (self.count - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedVectors:
    """How many vectors no chunk uses, and how many bytes their rows take at least: a page of a file is never full."""

    count: int
    bytes: int


class Vectors:
    """The vectors of texts, by the hash of the text and the name of the embedder."""

    def __init__(self, database: Database) -> None:
        """Read and write in an open database."""
        self._database = database

    async def get(self, embedder: str, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors that are there, float32 ``(dim,)``, by key."""
        found: dict[str, NDArray[np.float32]] = {}
        async with self._database.connect() as connection:
            for page in pages(keys, PAGE):
                rows = await connection.execute(
                    select(vectors.c.key, vectors.c.data).where(vectors.c.embedder == embedder, vectors.c.key.in_(page))
                )
                found.update((row[0], vector_from_bytes(row[1])) for row in rows)
        return found

    async def known(self, embedder: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys whose vector is there."""
        found: set[str] = set()
        async with self._database.connect() as connection:
            for page in pages(keys, PAGE):
                query = select(vectors.c.key).where(vectors.c.embedder == embedder, vectors.c.key.in_(page))
                found.update((await connection.scalars(query)).all())
        return found

    async def put(self, embedder: str, keys: Sequence[str], data: NDArray[np.float32]) -> None:
        """Keep vectors, float32 ``(len(keys), dim)``; those that are there stay as they are."""
        records = [
            {"key": key, "embedder": embedder, "data": vector_bytes(vector)}
            for key, vector in zip(keys, data, strict=True)
        ]
        async with self._database.begin() as connection:
            await insert_new(connection, vectors, records)

    async def unused(self) -> UnusedVectors:
        """Count the vectors behind which no chunk stands, those of other embedders among them; reads the whole table.

        They are kept so that a text that comes back, or an embedder that is set back, costs nothing.
        """
        used = (
            select(chunks.c.vector_key)
            .join(knowledge_bases, knowledge_bases.c.name == chunks.c.knowledge_base)
            .where(chunks.c.vector_key == vectors.c.key, knowledge_bases.c.embedder == vectors.c.embedder)
        )
        # A row's key and embedder stand in the table and in its index.
        size = func.length(vectors.c.data) + 2 * (func.length(vectors.c.key) + func.length(vectors.c.embedder))
        query = select(func.count(), func.sum(size)).select_from(vectors).where(~used.exists())
        async with self._database.connect() as connection:
            count, size_of_all = (await connection.execute(query)).one()
        return UnusedVectors(count=count, bytes=int(size_of_all or 0))

    async def sums(self, knowledge_base: str) -> dict[str, VectorSum]:
        """Return the sum of the live chunks' vectors of a knowledge base, by language."""
        query = select(vector_sums).where(vector_sums.c.knowledge_base == knowledge_base)
        async with self._database.connect() as connection:
            rows = (await connection.execute(query)).mappings()
            return {row["language"]: _sum_from_bytes(row["count"], row["data"]) for row in rows}


async def sums_of(connection: AsyncConnection, generations: Iterable[str]) -> dict[tuple[str, str], VectorSum]:
    """Sum the vectors of all chunks of these generations, by knowledge base and language."""
    found: dict[tuple[str, str], VectorSum] = {}
    for page in pages(generations, PAGE):
        query = (
            select(chunks.c.knowledge_base, chunks.c.language, vectors.c.data)
            .join(knowledge_bases, knowledge_bases.c.name == chunks.c.knowledge_base)
            .join(vectors, and_(vectors.c.key == chunks.c.vector_key, vectors.c.embedder == knowledge_bases.c.embedder))
            .where(chunks.c.generation.in_(page))
        )
        async with connection.stream(query, execution_options={"yield_per": PAGE}) as rows:
            async for some in rows.partitions(PAGE):
                parts: dict[tuple[str, str], list[NDArray[np.float32]]] = {}
                for row in some:
                    parts.setdefault((row[0], row[1]), []).append(vector_from_bytes(row[2]))
                for key, data in parts.items():
                    total = VectorSum.of(np.stack(data))
                    found[key] = found[key] + total if key in found else total
    return found


async def add_to_sums(connection: AsyncConnection, change: Mapping[tuple[str, str], VectorSum]) -> None:
    """Add to the kept sums, within the caller's transaction."""
    for (name, language), added in change.items():
        here = and_(vector_sums.c.knowledge_base == name, vector_sums.c.language == language)
        row = (await connection.execute(select(vector_sums.c.count, vector_sums.c.data).where(here))).one_or_none()
        total = added if row is None else added + _sum_from_bytes(row[0], row[1])
        if not total.count:
            await connection.execute(delete(vector_sums).where(here))
            continue
        data = total.units.astype("<i8").tobytes()
        record = {"knowledge_base": name, "language": language, "count": total.count, "data": data}
        await upsert(connection, vector_sums, [record])


def _sum_from_bytes(count: int, data: bytes) -> VectorSum:
    return VectorSum(count=count, units=np.frombuffer(data, dtype="<i8").astype(np.int64))
