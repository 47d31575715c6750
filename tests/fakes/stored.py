"""Documents and chunks made by hand, for tests of the stores alone."""

import numpy as np

from ragcore.stores.registry import KnowledgeBase
from ragcore.stores.rows import Document, StoredChunk, digest, generation, reader_set_of
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from ragcore.types import Chunk
from tests.fakes.embedding import HashEmbedder

EMBEDDER = HashEmbedder()


def made(
    document_id: str, texts: list[str], *, base: str = "kb", title: str = "T", readers: frozenset[str] | None = None
) -> tuple[Document, list[StoredChunk]]:
    """Return a document of these chunks as ingest would hand it to the registry."""
    hashed = digest(title, *texts, reader_set_of(readers))
    name = generation(document_id, base, hashed)
    chunks = [
        Chunk(
            id=f"{name}-{ordinal}",
            document_id=document_id,
            knowledge_base=base,
            ordinal=ordinal,
            text=text,
            title=title,
            token_count=len(text.split()),
            reader_set=reader_set_of(readers),
        )
        for ordinal, text in enumerate(texts)
    ]
    document = Document(
        id=document_id,
        knowledge_base=base,
        source=document_id.split(":", maxsplit=1)[0],
        title=title,
        version=hashed[:8],
        hash=hashed,
        pipeline="p",
        generation=name,
        chunk_count=len(texts),
        readers=readers,
    )
    return document, [StoredChunk(chunk=c, vector_key=digest(c.text), language="en") for c in chunks]


async def put(staging: Staging, vectors: Vectors, document: Document, chunks: list[StoredChunk]) -> int:
    """Take a document all the way to live; returns the revision."""
    await staging.save_knowledge_base(
        KnowledgeBase(name=document.knowledge_base, embedder="hash", dimension=16, collection="c")
    )
    if chunks:
        data = np.stack([EMBEDDER.vector(c.chunk.text) for c in chunks])
        await vectors.put("hash", [c.vector_key for c in chunks], data)
    await staging.stage(chunks)
    return (await staging.switch([document])).revision
