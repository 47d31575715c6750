"""Passages as pictures: the document is fetched again from its source, and the passage cut from its pages.

Nothing of a document's bytes is kept, so what is shown is what its source has now: only where that still is what was
indexed, for the boxes of another version would mark something else.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

from bots.app.syncing import connector_of
from bots.requests import Show, Shown
from bots.settings import Settings
from connectors.base import Failure, Tombstone
from ragcore.errors import CitebotError, ParseError
from ragcore.ingest.prepare import document_hash
from ragcore.library import Library
from ragcore.parsing.media import Media
from ragcore.parsing.worker import ParseWorker
from ragcore.stores.lacking import how_read, is_hash_of
from ragcore.stores.rows import Document, is_open
from ragcore.types import Chunk, Image, SourceDocument

FETCH_SECONDS = 60.0
"""For one document from its source: somebody waits for the picture."""
DRAW_SECONDS = 20.0
"""For one picture; a page of many thousand shapes takes a second."""

_GONE = "it isn't indexed any more"
_NO_PAGES = "its document has no pages to show"
_UNKNOWN = "where it stands on its page isn't known; sync it again"
_LEFT = "its source does not have it any more"
_CHANGED = "its document has changed since it was indexed; sync it, then look again"


class _NoPictureError(Exception):
    """Why there is no picture; for the operator."""


async def show(
    settings: Settings, library: Library, request: Show, knowledge_bases: Sequence[str]
) -> AsyncGenerator[Shown]:
    """Yield a picture of each chunk, or why there is none, document by document: each is fetched once, and let go.

    Args:
        settings: where the sources are.
        library: where the chunks are.
        request: which of them, and for whom.
        knowledge_bases: those that the audience may read.
    """
    found = await library.registry.live_chunks(request.chunks)
    documents = await library.registry.documents(list({chunk.document_id for chunk in found.values()}))
    asked: dict[str, list[Chunk]] = {}
    for chunk_id in request.chunks:
        chunk = found.get(chunk_id)
        document = documents.get(chunk.document_id) if chunk else None
        if chunk is None or document is None or not _is_readable(document, request, knowledge_bases):
            yield Shown(chunk_id=chunk_id, reason=_GONE)
        elif not chunk.location.boxes:
            yield Shown(chunk_id=chunk_id, reason=_UNKNOWN if chunk.media_type == Media.PDF else _NO_PAGES)
        else:
            asked.setdefault(document.id, []).append(chunk)
    worker = ParseWorker()  # its own: that of the ingest may be at a long document
    try:
        for document_id, chunks in asked.items():
            try:
                content = await _content(settings, library, documents[document_id], request)
            except _NoPictureError as error:
                for chunk in chunks:
                    yield Shown(chunk_id=chunk.id, reason=str(error))
                continue
            for chunk in chunks:
                yield await _drawn(worker, chunk, content)
    finally:
        await worker.close()


def _is_readable(document: Document, request: Show, knowledge_bases: Sequence[str]) -> bool:
    return document.knowledge_base in knowledge_bases and is_open(document.readers, request.audience)


async def _content(settings: Settings, library: Library, document: Document, request: Show) -> bytes:
    """Return the document's bytes, if they are still those that were indexed."""
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            found = await _fetched(settings, library, document)
        if not is_open(found.readers, request.audience):
            raise _NoPictureError(_LEFT)
        same_version = bool(found.version) and found.version == document.version
        if not same_version:
            hashed = await document_hash(found, pipeline=how_read(document.pipeline).pipeline)
            if not is_hash_of(document.hash, hashed):
                raise _NoPictureError(_CHANGED)
    except TimeoutError as error:
        raise _NoPictureError(f"its source did not give it within {FETCH_SECONDS:.0f} seconds") from error
    except CitebotError as error:
        raise _NoPictureError(str(error)) from error
    return found.content


async def _fetched(settings: Settings, library: Library, document: Document) -> SourceDocument:
    configured = next((source for source in settings.sources if source.name == document.source), None)
    if configured is None:
        raise _NoPictureError("its source has no settings any more")
    connector = await asyncio.to_thread(connector_of, settings, library, configured)
    replies = cast("AsyncGenerator[SourceDocument | Tombstone | Failure]", connector.fetch([document.id]))
    async with aclosing(replies):
        async for found in replies:
            if isinstance(found, Failure):
                raise _NoPictureError(found.reason)
            if isinstance(found, SourceDocument) and found.id == document.id:
                return found
    raise _NoPictureError(_LEFT)


async def _drawn(worker: ParseWorker, chunk: Chunk, content: bytes) -> Shown:
    try:
        cutout = await worker.cut_out(content, chunk.location.boxes, seconds=DRAW_SECONDS)
    except ParseError as error:
        return Shown(chunk_id=chunk.id, reason=error.reason)
    image = Image(media_type="image/png", data=base64.b64encode(cutout.png).decode("ascii"))
    return Shown(chunk_id=chunk.id, image=image, pages=cutout.pages)
