"""A library over a temporary folder, with an embedder that costs nothing, and folders of made documents."""

import pathlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from ragcore.ingest import Failed, Indexed, IngestOptions, Outcome, Underway, ingest
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.types import SourceDocument
from tests.fakes.embedding import HashEmbedder


@asynccontextmanager
async def opened(folder: pathlib.Path, embedder: HashEmbedder | None = None) -> AsyncIterator[Library]:
    """Open a library as every command does, recovery included, and close it."""
    library = await Library.open(folder, embedder=embedder or HashEmbedder())
    try:
        await recover(library)
        yield library
    finally:
        await library.close()


async def each(texts: Mapping[str, str | bytes]) -> AsyncIterator[SourceDocument]:
    """Yield a document for each name and text."""
    for name, text in texts.items():
        content = text.encode() if isinstance(text, str) else text
        yield SourceDocument(id=f"s:{name}", source="s", content=content, name=f"{name}.md", version=str(hash(content)))


async def fill(
    library: Library, texts: Mapping[str, str | bytes], options: IngestOptions | None = None
) -> list[Outcome]:
    """Index documents into the knowledge base ``kb`` and return what was told."""
    events = [event async for event in ingest(library, "kb", each(texts), options)]
    return [event for event in events if not isinstance(event, Underway)]


def changes(events: list[Outcome]) -> dict[str, str]:
    """Return what became of each document."""
    return {e.document_id: e.change.value if isinstance(e, Indexed) else "failed" for e in events}


def failures(events: list[Outcome]) -> dict[str, Failed]:
    """Return the failed ones."""
    return {e.document_id: e for e in events if isinstance(e, Failed)}
