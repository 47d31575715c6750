import pathlib

import numpy as np
import pytest
from sqlalchemy import text

from ragcore.errors import StoreError
from ragcore.stores import chunk_vectors
from ragcore.stores.chunk_vectors import ChunkVectors
from ragcore.stores.database import Database
from tests.fakes.libraries import fill, opened

TEXTS = {name: f"# About {name}\n\nWhat is to be said about {name}." for name in ("one", "two", "three", "four")}
NAMED = ("s:one", "s:three")


@pytest.mark.parametrize("block", [1, 3, 4_000])
async def test_exact_neighbours_are_those_of_the_vector_index(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(chunk_vectors, "BLOCK", block)
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        stored = ChunkVectors(library.database, embedder=library.embedder.name)
        vector = (await library.embedder.embed(["what about three?"]))[0]
        exact = await stored.nearest("kb", vector, 5, (*NAMED, *(f"s:{number}" for number in range(600))))
        of = {chunk.id: chunk.document_id for chunk in await library.registry.chunks_of([f"s:{n}" for n in TEXTS])}
        found = [hit for hit in await library.vectors.query("kb", vector, 50) if of[hit.chunk_id] in NAMED][:5]
        assert [hit.chunk_id for hit in exact] == [hit.chunk_id for hit in found]
        assert np.allclose([hit.score for hit in exact], [hit.score for hit in found], atol=1e-3)
        assert await stored.nearest("kb", vector, 1, NAMED) == exact[:1]


async def test_only_live_chunks_of_the_knowledge_base_are_compared(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        stored = ChunkVectors(library.database, embedder=library.embedder.name)
        vector = (await library.embedder.embed(["x"]))[0]
        await fill(library, {"one": "# Anew\n\nWritten anew."})
        hits = await stored.nearest("kb", vector, 50, NAMED)
        live = {chunk.id for chunk in await library.registry.chunks_of(NAMED)}
        assert {hit.chunk_id for hit in hits} == live
        assert await stored.nearest("other", vector, 50, NAMED) == []
        assert await stored.nearest("kb", vector, 50, ("s:none",)) == []


async def test_vectors_that_are_missing_are_told(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        vector = (await library.embedder.embed(["x"]))[0]
        stranger = ChunkVectors(library.database, embedder="another")
        with pytest.raises(StoreError, match="sync --full"):
            await stranger.nearest("kb", vector, 5, NAMED)


async def test_a_read_sees_what_was_committed_before_it(database: Database) -> None:
    read = text("SELECT value FROM counters WHERE name = 'revision'")
    for value in (1, 2):
        async with database.begin() as connection:
            await connection.execute(text(f"UPDATE counters SET value = {value} WHERE name = 'revision'"))
            if database.path:  # beside a write transaction a reader neither waits nor sees it
                assert await database.read(lambda reading: reading.execute(read).scalar()) == value - 1
        assert await database.read(lambda reading: reading.execute(read).scalar()) == value


async def test_a_read_that_fails_is_told_in_our_words(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "test.sqlite")
    with pytest.raises(StoreError):
        await database.read(lambda connection: connection.exec_driver_sql("SELECT * FROM nothing"))
    await database.close()
