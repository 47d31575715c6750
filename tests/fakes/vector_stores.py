"""What the vectors stand in: a database and a Chroma, embedded and as a server."""

import pathlib
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from ragcore.stores.chroma import Chroma
from ragcore.stores.database import Database
from ragcore.stores.entries import Entries
from ragcore.stores.health import Health
from ragcore.stores.registry import Registry
from ragcore.stores.rows import StoredChunk
from ragcore.stores.staging import Staged, Staging
from ragcore.stores.vector_rows import Vectors
from ragcore.stores.vectors import ChromaIndex
from tests.fakes.embedding import HashEmbedder
from tests.fakes.stored import EMBEDDER, made


class Stores:
    """The vectors' part of a library."""

    def __init__(self, database: Database, chroma: Chroma, embedder: HashEmbedder = EMBEDDER) -> None:
        self.database = database
        self.chroma = chroma
        self.registry = Registry(database)
        self.staging = Staging(database)
        self.rows = Vectors(database)
        self.entries = Entries(database)
        self.health = Health()
        self.index = ChromaIndex(
            chroma, self.registry, self.staging, self.rows, self.entries,
            embedder=embedder, health=self.health,
        )  # fmt: skip

    async def put(
        self, document_id: str, texts: list[str], *, base: str = "kb", readers: frozenset[str] | None = None
    ) -> list[str]:
        document, chunks = made(document_id, texts, base=base, readers=readers)
        data = np.stack([EMBEDDER.vector(text) for text in texts])
        ids = [c.chunk.id for c in chunks]
        await self.index.prepare(base)
        await self.rows.put("hash", [c.vector_key for c in chunks], data)
        await self.staging.stage(chunks)
        keys = {c.entry: n for n, c in enumerate(chunks)}
        await self.index.add(base, list(keys), data[list(keys.values())])
        await self.staging.switch([document])
        return ids

    async def orphans(self, garbage: Sequence[Staged]) -> list[str]:
        pages = self.entries.orphans("kb", [note.generation for note in garbage])
        return [key async for page in pages for key in page]

    async def rebuild(self, base: str = "kb") -> None:
        async for _ in self.index.rebuild(base):
            pass


async def all_chunks(stores: Stores) -> list[StoredChunk]:
    """Return every live chunk of the knowledge base ``kb``."""
    found: list[StoredChunk] = []
    after = ""
    while page := await stores.registry.live_page("kb", after=after):
        found += page
        after = page[-1].chunk.id
    return found


@pytest.fixture(params=["embedded", "server"])
async def stores(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[Stores]:
    where = tmp_path / "chroma" if request.param == "embedded" else request.getfixturevalue("chroma_url")
    database = await Database.open(tmp_path / "x.sqlite")
    opened = Stores(database, await Chroma.open(where, instance=tmp_path.name))
    yield opened
    await opened.index.close()
    await database.close()
