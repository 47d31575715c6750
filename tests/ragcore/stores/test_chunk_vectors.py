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


async def test_exact_neighbours_are_those_of_the_vector_index(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        stored = ChunkVectors(library.database, embedder=library.embedder.name)
        vector = (await library.embedder.embed(["what about three?"]))[0]
        exact = await stored.nearest("kb", vector, 5, NAMED)
        assert exact is not None
        found = await library.vectors.query("kb", vector, 5, NAMED)
        assert [hit.chunk_id for hit in exact] == [hit.chunk_id for hit in found]
        assert np.allclose([hit.score for hit in exact], [hit.score for hit in found], atol=1e-5)
        assert await stored.nearest("kb", vector, 1, NAMED) == exact[:1]


async def test_only_live_chunks_of_the_knowledge_base_are_compared(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        stored = ChunkVectors(library.database, embedder=library.embedder.name)
        vector = (await library.embedder.embed(["x"]))[0]
        await fill(library, {"one": "# Anew\n\nWritten anew."})
        hits = await stored.nearest("kb", vector, 50, NAMED)
        live = {chunk.id for chunk in await library.registry.chunks_of(NAMED)}
        assert {hit.chunk_id for hit in hits or ()} == live
        assert await stored.nearest("other", vector, 50, NAMED) is None
        assert await stored.nearest("kb", vector, 50, ("s:none",)) is None


async def test_what_sql_cannot_or_should_not_compare_is_left_to_the_index(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        vector = (await library.embedder.embed(["x"]))[0]
        stranger = ChunkVectors(library.database, embedder="another")
        assert await stranger.nearest("kb", vector, 5, NAMED) is None
        stored = ChunkVectors(library.database, embedder=library.embedder.name)
        assert await stored.nearest("kb", vector, 5, tuple(f"s:{number}" for number in range(501))) is None
        monkeypatch.setattr(chunk_vectors, "MAX_COMPARED", 1)
        assert await stored.nearest("kb", vector, 5, NAMED) is None


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
