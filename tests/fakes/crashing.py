"""Real processes that bring an index from one state to another and are killed on the way."""

import asyncio
import functools
import itertools
import json
import os
import pathlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from ragcore.ingest import ingest, remove
from ragcore.library import Library
from ragcore.library.recovery import mend, recover, reembed
from ragcore.stores.chroma import Chroma
from ragcore.stores.keywords import TantivyKeywords
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from ragcore.types import SourceDocument
from tests.fakes.embedding import HashEmbedder
from tests.fakes.forking import fork_for_each_line
from tests.fakes.libraries import each

STEPS: list[tuple[type, str]] = [
    *((Staging, name) for name in ("stage", "switch", "tombstone", "forget", "save_knowledge_base", "adopt_embedder")),
    *((Chroma, name) for name in ("create", "add", "delete", "drop")),
    *((TantivyKeywords, name) for name in ("write", "clear")),
    (Vectors, "put"),
]
"""Everything that writes; a worker can be told to die before or after the n-th of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Bring the index in ``folder`` to the documents in the file ``state``.

    ``die_at`` counts the moments before and after each writing step, from 1; 0 lives on. ``sync_threshold`` is after
    how many writes Chroma rewrites its files, 0 for its own default. Under another ``embedder`` all is embedded anew.
    ``readers`` is what the source tells of the readers of every other document; empty: nothing.
    """

    folder: str
    state: str
    die_at: int = 0
    sync_threshold: int = 0
    dimension: int = 16
    embedder: str = "hash"
    readers: str = ""


async def bring(job: Job) -> int:
    """Do a job as a sync does; returns how many moments there were to die at."""
    moments = itertools.count(1)
    last = 0

    def moment() -> None:
        nonlocal last
        last = next(moments)
        if last == job.die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner, name in STEPS:
        setattr(owner, name, _watched(getattr(owner, name), moment))
    if job.sync_threshold:
        configuration = {"hnsw": {"space": "cosine", "sync_threshold": job.sync_threshold}}
        Chroma._configuration = lambda self: configuration  # type: ignore[method-assign]
    texts: dict[str, str] = json.loads(await asyncio.to_thread(pathlib.Path(job.state).read_text, "utf-8"))
    library = await Library.open(
        pathlib.Path(job.folder), embedder=HashEmbedder(name=job.embedder, dimension=job.dimension)
    )
    try:
        await sync(library, texts, readers=job.readers)
    finally:
        await library.close()
    return last


async def sync(library: Library, texts: dict[str, str], *, readers: str = "") -> None:
    """Recover, mend, index what is there and remove what is not."""
    await recover(library)
    async for _ in mend(library):
        pass
    for name, base in (await library.registry.knowledge_bases()).items():
        if base.embedder != library.embedder.name:  # as `sync --full` does
            async for _ in reembed(library, name):
                pass
    async for _ in ingest(library, "kb", told(texts, readers)):
        pass
    there = await library.registry.document_ids("s")
    await remove(library, [document_id for document_id in there if document_id.removeprefix("s:") not in texts])


async def told(texts: dict[str, str], readers: str) -> AsyncIterator[SourceDocument]:
    """Yield the documents, every other one with its readers."""
    names = frozenset(readers.split())
    closed = set(list(texts)[::2]) if names else set()
    async for document in each(texts):
        yield replace(document, readers=names) if document.id.removeprefix("s:") in closed else document


def _watched(method: Callable[..., Awaitable[Any]], moment: Callable[[], None]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def watched(*args: Any, **kwargs: Any) -> Any:
        moment()
        result = await method(*args, **kwargs)
        moment()
        return result

    return watched


def main() -> None:
    """Fork a worker for each line."""
    import chromadb  # noqa: F401
    import sqlalchemy.ext.asyncio  # noqa: F401
    import tantivy  # noqa: F401

    fork_for_each_line(lambda line: bring(Job(**json.loads(line))))


if __name__ == "__main__":
    main()
