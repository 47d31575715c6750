"""What several tests of sources use: collect changes, run syncs, and age files as a day would."""

import pathlib
from contextlib import asynccontextmanager

from connectors.base import Checkpoint, Estimate, Failure, Origin, Tombstone
from connectors.files import FilesConnector, FilesOptions
from connectors.sync import SyncJob, SyncProgress, SyncReport, sync
from ragcore.ingest import IngestOptions
from ragcore.types import SourceDocument
from tests.connectors.memory import Memory


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


def known_of(documents):
    """Return the versions of collected documents, as a sync knows them."""
    return {identity: document.version for identity, document in documents.items()}


async def names(root, **options):
    """Return what a folder holds, by a sync and by a listing alike."""
    documents, failures, _, _ = await collect(files(root, **options).changes(None, {}))
    assert not failures
    ids, failures = await listed(files(root, **options))
    assert not failures
    assert ids == documents.keys(), "a listing shows what a sync takes"
    return sorted(identity.removeprefix("s:") for identity in ids)


def put(root, name, content="text"):
    path = pathlib.Path(root) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


async def at_once(seconds):
    """Wait as a test may: not at all."""


async def run(library, connector, *, knowledge_base="kb", options=None, **how):
    job = SyncJob(
        source="s", type="t", knowledge_base=knowledge_base, connector=connector, options=options or IngestOptions()
    )
    events = [event async for event in sync(library, job, **{"sleep": at_once} | how)]
    assert all(isinstance(event, SyncProgress) for event in events[:-1])
    assert isinstance(events[-1], SyncReport)
    return events[-1]


async def live(library):
    return {identity.removeprefix("s:") for identity in await library.registry.document_ids("s")}


def memory_of(**texts):
    memory = Memory()
    for name, text in texts.items():
        memory.put(name, text)
    return memory


def thirty():
    return memory_of(**{f"d{number:02}": f"text {number}" for number in range(30)})


@asynccontextmanager
async def later(monkeypatch, ahead):
    """Let runs begin later than now."""
    import connectors.sync.run as module

    real = module.datetime

    class Clock(real):
        @classmethod
        def now(cls, zone=None):
            return real.now(zone) + ahead

    with monkeypatch.context() as patch:
        patch.setattr(module, "datetime", Clock)
        yield
