"""Documents in: hash -> parse -> chunk -> embed -> stage -> index -> switch -> sweep.

One document is read while the ones before it are embedded and written. A question sees the old version of a document
until the switch, and the new one from then on.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ragcore.errors import (
    CitebotError,
    ModelAuthError,
    ModelRateLimited,
    ModelUnreachable,
    ParseError,
    StoreError,
)
from ragcore.ingest.batch import SLICE, write_batch
from ragcore.ingest.events import Change, Failed, Indexed, IngestEvent, IngestOptions, pipeline_of
from ragcore.ingest.prepare import Prepared, document_hash, prepare
from ragcore.library import Library
from ragcore.parse_worker import ParseWorker
from ragcore.stores.failures import Failure
from ragcore.stores.waiting import uninterrupted
from ragcore.tokens import Tokenizer, offline_tokenizer
from ragcore.types import SourceDocument
from ragcore.upkeep import sweep, write_keywords

__all__ = ["Change", "Failed", "Indexed", "IngestEvent", "IngestOptions", "ingest", "pipeline_of", "remove"]

BATCH_SECONDS = 2.0
"""How long a batch waits to become full, so that a slow source's documents do not wait for each other."""
READ_AHEAD = 16
"""Documents that are prepared while a batch is embedded."""
REMOVE_AT_ONCE = 200

# The document is not to blame, so trying the next one makes no sense.
_FATAL = (StoreError, ModelUnreachable, ModelAuthError, ModelRateLimited)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _End:
    """The source has no more documents, or broke with an error."""

    error: BaseException | None = None


_Item = Prepared | Indexed | Failed | _End


async def ingest(
    library: Library,
    knowledge_base: str,
    documents: AsyncIterable[SourceDocument],
    options: IngestOptions | None = None,
) -> AsyncGenerator[IngestEvent, None]:
    """Index documents, and tell of each what became of it, in their order, once it is live.

    A document that cannot be read is told as ``Failed``, kept in ``library.failures``, and the rest goes on.

    Args:
        library: the stores.
        knowledge_base: where the documents belong.
        documents: whatever a source yields; its content is read from memory, one or a few at a time.
        options: how they are cut.

    Raises:
        StoreError, ModelUnreachable, ModelAuthError, ModelRateLimited: nothing can be indexed at present.
        EmbedderMismatch: the knowledge base has vectors of another embedder.
        Whatever ``documents`` raises, after what came before it is indexed.
    """
    reader = _Reader(library, knowledge_base, options or IngestOptions(), offline_tokenizer())
    queue: asyncio.Queue[_Item] = asyncio.Queue(READ_AHEAD)
    reading = asyncio.create_task(reader.read(documents, queue))
    try:
        async with aclosing(_written(library, queue)) as events:
            async for event in events:
                yield event
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await reader.worker.close()


async def remove(library: Library, document_ids: Sequence[str]) -> int:
    """Delete documents from the registry and the indexes; returns how many of them were live."""
    removed = 0
    for start in range(0, len(document_ids), REMOVE_AT_ONCE):
        removed += await uninterrupted(_remove(library, document_ids[start : start + REMOVE_AT_ONCE]))
    return removed


async def _remove(library: Library, document_ids: Sequence[str]) -> int:
    async with library.writing:
        gone = await library.staging.tombstone(document_ids)
    await sweep(library)
    return len(gone)


