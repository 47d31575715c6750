"""Adds to what a search found the sections that the tables of contents of its best documents point to.

Nothing comes in that the search did not open: only chunks of documents that passed the gate are added, after all that
passed, a few of them, and each is looked up as the search's own are, with its readers and filters. Where the model that
chooses fails or is late, nothing is added.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType

from ragcore.contents import FEWEST, section
from ragcore.context import default_budget, fit_prompt
from ragcore.errors import ContextTooSmall, ModelError, StoreError
from ragcore.models.llm import ChatModel
from ragcore.prompts import Prompts
from ragcore.retrieval.choosing import ALIKE, chosen_of, likeness, lines
from ragcore.retrieval.parents import held_by
from ragcore.retrieval.retriever import Retrieved, Retrieving
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.outlines import Outline, Outlines
from ragcore.stores.registry import Registry
from ragcore.stores.rows import generation_of
from ragcore.tokens import Tokenizer
from ragcore.trace import degraded
from ragcore.types import Chunk, Message, Question, ScoredChunk, Usage

log = logging.getLogger(__name__)

DOCUMENTS = 2
"""The best documents of a search whose tables of contents are read."""
MOST_SHOWN = 200
"""Entries that a model chooses from; of more, those whose words are nearest to the question's."""
SECTIONS = 3
"""Sections that are added to an answer at most."""
OF_SECTION = 3
"""Chunks of a section that are added at most: its first ones that the search did not find."""
LEG = "contents"
"""Under this name the ranks of a chunk tell that it was added."""


@dataclass(slots=True)
class _Choosing:
    """What choosing took so far, also where nothing comes of it."""

    usage: Usage = Usage()


