"""Writes prepared documents, many at once: embeds what nobody embedded, stages, indexes, switches.

From the first stage to the switch the write lock is held, and a cancellation waits for the slice under way; what was
staged until then is garbage that the next batch or sweep removes. Embedding, which takes the time, is done before. What
is embedded is kept at once, so nothing is embedded twice, whatever happens next.
"""

import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import numpy as np

from ragcore.ingest.events import Change, Indexed, Stage, Underway
from ragcore.ingest.prepare import Prepared
from ragcore.library import Library
from ragcore.library.upkeep import remove_vectors, write_keywords
from ragcore.stores.rows import StoredChunk
from ragcore.stores.staging import Staged
from ragcore.stores.waiting import uninterrupted

SLICE = 256
"""Chunks that are embedded, or written, in one go: what bounds the memory that one large document takes."""


_FIRST_SLICE = 32
_SHORT, _LONG = 1.0, 4.0  # seconds of one call of the embedder: below the next takes more texts, above it fewer


async def write_batch(library: Library, batch: Sequence[Prepared]) -> AsyncGenerator[Underway | Indexed, None]:
    """Make documents live, all in one switch, and tell of each at the end; each document at most once in a batch.

    Raises:
        ModelError: the embedder failed; nothing has changed but the vectors that are kept.
        StoreError: a store failed; what was staged is swept later.
    """
    embedded: set[str] = set()
    async with aclosing(_embed(library, batch, embedded)) as steps:
        async for step in steps:
            yield step
    await _write(library, batch)
    for prepared in batch:
        yield Indexed(
            document_id=prepared.document.id,
            change=Change.ADDED if prepared.is_new else Change.CHANGED,
            chunks=len(prepared.chunks),
            embedded=sum(stored.vector_key in embedded for stored in prepared.chunks),
            warnings=prepared.warnings,
        )


async def _embed(library: Library, batch: Sequence[Prepared], embedded: set[str]) -> AsyncGenerator[Underway, None]:
    """Embed and keep the texts whose vectors are not known; adds their keys to ``embedded``, telling how far it is."""
    texts = {
        stored.vector_key: text
        for prepared in batch
        for stored, text in zip(prepared.chunks, prepared.texts, strict=True)
    }
    known = await library.vector_rows.known(library.embedder.name, list(texts))
    # Texts of like length together: an embedder pads each of its batches to the longest text in it.
    missing = sorted(texts.keys() - known, key=lambda key: (len(texts[key]), key))
    weightiest = max(batch, key=lambda prepared: len(prepared.chunks)).document.id
    start, size = 0, _FIRST_SLICE
    while start < len(missing):
        yield Underway(
            document_id=weightiest, stage=Stage.EMBEDDING, done=start, total=len(missing), documents=len(batch)
        )
        keys = missing[start : start + size]
        began = time.monotonic()
        vectors = await library.embedder.embed([texts[key] for key in keys])
        await library.vector_rows.put(library.embedder.name, keys, vectors)
        embedded.update(keys)
        start += size
        size = _next_size(size, time.monotonic() - began)


def _next_size(size: int, seconds: float) -> int:
    """Return how many texts the next call takes: few enough for a bar that moves, enough for a busy endpoint."""
    if seconds < _SHORT:
        return min(SLICE, 2 * size)
    return max(_FIRST_SLICE, size // 2) if seconds > _LONG else size


async def _write(library: Library, batch: Sequence[Prepared]) -> None:
    chunks = [stored for prepared in batch for stored in prepared.chunks]
    async with library.writing:
        await uninterrupted(_write_first(library, batch, chunks[:SLICE]))
        for start in range(SLICE, len(chunks), SLICE):
            await uninterrupted(_write_slice(library, chunks[start : start + SLICE]))
        await uninterrupted(library.staging.switch([prepared.document for prepared in batch]))


async def _write_first(library: Library, batch: Sequence[Prepared], part: Sequence[StoredChunk]) -> None:
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


async def _write_slice(library: Library, part: Sequence[StoredChunk], *, remove: Sequence[Staged] = ()) -> None:
    await library.staging.stage(part)
    await _add_vectors(library, part)
    await write_keywords(library, add=[stored.chunk for stored in part], remove=remove)


async def _add_vectors(library: Library, part: Sequence[StoredChunk]) -> None:
    """Add the entries of texts that no live chunk has yet."""
    by_base: dict[str, dict[str, None]] = defaultdict(dict)
    for stored in part:
        by_base[stored.chunk.knowledge_base][stored.vector_key] = None
    for name, keys in by_base.items():
        indexed = await library.entries.indexed(name, keys)
        lacking = [key for key in keys if key not in indexed]
        if lacking:
            vectors = await library.vector_rows.get(library.embedder.name, lacking)
            await library.vectors.add(name, lacking, np.stack([vectors[key] for key in lacking]))
