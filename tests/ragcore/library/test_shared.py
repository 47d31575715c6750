"""Several processes, each with its data directory, over one PostgreSQL and one Chroma server."""

import asyncio
import pathlib
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

import pytest

from ragcore.ingest import remove
from ragcore.library import Library
from ragcore.library.recovery import check, recover, reembed
from ragcore.library.upkeep import followed
from ragcore.retrieval import Retriever
from ragcore.stores.health import IndexState
from ragcore.types import Question
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill
from tests.soak import scaled


@pytest.fixture
async def processes(tmp_path: pathlib.Path, postgres_url: str, chroma_url: str) -> AsyncIterator[list[Library]]:
    async with AsyncExitStack() as stack:
        opened = []
        for name in ("one", "two"):
            library = await Library.open(
                tmp_path / name, embedder=HashEmbedder(), database_url=postgres_url, chroma_url=chroma_url
            )
            stack.push_async_callback(library.close)
            await recover(library)
            opened.append(library)
        yield opened


def asking(library: Library) -> Retriever:
    return Retriever(
        registry=library.registry, vectors=library.vectors, keywords=followed(library), embedder=library.embedder
    )


async def texts_found(retriever: Retriever, text: str) -> dict[str, list[str]]:
    found = await retriever.retrieve(Question(text=text, knowledge_bases=("kb",)))
    assert not found.degraded
    by_document: dict[str, list[str]] = {}
    for scored in found.chunks:
        by_document.setdefault(scored.chunk.document_id, []).append(scored.chunk.text)
    return by_document


async def all_well(*libraries: Library) -> None:
    for library in libraries:
        assert {health.state for health in await check(library)} == {IndexState.WELL}, list(library.health)


async def test_what_one_process_writes_another_finds_at_once(processes: list[Library]) -> None:
    one, two = processes
    retriever = asking(two)
    await fill(one, {"a": "Glaciers carve valleys.", "b": "Rivers carry sand."})
    assert await texts_found(retriever, "glaciers") == {"s:a": ["Glaciers carve valleys."]}
    await fill(one, {"a": "Volcanoes build mountains."})
    assert await texts_found(retriever, "glaciers") == {}
    assert await texts_found(retriever, "volcanoes") == {"s:a": ["Volcanoes build mountains."]}
    await remove(two, ["s:a"])
    assert await texts_found(asking(one), "volcanoes") == {}
    await all_well(one, two)


async def test_one_process_asks_while_another_rewrites(processes: list[Library]) -> None:
    """Each document is seen in the old or in the new version, never in none, never in both."""
    one, two = processes
    names = [f"d{n}" for n in range(5)]
    drawn = random.Random(4)
    await fill(one, {name: f"harbour {name} version 0" for name in names})
    retriever, asked, done = asking(two), 0, False

    async def ask() -> None:
        nonlocal asked
        while not done:
            seen = await texts_found(retriever, "harbour version")
            assert sorted(seen) == [f"s:{name}" for name in names]
            assert {len(versions) for versions in seen.values()} == {1}
            asked += 1

    task = asyncio.create_task(ask())
    for version in range(1, scaled(12)):
        changed = drawn.sample(names, 3)
        await fill(one, {name: f"harbour {name} version {version % 3}" for name in changed})
        if task.done():
            break
    done = True
    await task
    assert asked > 5
    await all_well(one, two)


async def test_two_processes_write_texts_that_they_share(
    processes: list[Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one removes the last document with a text, the other adds one that has it, too."""
    one, two = processes
    await fill(one, {f"a{n}": f"# Title\n\nShared text {n}." for n in range(10)})
    delete, found = one.vectors.delete, asyncio.Event()

    async def late(knowledge_base: str, keys: Sequence[str]) -> None:
        # It has found that no chunk is left, and has not deleted yet.
        found.set()
        await asyncio.wait({adding}, timeout=1.5)
        await delete(knowledge_base, keys)

    async def add() -> None:
        await found.wait()
        await fill(two, {f"b{n}": f"# Title\n\nShared text {n}." for n in range(10)})

    monkeypatch.setattr(one.vectors, "delete", late)
    adding = asyncio.create_task(add())
    await remove(one, [f"s:a{n}" for n in range(10)])
    await adding
    await all_well(one, two)


@pytest.mark.soak
async def test_a_start_and_a_rebuild_while_another_process_writes(processes: list[Library]) -> None:
    one, two = processes
    await fill(one, {f"d{n}": f"text {n}" for n in range(600)})

    async def write() -> None:
        for turn in range(scaled(4)):
            await fill(one, {f"d{n}": f"text {n} again {turn}" for n in range(0, 200, 7)})

    async def rebuild() -> None:
        async for _ in reembed(two, "kb"):
            await asyncio.sleep(0.05)

    writing = asyncio.create_task(write())
    await asyncio.sleep(0.1)
    assert await recover(two) == [], "what another process is writing is no damage"
    await rebuild()
    await writing
    await all_well(one, two)
    assert len(await two.vectors.query("kb", two.embedder.vector("text 7"), 5)) == 5  # type: ignore[attr-defined]
