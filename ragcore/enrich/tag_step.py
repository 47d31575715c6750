"""The step that tags chunks: by similar rows of a tag set, without a model; the rest by one, if there is one."""

import asyncio
import dataclasses
import json
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ragcore.chunking import embedding_text
from ragcore.enrich.asking import Asker, Call
from ragcore.enrich.tag_reply import tags_of_reply
from ragcore.prompts import Prompts
from ragcore.stores.rows import StoredChunk
from ragcore.stores.vector_rows import Vectors
from ragcore.tagging.scores import HIGHEST, TagScores
from ragcore.tagging.tag_set import Similar, TagRow, TagSet

EXAMPLES = 2
"""Rows that a model is shown, as RAGFlow does."""
LONGEST_EXAMPLE = 400
"""Characters of a row that a model is shown: it sees what such texts are about."""
MOST_SHOWN = 300
"""Tags that a model chooses from, the most frequent ones: some 1,500 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagStep:
    """Gives each chunk at most ``count`` tags of a tag set, with scores.

    ``vectors`` has the chunks' vectors by ``embedder``.
    """

    template: ClassVar[str] = "tags"
    field: ClassVar[Literal["tag_scores"]] = "tag_scores"
    needs_model: ClassVar[bool] = False
    reply_tokens: ClassVar[int] = 8
    count: int
    tag_set: TagSet
    vectors: Vectors
    embedder: str
    room: asyncio.Semaphore = dataclasses.field(default_factory=lambda: asyncio.Semaphore(1), repr=False, compare=False)
    """One comparison at a time: all chunks of a page at once would hold every thread that answers need."""

    def told(self, prompts: Prompts | None) -> tuple[str, ...]:
        """Return what of it is wanted, for the fingerprint; without the template where no model is asked."""
        rendered = prompts.render(self.template, count=self.count, tags=("tag",), examples=()) if prompts else ""
        return (self.template, str(self.count), self.tag_set.digest, rendered)

    async def call(self, stored: StoredChunk) -> Call | None:
        """Return what a model is asked about a chunk, None where none is needed."""
        similar = await self._similar(stored)
        return None if similar.scores else self._call(stored, similar)

    async def apply(self, stored: StoredChunk, asker: Asker | None) -> StoredChunk:
        """Return the chunk with its tags; with none where nothing is similar and no model says any.

        Raises:
            ModelError, ContextTooSmall: The model says nothing, or nothing of use.
        """
        similar = await self._similar(stored)
        scores = similar.scores
        call = None if scores or asker is None else self._call(stored, similar)
        if call is not None and asker is not None:
            rules = asker.prompts.render(call.template, **call.inputs)
            scores = await asker.ask(call, lambda reply: self._read(reply, rules)) or ()
        return replace(stored, chunk=replace(stored.chunk, tag_scores=scores))

    async def _similar(self, stored: StoredChunk) -> Similar:
        async with self.room:
            found = await self.vectors.get(self.embedder, [stored.vector_key]) if self.tag_set.rows else {}
            return await asyncio.to_thread(
                self.tag_set.similar, _material(stored), found.get(stored.vector_key), self.count
            )

    def _call(self, stored: StoredChunk, similar: Similar) -> Call | None:
        if not self.tag_set.tags:
            return None
        examples = tuple(_example(row) for row in similar.nearest[:EXAMPLES])
        tags = tuple(sorted(self.tag_set.tags[:MOST_SHOWN]))
        return Call(
            template=self.template,
            inputs={"count": self.count, "tags": tags, "examples": examples},
            text=_material(stored),
        )

    def _read(self, reply: str, rules: str) -> TagScores:
        known = {tag.casefold(): tag for tag in self.tag_set.tags}
        return tags_of_reply(reply, known, self.count, rules)


def _material(stored: StoredChunk) -> str:
    """Return what is tagged of a chunk: its place in the document, then its text."""
    chunk = stored.chunk
    return embedding_text(chunk.title, chunk.heading_path, chunk.text)


def _example(row: TagRow) -> str:
    """Return a row as a model is shown it: its text in one line, and its tags as they are to be written."""
    text = " ".join(row.text.split())
    shown = text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]} …"
    return f"{shown}\n{json.dumps(dict.fromkeys(row.tags, HIGHEST), ensure_ascii=False)}"
