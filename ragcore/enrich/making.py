"""One live document becomes one with what a model says of its chunks: ready to be written, in place of itself."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ragcore.enrich.asking import AGAIN, FATAL, Asker, together
from ragcore.enrich.options import setting_of
from ragcore.enrich.reasons import NO_ROOM
from ragcore.enrich.steps import Step, bare, kept
from ragcore.enrich.whole import DocumentStep, given_to
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.spool import SLICE, Draft, Spool
from ragcore.library import Library
from ragcore.library.recovery import embedded_text
from ragcore.reports import Unenriched
from ragcore.stores.enrichment import INCOMPLETE, Enrichment
from ragcore.stores.rows import Document, StoredChunk, digest, generation

Reason = tuple[str, str]
"""A setting, and why what it asks for is lacking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A document and what became of it: ``prepared`` to be written, None where it stays as it is.

    ``is_broken`` tells that something went wrong that nobody foresaw, and not all was asked that is wanted.
    """

    document: Document
    prepared: Prepared | None
    failed: Unenriched | None
    is_broken: bool = False

    @property
    def is_complete_as_it_is(self) -> bool:
        """Tell whether it has all that is wanted already, so that only this is to be noted."""
        return self.prepared is None and self.failed is None


async def made(
    library: Library,
    document: Document,
    steps: Sequence[Step],
    asker: Asker | None,
    wanted: str,
    *,
    whole: Sequence[DocumentStep] = (),
) -> Made:
    """Ask the model about a document as a whole, and about each of its chunks.

    Args:
        library: The stores.
        document: A live one.
        steps: What is wanted of each chunk; none takes away what models said before.
        asker: The model; None does only what needs none, and leaves the rest as it was.
        wanted: The fingerprint that the document gets if nothing of it fails.
        whole: What is wanted of the document as a whole.

    Raises:
        ModelUnreachable, ModelAuthError, ModelRateLimited: The model can't be asked at present.
        StoreError: A store failed.
    """
    asker = asker and asker.on_behalf(document.id)
    spool, said, reasons, short = Spool(library.data_dir), [document.hash, "enriched"], Counter[Reason](), 0
    given, lacking = await given_to(document, partial(chunks_of, library, document), whole, asker)
    told = given.to_document(document)
    is_changed = told.extracted != document.extracted
    said.append(repr(sorted(told.extracted.items())))
    async for page in chunks_of(library, document):
        answers = await together([_enriched(stored, steps, asker) for stored in page])
        fresh = [given.to_chunk(one) for one, _ in answers]
        reasons.update(reason for _, some in answers for reason in some)
        short += sum(bool(some) for _, some in answers)
        is_changed = is_changed or fresh != page
        said += await asyncio.to_thread(_laid_down, fresh, spool)
    before = await summaries_of(library, document)
    summaries = before if given.summaries is None else list(given.summaries)
    is_changed = is_changed or summaries != before
    said += await asyncio.to_thread(_laid_down, summaries, spool)
    if asker:
        await asker.note()
    failed = None
    if reasons or lacking:
        failed = Unenriched(document_id=document.id, chunks=short, reason=worded(reasons, lacking))
    fingerprint = INCOMPLETE if failed else wanted
    name = generation(document.id, document.knowledge_base, digest(*said))
    if not is_changed or name == document.generation:
        return Made(document=document, prepared=None, failed=failed)
    fresh_document = replace(told, generation=name, enriched=fingerprint, chunk_count=len(spool))
    prepared = Prepared(
        document=fresh_document,
        chunks=await asyncio.to_thread(_renamed, spool, name, Spool(library.data_dir)),
        is_new=False,
        replaces=document.generation,
    )
    return Made(document=fresh_document, prepared=prepared, failed=failed)


def worded(of_chunks: Mapping[Reason, int], of_all: Sequence[Reason]) -> str:
    """Say why a document lacks some of its enrichment: by reason the settings, and of how many chunks."""
    found: dict[str, list[str]] = {}
    is_again = False
    chunks = ((setting, why, f" ({n} chunk{'s' * (n > 1)})") for (setting, why), n in of_chunks.items())
    for setting, why, of in (*chunks, *((setting, why, "") for setting, why in of_all)):
        is_again = is_again or why.endswith(AGAIN)
        found.setdefault(why.removesuffix(AGAIN), []).append(f"{setting}{of}")
    told = "; ".join(f"{', '.join(settings)}: {why}" for why, settings in found.items())
    return f"{told}{AGAIN if is_again else ''}"


async def chunks_of(library: Library, document: Document) -> AsyncGenerator[list[StoredChunk], None]:
    """Yield the chunks of a document in order, some at a time; its summaries, which stand behind them, are none."""
    async for page in _pages(library, document):
        if own := [stored for stored in page if not stored.chunk.leaves]:
            yield own


async def summaries_of(library: Library, document: Document) -> list[StoredChunk]:
    """Return the summaries of a document, in order."""
    return [stored async for page in _pages(library, document) for stored in page if stored.chunk.leaves]


async def _pages(library: Library, document: Document) -> AsyncGenerator[list[StoredChunk], None]:
    stored, first = Enrichment(library.database), 0
    while page := await stored.chunks(document.generation, first=first, limit=SLICE):
        yield page
        first = page[-1].chunk.ordinal + 1


async def _enriched(
    stored: StoredChunk, steps: Sequence[Step], asker: Asker | None
) -> tuple[StoredChunk, list[Reason]]:
    """Return a chunk with what is wanted of it, and of what is lacking the setting and why.

    What a step fails to say is left as it was.
    """
    fresh, reasons = bare(stored), list[Reason]()
    for step in steps:
        if step.needs_model and asker is None:
            fresh = kept(stored, fresh, step)
            continue
        try:
            fresh = await step.apply(fresh, asker)
        except FATAL:
            raise
        except (ModelError, ContextTooSmall) as error:
            fresh = kept(stored, fresh, step)
            reasons.append((setting_of(step.template), str(error)))
            if asker and isinstance(error, ContextTooSmall):  # before anything was asked
                await asker.lack(step.template, NO_ROOM, about=stored.vector_key)
    return fresh, reasons


def _laid_down(page: Sequence[StoredChunk], spool: Spool) -> list[str]:
    """Add chunks to a spool, and return a digest of what models say of each."""
    spool.extend([Draft(stored=stored, text=embedded_text(stored)) for stored in page])
    return [_said_of(stored) for stored in page]


def _said_of(stored: StoredChunk) -> str:
    chunk = stored.chunk
    filled = repr(chunk.tag_scores), repr(stored.contents), repr(chunk.leaves)
    graph = (repr(stored.graph),) if stored.graph else ()
    return digest(*chunk.keywords, "", *chunk.questions, "", *filled, chunk.text if chunk.leaves else "", *graph)


def _renamed(spool: Spool, name: str, fresh: Spool) -> Spool:
    """Lay down the chunks under the name of their generation, which is made of all of them."""
    for draft in spool:
        chunk = draft.stored.chunk
        renamed = replace(draft.stored, chunk=replace(chunk, id=f"{name}-{chunk.ordinal}"))
        fresh.extend([replace(draft, stored=renamed)])
    return fresh
