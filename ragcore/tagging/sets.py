"""Tag sets of a library, each read once and kept until its knowledge bases change."""

import asyncio
from collections import OrderedDict
from functools import partial

from ragcore.library import Library
from ragcore.stores.tag_rows import TagRows
from ragcore.tagging.tag_set import TagRow, TagSet

MOST_ROWS = 20_000
"""Rows of a tag set that are read: 30 MB of vectors at 384 dimensions, and 10 ms to compare a text with."""
MOST_KEPT = 16
"""Tag sets that are kept."""


class TagSets:
    """Reads tag sets; safe to share between questions and enrichment."""

    def __init__(self, library: Library, *, known_languages: frozenset[str] | None = None) -> None:
        """Read from an open library; ``known_languages`` are those that its embedder reads, None: all."""
        self._library = library
        self._rows = TagRows(library.database)
        self._known = known_languages
        self._kept: OrderedDict[tuple[str, ...], tuple[tuple[int, int], TagSet]] = OrderedDict()
        self._reading = asyncio.Lock()
        self._under_way: dict[tuple[str, ...], asyncio.Task[TagSet]] = {}

    async def of(self, knowledge_bases: tuple[str, ...]) -> TagSet:
        """Return the tag set that these knowledge bases make together; without rows where they have none yet.

        Whoever loses patience leaves the reading to go on: the next question finds it done.

        Raises:
            StoreError: The database failed.
        """
        if not knowledge_bases:
            return TagSet()
        task = self._under_way.get(knowledge_bases)
        if task is None:
            task = self._under_way[knowledge_bases] = asyncio.ensure_future(self._current(knowledge_bases))
            task.add_done_callback(partial(self._done, knowledge_bases))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what is being read; nobody waits for it any more."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, knowledge_bases: tuple[str, ...], task: asyncio.Task[TagSet]) -> None:
        del self._under_way[knowledge_bases]
        if not task.cancelled():
            task.exception()  # whoever waited was told; where nobody did, the next one reads again

    async def _current(self, knowledge_bases: tuple[str, ...]) -> TagSet:
        async with self._reading:
            state = await self._rows.state(knowledge_bases)
            kept = self._kept.get(knowledge_bases)
            if kept is None or kept[0] != state:
                self._kept[knowledge_bases] = kept = state, await self._read(knowledge_bases)
            self._kept.move_to_end(knowledge_bases)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            return kept[1]

    async def _read(self, knowledge_bases: tuple[str, ...]) -> TagSet:
        stored = await self._rows.read(knowledge_bases, MOST_ROWS)
        vectors = await self._library.vector_rows.get(self._library.embedder.name, [one.vector_key for one in stored])
        rows = [
            TagRow(text=one.embedded or one.chunk.text, tags=one.chunk.tags, vector=vectors.get(one.vector_key))
            for one in stored
        ]
        return await asyncio.to_thread(TagSet.of, rows, self._known)
