"""What is told and written together: the items of a batch, and what their one commit makes true."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.ingest.events import Failed, Indexed, Mark
from ragcore.ingest.prepare import Prepared
from ragcore.library import Library
from ragcore.stores.failures import Failure
from ragcore.stores.rows import Document
from ragcore.stores.together import Together


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """A document that is live as it is; ``refreshed`` where its source says something new of it."""

    told: Indexed
    refreshed: Document | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A document that can't be indexed, as it is told and as it is kept."""

    told: Failed
    failure: Failure


Item = Prepared | Same | Unread | Mark


def ids_of(item: Item) -> tuple[str, ...]:
    """Return the documents that an item decides about."""
    match item:
        case Prepared():
            return (item.document.id,)
        case Same() | Unread():
            return (item.told.document_id,)
        case Mark():
            return (*(failure.document_id for failure in item.failed), *item.gone)


def weight_of(item: Item) -> int:
    """Return how many chunks it is to be written, or documents to be deleted."""
    match item:
        case Prepared():
            return len(item.chunks)
        case Mark():
            return len(item.gone)
        case Same() | Unread():
            return 0


async def together(library: Library, items: Sequence[Item]) -> Together:
    """Return what is to become true besides the new documents."""
    same = [item for item in items if isinstance(item, Same)]
    marks = [item for item in items if isinstance(item, Mark)]
    as_before = [item.told.document_id for item in same if item.refreshed is None]
    cursors = {mark.cursor.source: mark.cursor for mark in marks if mark.cursor is not None}
    failed = (
        *(item.failure for item in items if isinstance(item, Unread)),
        *(failure for mark in marks for failure in mark.failed),
    )
    return Together(
        refreshed=tuple(item.refreshed for item in same if item.refreshed is not None),
        read=tuple(await library.failures.among(as_before)) if as_before else (),
        failed=failed,
        gone=(*(identity for mark in marks for identity in mark.gone), *await _closed(library, failed)),
        cursors=tuple(cursors.values()),
    )


async def _closed(library: Library, failed: Sequence[Failure]) -> list[str]:
    """Return what can't be read anew and is open to somebody who may not read it any more."""
    narrowed = {failure.document_id: failure.readers for failure in failed if failure.readers is not None}
    before = await library.registry.documents(list(narrowed)) if narrowed else {}
    return [
        identity
        for identity, document in before.items()
        if not document.deleted and (document.readers is None or document.readers - narrowed[identity])
    ]
