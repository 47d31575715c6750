"""Grows the summary tree of a document: its chunks are gathered and summarised, and the summaries again.

    chunks -> gathered (tree) -> one call of the model each, asked once -> summaries -> gathered ...

Each summary is a chunk of its own behind those of the document, with the ordinals of the chunks that it rests on.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from ragcore.chunking import embedding_text
from ragcore.context import default_budget
from ragcore.enrich.asking import FATAL, Asker, Call, together
from ragcore.enrich.summaries import resting_on, summary_of
from ragcore.enrich.tree import MOST_TOKENS, Limits, gathered
from ragcore.enrich.whole import Pages, Part
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.library import Library
from ragcore.library.recovery import embedded_text
from ragcore.prompts import Prompts
from ragcore.stores.rows import Document, StoredChunk, digest
from ragcore.stores.waiting import uninterrupted
from ragcore.terms import language_of
from ragcore.types import Chunk

WORDS = 120
"""Words of a summary: with title and headings about what MiniLM reads of a text, 256 tokens."""
REPLY_TOKENS = 160
"""About what so many words take, for an estimate."""
MOST_LEVELS = 8
"""Levels of summaries: eight of the usual six parts each are a million chunks."""
USUAL_TOGETHER = 6
"""Parts that are summarised together on an average."""
USUAL_PROMPT = 1_200
"""Tokens of a prompt with so many chunks of the usual size, and its rules."""
FEWEST_CHUNKS = 3
"""A document of fewer is found as a whole by any of them."""
MOST_LEAVES = 32
"""Chunks that one summary cites. They are read for each question that finds it."""
_MARGIN = 64
"""Tokens that joining texts may add to what they take alone."""
_STAND_IN = 700
"""Characters that stand for a summary which is not written yet, in an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A chunk or a summary: ``text`` is what a model is shown, ``leaves`` the places of the chunks that it rests on.

    ``stored`` is None for a summary that is not written yet.
    """

    stored: StoredChunk | None
    text: str
    path: tuple[str, ...]
    tokens: int
    leaves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreeStep:
    """Gives a document the summaries of its parts, and of those, until one is left."""

    library: Library
    template: str = "summary"
    part: Part = "summaries"

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return the template."""
        return (self.template, prompts.render(self.template, words=WORDS))

    async def calls(self, document: Document, pages: Pages, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield a call for each summary; above the first level about such a one."""
        chunks = [stored async for page in pages() for stored in page]
        if len(chunks) < FEWEST_CHUNKS:
            return
        try:
            limits = self._limits(document, asker)
        except ContextTooSmall:  # as the pass itself will tell
            return
        nodes = await asyncio.to_thread(_leaves, chunks, asker)
        vectors = await vectors_of(self.library, _stored(nodes))
        for _ in range(MOST_LEVELS):
            groups = await _groups(nodes, vectors, limits)
            if len(groups) == len(nodes):
                break
            at, above = 0, list[_Node]()
            sums: list[NDArray[np.float32]] = []
            for group in groups:
                if len(group) > 1:
                    yield self._call(document, group), REPLY_TOKENS
                above.append(_stand_in(group) if len(group) > 1 else group[0])
                total = vectors[at : at + len(group)].sum(axis=0)
                sums.append(total / (np.linalg.norm(total) or 1.0))
                at += len(group)
            nodes, vectors = above, np.stack(sums)

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return a call about ``USUAL_TOGETHER`` chunks of the usual size, and those above."""
        if not documents or chunks < FEWEST_CHUNKS * documents:
            return []
        each = parts = chunks / documents
        while parts > 1:
            parts = max(1.0, parts / USUAL_TOGETHER)
            each += parts
        return [(USUAL_PROMPT, REPLY_TOKENS)] * max(documents, round(documents * each) - chunks)

    async def apply(self, document: Document, pages: Pages, asker: Asker) -> tuple[StoredChunk, ...]:
        """Return the summaries, in order behind the chunks.

        A part of which the model has never written a summary of use is left out of those above it. All of a level is
        asked before a failure ends it.

        Raises:
            ModelError, ContextTooSmall: One could not be written.
            StoreError: A store failed.
        """
        chunks = [stored async for page in pages() for stored in page]
        if len(chunks) < FEWEST_CHUNKS:
            return ()
        limits = self._limits(document, asker)
        nodes = await asyncio.to_thread(_leaves, chunks, asker)
        summaries: list[StoredChunk] = []
        for _ in range(MOST_LEVELS):
            groups = await _groups(nodes, await vectors_of(self.library, _stored(nodes)), limits)
            if len(groups) == len(nodes):
                break
            written = await together([self._written(document, group, asker) for group in groups])
            nodes = []
            for group, text in zip(groups, written, strict=True):
                if isinstance(text, Exception):
                    raise text
                if len(group) == 1:
                    nodes.append(group[0])
                elif text is not None:
                    ordinal = len(chunks) + len(summaries)
                    nodes.append(await asyncio.to_thread(_summary, text, group, chunks, ordinal, asker))
                    summaries += [node.stored for node in nodes[-1:] if node.stored]
            if len(nodes) < 2:
                break
        return tuple(summaries)

    async def _written(self, document: Document, group: Sequence[_Node], asker: Asker) -> str | Exception | None:
        """Return the summary of a group, None where there is none, or why it failed."""
        if len(group) == 1:
            return None
        call = self._call(document, group)
        try:
            return await asker.ask(call, lambda reply: summary_of(reply, call.text))
        except FATAL:
            raise
        except (ModelError, ContextTooSmall) as error:
            return error

    def _call(self, document: Document, group: Sequence[_Node]) -> Call:
        text = "\n\n".join((document.title, *(node.text for node in group)))
        return Call(template=self.template, inputs={"words": WORDS}, text=text)

    def _limits(self, document: Document, asker: Asker) -> Limits:
        """Return how much is summarised together: what fits into the model's window with the rules and the reply."""
        model = asker.model
        rules = asker.tokens_of(Call(template=self.template, inputs={"words": WORDS}, text=document.title))
        room = default_budget(model.context_window) - model.max_tokens - rules - _MARGIN
        return Limits(tokens=min(MOST_TOKENS, room))


async def _groups(nodes: Sequence[_Node], vectors: NDArray[np.float32], limits: Limits) -> list[Sequence[_Node]]:
    ranges = await asyncio.to_thread(gathered, vectors, [node.tokens for node in nodes], limits)
    return [nodes[one.start : one.stop] for one in ranges]


def _leaves(chunks: Sequence[StoredChunk], asker: Asker) -> list[_Node]:
    nodes: list[_Node] = []
    for place, stored in enumerate(chunks):
        path = stored.chunk.heading_path
        text = embedding_text("", path, stored.chunk.text)
        nodes.append(_Node(stored=stored, text=text, path=path, tokens=asker.tokenizer.count(text), leaves=(place,)))
    return nodes


def _stand_in(group: Sequence[_Node]) -> _Node:
    """Return what stands for the summary of a group before it is written."""
    text = "\n\n".join(node.text for node in group)[:_STAND_IN]
    return _Node(stored=None, text=text, path=(), tokens=REPLY_TOKENS, leaves=())


def _summary(text: str, group: Sequence[_Node], chunks: Sequence[StoredChunk], ordinal: int, asker: Asker) -> _Node:
    """Return the node of a summary; its place in the document is what the headings of its parts have in common."""
    below = [place for node in group for place in node.leaves]
    leaves = tuple(below[at] for at in resting_on(text, [chunks[place].chunk for place in below], MOST_LEAVES))
    path = _shared([node.path for node in group])
    first = chunks[0]
    chunk = Chunk(
        id=f"{first.generation}-{ordinal}",
        document_id=first.chunk.document_id,
        knowledge_base=first.chunk.knowledge_base,
        ordinal=ordinal,
        text=text,
        title=first.chunk.title,
        token_count=asker.tokenizer.count(text),
        url=first.chunk.url,
        media_type=first.chunk.media_type,
        heading_path=path,
        updated_at=first.chunk.updated_at,
        reader_set=first.chunk.reader_set,
        leaves=tuple(chunks[place].chunk.ordinal for place in leaves),
    )
    embedded = embedding_text("" if _is_untitled(first) else chunk.title, path, text)
    stored = StoredChunk(chunk=chunk, vector_key=digest(embedded), language=language_of(text))
    return _Node(stored=stored, text=text, path=path, tokens=chunk.token_count, leaves=leaves)


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all paths begin with."""
    first, last = min(paths), max(paths)
    equal = (one == other for one, other in zip(first, last, strict=False))
    return first[: sum(takewhile(bool, equal))]


def _is_untitled(stored: StoredChunk) -> bool:
    """Tell whether a document's chunks are embedded without its title, which then is its file's name."""
    chunk = stored.chunk
    return digest(embedding_text("", chunk.heading_path, chunk.text, stored.embedded)) == stored.vector_key


def _stored(nodes: Sequence[_Node]) -> list[StoredChunk]:
    return [node.stored for node in nodes if node.stored is not None]


async def vectors_of(library: Library, stored: Sequence[StoredChunk]) -> NDArray[np.float32]:
    """Return the vectors of chunks and summaries, float32 ``(n, dim)``; those that are new are made and kept."""
    embedder = library.embedder
    known = await library.vector_rows.get(embedder.name, [one.vector_key for one in stored])
    missing = {one.vector_key: embedded_text(one) for one in stored if one.vector_key not in known}
    if missing:
        fresh = await embedder.embed(list(missing.values()))
        await uninterrupted(library.vector_rows.put(embedder.name, list(missing), fresh))
        known |= dict(zip(missing, fresh, strict=True))
    return np.stack([known[one.vector_key] for one in stored])
