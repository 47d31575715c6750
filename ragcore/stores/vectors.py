"""The derived index of vectors: one Chroma collection for each knowledge base, filled from SQL.

A rebuild fills a fresh collection beside the old one and switches in SQL; what is added or deleted meanwhile goes to
both. Writers must not overlap with a page of a rebuild: the caller holds the library's write lock.
"""

from collections.abc import AsyncGenerator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import EmbedderMismatch, IndexDamaged, StoreError
from ragcore.stores.chroma import Chroma
from ragcore.stores.health import Health, IndexHealth, IndexState
from ragcore.stores.hits import Hit
from ragcore.stores.registry import KnowledgeBase, Registry
from ragcore.stores.rows import StoredChunk
from ragcore.stores.staging import Staging
from ragcore.stores.sums import Vectors

INDEX = "vectors"
"""What this index is called in the library's health."""
PROBES = 8
"""Chunks that a probe looks for; files lost or cut make Chroma miss most of what it had written before."""
MIN_DEAD_SLOTS = 2_000
"""Below this a collection is not rebuilt for its dead slots' sake."""

_SAME = 0.99
"""The least cosine of a vector with itself, as an index gives it back."""
_DEAD = {IndexState.DAMAGED, IndexState.REBUILDING}


class ChromaIndex:
    """The collections of all knowledge bases, by the name of the knowledge base."""

    def __init__(
        self,
        chroma: Chroma,
        registry: Registry,
        staging: Staging,
        vectors: Vectors,
        *,
        embedder: str,
        dimension: int,
        health: Health,
    ) -> None:
        """Bundle the stores; ``embedder`` and ``dimension`` are of the vectors that are written and asked."""
        self._chroma = chroma
        self._registry = registry
        self._staging = staging
        self._vectors = vectors
        self._embedder = embedder
        self._dimension = dimension
        self._health = health
        self._bases: dict[str, KnowledgeBase] = {}
        self._building: dict[str, str] = {}

    async def query(
        self, knowledge_base: str, vector: NDArray[np.float32], k: int, document_ids: tuple[str, ...] = ()
    ) -> list[Hit]:
        """Return the k nearest chunks with their cosines, best first; nothing for an unknown knowledge base.

        Raises:
            IndexDamaged: the collection is dead, missing, or being built anew.
            EmbedderMismatch: it holds vectors of another embedder.
        """
        if self._health.of(INDEX, knowledge_base).state in _DEAD:
            raise IndexDamaged(f"the vectors of {knowledge_base!r} are being rebuilt")
        base = await self._base(knowledge_base)
        if base is None or k < 1:
            return []
        self._refuse_mismatch(base)
        try:
            return await self._chroma.query(base.collection, vector, k, document_ids)
        except IndexDamaged as error:
            if await self._moved(base):  # another process has built it anew
                return await self.query(knowledge_base, vector, k, document_ids)
            self.report_damage(knowledge_base, str(error))
            raise

    async def prepare(self, knowledge_base: str) -> None:
        """Create the collection of a new knowledge base.

        Raises:
            EmbedderMismatch: it is there, with vectors of another embedder.
        """
        base = await self._base(knowledge_base)
        if base is None:
            base = self._fresh(knowledge_base, await self._create(knowledge_base))
            await self._staging.save_knowledge_base(base)
            self._bases[knowledge_base] = base
        self._refuse_mismatch(base)

    async def add(
        self, knowledge_base: str, ids: Sequence[str], data: NDArray[np.float32], document_ids: Sequence[str]
    ) -> None:
        """Add vectors, float32 ``(len(ids), dim)``. A dead collection is noted and passed over: SQL has them."""
        for name in await self._targets(knowledge_base):
            try:
                await self._chroma.add(name, ids, data, document_ids)
            except IndexDamaged as error:
                self.report_damage(knowledge_base, str(error))

    async def delete(self, knowledge_base: str, ids: Sequence[str]) -> None:
        """Delete vectors. A dead collection is noted and passed over."""
        for name in await self._targets(knowledge_base):
            try:
                await self._chroma.delete(name, ids)
            except IndexDamaged as error:
                self.report_damage(knowledge_base, str(error))

    async def count(self, knowledge_base: str) -> int:
        """Return how many vectors stand in the index of a knowledge base, live or not."""
        base = await self._base(knowledge_base)
        return 0 if base is None else await self._chroma.count(base.collection)

    async def ids(self, knowledge_base: str) -> set[str]:
        """Return all ids of the index of a knowledge base."""
        base = await self._base(knowledge_base)
        return set() if base is None else await self._chroma.ids(base.collection)

    async def probe(self, knowledge_base: str) -> IndexHealth:
        """Find out whether a collection answers, has the right count and finds what it should; note it.

        Counting is not enough: with its files lost or cut, Chroma counts what it had and finds a part of it. Call it
        when nothing is staged.
        """
        base = await self._base(knowledge_base)
        if base is None:
            return self._health.of(INDEX, knowledge_base)
        if (base.embedder, base.dimension) != (self._embedder, self._dimension):
            return self._note(knowledge_base, IndexState.MISMATCHED, _mismatch(base, self._embedder))
        try:
            reason = await self._fault(base)
        except IndexDamaged as error:
            reason = str(error)
        return self._note(knowledge_base, IndexState.DAMAGED if reason else IndexState.WELL, reason)

    async def _fault(self, base: KnowledgeBase) -> str:
        expected = await self._registry.live_count(base.name)
        found = await self._chroma.count(base.collection)
        if found != expected:
            return f"it holds {found} vectors and should hold {expected}"
        if await self._chroma.label(base.collection) != (base.embedder, base.dimension):
            return "its label names another embedder than the database"
        sample = await self._registry.live_page(base.name, limit=PROBES)  # ids are hashes: any page is a random one
        known = await self._vectors.get(base.embedder, [stored.vector_key for stored in sample])
        for stored in sample:
            vector = known.get(stored.vector_key)
            if vector is None:
                return f"the database has no vector for {stored.chunk.id}"
            hits = await self._chroma.query(base.collection, vector, PROBES)
            short = len(hits) < min(PROBES, expected)
            missed = not hits or hits[0].score < _SAME
            if short or (missed and not await self._holds(base.collection, stored.chunk.id, vector)):
                return "it no longer finds what it holds"
        return ""

    async def _holds(self, collection: str, chunk_id: str, vector: NDArray[np.float32]) -> bool:
        """Return whether the collection's files have a chunk's own vector, though a search missed it.

        Hundreds of equal vectors link to each other alone, and a search that enters among them finds no way out. That
        is the graph's way, which building it anew would not change; lost or cut files lack the vector itself.
        """
        own = (await self._chroma.vectors(collection, [chunk_id])).get(chunk_id)
        return own is not None and float(own @ vector) >= _SAME

    async def rebuild(self, knowledge_base: str) -> AsyncGenerator[int, None]:
        """Fill a fresh collection from SQL and switch to it; yields the chunks done after each page.

        Every live chunk must have its vector in SQL, of this index's embedder (``reembed`` sees to that).
        The write lock must be held whenever this runs, and may be let go between two steps. An old collection that
        still answers goes on answering until the switch.
        """
        base = await self._registry_base(knowledge_base)
        if base is None:
            return
        fresh = await self._create(knowledge_base)
        self._building[knowledge_base] = fresh
        try:
            done, after = 0, ""
            while page := await self._registry.live_page(knowledge_base, after=after):
                await self._fill(fresh, page)
                done, after = done + len(page), page[-1].chunk.id
                yield done
            switched = self._fresh(knowledge_base, fresh)
            if base.embedder == self._embedder:
                await self._staging.save_knowledge_base(switched)
            else:
                await self._staging.adopt_embedder(switched)
            self._bases[knowledge_base] = switched
        finally:
            self._building.pop(knowledge_base, None)
        await self._chroma.drop(base.collection)
        self._note(knowledge_base, IndexState.WELL)

    async def _fill(self, collection: str, page: Sequence[StoredChunk]) -> None:
        known = await self._vectors.get(self._embedder, [stored.vector_key for stored in page])
        lacking = sum(stored.vector_key not in known for stored in page)
        if lacking:
            raise StoreError(f"the database lacks the vectors of {lacking} chunks: run `citebot sync --full`")
        data = np.stack([known[stored.vector_key] for stored in page])
        await self._chroma.add(
            collection, [stored.chunk.id for stored in page], data, [stored.chunk.document_id for stored in page]
        )

    async def worn(self) -> list[str]:
        """Return the knowledge bases whose dead slots outnumber their live chunks."""
        counts = await self._registry.counts_by_knowledge_base()
        bases = await self._registry.knowledge_bases()
        return [
            name
            for name, base in bases.items()
            if base.dead_slots >= MIN_DEAD_SLOTS and base.dead_slots > (counts[name].chunks if name in counts else 0)
        ]

    async def drop_strays(self) -> None:
        """Drop collections of ours that no knowledge base names: what an interrupted rebuild left."""
        named = {base.collection for base in (await self._registry.knowledge_bases()).values()}
        for name in await self._chroma.names():
            if name not in named and name not in self._building.values():
                await self._chroma.drop(name)

    async def close(self) -> None:
        """Release Chroma."""
        await self._chroma.close()

    def report_damage(self, knowledge_base: str, reason: str) -> None:
        """Note that a collection is dead, unless it is being rebuilt already."""
        if self._health.of(INDEX, knowledge_base).state is not IndexState.REBUILDING:
            self._note(knowledge_base, IndexState.DAMAGED, reason)

    def _note(self, knowledge_base: str, state: IndexState, reason: str = "") -> IndexHealth:
        health = IndexHealth(index=INDEX, knowledge_base=knowledge_base, state=state, reason=reason)
        self._health.report(health)
        return health

    async def _create(self, knowledge_base: str) -> str:
        return await self._chroma.create(
            embedder=self._embedder, dimension=self._dimension, knowledge_base=knowledge_base
        )

    def _fresh(self, knowledge_base: str, collection: str) -> KnowledgeBase:
        return KnowledgeBase(
            name=knowledge_base, embedder=self._embedder, dimension=self._dimension, collection=collection
        )

    async def _base(self, name: str) -> KnowledgeBase | None:
        return self._bases.get(name) or await self._registry_base(name)

    async def _registry_base(self, name: str) -> KnowledgeBase | None:
        found = (await self._registry.knowledge_bases()).get(name)
        if found is not None:
            self._bases[name] = found
        return found

    async def _moved(self, base: KnowledgeBase) -> bool:
        current = await self._registry_base(base.name)
        return current is not None and current.collection != base.collection

    async def _targets(self, knowledge_base: str) -> list[str]:
        base = await self._base(knowledge_base)
        alive = base is not None and self._health.of(INDEX, knowledge_base).state not in _DEAD
        names = [base.collection] if base is not None and alive else []
        return [*names, *filter(None, [self._building.get(knowledge_base)])]

    def _refuse_mismatch(self, base: KnowledgeBase) -> None:
        if (base.embedder, base.dimension) != (self._embedder, self._dimension):
            raise EmbedderMismatch(_mismatch(base, self._embedder))


def _mismatch(base: KnowledgeBase, embedder: str) -> str:
    return (
        f"knowledge base {base.name!r} is indexed with the embedder {base.embedder!r}, and {embedder!r} is configured: "
        "set it back, or run `citebot sync --full` to index anew"
    )
