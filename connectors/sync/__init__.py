"""The sync run: one source, from what changed to what the index holds."""

from connectors.sync.guard import WAIT, Verdict, is_doubtful, judge
from connectors.sync.live import sync_documents
from connectors.sync.orphans import forget_source, orphans
from connectors.sync.run import Confirm, SyncJob, sync
from ragcore.reports import FailedDocument, SyncProgress, SyncReport

__all__ = [
    "WAIT",
    "Confirm",
    "FailedDocument",
    "SyncJob",
    "SyncProgress",
    "SyncReport",
    "Verdict",
    "forget_source",
    "is_doubtful",
    "judge",
    "orphans",
    "sync",
    "sync_documents",
]
