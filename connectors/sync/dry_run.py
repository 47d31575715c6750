"""What storing a document would come to, told without storing it."""

import asyncio

from ragcore.errors import EmptyDocument, ParseError
from ragcore.ingest import Change, Failed, Indexed, IngestEvent
from ragcore.ingest.prepare import document_hash, is_as_read
from ragcore.parsing import ParseOptions, recognise
from ragcore.stores.failures import Failure
from ragcore.stores.lacking import Readers
from ragcore.stores.rows import Document
from ragcore.types import SourceDocument


async def foresee(
    document: SourceDocument,
    old: Document | None,
    failure: Failure | None,
    *,
    knowledge_base: str,
    pipeline: str,
    readers: Readers,
    options: ParseOptions,
) -> IngestEvent:
    """Return what would become of a document.

    What its first bytes or its last attempt tell is told; a fault that only reading it to its end finds is not.

    Args:
        document: As its source gives it now.
        old: As it is indexed, if it is.
        failure: Of the last attempt to read it, if that failed.
        knowledge_base: Where it would go.
        pipeline: The fingerprint of parser and chunker.
        readers: What else would read it.
        options: The parser's limits.
    """
    live = old if old is not None and not old.deleted else None
    stays = live is not None and live.knowledge_base == knowledge_base
    hashed = await document_hash(document, pipeline=pipeline) if live is not None and stays else ""
    if live is not None and stays and is_as_read(live, hashed=hashed, pipeline=pipeline, readers=readers):
        return Indexed(document_id=document.id, change=Change.UNCHANGED)
    try:
        await asyncio.to_thread(
            recognise, document.content, name=document.name, media_type=document.media_type, options=options
        )
    except ParseError as error:
        is_empty = isinstance(error, EmptyDocument)
        return Failed(document_id=document.id, reason=error.reason, mend=error.mend, is_empty=is_empty)
    if failure is not None and failure.version and failure.version == document.version:
        return Failed(document_id=document.id, reason=failure.reason, mend=failure.mend)
    return Indexed(document_id=document.id, change=Change.CHANGED if live is not None else Change.ADDED)
