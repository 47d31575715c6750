"""The derived index of vectors: one Chroma collection for each knowledge base, filled from SQL.

It holds one entry for each distinct text and set of readers (ragcore.stores.entries); a search gives the live chunks
behind the entries it found. A rebuild fills a fresh collection beside the old one and switches in SQL; what is added or
deleted meanwhile goes to both. Writers must not overlap with a page of a rebuild: the caller holds the library's write
lock.
"""

import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import EmbedderMismatch, IndexDamaged, StoreError
from ragcore.models.embeddings import Embedder
from ragcore.stores.chroma import LAYOUT, MOST_VALUES, WITHOUT_READERS, Chroma
from ragcore.stores.database import PAGE
from ragcore.stores.entries import Entries
from ragcore.stores.health import Health, IndexHealth, IndexState
from ragcore.stores.indexes import Hit, Permitted
from ragcore.stores.registry import KnowledgeBase, Registry
from ragcore.stores.rows import parts_of_entry
from ragcore.stores.staging import Staging
from ragcore.stores.vector_jitter import told_apart
from ragcore.stores.vector_rows import Vectors

INDEX = "vectors"
"""What this index is called in the library's health."""
PROBES = 8
"""Entries that a probe looks for; files lost or cut make Chroma miss most of what it had written before."""
MOST_MISSED = 1
"""Of these, how many a search may miss: thousands of texts that differ little can hide others in the graph."""
WIDE = 2_000
"""Neighbours of the search by which a probe makes sure that an entry cannot be found."""
MOST_NEIGHBOURS = 4_000
"""Most entries that a search looks at while those of no live chunk take its places."""
OPEN_AMONG = 3
"""How many times the asked neighbours are looked at for those that are not closed, before Chroma is asked to filter."""
MOST_EQUAL = 10
"""Most chunks of one text among the hits: hundreds would take the places of all others, and say the same."""
MIN_DEAD_SLOTS = 2_000
"""Below this a collection is not rebuilt for its dead slots' sake."""
STRAY_SECONDS = 6 * 3600.0
"""When a collection on a server that no knowledge base names is no rebuild of another process any more."""

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
        entries: Entries,
        *,
        embedder: Embedder,
        health: Health,
    ) -> None:
        """Bundle the stores; ``embedder`` made the vectors that are written and asked.

        Where only its endpoint knows their length, it is asked when the first collection is made.
        """
        self._chroma = chroma
        self._registry = registry
        self._staging = staging
        self._vectors = vectors
        self._entries = entries
        self._embedder = embedder
        self._health = health
        self._bases: dict[str, KnowledgeBase] = {}
        self._building: dict[str, str] = {}

    async def query(
        self, knowledge_base: str, vector: NDArray[np.float32], k: int, only: Permitted | None = None
    ) -> list[Hit]:
        """Return the k nearest live chunks with their cosines, best first; nothing for an unknown knowledge base.

        Of chunks with the same text at most ``MOST_EQUAL`` are among them. What ``only`` doesn't admit is left out.

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
            return await self._nearest(base, vector, k, only)
        except IndexDamaged as error:
            if await self._moved(base):  # another process has built it anew
                return await self.query(knowledge_base, vector, k, only)
            self.report_damage(knowledge_base, str(error))
            raise

    async def _nearest(
        self, base: KnowledgeBase, vector: NDArray[np.float32], k: int, only: Permitted | None
    ) -> list[Hit]:
        """Search as wide as it takes: entries of chunks that are not live (yet, or any more) take places.

        Chroma's filter costs the more the more entries pass it, up to fifty times the search itself. So what is closed
        is left out of the nearest at first, and only where it takes their places the same is asked with the filter; or,
        where the filter would name too many sets for Chroma, among ever more of the nearest.
        """
        wanted = k if only is None else OPEN_AMONG * k
        where: Permitted | None = None
        while True:
            nearest = await self._chroma.query(base.collection, vector, wanted, where)
            found = [hit for hit in nearest if only is None or only.admits(parts_of_entry(hit[0])[1])]
            behind = await self._entries.chunks_of(base.name, [entry for entry, _ in found])
            hits = _hits(found, behind)
            if len(hits) >= k or len(nearest) < wanted:
                return hits[:k]
            if where is None and only is not None and only.values <= MOST_VALUES:
                where, wanted = only, k
            elif wanted >= MOST_NEIGHBOURS:
                return hits[:k]
            else:
                wanted = min(2 * wanted + len(found) - len(behind), MOST_NEIGHBOURS)

    async def prepare(self, knowledge_base: str) -> None:
        """Create the collection of a new knowledge base.

        Raises:
            EmbedderMismatch: it is there, with vectors of another embedder.
            ModelError: the length of the vectors is not known yet, and the endpoint cannot be asked.
        """
        base = await self._registry_base(knowledge_base)
        if base is None:
            dimension = await self._dimension()
            base = self._fresh(knowledge_base, await self._create(knowledge_base, dimension), dimension)
            await self._staging.save_knowledge_base(base)
            self._bases[knowledge_base] = base
        self._refuse_mismatch(base)

    async def add(self, knowledge_base: str, entries: Sequence[str], data: NDArray[np.float32]) -> None:
        """Add entries, their vectors float32 ``(len(entries), dim)``; those that are there stay as they are.

        A dead collection is noted and passed over: SQL has them.
        """
        for name in await self._targets(knowledge_base):
            try:
                await self._add(name, entries, data)
            except IndexDamaged as error:
                self.report_damage(knowledge_base, str(error))

    async def _add(self, collection: str, entries: Sequence[str], data: NDArray[np.float32]) -> None:
        """Add entries with what stands beside them: the reader set of those that have one."""
        told = [parts_of_entry(entry)[1] for entry in entries]
        await self._chroma.add(collection, entries, told_apart(entries, data), told)

    async def delete(self, knowledge_base: str, keys: Sequence[str]) -> None:
        """Delete entries. A dead collection is noted and passed over."""
        for name in await self._targets(knowledge_base):
            try:
                await self._chroma.delete(name, keys)
            except IndexDamaged as error:
                self.report_damage(knowledge_base, str(error))

    async def count(self, knowledge_base: str) -> int:
        """Return how many entries the index of a knowledge base holds."""
        base = await self._registry_base(knowledge_base)
        return 0 if base is None else await self._chroma.count(base.collection)

    async def ids(self, knowledge_base: str) -> set[str]:
        """Return all entries of the index of a knowledge base."""
        base = await self._registry_base(knowledge_base)
        return set() if base is None else await self._chroma.ids(base.collection)

    async def probe(self, knowledge_base: str) -> IndexHealth:
        """Find out whether a collection answers, has the right count and finds what it should; note it.

        Counting is not enough: with its files lost or cut, Chroma counts what it had and finds a part of it. Call it
        when nothing is staged.
        """
        base = await self._registry_base(knowledge_base)
        if base is None:
            return self._health.of(INDEX, knowledge_base)
        if not self._fits(base):
            return self._note(knowledge_base, IndexState.MISMATCHED, _mismatch(base, self._embedder.name))
        try:
            reason = await self._fault(base)
        except IndexDamaged as error:
            reason = str(error)
        return self._note(knowledge_base, IndexState.DAMAGED if reason else IndexState.WELL, reason)

    async def _fault(self, base: KnowledgeBase) -> str:
        *made_for, layout = await self._chroma.label(base.collection)
        same = layout == LAYOUT or (layout == WITHOUT_READERS and await self._entries.are_all_open(base.name))
        if not same or made_for != [base.embedder, base.dimension]:
            return "it was made for another embedder, or by another version of Citebot"
        expected = await self._entries.count(base.name)
        found = await self._chroma.count(base.collection)
        # Between the two are entries of other processes that share the database, still being written or swept.
        if not expected.live <= found <= expected.all:
            return f"it holds {found} entries and should hold {expected.live}"
        sample = await self._sample(base.name)
        known = await self._vectors.get(base.embedder, [parts_of_entry(entry)[0] for entry in sample])
        missed = 0
        for entry in sample:
            vector = known.get(parts_of_entry(entry)[0])
            if vector is None:
                return f"the database has no vector for the text {entry}"
            if not await self._finds(base.collection, vector, min(PROBES, expected.live)):
                missed += 1
                if missed > MOST_MISSED or not await self._holds(base.collection, entry, vector):
                    return "it no longer finds what it holds"
        return ""

    async def _sample(self, knowledge_base: str) -> list[str]:
        """Draw entries; keys are hashes, so any page of them is a random one, and each time it is another."""
        drawn = await self._entries.page(knowledge_base, after=secrets.token_hex(32), limit=PROBES)
        return drawn if len(drawn) == PROBES else await self._entries.page(knowledge_base, limit=PROBES)

    async def _finds(self, collection: str, vector: NDArray[np.float32], least: int) -> bool:
        """Return whether a search for an entry's vector finds it or its like, and as many others as it must.

        The graph of neighbours is no exact search, so what is missed at first is looked for more widely.
        """
        for k in (PROBES, WIDE):
            hits = await self._chroma.query(collection, vector, k)
            if len(hits) < least:
                return False
            if hits[0][1] >= _SAME:
                return True
        return False

    async def _holds(self, collection: str, key: str, vector: NDArray[np.float32]) -> bool:
        """Return whether the collection's files have an entry's own vector, though the search missed it."""
        own = (await self._chroma.vectors(collection, [key])).get(key)
        return own is not None and float(own @ vector) >= _SAME

    async def rebuild(self, knowledge_base: str) -> AsyncGenerator[int, None]:
        """Fill a fresh collection from SQL and switch to it; yields the entries done after each page.

        Every live chunk must have its vector in SQL, of this index's embedder (``reembed`` sees to that).
        The write lock must be held whenever this runs, and may be let go between two steps. An old collection that
        still answers goes on answering until the switch.
        """
        base = await self._registry_base(knowledge_base)
        if base is None:
            return
        known = self._embedder.dimension or (base.dimension if self._fits(base) else 0)
        dimension = known or await self._dimension()
        fresh = await self._create(knowledge_base, dimension)
        self._building[knowledge_base] = fresh
        try:
            done, after = 0, ""
            while page := await self._entries.page(knowledge_base, after=after):
                await self._fill(fresh, page)
                done, after = done + len(page), page[-1]
                yield done
            await self._settle(knowledge_base, fresh)
            switched = self._fresh(knowledge_base, fresh, dimension)
            if base.embedder == self._embedder.name:
                await self._staging.save_knowledge_base(switched)
            else:
                await self._staging.adopt_embedder(switched)
            self._bases[knowledge_base] = switched
        finally:
            self._building.pop(knowledge_base, None)
        await self._chroma.drop(base.collection)
        self._note(knowledge_base, IndexState.WELL)

    async def _fill(self, collection: str, entries: Sequence[str]) -> None:
        keys = [parts_of_entry(entry)[0] for entry in entries]
        known = await self._vectors.get(self._embedder.name, keys)
        lacking = sum(key not in known for key in keys)
        if lacking:
            raise StoreError(f"the database lacks the vectors of {lacking} texts: run `citebot sync --full`")
        await self._add(collection, entries, np.stack([known[key] for key in keys]))

    async def _settle(self, knowledge_base: str, fresh: str) -> None:
        """Bring in line what other processes changed during a rebuild: they know only of the old collection."""
        if self._chroma.is_embedded:
            return
        expected, found = await self._entries.ids(knowledge_base), await self._chroma.ids(fresh)
        missing = sorted(expected - found)
        for start in range(0, len(missing), PAGE):
            await self._fill(fresh, missing[start : start + PAGE])
        await self._chroma.delete(fresh, sorted(found - expected))

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
        strays = await self._chroma.names(older_than=0.0 if self._chroma.is_embedded else STRAY_SECONDS)
        named = {base.collection for base in (await self._registry.knowledge_bases()).values()}
        for name in strays:
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

    async def _create(self, knowledge_base: str, dimension: int) -> str:
        return await self._chroma.create(
            embedder=self._embedder.name, dimension=dimension, knowledge_base=knowledge_base
        )

    def _fresh(self, knowledge_base: str, collection: str, dimension: int) -> KnowledgeBase:
        return KnowledgeBase(
            name=knowledge_base, embedder=self._embedder.name, dimension=dimension, collection=collection
        )

    async def _base(self, name: str) -> KnowledgeBase | None:
        """Return what is known of a knowledge base; since then, another process may have built its index anew."""
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
        base = await self._registry_base(knowledge_base)
        alive = base is not None and self._health.of(INDEX, knowledge_base).state not in _DEAD
        names = [base.collection] if base is not None and alive else []
        return [*names, *filter(None, [self._building.get(knowledge_base)])]

    def _refuse_mismatch(self, base: KnowledgeBase) -> None:
        if not self._fits(base):
            raise EmbedderMismatch(_mismatch(base, self._embedder.name))

    def _fits(self, base: KnowledgeBase) -> bool:
        """Whether a knowledge base holds this embedder's vectors; of those of unknown length the name decides."""
        return base.embedder == self._embedder.name and self._embedder.dimension in (0, base.dimension)

    async def _dimension(self) -> int:
        """Return the length of the vectors; ModelError when nobody knows it and the endpoint cannot be asked."""
        if not self._embedder.dimension:
            await self._embedder.embed(["dimension"])
        return self._embedder.dimension


def _mismatch(base: KnowledgeBase, embedder: str) -> str:
    return (
        f"knowledge base {base.name!r} is indexed with the embedder {base.embedder!r}, and {embedder!r} is configured: "
        "set it back, or run `citebot sync --full` to index anew"
    )


def _hits(found: Sequence[tuple[str, float]], behind: Mapping[str, Sequence[str]]) -> list[Hit]:
    """Return the chunks behind the entries that were found, of one text no more than ``MOST_EQUAL``."""
    hits: list[Hit] = []
    equal: Counter[str] = Counter()
    for entry, score in found:
        text = parts_of_entry(entry)[0]
        chosen = behind.get(entry, ())[: MOST_EQUAL - equal[text]]
        equal[text] += len(chosen)
        hits += [Hit(chunk_id=chunk_id, score=score) for chunk_id in chosen]
    return hits
