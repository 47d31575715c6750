"""The step that has a report written of things of the knowledge graph that belong together.

    relations that chunks of the same readers tell -> communities (graph.communities) -> one call each, asked once

What a community is asked with are its relations and their passages alone. So a changed document asks anew only about
the communities that its chunks tell of.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.context import default_budget
from ragcore.enrich.across import Overview, Spanning
from ragcore.enrich.asking import FATAL, Asker, Call, together
from ragcore.enrich.reporting import Community, Material, communities, heading_of, material_of
from ragcore.enrich.resolving import is_settled
from ragcore.enrich.summaries import summary_of
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.graph.communities import merged
from ragcore.library import Library
from ragcore.prompts import Prompts
from ragcore.stores.graph_ties import Ties
from ragcore.stores.overviews import COMMUNITIES, Readership
from ragcore.stores.rows import StoredChunk, generation_of, reader_set_of
from ragcore.types import Leaf

WORDS = 120
"""Words of a report, as of a summary: about what MiniLM reads of a text."""
REPLY_TOKENS = 160
MOST_TOKENS = 3_000
"""Tokens of what a model is shown of a community: its lines, and the passages that fit."""
TOGETHER = 16
"""Communities whose chunks are read, and which are asked about, together."""
USUAL_CHUNKS = 6
"""Chunks of a community on an average, for an estimate."""
USUAL_PROMPT = 2_000
_MARGIN = 64
"""Tokens that joining texts may add to what they take alone."""
_INPUTS = {"words": WORDS}


@dataclass(frozen=True, slots=True)
class CommunityStep:
    """Gives a knowledge base reports of the communities of its graph, for one call each."""

    library: Library
    kind: str = COMMUNITIES
    template: str = "community"
    fewest: int = 1

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return the template."""
        return (self.template, prompts.render(self.template, **_INPUTS))

    async def calls(self, readership: Readership, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield a call for each community of what is told by now."""
        try:
            async for some in self._gathered(readership, asker):
                for material in some:
                    yield self._call(material), REPLY_TOKENS
        except ContextTooSmall:  # as the pass itself will tell
            return

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return a call about ``USUAL_CHUNKS`` chunks."""
        return [(USUAL_PROMPT, REPLY_TOKENS)] * (chunks // USUAL_CHUNKS)

    async def apply(self, readership: Readership, asker: Asker) -> Overview:
        """Return the reports. A community of which the model never wrote one of use has none.

        Raises:
            ContextTooSmall: Nothing could be shown to the model.
            ModelUnreachable, ModelAuthError, ModelRateLimited: The model can't be asked at present.
            StoreError: A store failed.
        """
        lacking = ""
        if not await is_settled(self.library, readership.knowledge_base, asker):
            lacking = "it is not settled which names mean the same"
        found: list[Spanning] = []
        async for some in self._gathered(readership, asker):
            written = await together([self._written(material, asker) for material in some])
            for material, text in zip(some, written, strict=True):
                if isinstance(text, Exception):
                    lacking = str(text)
                elif text is not None:
                    found.append(_spanning(material, text))
        return Overview(summaries=tuple(found), lacking=lacking)

    async def _gathered(self, readership: Readership, asker: Asker) -> AsyncGenerator[list[Material], None]:
        """Yield what is shown of the communities, some at a time."""
        stored, room = Ties(self.library.database), self._room(asker)
        reader_set = reader_set_of(readership.readers)
        generations = frozenset(readership.generations.values())
        told = await stored.told(readership.knowledge_base, reader_set)
        ties = [tie for tie in told if generation_of(tie.chunk_id) in generations]
        same = merged(await stored.same(readership.knowledge_base, reader_set))
        every = await asyncio.to_thread(communities, ties, same)
        for start in range(0, len(every), TOGETHER):
            some = every[start : start + TOGETHER]
            chunks = await stored.chunks({chunk_id for one in some for chunk_id in one.chunk_ids})

            yield await asyncio.to_thread(_shown, some, same, chunks, room, asker)

    def _call(self, material: Material) -> Call:
        return Call(template=self.template, inputs=_INPUTS, text=material.text)

    def _room(self, asker: Asker) -> int:
        """Return how many tokens of material fit into the model's window with the rules and the reply."""
        model = asker.model
        rules = asker.tokens_of(Call(template=self.template, inputs=_INPUTS, text=""))
        room = default_budget(model.context_window) - model.max_tokens - rules - _MARGIN
        if room < 1:
            raise ContextTooSmall("the model's window has no room for relations: raise llm.context_window")
        return min(MOST_TOKENS, room)

    async def _written(self, material: Material, asker: Asker) -> str | Exception | None:
        """Return the report of a community, None where there is none, or why it failed."""
        try:
            return await asker.ask(self._call(material), lambda reply: summary_of(reply, material.text))
        except FATAL:
            raise
        except (ModelError, ContextTooSmall) as error:
            return error


def _spanning(material: Material, text: str) -> Spanning:
    leaves = tuple(Leaf(chunk_id=one.chunk.id, document_id=one.chunk.document_id) for one in material.chunks)
    return Spanning(text=text, leaves=leaves, heading_path=(heading_of(material.names),), names=material.names)


def _shown(
    some: Sequence[Community], same: Mapping[str, str], chunks: Mapping[str, StoredChunk], room: int, asker: Asker
) -> list[Material]:
    count = asker.tokenizer.count
    each = (material_of(one, same, chunks, room=room, count=count) for one in some)
    return [material for material in each if material]
