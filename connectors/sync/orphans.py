"""Sources that were taken out of the settings, and what is left of them."""

import time
from collections.abc import Collection

from ragcore.ingest import remove
from ragcore.library import Library
from ragcore.reports import SyncReport
from ragcore.stores.sources import SourceStates


async def orphans(library: Library, configured: Collection[str]) -> dict[str, int]:
    """Return the sources that have documents but no settings any more, with how many.

    Their documents stay, and are answered from, until ``forget_source``: a line commented out by mistake must not
    cost an index. Whoever runs all sources tells of them; a full run of all sources forgets them.
    """
    counts = await library.registry.counts_by_source()
    return {source: count.documents for source, count in counts.items() if source not in configured}


async def forget_source(library: Library, source: str) -> SyncReport:
    """Delete everything of a source that has no settings any more."""
    began = time.monotonic()
    ids = await library.registry.document_ids(source)
    await remove(library, ids)
    await library.failures.forget(list(await library.failures.of_source(source)))
    await SourceStates(library.database).forget(source)
    return SyncReport(source=source, deleted=len(ids), seconds=time.monotonic() - began)
