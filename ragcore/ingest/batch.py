"""Writes prepared documents, many at once: embeds what nobody embedded, stages, indexes, switches.

Between stage and switch the write lock is held and nothing can interrupt; embedding, which takes the time, is done
before. What is embedded is kept at once, so nothing is embedded twice, whatever happens next.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ragcore.ingest.events import Change, Indexed
from ragcore.ingest.prepare import Prepared
from ragcore.library import Library
from ragcore.stores.rows import StoredChunk
from ragcore.stores.waiting import uninterrupted
from ragcore.upkeep import remove_vectors, write_keywords

SLICE = 256
"""Chunks that are embedded, or written, in one go: what bounds the memory that one large document takes."""


async def write_batch(library: Library, batch: Sequence[Prepared]) -> list[Indexed]:
    """Make documents live, all in one switch; each document at most once in a batch.

    Raises:
        ModelError: the embedder failed; nothing has changed but the vectors that are kept.
        StoreError: a store failed; what was staged is swept later.
    """
    embedded = await _embed(library, batch)
    await uninterrupted(_write(library, batch))
    return [
        Indexed(
            document_id=prepared.document.id,
            change=Change.ADDED if prepared.is_new else Change.CHANGED,
            chunks=len(prepared.chunks),
            embedded=sum(stored.vector_key in embedded for stored in prepared.chunks),
            warnings=prepared.warnings,
        )
        for prepared in batch
    ]


async def _embed(library: Library, batch: Sequence[Prepared]) -> set[str]:
    """Embed and keep the texts whose vectors are not known; returns their keys."""
    texts = {
        stored.vector_key: text
        for prepared in batch
        for stored, text in zip(prepared.chunks, prepared.texts, strict=True)
    }
    known = await library.vector_rows.known(library.embedder.name, list(texts))
    # Texts of like length together: an embedder pads each of its batches to the longest text in it.
    missing = sorted(texts.keys() - known, key=lambda key: (len(texts[key]), key))
    for start in range(0, len(missing), SLICE):
        keys = missing[start : start + SLICE]
        vectors = await library.embedder.embed([texts[key] for key in keys])
        await library.vector_rows.put(library.embedder.name, keys, vectors)
    return set(missing)


async def _write(library: Library, batch: Sequence[Prepared]) -> None:
    async with library.writing:
        for name in {prepared.document.knowledge_base for prepared in batch}:
            await library.vectors.prepare(name)
        # What was replaced before is swept along with what comes now: one commit of the keyword index for both.
        garbage = await library.staging.garbage()
        coming = {prepared.document.generation for prepared in batch}
        if any(note.generation in coming for note in garbage):  # a document goes back to what it was a moment ago
            await remove_vectors(library, garbage)
            await write_keywords(library, remove=garbage)
            await library.staging.forget(garbage)
            garbage = []
        await remove_vectors(library, garbage)
        chunks = [stored for prepared in batch for stored in prepared.chunks]
        for start in range(0, max(len(chunks), 1), SLICE):
            part = chunks[start : start + SLICE]
            await library.staging.stage(part)
            await _add_vectors(library, part)
            await write_keywords(library, add=[stored.chunk for stored in part], remove=garbage)
            await library.staging.forget(garbage)
            garbage = []
        await library.staging.switch([prepared.document for prepared in batch])


async def _add_vectors(library: Library, part: Sequence[StoredChunk]) -> None:
    by_base: dict[str, list[StoredChunk]] = defaultdict(list)
    for stored in part:
        by_base[stored.chunk.knowledge_base].append(stored)
    for name, chunks in by_base.items():
        vectors = await library.vector_rows.get(library.embedder.name, [stored.vector_key for stored in chunks])
        await library.vectors.add(
            name,
            [stored.chunk.id for stored in chunks],
            np.stack([vectors[stored.vector_key] for stored in chunks]),
            [stored.chunk.document_id for stored in chunks],
        )
