"""Documents in: hash -> parse -> chunk -> embed -> stage -> index -> switch -> sweep.

One document is read while the ones before it are embedded and written. A question sees the old version of a document
until the switch, and the new one from then on.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from ragcore.ingest.batch import write_batch
from ragcore.ingest.events import (
    Asked,
    Change,
    Failed,
    Indexed,
    IngestEvent,
    IngestOptions,
    Mark,
    Marked,
    Outcome,
    Stage,
    Underway,
    pipeline_of,
)
from ragcore.ingest.items import Item, Unread, ids_of, weight_of
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.reader import FATAL, End, Inbox, Reader, unread
from ragcore.ingest.spool import SLICE
from ragcore.library import Library
from ragcore.library.upkeep import settle, sweep
from ragcore.stores.waiting import uninterrupted
from ragcore.tokens import offline_tokenizer
from ragcore.types import SourceDocument

__all__ = [
    "Asked",
    "Change",
    "Failed",
    "Indexed",
    "IngestEvent",
    "IngestOptions",
    "Mark",
    "Marked",
    "Outcome",
    "Stage",
    "Underway",
    "ingest",
    "pipeline_of",
    "remove",
]

BATCH_SECONDS = 2.0
"""How long a batch waits to become full, so that a slow source's documents do not wait for each other."""
REMOVE_AT_ONCE = 200
MOST_TOGETHER = 500
"""Items of a batch, however little there is to write of them."""


async def ingest(
    library: Library,
    knowledge_base: str,
    documents: AsyncIterable[SourceDocument | Mark],
    options: IngestOptions | None = None,
) -> AsyncGenerator[IngestEvent, None]:
    """Index documents, and tell of each what became of it, in their order, once it is live.

    A document that cannot be read is told as ``Failed``, kept in ``library.failures``, and the rest goes on. Between
    these outcomes come ``Underway``, as often as a bar needs them. What a ``Mark`` says holds once everything before it
    is live or kept as failed, never sooner: by the very commit that makes the last of that so. It is told as
    ``Marked``. What a model was asked about pictures is told at the end, as ``Asked``. Closing the iterator stops at
    once: a document that was half read or half written is then as it was before.

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
    reader = Reader(library, knowledge_base, options or IngestOptions(), offline_tokenizer())
    inbox = Inbox()
    reading = asyncio.create_task(reader.read(documents, inbox))
    try:
        try:
            async with aclosing(_written(library, inbox)) as events:
                async for event in events:
                    yield event
        except Exception:
            if asked := reader.asked():
                yield asked
            raise
        if asked := reader.asked():
            yield asked
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


@dataclass(slots=True, kw_only=True)
class _Batch:
    """What is told, and written, together: in the order of the source, no document twice."""

    items: list[Item] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    weight: int = 0
    end: End | None = None

    @property
    def is_full(self) -> bool:
        return self.weight >= SLICE or len(self.items) >= MOST_TOGETHER or self.end is not None

    def add(self, item: Item) -> None:
        self.items.append(item)
        self.ids.update(ids_of(item))
        self.weight += weight_of(item)


async def _written(library: Library, inbox: Inbox) -> AsyncGenerator[IngestEvent, None]:
    """Gather batches from the inbox and write them, telling each item in its turn; sweep at the end."""
    error: BaseException | None = None
    async with aclosing(_batches(inbox)) as batches:
        async for batch in batches:
            if isinstance(batch, Underway):
                yield batch
                continue
            async with aclosing(_write_or_isolate(library, batch.items)) as events:
                async for event in events:
                    yield event
            inbox.written(batch.items)
            error = None if batch.end is None else batch.end.error
    await sweep(library)  # also what a run left that was cancelled
    await settle(library)
    if error is not None:
        raise error


async def _batches(inbox: Inbox) -> AsyncGenerator[Underway | _Batch, None]:
    """Take items until a batch is full, time is up, a document comes a second time, or the source ends."""
    held: Item | None = None
    batch = _Batch()
    while batch.end is None:
        batch = _Batch()
        until = asyncio.get_running_loop().time() + BATCH_SECONDS
        while not batch.is_full:
            item = held or await inbox.take(until if batch.items else None)
            held = None
            if item is None:
                break
            if isinstance(item, Underway):
                yield item
            elif isinstance(item, End):
                batch.end = item
            elif not batch.ids.isdisjoint(ids_of(item)):
                held = item
                break
            else:
                batch.add(item)
        yield batch


async def _write_or_isolate(library: Library, items: Sequence[Item]) -> AsyncGenerator[IngestEvent, None]:
    """Write a batch; when that fails, write its documents one by one to find the one to blame, and then the rest."""
    cause: Exception | None = None
    async with aclosing(_tried(library, items)) as steps:
        async for step in steps:
            if isinstance(step, Exception):
                cause = step
            else:
                yield step
    if cause is None:
        return
    if not any(isinstance(item, Prepared) for item in items):
        raise cause
    told: dict[int, IngestEvent] = {}
    rest: dict[int, Item] = dict(enumerate(items))
    for place, item in enumerate(items):
        if isinstance(item, Prepared):
            found = await _alone(library, item) if len(items) > 1 else _blamed(item, cause)
            if isinstance(found, Unread):
                rest[place] = found
            else:
                del rest[place]
                told[place] = found
    outcomes = [event async for event in write_batch(library, list(rest.values())) if not isinstance(event, Underway)]
    told |= dict(zip(rest, outcomes, strict=True))
    for place in sorted(told):
        yield told[place]


async def _alone(library: Library, document: Prepared) -> IngestEvent | Unread:
    """Write one document, or find that it is to blame."""
    (told,) = [step async for step in _tried(library, [document]) if not isinstance(step, Underway)]
    return _blamed(document, told) if isinstance(told, Exception) else told


def _blamed(prepared: Prepared, cause: Exception) -> Unread:
    document = prepared.document
    return unread(document.id, document.source, document.version, cause, readers=document.readers)


async def _tried(library: Library, items: Sequence[Item]) -> AsyncGenerator[IngestEvent | Exception, None]:
    """Write; what fails in it is yielded in place of the outcomes, unless no document can be to blame."""
    try:
        async with aclosing(write_batch(library, items)) as events:
            async for event in events:
                yield event
    except FATAL:
        raise
    except Exception as error:  # noqa: BLE001 - one document
        await sweep(library)
        yield error
