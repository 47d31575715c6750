"""A document of which something goes wrong that nobody foresaw fails alone, named; those behind it get their turn."""

import logging
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from ragcore.enrich.making import Made
from ragcore.errors import CitebotError
from ragcore.ingest.batch import write_batch
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.reader import FATAL
from ragcore.library import Library
from ragcore.library.upkeep import sweep
from ragcore.reports import Unenriched
from ragcore.stores.rows import Document

T = TypeVar("T")
log = logging.getLogger(__name__)


async def outcome_of(work: Awaitable[T]) -> T | Exception:
    """Return what work on one document gives, or what went wrong with it.

    Raises:
        StoreError, ModelUnreachable, ModelAuthError, ModelRateLimited: No document can be to blame.
    """
    try:
        return await work
    except FATAL:
        raise
    except Exception as error:  # noqa: BLE001 - one document
        return error


async def written(library: Library, results: Sequence[Made]) -> list[Made]:
    """Write and switch what is prepared, all in one commit; where that fails one by one, so that one fails alone.

    Raises:
        StoreError, ModelUnreachable, ModelAuthError, ModelRateLimited: Nothing can be written at present.
    """
    fresh = [one.prepared for one in results if one.prepared is not None]
    if not fresh or await outcome_of(_write(library, fresh)) is None:
        return list(results)
    return [one if one.prepared is None else await _written_alone(library, one, one.prepared) for one in results]


async def _written_alone(library: Library, one: Made, prepared: Prepared) -> Made:
    await sweep(library)  # what the try before this one staged
    error = await outcome_of(_write(library, [prepared]))
    return one if error is None else replace(one, prepared=None, failed=blamed(one.document, error))


async def _write(library: Library, fresh: Sequence[Prepared]) -> None:
    async with aclosing(write_batch(library, fresh)) as events:
        async for _ in events:
            pass


def blamed(document: Document, error: Exception) -> Unenriched:
    """Say in words why a document stays as it was; what nobody foresaw goes to the log with its trace."""
    if isinstance(error, CitebotError):
        reason = str(error)
        log.warning("document %s could not be enriched: %s", document.id, error)
    else:
        reason = f"unexpected {type(error).__name__}; see the log, and please report it with the file"
        log.error("document %s could not be enriched", document.id, exc_info=error)
    return Unenriched(document_id=document.id, chunks=document.chunk_count, reason=reason)