class _Reader:
    """Turns a source's documents into prepared ones, in order."""

    def __init__(self, library: Library, knowledge_base: str, options: IngestOptions, tokenizer: Tokenizer) -> None:
        self._library = library
        self._knowledge_base = knowledge_base
        self._options = options
        self._tokenizer = tokenizer
        self._pipeline = pipeline_of(options, tokenizer=tokenizer.name)
        self.worker = ParseWorker()

    async def read(self, documents: AsyncIterable[SourceDocument], queue: asyncio.Queue[_Item]) -> None:
        """Fill the queue; whatever the source raises goes through it, behind the documents before it."""
        error: BaseException | None = None
        try:
            async for source in documents:
                await queue.put(await self._one(source))
        except Exception as broken:  # noqa: BLE001 - handed over, not swallowed: ingest raises it
            error = broken
        await queue.put(_End(error))

    async def _one(self, source: SourceDocument) -> Prepared | Indexed | Failed:
        try:
            return await self._prepared(source)
        except _FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - one document
            return await failed(self._library, source.id, source.source, source.version, error)

    async def _prepared(self, source: SourceDocument) -> Prepared | Indexed:
        known = await self._library.registry.document(source.id)
        hashed = await document_hash(source, pipeline=self._pipeline)
        live = known if known is not None and not known.deleted else None
        if live is not None and live.hash == hashed and live.knowledge_base == self._knowledge_base:
            if (source.version, source.updated_at or live.updated_at) != (live.version, live.updated_at):
                fresh = replace(live, version=source.version, updated_at=source.updated_at or live.updated_at)
                await self._library.staging.refresh(fresh)
            return Indexed(document_id=source.id, change=Change.UNCHANGED, chunks=live.chunk_count)
        return await prepare(
            source,
            knowledge_base=self._knowledge_base,
            hashed=hashed,
            pipeline=self._pipeline,
            options=self._options,
            tokenizer=self._tokenizer,
            worker=self.worker,
            is_new=live is None,
        )


async def _written(library: Library, queue: "asyncio.Queue[_Item]") -> AsyncGenerator[IngestEvent, None]:
    """Gather batches from the queue and write them, telling each document in its turn; sweep at the end."""
    wrote = False
    error: BaseException | None = None
    async with aclosing(_batches(queue)) as batches:
        async for items, end in batches:
            batch = [item for item in items if isinstance(item, Prepared)]
            written = iter(await _write_or_isolate(library, batch))
            for item in items:
                yield next(written) if isinstance(item, Prepared) else item
            wrote = wrote or bool(batch)
            error = None if end is None else end.error
    if wrote:
        await sweep(library)
        await uninterrupted(_settle(library))
    if error is not None:
        raise error


async def _settle(library: Library) -> None:
    """Let the keyword index know the last switch, so that the next start has nothing to look at."""
    async with library.writing:
        await write_keywords(library)


async def _batches(
    queue: "asyncio.Queue[_Item]",
) -> AsyncGenerator[tuple[list[Prepared | Indexed | Failed], _End | None], None]:
    """Take documents until a batch is full, time is up, a document comes a second time, or the source ends."""
    held: Prepared | None = None
    end: _End | None = None
    while end is None:
        items: list[Prepared | Indexed | Failed] = []
        ids: set[str] = set()
        chunks = 0
        until = asyncio.get_running_loop().time() + BATCH_SECONDS
        while chunks < SLICE:
            item = held or await _next(queue, until if items else None)
            held = None
            if item is None:
                break
            if isinstance(item, _End):
                end = item
                break
            if isinstance(item, Prepared):
                if item.document.id in ids:
                    held = item
                    break
                ids.add(item.document.id)
                chunks += len(item.chunks)
            items.append(item)
        yield items, end


async def _next(queue: "asyncio.Queue[_Item]", until: float | None) -> _Item | None:
    try:
        async with asyncio.timeout_at(until):
            return await queue.get()
    except TimeoutError:
        return None


async def _write_or_isolate(library: Library, batch: Sequence[Prepared]) -> list[IngestEvent]:
    """Write a batch; when that fails, write its documents one by one to find the one to blame."""
    if not batch:
        return []
    try:
        return list(await write_batch(library, batch))
    except _FATAL:
        raise
    except Exception as error:  # noqa: BLE001 - one document
        await sweep(library)
        if len(batch) > 1:
            return [event for single in batch for event in await _write_or_isolate(library, [single])]
        document = batch[0].document
        return [await failed(library, document.id, document.source, document.version, error)]


async def failed(library: Library, document_id: str, source: str, version: str, error: Exception) -> Failed:
    """Keep a failure and return it in words; what nobody expected goes to the log with its trace."""
    match error:
        case ParseError():
            reason, mend = error.reason, error.mend
        case CitebotError():
            reason, mend = error.user_message, "see the log; it is tried again at a later sync"
            log.warning("document %s failed: %s", document_id, error)
        case _:
            reason, mend = f"unexpected {type(error).__name__}", "see the log; please report it with the file"
            log.error("document %s failed", document_id, exc_info=error)
    await library.failures.record(
        Failure(document_id=document_id, source=source, version=version, reason=reason, mend=mend)
    )
    return Failed(document_id=document_id, reason=reason, mend=mend)
