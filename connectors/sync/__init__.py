"""The sync run: one source, from what changed to what the index holds."""

from connectors.sync.guard import WAIT
from connectors.sync.live import sync_documents
from connectors.sync.orphans import forget_source, orphans
from connectors.sync.run import SyncJob, sync
from ragcore.reports import SyncProgress, SyncReport

__all__ = [
    "WAIT",
    "SyncJob",
    "SyncProgress",
    "SyncReport",
    "forget_source",
    "orphans",
    "sync",
    "sync_documents",
]
