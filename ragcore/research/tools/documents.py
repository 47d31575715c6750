"""Documents that a model asks for: listed by the words of their titles, or read. Only what the asker may read now."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from ragcore.extractive.words import content
from ragcore.stores.registry import Registry
from ragcore.stores.titles import Titles
from ragcore.types import Chunk, Question, ScoredChunk

MOST_LISTED = 10
MOST_CHUNKS = 2_000
"""Of a document, from its beginning."""
MOST_READ = 12
"""Chunks of a document that are given out: those with most of the question's words, in the document's order."""


class Documents(Protocol):
    """Gives out documents."""

    async def listed(self, question: Question, words: str) -> Sequence[ScoredChunk]:
        """Return the beginnings of the documents whose titles hold most of the words; raise StoreError."""
        ...

    async def read(self, question: Question, document_id: str) -> Sequence[ScoredChunk]:
        """Return what a document says, in its order; nothing of one that there is not; raise StoreError."""
        ...


class KnownDocuments:
    """The documents of the registry. A question to certain documents gets nothing but these.

    One to documents that meet a filter gets none: which ones do is for a search to tell.
    """

    def __init__(self, registry: Registry, homes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Read what the registry lets through; ``homes`` are as for the retriever."""
        self._registry = registry
        self._titles = Titles(registry.database)
        self._homes = homes

    async def listed(self, question: Question, words: str) -> Sequence[ScoredChunk]:
        """Return the beginnings of the documents whose titles hold most of the words."""
        if any(question.filters.values()):
            return ()
        written = content(words)
        asked, forms = frozenset(written), {*written, *written.values()}
        found = await self._titles.generations(question.knowledge_bases, sorted(forms))
        if question.document_ids:
            found = [one for one in found if one.document_id in question.document_ids]
        chunks = await self._readable(question, [f"{one.generation}-0" for one in found])
        scored = [ScoredChunk(chunk=one, score=_share(asked, one.title)) for one in chunks]
        return sorted((one for one in scored if one.score), key=lambda one: -one.score)[:MOST_LISTED]

    async def read(self, question: Question, document_id: str) -> Sequence[ScoredChunk]:
        """Return the passages of a document that have most of the question's words, in its order."""
        document = None if any(question.filters.values()) else await self._registry.document(document_id)
        if document is None or document.deleted or (question.document_ids and document_id not in question.document_ids):
            return ()
        count = min(document.chunk_count, MOST_CHUNKS)
        ids = [f"{document.generation}-{ordinal}" for ordinal in range(count)]
        asked = frozenset(content(question.text))
        chunks = [one for one in await self._readable(question, ids) if not one.is_summary]
        scored = [ScoredChunk(chunk=one, score=_share(asked, one.text)) for one in chunks]
        best = {one.chunk.id for one in sorted(scored, key=lambda one: -one.score)[:MOST_READ]}
        return tuple(one for one in scored if one.chunk.id in best)

    async def _readable(self, question: Question, ids: Sequence[str]) -> Sequence[Chunk]:
        found = await self._registry.readable_chunks(
            ids, question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        return tuple(found.values())


def _share(asked: frozenset[str], text: str) -> float:
    """Return how many of the words stand in a text."""
    return len(asked & frozenset(content(text))) / len(asked) if asked else 0.0
