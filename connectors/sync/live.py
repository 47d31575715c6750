"""Some documents of a source, synced out of turn because something told that they have changed."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from connectors.sync.feed import Feed
from connectors.sync.patience import Patient, Sleep
from connectors.sync.run import SyncJob
from connectors.sync.tally import Tally
from ragcore.ingest import Asked, Marked, Underway, ingest
from ragcore.library import Library
from ragcore.reports import SyncReport


async def sync_documents(
    library: Library, job: SyncJob, ids: Sequence[str], *, sleep: Sleep = asyncio.sleep
) -> SyncReport:
    """Fetch these documents of a source; index them, delete those that are gone, and record those that fail.

    The caller sees to it that nobody else syncs the source meanwhile. The cursor stays: the next run looks at all this
    again, which costs little where a version or a hash is the same, and makes up for whatever this has missed.

    Args:
        library: The stores.
        job: The source.
        ids: The documents' ids.
        sleep: Waits so many seconds, where the source asks for it or a fault may pass.

    Raises:
        SourceError and its kinds: The source can't be read; what came before is indexed.
        StoreError, ModelError: Nothing can be indexed at present.
    """
    # What the source says is gone is gone: it was asked for these alone, and there is no listing to judge by.
    feed = Feed(job.source, Patient(job.connector, sleep=sleep), is_listed=False)
    tally = Tally(source=job.source)
    async with (
        aclosing(feed.fetched(list(dict.fromkeys(ids)))) as documents,
        aclosing(ingest(library, job.knowledge_base, documents, job.options)) as events,
    ):
        async for event in events:
            match event:
                case Underway():
                    pass
                case Asked():
                    tally.note_asked(event)
                case Marked():
                    tally.note_mark(event)
                case _:
                    tally.note(event)
    return tally.report(tally.unreadable)
