"""The step that grows a summary tree over all documents of the same readers: RAPTOR of a whole knowledge base.

    the last summary of each document, or all of a short one -> gathered (gathering) -> one call of the model each ...

It stands on the trees of the documents (``growing``), so a document costs it one part. Each summary rests on chunks of
the documents below it; what gathers them is decided by the documents alone, so all levels are known before a word is
written.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ragcore.context import default_budget
from ragcore.enrich.across import MOST_LEAVES, Overview, Spanning
from ragcore.enrich.asking import FATAL, Asker, Call, together
from ragcore.enrich.gathering import Group, levels, rank_of
from ragcore.enrich.growing import FEWEST_CHUNKS, REPLY_TOKENS, USUAL_PROMPT, WORDS, vectors_of
from ragcore.enrich.summaries import resting_on, summary_of
from ragcore.enrich.tree import MOST_TOKENS, Limits
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.library import Library
from ragcore.prompts import Prompts
from ragcore.stores.overviews import Overviews, Readership
from ragcore.stores.rows import StoredChunk
from ragcore.types import Chunk, Leaf

USUAL_TOGETHER = 5
"""Parts that are summarised together on an average."""
ON_THE_WAY = 5
"""About so many calls more, where one document changes: in its group, and in those above it."""
_SEPARATOR = "\n\n------\n\n"
_MARGIN = 64
"""Tokens that joining texts may add to what they take alone."""
_STAND_IN = 700
"""Characters that stand for a summary which is not written yet, in an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A document, or a summary of some: ``text`` is what a model is shown, ``leaves`` the chunks that it rests on."""

    text: str
    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forest:
    """The documents of a readership, and how they are gathered, level by level."""

    nodes: Sequence[_Node]
    levels: Sequence[Sequence[Group]]


@dataclass(frozen=True, slots=True)
class OverviewStep:
    """Gives all documents of the same readers the summaries of some of them, and of those, until one is left."""

    library: Library
    kind: ClassVar[str] = "raptor"
    template: ClassVar[str] = "overview"
    fewest: ClassVar[int] = 2
    _inputs: Mapping[str, object] = field(default_factory=lambda: {"words": WORDS})

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return the template."""
        return (self.template, prompts.render(self.template, **self._inputs))

    async def calls(self, readership: Readership, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield a call for each summary; above one that is not written yet about such a one."""
        try:
            forest = await self._forest(readership, asker, also_unwritten=True)
        except ContextTooSmall:  # as the pass itself will tell
            return
        nodes = forest.nodes
        for groups in forest.levels:
            above: list[_Node] = []
            for group in groups:
                parts = [nodes[at] for at in group]
                if len(parts) == 1:
                    above.append(parts[0])
                    continue
                call = self._call(parts)
                yield call, REPLY_TOKENS
                above.append(_Node(text=await self._recalled(call, asker) or call.text[:_STAND_IN]))
            nodes = above

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return a call about ``USUAL_TOGETHER`` documents, those above, and those on the way of the last of them."""
        if not documents:
            return []
        parts, count = float(documents), 0.0
        while parts > 1:
            parts /= USUAL_TOGETHER
            count += parts
        return [(USUAL_PROMPT, REPLY_TOKENS)] * (round(count) + ON_THE_WAY)

    async def apply(self, readership: Readership, asker: Asker) -> Overview:
        """Return the summaries, those of the lowest level first.

        A part of which the model has never written a summary of use is left out of those above it. All of a level is
        asked before a failure ends it.

        Raises:
            ContextTooSmall: Nothing can be summarised together.
            ModelUnreachable, ModelAuthError, ModelRateLimited: The model can't be asked at present.
            StoreError: A store failed.
        """
        forest = await self._forest(readership, asker)
        summaries: list[Spanning] = []
        nodes: list[_Node | None] = list(forest.nodes)
        for groups in forest.levels:
            parts = [[one for at in group if (one := nodes[at])] for group in groups]
            written = await together([self._written(some, asker) for some in parts])
            nodes = [None if isinstance(text, Exception) else text for text in written]
            fresh = [one for one, some in zip(nodes, parts, strict=True) if one and len(some) > 1]
            summaries += [Spanning(text=one.text, leaves=one.leaves) for one in fresh]
            if failed := [text for text in written if isinstance(text, Exception)]:
                return Overview(summaries=tuple(summaries), lacking=str(failed[0]))
        return Overview(summaries=tuple(summaries))

    async def _written(self, parts: Sequence[_Node], asker: Asker) -> _Node | Exception | None:
        """Return the summary of some nodes, None where there is none, or why it failed; of one node itself."""
        if len(parts) < 2:
            return parts[0] if parts else None
        call = self._call(parts)
        try:
            text = await asker.ask(call, lambda reply: summary_of(reply, call.text))
        except FATAL:
            raise
        except (ModelError, ContextTooSmall) as error:
            return error
        if text is None:
            return None
        leaves = await self._resting_on(text, [leaf for node in parts for leaf in node.leaves])
        return _Node(text=text, leaves=leaves) if leaves else None

    async def _resting_on(self, text: str, below: Sequence[Leaf]) -> tuple[Leaf, ...]:
        """Return the chunks that a summary rests on, of those that the parts do which it is made of."""
        if len(below) <= MOST_LEAVES:
            return tuple(below)
        live = await self.library.registry.live_chunks([leaf.chunk_id for leaf in below])
        chunks: list[Chunk] = list(live.values())
        places = await asyncio.to_thread(resting_on, text, chunks, MOST_LEAVES)
        return tuple(Leaf(chunk_id=chunks[at].id, document_id=chunks[at].document_id) for at in places)

    async def _recalled(self, call: Call, asker: Asker) -> str | None:
        return await asker.recalled(call, lambda reply: summary_of(reply, call.text))

    def _call(self, parts: Sequence[_Node]) -> Call:
        return Call(template=self.template, inputs=self._inputs, text=_SEPARATOR.join(node.text for node in parts))

    async def _forest(self, readership: Readership, asker: Asker, *, also_unwritten: bool = False) -> _Forest:
        """Return the documents and how they are gathered.

        A document that should have a summary and has none is left out, or with ``also_unwritten`` stands for itself as
        far as it was read.
        """
        nodes: list[_Node] = []
        ranks: list[int] = []
        vectors: list[NDArray[np.float32]] = []
        async for some in Overviews(self.library.database).ends(readership, FEWEST_CHUNKS - 1):
            told = [_told(end, also_unwritten=also_unwritten) for end in some]
            every = [stored for chunks in told for stored in chunks]
            if not every:
                continue
            rows, at = await vectors_of(self.library, every), 0
            for chunks in filter(None, told):
                total = rows[at : at + len(chunks)].sum(axis=0)
                at += len(chunks)
                vectors.append((total / (np.linalg.norm(total) or 1.0)).astype(np.float32))
                nodes.append(_node(chunks))
                ranks.append(rank_of(chunks[0].chunk.document_id))
        if len(nodes) < self.fewest:
            return _Forest(nodes=nodes, levels=())
        limits = self._limits(asker)
        sizes = await asyncio.to_thread(lambda: [asker.tokenizer.count(node.text) for node in nodes])
        gathered = await asyncio.to_thread(levels, ranks, np.stack(vectors), sizes, limits)
        return _Forest(nodes=nodes, levels=gathered)

    def _limits(self, asker: Asker) -> Limits:
        """Return how much is summarised together: what fits into the model's window with the rules and the reply."""
        rules = asker.tokens_of(Call(template=self.template, inputs=self._inputs, text=""))
        room = default_budget(asker.model.context_window) - asker.model.max_tokens - rules - _MARGIN
        return Limits(tokens=min(MOST_TOKENS, room))


def _told(end: Sequence[StoredChunk], *, also_unwritten: bool) -> Sequence[StoredChunk]:
    """Return what stands for a document, of its last chunks: its last summary, or all of it where it is short."""
    last = end[-1]
    if last.chunk.leaves:
        return end[-1:]
    is_whole = end[0].chunk.ordinal == 0
    return end if is_whole or also_unwritten else ()


def _node(chunks: Sequence[StoredChunk]) -> _Node:
    first = chunks[0].chunk
    own = [f"{chunks[0].generation}-{ordinal}" for ordinal in first.leaves] or [stored.chunk.id for stored in chunks]
    text = "\n\n".join((first.title, *(stored.chunk.text for stored in chunks)))
    return _Node(text=text, leaves=tuple(Leaf(chunk_id=name, document_id=first.document_id) for name in own))
