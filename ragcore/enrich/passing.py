"""A second pass over what is indexed, in the background of answers, in which a model adds to its chunks.

    live chunks -> steps (one call of the model each, asked once) -> a generation with what they say -> switch
    live documents of the same readers -> steps over them (across) -> an overview -> switch

A document is found without it from the moment it is indexed. What is wanted has a fingerprint, and each document that
of what it has: a changed option or template, or a new version of a document, makes just what it touches due. A step
that fails leaves its chunk as it was and the document due, and so does whatever nobody foresaw; whatever the model
wrote is kept, so that neither a crash nor another sync asks for it again.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import product
from typing import Any

from ragcore.enrich import across
from ragcore.enrich.across import AcrossStep
from ragcore.enrich.alone import blamed, outcome_of, written
from ragcore.enrich.asking import Asker, Spent, together
from ragcore.enrich.coming import Coming
from ragcore.enrich.making import Made, chunks_of, made
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.resolving import resolve, resolving_calls
from ragcore.enrich.steps import Step, across_steps_of, document_steps_of, steps_of
from ragcore.enrich.tag_step import TagStep
from ragcore.enrich.whole import DocumentStep
from ragcore.enrich.without import PASS, WHOLE, without
from ragcore.errors import ModelError
from ragcore.ingest.spool import SLICE
from ragcore.library import Library
from ragcore.library.upkeep import sweep
from ragcore.reports import EnrichProgress, EnrichReport, Unenriched
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.model_results import of_all
from ragcore.stores.rows import Document, digest
from ragcore.tagging.sets import TagSets
from ragcore.types import Usage

TOGETHER = 16
"""Documents that are made, and switched, together."""
TOLD_EVERY = 0.5
"""Seconds between two words of how far it is."""


def is_wanted(options: EnrichOptions) -> bool:
    """Tell whether any step is switched on."""
    return options.needs_model or options.works_without_model


def fingerprint(steps: Sequence[Step], whole: Sequence[DocumentStep], asker: Asker | None) -> str:
    """Return the fingerprint of what is wanted; empty where that is nothing.

    It holds the steps with their counts, their templates as they are rendered, the texts and tags of a tag set, and the
    model with its options.
    """
    if not steps and not whole:
        return ""
    prompts = asker.prompts if asker else None
    told = [part for step in steps for part in step.told(prompts)]
    if prompts:
        told += [part for one in whole for part in one.told(prompts)]
    return digest(asker.identity if asker else "", *told)


async def enrich(
    library: Library,
    knowledge_base: str,
    options: EnrichOptions,
    asker: Asker | None,
    *,
    tag_sets: TagSets | None = None,
) -> AsyncGenerator[EnrichProgress | EnrichReport, None]:
    """Give each live document of a knowledge base what is wanted of it, and tell how far that is; last a report.

    Closing the iterator stops at once: what the model wrote until then is kept. Without an asker only what needs no
    model is done; where that is nothing, or nothing is wanted, what models said before is taken away. ``tag_sets`` are
    those of this library; None reads them anew.

    Raises:
        StoreError: A store failed; what was switched stays.
    """
    began, since = time.monotonic(), datetime.now(UTC)
    run = await _run(library, knowledge_base, options, asker, tag_sets)
    total = (await Enrichment(library.database).count(knowledge_base, run.wanted)).documents
    error = ""
    try:
        async with aclosing(run.groups(total)) as progress:
            async for done in progress:
                yield done
        if options.graph and run.asker:
            async with aclosing(run.resolving(total, run.asker)) as progress:
                async for done in progress:
                    yield done
        async with aclosing(run.overviews(total)) as progress:
            async for done in progress:
                yield done
    except ModelError as raised:
        error = str(raised)
    if run.asker:
        await run.asker.note()
        if error:
            await run.asker.lack(PASS, error)
        else:
            await run.asker.release_due(since)
    if total or run.summaries:
        await sweep(library)
    spent = asker.spent if asker else Spent()
    yield EnrichReport(
        knowledge_base=knowledge_base,
        documents=run.documents,
        chunks=run.chunks,
        summaries=run.summaries,
        usage=spent.usage,
        cached=spent.cached,
        failed=tuple(run.failed),
        without=await without(library, knowledge_base, options) if run.asker else (),
        seconds=time.monotonic() - began,
        error=error,
    )


async def estimate(
    library: Library,
    knowledge_base: str,
    options: EnrichOptions,
    asker: Asker,
    *,
    coming: Coming | None = None,
    leaving: Collection[str] = (),
    tag_sets: TagSets | None = None,
) -> EnrichReport:
    """Return about what ``enrich`` would take; for what is indexed now the calls are exact.

    ``coming`` are those that are not indexed yet. ``leaving`` are the ids of documents that will have been replaced by
    these, or deleted: of them as they are now nothing is counted.
    """
    began = time.monotonic()
    coming = coming or Coming(library, options, asker)
    run = await _run(library, knowledge_base, options, asker, tag_sets)
    sizes: dict[str, tuple[int, int]] = {}
    chunks = documents = 0
    async for document in run.due():
        if document.id in leaving:
            continue
        foreseen = await outcome_of(run.foreseen(document, asker))
        if isinstance(foreseen, Exception):  # as the pass itself will tell
            run.failed.append(blamed(document, foreseen))
            continue
        documents += 1
        chunks += foreseen.chunks
        sizes |= foreseen.sizes
    if options.graph:
        async for call, reply in resolving_calls(library, knowledge_base):
            sizes[asker.key_of(call)] = (asker.tokens_of(call), reply)
    spanning, further = await across.foreseen(
        library,
        knowledge_base,
        run.spanning,
        asker,
        coming_documents=coming.documents,
        coming_chunks=coming.chunks,
        leaving=leaving,
    )
    sizes |= {**spanning, **coming.sizes}
    known = await asker.known(list(sizes))
    missing = [size for key, size in sizes.items() if key not in known]
    missing += [*coming.further, *further]
    return EnrichReport(
        knowledge_base=knowledge_base,
        documents=documents + coming.documents,
        chunks=chunks + coming.chunks,
        usage=Usage(
            calls=len(missing),
            prompt_tokens=sum(prompt for prompt, _ in missing),
            completion_tokens=sum(reply for _, reply in missing),
        ),
        cached=len(known),
        most_tag_calls=coming.most_tag_calls,
        failed=tuple(run.failed),
        seconds=time.monotonic() - began,
        dry_run=True,
    )


@dataclass(slots=True)
class _Foreseen:
    """What one document will take: its chunks, and by the key of each call the tokens of its prompt and its reply."""

    chunks: int = 0
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class _Run:
    """One pass over a knowledge base, and what it has come to."""

    library: Library
    knowledge_base: str
    steps: Sequence[Step]
    whole: Sequence[DocumentStep]
    spanning: Sequence[AcrossStep]
    asker: Asker | None
    wanted: str
    seen: int = 0
    documents: int = 0
    chunks: int = 0
    summaries: int = 0
    failed: list[Unenriched] = field(default_factory=list)

    async def due(self) -> AsyncGenerator[Document, None]:
        """Yield the documents that lack what is wanted; each once, whatever becomes of it."""
        stored, after = Enrichment(self.library.database), ""
        while page := await stored.documents(self.knowledge_base, self.wanted, after=after, limit=TOGETHER):
            for document in page:
                yield document
            after = page[-1].id

    async def foreseen(self, document: Document, asker: Asker) -> _Foreseen:
        """Return what a document will take."""
        found = _Foreseen()
        async for page in chunks_of(self.library, document):
            found.chunks += len(page)
            for one, step in product(page, self.steps):
                if asked := await step.call(one):
                    found.sizes[asker.key_of(asked)] = (asker.tokens_of(asked), step.count * step.reply_tokens)
        for whole in self.whole:
            async for call, reply in whole.calls(document, partial(chunks_of, self.library, document), asker):
                found.sizes[asker.key_of(call)] = (asker.tokens_of(call), reply)
        return found

    async def groups(self, total: int) -> AsyncGenerator[EnrichProgress, None]:
        """Make and switch the documents that are due, some at a time, telling how far it is."""
        group: list[Document] = []
        async for document in self.due():
            group.append(document)
            if len(group) == TOGETHER or sum(one.chunk_count for one in group) >= SLICE:
                async for progress in self._group(group, total):
                    yield progress
                group = []
        if group:
            async for progress in self._group(group, total):
                yield progress

    async def resolving(self, total: int, asker: Asker) -> AsyncGenerator[EnrichProgress, None]:
        """Find out which names of the knowledge graph mean the same, telling how far it is."""

        async def resolved() -> None:
            if reason := await resolve(self.library, self.knowledge_base, asker):
                self.failed.append(Unenriched(document_id=self.knowledge_base, chunks=0, reason=reason))

        async for progress in self._telling(resolved(), total):
            yield progress

    async def overviews(self, total: int) -> AsyncGenerator[EnrichProgress, None]:
        """Make and switch the overviews that are due, one at a time, telling how far it is."""
        await across.clear(self.library, self.knowledge_base, self.spanning)
        if self.asker is None:
            return
        lacking = await across.due(self.library, self.knowledge_base, self.spanning, self.asker)
        for one in lacking:
            async for progress in self._telling(self._overview(one, self.asker), total + len(lacking)):
                yield progress

    async def _overview(self, one: across.Due, asker: Asker) -> None:
        outcome = await outcome_of(across.make(self.library, one, asker))
        if isinstance(outcome, Exception):
            base = self.knowledge_base  # it goes by that name, as it is of all its documents
            outcome = across.Outcome(failed=blamed(Document(id=base, knowledge_base=base, source=""), outcome))
        self.seen += 1
        self.summaries += outcome.summaries if outcome.is_changed else 0
        self.failed += [outcome.failed] if outcome.failed else []

    async def _group(self, group: Sequence[Document], total: int) -> AsyncGenerator[EnrichProgress, None]:
        async for progress in self._telling(self._make(group), total):
            yield progress

    async def _telling(self, work: Coroutine[Any, Any, None], total: int) -> AsyncGenerator[EnrichProgress, None]:
        """Do it, and meanwhile tell how far it is."""
        making = asyncio.create_task(work)
        try:
            while not making.done():
                yield self._progress(total)
                await asyncio.wait({making}, timeout=TOLD_EVERY)
            await making
        finally:
            making.cancel()
            await asyncio.gather(making, return_exceptions=True)
        yield self._progress(total)

    async def _make(self, group: Sequence[Document]) -> None:
        began = datetime.now(UTC)
        results = await written(self.library, await together([self._made(document) for document in group]))
        same = {one.document.id: one.document.generation for one in results if one.is_complete_as_it_is}
        if same:
            await self.library.staging.mark_enriched(same, self.wanted)
        if self.asker:
            await self.asker.release([one.document.id for one in results if one.failed is None], began)
            again = [one.document.id for one in results if one.failed is not None and not one.is_broken]
            await self.asker.release(again, began, is_lacking=True)
        self.seen += len(group)
        self.documents += sum(one.failed is None for one in results)
        self.chunks += sum(one.document.chunk_count for one in results if one.failed is None)
        self.failed += [one.failed for one in results if one.failed is not None]

    async def _made(self, document: Document) -> Made:
        """Return what becomes of a document; as it was, where something goes wrong that nobody foresaw."""
        work = made(self.library, document, self.steps, self.asker, self.wanted, whole=self.whole)
        result = await outcome_of(work)
        if isinstance(result, Exception):
            failed = blamed(document, result)
            if self.asker:
                await self.asker.on_behalf(document.id).lack(WHOLE, failed.reason)
            return Made(document=document, prepared=None, failed=failed, is_broken=True)
        return result

    def _progress(self, total: int) -> EnrichProgress:
        calls = self.asker.spent.usage.calls if self.asker else 0
        return EnrichProgress(knowledge_base=self.knowledge_base, done=self.seen, total=total, calls=calls)


async def _run(
    library: Library,
    knowledge_base: str,
    options: EnrichOptions,
    asker: Asker | None,
    tag_sets: TagSets | None,
) -> _Run:
    """Return a pass that is yet to begin: without an asker one of what needs none, or of nothing."""
    if asker is None and not options.works_without_model:
        return _Run(library, knowledge_base, (), (), (), None, "")
    steps, whole = list[Step](steps_of(options)), document_steps_of(options, library)
    if options.tags_from:
        tag_set = await (tag_sets or TagSets(library)).of(options.tags_from)
        vectors, embedder = library.vector_rows, library.embedder.name
        steps.append(TagStep(count=options.topn_tags, tag_set=tag_set, vectors=vectors, embedder=embedder))
    spanning = across_steps_of(options, library)
    asker = asker and asker.on_behalf(of_all(knowledge_base))
    return _Run(library, knowledge_base, steps, whole, spanning, asker, fingerprint(steps, whole, asker))
