"""What several tests of sources use: collect changes, and age files as a day would."""

import pathlib

from connectors.base import Checkpoint, Estimate, Failure, Origin, Tombstone
from connectors.files import FilesConnector, FilesOptions
from ragcore.types import SourceDocument


def settle(monkeypatch):
    """Let files count as settled at once, as they do after a moment."""
    monkeypatch.setattr("connectors.files.walk._TICK", 0)
    monkeypatch.setattr("connectors.files.walk._COARSE_TICK", 0)


def files(root, **options):
    root = pathlib.Path(root)
    return FilesConnector(Origin(source="s", folder=root.parent), FilesOptions(path=str(root), **options))


async def collect(changes):
    """Return documents by id, failures by id, ids of tombstones, and the last checkpoint's cursor."""
    documents, failures, gone, cursor = {}, {}, set(), None
    async for change in changes:
        match change:
            case SourceDocument():
                assert change.id not in documents, "an id was yielded twice"
                documents[change.id] = change
            case Failure():
                failures[change.id] = change
            case Tombstone():
                gone.add(change.id)
            case Checkpoint():
                cursor = change.cursor
            case Estimate():
                pass
    return documents, failures, gone, cursor


async def listed(connector):
    ids, failures = set(), {}
    async for item in connector.list_ids():
        if isinstance(item, Failure):
            failures[item.id] = item
        else:
            ids.add(item)
    return ids, failures


def put(root, name, content="text"):
    path = pathlib.Path(root) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path
