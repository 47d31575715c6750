"""A pass over a whole knowledge base: steps that make summaries which rest on chunks of many documents.

    live documents, by their readers -> a step (calls of the model, each asked once) -> summaries -> an overview, live

This is the contract that such steps build on:

- A step is an ``AcrossStep``. It is handed a ``Readership``: all live documents of the knowledge base that have exactly
  the same readers, and nothing of any other. So no summary mixes what different people may read.
- What it makes are values of ``Spanning``: a text, and the chunks that it rests on, from 1 to ``MOST_LEAVES``, of
  documents of this readership in these generations; what rests on others is left out. They become the chunks of one
  document of our own (``ragcore.stores.overviews``), which carries the same readers and takes part in every search as
  others do. The registry gives a summary out only while all that it rests on is live and may be read by the asker, and
  what is quoted and cited are these chunks.
- A changed, new or removed document makes the overviews of its readership due, and so does what ``told`` returns. One
  that is due is made anew as a whole; a step keeps that cheap by asking through ``Asker.ask`` alone, which asks nothing
  twice, and by gathering such that one document touches few of its calls. Nothing due: nothing is read.
- It runs at the end of ``passing.enrich``, after what is made of single documents, and is a part of ``estimate``.
- A step that could not make all returns what it could and says what is ``lacking``: that goes live, and it is tried
  again at the next sync. One that raises leaves the overview as it was.
- A step that is not wanted any more, a readership without documents, or with fewer than ``fewest``: its overview goes.

To add one: write the step, and name it in ``steps.across_steps_of`` under its switch in ``EnrichOptions`` (which counts
in ``needs_model``).
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from ragcore.chunking import embedding_text
from ragcore.enrich.asking import FATAL, Asker, Call
from ragcore.enrich.options import setting_of
from ragcore.enrich.reasons import NO_ROOM
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.graph.values import ChunkGraph, Entity
from ragcore.ingest import remove
from ragcore.ingest.batch import write_batch
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.spool import Draft, Spool
from ragcore.library import Library
from ragcore.prompts import Prompts
from ragcore.reports import Unenriched
from ragcore.stores.enrichment import INCOMPLETE
from ragcore.stores.overviews import Overviews, Readership, source_of
from ragcore.stores.rows import Document, StoredChunk, digest, generation, generation_of, reader_set_of
from ragcore.terms import language_of
from ragcore.tokens import Tokenizer
from ragcore.types import Chunk, Leaf

MOST_LEAVES = 32
"""Chunks that one summary rests on at most. They are read for each question that finds it."""
_CHANGED = "documents changed meanwhile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spanning:
    """A summary of what stands in many documents: what it says, under which headings, and the chunks that say so.

    ``names`` are the things of the knowledge graph that it is about, by which it is found where a question has them.

    Raises:
        ValueError: It rests on nothing, or on too much.
    """

    text: str
    leaves: tuple[Leaf, ...]
    heading_path: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could not be cited."""
        if not 1 <= len(self.leaves) <= MOST_LEAVES:
            raise ValueError(f"a summary of {len(self.leaves)} chunks: from 1 to {MOST_LEAVES} can be cited")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What a step makes of a readership, in order, and why some of it could not be made, "" where all could."""

    summaries: tuple[Spanning, ...] = ()
    lacking: str = ""


class AcrossStep(Protocol):
    """A step that looks at all documents of a knowledge base that have the same readers."""

    @property
    def kind(self) -> str:
        """Return the name of its overviews: letters, unlike that of any other step."""
        ...

    @property
    def template(self) -> str:
        """Return the name of its template, which names it where it fails."""
        ...

    @property
    def fewest(self) -> int:
        """Return of how many documents an overview makes sense."""
        ...

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return what decides about what it makes, besides the documents: its templates as rendered, its options."""
        ...

    def calls(self, readership: Readership, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield what it is going to ask, each with about how many tokens the reply takes; as far as can be foreseen."""
        ...

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return about what it is going to ask of documents that are not read yet: tokens of prompts and of replies."""
        ...

    async def apply(self, readership: Readership, asker: Asker) -> Overview:
        """Return what it makes.

        Raises:
            ModelError, ContextTooSmall: The model says nothing, or nothing of use.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """An overview that is to be made: its fingerprint when it is, and what stands at present, None for nothing."""

    step: AcrossStep
    readership: Readership
    wanted: str
    standing: Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of an overview: how many summaries it has, whether it changed, and what failed, if anything did."""

    summaries: int = 0
    is_changed: bool = False
    failed: Unenriched | None = None


async def due(
    library: Library,
    knowledge_base: str,
    steps: Sequence[AcrossStep],
    asker: Asker,
    *,
    leaving: Collection[str] = (),
) -> list[Due]:
    """Return the overviews that lack something, as if the documents ``leaving`` were gone; by step."""
    if not steps:
        return []
    stored = Overviews(library.database)
    standing, readerships = await stored.standing(knowledge_base), await stored.readerships(knowledge_base)
    if leaving:
        readerships = [one.without(leaving) for one in readerships]
    found = []
    for step, readership in product(steps, readerships):
        if len(readership.generations) >= step.fewest:
            wanted = await asyncio.to_thread(_fingerprint, step, readership, asker, library.embedder.name)
            now = standing.get(readership.overview_id(step.kind))
            if now is None or now.enriched != wanted:
                found.append(Due(step=step, readership=readership, wanted=wanted, standing=now))
    return found


async def clear(library: Library, knowledge_base: str, steps: Sequence[AcrossStep]) -> int:
    """Delete the overviews that none of these steps would make any more; return how many."""
    stored = Overviews(library.database)
    standing = await stored.standing(knowledge_base)
    if not standing:
        return 0
    readerships = await stored.readerships(knowledge_base) if steps else []
    kept = {
        one.overview_id(step.kind)
        for step, one in product(steps, readerships)
        if len(one.generations) >= step.fewest
    }  # fmt: skip
    return await remove(library, [name for name in standing if name not in kept])


async def make(library: Library, one: Due, asker: Asker) -> Outcome:
    """Make an overview and switch it live.

    Raises:
        ModelUnreachable, ModelAuthError, ModelRateLimited: The model can't be asked at present.
        StoreError: A store failed.
    """
    try:
        made = await one.step.apply(one.readership, asker)
    except FATAL:
        raise
    except (ModelError, ContextTooSmall) as error:
        if isinstance(error, ContextTooSmall):  # before anything was asked
            await asker.lack(one.step.template, NO_ROOM, about=one.readership.overview_id(one.step.kind))
        return Outcome(failed=_failed(one, str(error)))
    standing = [said for said in made.summaries if all(_is_of(one.readership, leaf) for leaf in said.leaves)]
    lacking = made.lacking or ("" if len(standing) == len(made.summaries) else _CHANGED)
    chunks = await asyncio.to_thread(_chunks_of, one, standing, asker.tokenizer)
    fingerprint = INCOMPLETE if lacking else one.wanted
    failed = _failed(one, lacking) if lacking else None
    document = _document_of(one, chunks, fingerprint)
    if one.standing is not None and one.standing.generation == document.generation:
        await library.staging.mark_enriched({document.id: document.generation}, fingerprint)
        return Outcome(summaries=len(chunks), failed=failed)
    spool = Spool(library.data_dir)
    await asyncio.to_thread(spool.extend, [_draft(stored, document.generation) for stored in chunks])
    replaces = one.standing.generation if one.standing else ""
    prepared = Prepared(document=document, chunks=spool, is_new=one.standing is None, replaces=replaces)
    async with aclosing(write_batch(library, [prepared])) as events:
        async for _ in events:
            pass
    return Outcome(summaries=len(chunks), is_changed=True, failed=failed)


async def foreseen(
    library: Library,
    knowledge_base: str,
    steps: Sequence[AcrossStep],
    asker: Asker,
    *,
    coming_documents: int = 0,
    coming_chunks: int = 0,
    leaving: Collection[str] = (),
) -> tuple[Mapping[str, tuple[int, int]], Sequence[tuple[int, int]]]:
    """Return what the steps are going to ask: by key of what stands, and about what of documents that are to come.

    Each call with the tokens of its prompt and of its reply. ``leaving`` documents are as if they were gone.
    """
    sizes: dict[str, tuple[int, int]] = {}
    for one in await due(library, knowledge_base, steps, asker, leaving=leaving):
        async with aclosing(one.step.calls(one.readership, asker)) as calls:
            async for call, reply in calls:
                sizes[asker.key_of(call)] = (asker.tokens_of(call), reply)
    coming = [size for step in steps for size in step.calls_coming(coming_documents, coming_chunks)]
    return sizes, coming


def _fingerprint(step: AcrossStep, readership: Readership, asker: Asker, embedder: str) -> str:
    stand = [part for pair in readership.generations.items() for part in pair]
    return digest(step.kind, asker.identity, embedder, *step.told(asker.prompts), "", *stand)


def _failed(one: Due, reason: str) -> Unenriched:
    count = len(one.readership.generations)
    reason = f"over {count} documents with the same readers: {setting_of(one.step.template)}: {reason}"
    return Unenriched(document_id=one.readership.knowledge_base, chunks=0, reason=reason)


def _chunks_of(one: Due, summaries: Sequence[Spanning], tokenizer: Tokenizer) -> list[StoredChunk]:
    """Return the chunks of an overview, which have no generation yet."""
    readership = one.readership
    found: list[StoredChunk] = []
    for ordinal, said in enumerate(summaries):
        chunk = Chunk(
            id=f"-{ordinal}",
            document_id=readership.overview_id(one.step.kind),
            knowledge_base=readership.knowledge_base,
            ordinal=ordinal,
            text=said.text,
            title="",
            token_count=tokenizer.count(said.text),
            heading_path=said.heading_path,
            reader_set=reader_set_of(readership.readers),
            rests_on=said.leaves,
        )
        key = digest(embedding_text("", said.heading_path, said.text))
        things = tuple(Entity(name=name) for name in said.names)
        graph = ChunkGraph(entities=things) if things else None
        found.append(StoredChunk(chunk=chunk, vector_key=key, language=language_of(said.text), graph=graph))
    return found


def _is_of(readership: Readership, leaf: Leaf) -> bool:
    return readership.generations.get(leaf.document_id) == generation_of(leaf.chunk_id)


def _document_of(one: Due, chunks: Sequence[StoredChunk], fingerprint: str) -> Document:
    base, name = one.readership.knowledge_base, one.readership.overview_id(one.step.kind)
    said = [part for stored in chunks for part in _said_of(stored)]
    return Document(
        id=name,
        knowledge_base=base,
        source=source_of(one.step.kind),
        generation=generation(name, base, digest(*said)),
        chunk_count=len(chunks),
        token_count=sum(stored.chunk.token_count for stored in chunks),
        readers=one.readership.readers,
        enriched=fingerprint,
    )


def _said_of(stored: StoredChunk) -> Sequence[str]:
    chunk, names = stored.chunk, [entity.name for entity in stored.graph.entities] if stored.graph else []
    return (chunk.text, *chunk.heading_path, "", *(leaf.chunk_id for leaf in chunk.rests_on), "", *names, "")


def _draft(stored: StoredChunk, name: str) -> Draft:
    chunk = stored.chunk
    placed = replace(stored, chunk=replace(chunk, id=f"{name}-{chunk.ordinal}"))
    return Draft(stored=placed, text=embedding_text("", chunk.heading_path, chunk.text))