class ContentsRetriever:
    """A retriever that adds sections by their titles. Safe to share between conversations."""

    def __init__(
        self,
        retriever: Retrieving,
        *,
        registry: Registry,
        values: DocumentValues,
        model: ChatModel | None,
        prompts: Prompts,
        tokenizer: Tokenizer,
        seconds: float,
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Compose.

        Args:
            retriever: searches.
            registry: knows what may be read.
            values: knows what meets filters.
            model: chooses the sections; None: the words of their titles do.
            prompts: the templates.
            tokenizer: counts the prompt.
            seconds: how long choosing may take.
            homes: the knowledge base of each source, as for the retriever.
        """
        self._retriever = retriever
        self._registry = registry
        self._values = values
        self._outlines = Outlines(registry.database)
        self._model = model
        self._prompts = prompts
        self._tokenizer = tokenizer
        self._seconds = seconds
        self._homes = homes

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks, and after them those of the sections that fit; see ``Retriever.retrieve``."""
        found = await self._retriever.retrieve(question)
        if not found.chunks:
            return found
        choosing, added = _Choosing(), list[ScoredChunk]()
        try:
            async with asyncio.timeout(self._seconds):
                ids = await self._chosen(question, found.chunks, choosing)
                added = await self._added(question, found.chunks, ids)
        except TimeoutError:
            log.warning("no sections added: none were chosen within %g s", self._seconds)
            degraded("no sections were added: none were chosen in time")
        except (ModelError, ContextTooSmall, StoreError) as error:
            log.warning("no sections added: %s: %s", type(error).__name__, error)
            degraded("no sections were added: choosing them failed")
        return replace(found, chunks=(*found.chunks, *added), usage=found.usage + choosing.usage)

    async def _chosen(
        self, question: Question, chunks: Sequence[ScoredChunk], choosing: "_Choosing"
    ) -> tuple[str, ...]:
        """Choose sections of the best documents, of those that have more than what was found; return their chunks."""
        held = held_by(chunks)
        outlines = [one for one in await self._outlines.of(_best(chunks)) if len(one.entries) >= FEWEST]
        alike = await asyncio.to_thread(_likest, question.searched, outlines)
        open_places = [
            (number, at)
            for number, outline in enumerate(outlines)
            for at in range(len(outline.entries))
            if any(chunk_id not in held for chunk_id in _section(outline, at))
        ]
        if not open_places:
            return ()
        if self._model is None:
            fitting = [place for place in open_places if alike.get(place, 0.0) >= ALIKE]
            return _ids(outlines, sorted(fitting, key=lambda place: -alike[place]), held)
        nearest = sorted(open_places, key=lambda place: -alike.get(place, 0.0))[:MOST_SHOWN]
        shown = sorted(nearest)
        reply = await self._ask(self._model, question.asked, lines(outlines, shown), choosing)
        # In a thread: what a model wrote that lost its way takes long to mend.
        places = [shown[number] for number in await asyncio.to_thread(chosen_of, reply, len(shown))]
        return _ids(outlines, places, held)

    async def _ask(self, model: ChatModel, question: str, contents: str, choosing: "_Choosing") -> str:
        system = self._prompts.render("contents_relevance", contents=contents)
        fitted = await asyncio.to_thread(
            fit_prompt,
            [Message(role="system", text=system), Message(role="user", text=question)],
            default_budget(model.context_window),
            reserve=model.max_tokens,
            tokenizer=self._tokenizer,
        )
        # A call that is broken off tells nothing of what it took; it has read its prompt.
        choosing.usage = Usage(calls=1, prompt_tokens=fitted.count)
        try:
            reply, choosing.usage = await model.complete(fitted.messages, task="contents")
        except ModelError:
            choosing.usage = Usage(calls=1)
            raise
        return reply

    async def _added(self, question: Question, found: Sequence[ScoredChunk], ids: Sequence[str]) -> list[ScoredChunk]:
        """Read the chunks that were chosen, those of them that may be read."""
        if not ids:
            return []
        chunks = await self._registry.readable_chunks(
            ids, question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        met = [chunk for chunk in chunks.values() if await self._meets(question, chunk)]
        lowest = found[-1].score
        return [ScoredChunk(chunk=chunk, score=lowest, ranks={LEG: rank}) for rank, chunk in enumerate(met, 1)]

    async def _meets(self, question: Question, chunk: Chunk) -> bool:
        """Return whether a chunk of a document that meets the filters meets them too: rows of a table may not."""
        filters = question.filters.get(chunk.knowledge_base, ())
        if not filters:
            return True
        matching = await self._values.matching(chunk.knowledge_base, filters, None, [chunk.document_id])
        return matching.admits(chunk.id)


def _likest(wordings: Sequence[str], outlines: Sequence[Outline]) -> dict[tuple[int, int], float]:
    """Return how alike titles are to the wording that is most like each: contents are in one language, too."""
    found: dict[tuple[int, int], float] = {}
    for wording in wordings:
        for place, alike in likeness(wording, outlines).items():
            found[place] = max(alike, found.get(place, 0.0))
    return found


def _best(chunks: Sequence[ScoredChunk]) -> list[str]:
    """Return the generations of the best documents: those whose chunks have the highest sum of scores."""
    sums: dict[str, float] = {}
    for scored in chunks:
        if scored.chunk.rests_on:
            continue  # what was written of many documents has no contents of its own
        generation = generation_of(scored.chunk.id)
        sums[generation] = sums.get(generation, 0.0) + scored.score
    return sorted(sums, key=lambda generation: -sums[generation])[:DOCUMENTS]


def _ids(outlines: Sequence[Outline], places: Sequence[tuple[int, int]], held: frozenset[str]) -> tuple[str, ...]:
    """Return the ids of the first chunks of the first sections, of those that are not there already."""
    ids: dict[str, None] = {}
    for number, at in places[:SECTIONS]:
        wanted = (one for one in _section(outlines[number], at) if one not in held and one not in ids)
        ids |= dict.fromkeys(list(islice(wanted, OF_SECTION)))
    return tuple(ids)


def _section(outline: Outline, at: int) -> Iterator[str]:
    """Yield the ids of the chunks of a section."""
    return (f"{outline.generation}-{ordinal}" for ordinal in section(outline.entries, at, outline.chunks))
