"""Writes a batch, many documents at once: embeds what nobody embedded, stages, indexes, switches.

From the first stage to the switch the write lock is held, and a cancellation waits for the slice under way; what was
staged until then is garbage that the next batch or sweep removes. Embedding, which takes the time, is done before. What
is embedded is kept at once, so nothing is embedded twice, whatever happens next.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

import numpy as np

from ragcore.ingest.events import Change, Indexed, Mark, Marked, Outcome, Stage, Underway
from ragcore.ingest.items import Item, Same, Unread, ids_of, together
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.spool import SLICE, Draft, slices
from ragcore.library import Library
from ragcore.library.upkeep import remove_vectors, write_keywords
from ragcore.stores.rows import StoredChunk, parts_of_entry
from ragcore.stores.staging import Staged
from ragcore.stores.together import Switched, Together
from ragcore.stores.waiting import uninterrupted

_FIRST_SLICE = 32
_SHORT, _LONG = 1.0, 4.0  # seconds of one call of the embedder: below the next takes more texts, above it fewer


async def write_batch(library: Library, items: Sequence[Item]) -> AsyncGenerator[Underway | Outcome | Marked, None]:
    """Make true what the items say, all in one commit, and tell of each at the end; each document at most once.

    Raises:
        ModelError: the embedder failed; nothing has changed but the vectors that are kept.
        StoreError: a store failed; what was staged is swept later.
    """
    embedded: Counter[str] = Counter()
    switched = Switched()
    batch = [item for item in items if isinstance(item, Prepared)]
    also = await together(library, items)
    steps: tuple[AsyncGenerator[Underway | Switched, None], ...] = ()
    if batch:
        steps = (_embed(library, batch, embedded), _write(library, batch, also))
    elif also:
        steps = (_write_only(library, also),)
    for some in steps:
        async with aclosing(some):
            async for step in some:
                if isinstance(step, Switched):
                    switched = step
                else:
                    yield step
    for item in items:
        yield _outcome(item, embedded, switched)


def _outcome(item: Item, embedded: Counter[str], switched: Switched) -> Outcome | Marked:
    match item:
        case Prepared():
            return Indexed(
                document_id=item.document.id,
                change=Change.ADDED if item.is_new else Change.CHANGED,
                chunks=len(item.chunks),
                embedded=embedded[item.document.id],
                warnings=item.warnings,
            )
        case Mark():
            return Marked(mark=item, deleted=tuple(identity for identity in ids_of(item) if identity in switched.gone))
        case Unread():
            return replace(item.told, was_deleted=item.told.document_id in switched.gone)
        case Same():
            return item.told


async def _embed(
    library: Library, batch: Sequence[Prepared], embedded: Counter[str]
) -> AsyncGenerator[Underway | Switched, None]:
    """Embed and keep the texts whose vectors are not known, telling how far it is; counts them by document."""
    total = sum(len(prepared.chunks) for prepared in batch)
    size, passed = _FIRST_SLICE, 0
    waiting: dict[str, Draft] = {}
    async with aclosing(_slices(batch)) as parts:
        async for part in parts:
            known = await library.vector_rows.known(library.embedder.name, [draft.stored.vector_key for draft in part])
            for draft in part:
                if draft.stored.vector_key not in known:
                    waiting.setdefault(draft.stored.vector_key, draft)
            passed += len(part)
            # Texts of a slice go together however few of each part are new, and none waits for the next document.
            while len(waiting) >= SLICE or (waiting and passed == total):
                yield _told(batch, Stage.EMBEDDING, passed - len(waiting), total)
                began = time.monotonic()
                await _embed_some(library, waiting, size, embedded)
                size = _next_size(size, time.monotonic() - began)


async def _embed_some(library: Library, waiting: dict[str, Draft], size: int, embedded: Counter[str]) -> None:
    """Embed, keep and take out some of the texts that wait, those of like length together.

    An embedder pads each of its batches to the longest text in it.
    """
    keys = sorted(waiting, key=lambda key: (len(waiting[key].text), key))[:size]
    vectors = await library.embedder.embed([waiting[key].text for key in keys])
    await uninterrupted(library.vector_rows.put(library.embedder.name, keys, vectors))
    embedded.update(waiting.pop(key).stored.chunk.document_id for key in keys)


def _next_size(size: int, seconds: float) -> int:
    """Return how many texts the next call takes: few enough for a bar that moves, enough for a busy endpoint."""
    if seconds < _SHORT:
        return min(SLICE, 2 * size)
    return max(_FIRST_SLICE, size // 2) if seconds > _LONG else size


async def _slices(batch: Sequence[Prepared]) -> AsyncGenerator[list[Draft], None]:
    """Yield the chunks of a batch, a slice at a time."""
    parts = slices([prepared.chunks for prepared in batch])
    while part := await asyncio.to_thread(next, parts, None):
        yield part


def _told(batch: Sequence[Prepared], stage: Stage, done: int, total: int) -> Underway:
    """Say how far a batch is; it goes by the name of its weightiest document."""
    weightiest = max(batch, key=lambda prepared: len(prepared.chunks)).document.id
    return Underway(document_id=weightiest, stage=stage, done=done, total=total, documents=len(batch))


async def _write_only(library: Library, also: Together) -> AsyncGenerator[Underway | Switched, None]:
    """Write what comes without any new document."""
    async with library.writing:
        yield await uninterrupted(library.staging.switch([], also))


async def _write(
    library: Library, batch: Sequence[Prepared], also: Together
) -> AsyncGenerator[Underway | Switched, None]:
    total = sum(len(prepared.chunks) for prepared in batch)
    async with library.writing, aclosing(_slices(batch)) as parts:
        yield _told(batch, Stage.WRITING, 0, total)
        first: list[Draft] = await anext(parts, [])
        await uninterrupted(_write_first(library, batch, first))
        done = len(first)
        async for part in parts:
            yield _told(batch, Stage.WRITING, done, total)
            await uninterrupted(_write_slice(library, part))
            done += len(part)
        fresh = [prepared.document for prepared in batch]
        replacing = {prepared.document.id: prepared.replaces for prepared in batch if prepared.replaces}
        yield await uninterrupted(library.staging.switch(fresh, also, replacing=replacing))


async def _write_first(library: Library, batch: Sequence[Prepared], part: Sequence[Draft]) -> None:
    for name in {prepared.document.knowledge_base for prepared in batch}:
        await library.vectors.prepare(name)
    # What was replaced before is swept along with what comes now: one commit of the keyword index for both.
    garbage = await library.staging.garbage()
    coming = {prepared.document.generation for prepared in batch}
    if any(note.generation in coming for note in garbage):
        # A document goes back to what it was a moment ago, or its writing was cancelled half way.
        dead = await remove_vectors(library, garbage)
        await write_keywords(library, remove=garbage)
        await library.staging.forget(garbage, dead=dead)
        garbage = []
    dead = await remove_vectors(library, garbage)
    await _write_slice(library, part, remove=garbage)
    if garbage:
        await library.staging.forget(garbage, dead=dead)


async def _write_slice(library: Library, part: Sequence[Draft], *, remove: Sequence[Staged] = ()) -> None:
    stored = [draft.stored for draft in part]
    await library.staging.stage(stored)
    await _add_vectors(library, stored)
    await write_keywords(library, add=[one.chunk for one in stored], remove=remove)


async def _add_vectors(library: Library, part: Sequence[StoredChunk]) -> None:
    """Add the entries of texts that no live chunk has yet."""
    by_base: dict[str, dict[str, None]] = defaultdict(dict)
    for stored in part:
        by_base[stored.chunk.knowledge_base][stored.entry] = None
    for name, entries in by_base.items():
        indexed = await library.entries.indexed(name, entries)
        lacking = {entry: parts_of_entry(entry)[0] for entry in entries if entry not in indexed}
        if lacking:
            vectors = await library.vector_rows.get(library.embedder.name, list(lacking.values()))
            await library.vectors.add(name, list(lacking), np.stack([vectors[key] for key in lacking.values()]))
