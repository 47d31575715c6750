import pathlib
import shutil
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from ragcore.errors import IndexDamaged
from ragcore.ingest import remove
from ragcore.library import CHROMA, KEYWORDS, Library
from ragcore.library.recovery import check, mend, recover, reembed
from ragcore.library.upkeep import follow, report_keywords, sweep
from ragcore.stores.health import IndexState
from ragcore.stores.indexes import Alternative, KeywordQuery
from ragcore.stores.registry import KnowledgeBase
from ragcore.terms import terms
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill, opened
from tests.fakes.stored import made

TEXTS = {f"d{n}": f"Document {n} about rivers." for n in range(30)}


async def mended(library: Library) -> None:
    async for _ in mend(library):
        pass
    assert [(health.index, health.state) for health in library.health] == []
    assert {health.state for health in await check(library)} == {IndexState.WELL}


async def found(library: Library, word: str) -> int:
    query = KeywordQuery(clauses=tuple((Alternative(terms=(term.text,)),) for term in terms(word)))
    return len(await library.keywords.read(lambda reader: reader.search("kb", query, 1_000)))


async def test_a_new_library_is_well(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        assert await recover(library) == []
        await mended(library)


async def test_missing_indexes_are_refilled_without_embedding(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
    for name in (CHROMA, f"{CHROMA}.state", KEYWORDS):
        shutil.rmtree(tmp_path / name)
    embedder = HashEmbedder()
    async with opened(tmp_path, embedder) as library:
        assert library.health.of("vectors", "kb").state is IndexState.DAMAGED
        with pytest.raises(IndexDamaged):
            await library.vectors.query("kb", embedder.vector("x"), 3)
        await mended(library)
        assert len(await library.vectors.query("kb", embedder.vector("x"), 99)) == 30
        assert await found(library, "rivers") == 30
        assert embedder.texts == []


@pytest.mark.parametrize("name", [CHROMA, KEYWORDS])
async def test_rubbish_in_an_index_is_mended(tmp_path: pathlib.Path, name: str) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
    _spoil(tmp_path / name)
    async with opened(tmp_path) as library:
        assert [health.state for health in library.health] == [IndexState.DAMAGED]
        await mended(library)


def _spoil(folder: pathlib.Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"rubbish" * 100)


async def test_an_index_that_misses_a_few_chunks_is_found(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        chunk = (await library.registry.chunks_of(["s:d1"]))[0]
        await library.vectors.delete("kb", [sorted(await library.entries.ids("kb"))[3]])
        await library.keywords.write(remove_generations=[chunk.id.rpartition("-")[0]])
        damaged = await recover(library)
        assert {(health.index, health.state) for health in damaged} == {
            ("vectors", IndexState.DAMAGED),
            ("keywords", IndexState.DAMAGED),
        }
        assert all(health.reason for health in damaged)
        await mended(library)


async def test_only_a_thorough_check_finds_one_chunk_in_place_of_another(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {f"d{n}": f"Text {n}" for n in range(200)})
        await library.vectors.delete("kb", [max(await library.entries.ids("kb"))])  # a probe looks at the first ones
        await library.vectors.add("kb", ["stray"], np.ones((1, 16), np.float32) / 4)
        with monkeypatch.context() as fixed:
            fixed.setattr("ragcore.stores.vectors.secrets.token_hex", lambda length: "0" * 2 * length)
            assert await recover(library) == []
        states = {health.index: health for health in await check(library)}
        assert states["vectors"].state is IndexState.DAMAGED
        assert states["vectors"].reason == "1 texts are missing and 1 are left over"
        await mended(library)


async def test_a_keyword_index_that_is_behind_catches_up(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        shutil.copytree(tmp_path / KEYWORDS, tmp_path / "old")
    async with opened(tmp_path) as library:
        await fill(library, {"d1": "Now about mountains.", "new": "Mountains, too."})
        await remove(library, ["s:d2"])
    shutil.rmtree(tmp_path / KEYWORDS)
    (tmp_path / "old").rename(tmp_path / KEYWORDS)
    async with opened(tmp_path) as library:
        # What was replaced meanwhile has been swept and is not remembered: the counts tell, and it is refilled.
        await mended(library)
        assert await found(library, "mountains") == 2
        assert await found(library, "rivers") == 28


async def test_a_database_that_was_set_back_is_noticed(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path / "a") as library:
        await fill(library, TEXTS)
        await library.keywords.write(revision=10_000)
        with pytest.raises(IndexDamaged, match="set back"):
            await follow(library)
        await recover(library)
        assert library.health.of("keywords").state is IndexState.DAMAGED
        await mended(library)


async def test_documents_that_come_while_the_keywords_are_refilled(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await library.keywords.clear()
        report_keywords(library, IndexState.DAMAGED, "cleared")
        steps = mend(library)
        await anext(steps)
        assert library.health.of("keywords").state is IndexState.REBUILDING
        await fill(library, {"new": "Mountains."})
        async for _ in steps:
            pass
        await mended(library)


async def test_an_interrupted_mending_is_begun_again(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {f"d{n}": f"Text {n}" for n in range(600)})
    shutil.rmtree(tmp_path / CHROMA)
    async with opened(tmp_path) as library:
        steps = mend(library)
        health = await anext(steps)
        assert (health.state, health.done, health.total) == (IndexState.REBUILDING, 500, 600)
        await steps.aclose()
        assert library.health.of("vectors", "kb").state is IndexState.DAMAGED
        await mended(library)


async def test_another_embedder_takes_over(tmp_path: pathlib.Path) -> None:
    texts = {**TEXTS, "d0": "# Rivers\n\nOne with a title of its own."}
    async with opened(tmp_path) as library:
        await fill(library, texts)
        assert isinstance(library.embedder, HashEmbedder)
        first = library.embedder.texts
    other = HashEmbedder(name="other", dimension=24)
    async with opened(tmp_path, other) as library:
        assert library.health.of("vectors", "kb").state is IndexState.MISMATCHED
        async for _ in mend(library):
            pass
        assert library.health.of("vectors", "kb").state is IndexState.MISMATCHED, "that is for `sync --full`"
        steps = reembed(library, "kb")
        await anext(steps)
        await steps.aclose()
        asked = len(other.texts)
        async for _ in reembed(library, "kb"):
            pass
        assert len(other.texts) == asked == 30, "what was embedded before the interruption stays embedded"
        assert sorted(other.texts) == sorted(first), "the very texts that the first embedder was given"
        await mended(library)
        (chunk,) = await library.registry.chunks_of(["s:d7"])
        hits = await library.vectors.query("kb", other.vector(other.texts[0]), 1)
        assert hits[0].score == pytest.approx(1.0, abs=1e-5)
        assert (await library.vector_rows.sums("kb"))["en"].units.shape == (24,)
        assert chunk.text == "Document 7 about rivers."
    async with opened(tmp_path) as library:  # and back again
        async for _ in reembed(library, "kb"):
            pass
        assert isinstance(library.embedder, HashEmbedder)
        assert library.embedder.texts == []
        await mended(library)


async def test_worn_collections_are_built_anew_while_they_answer(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        base = (await library.registry.knowledge_bases())["kb"]
        worn = KnowledgeBase(
            name="kb", embedder=base.embedder, dimension=base.dimension, collection=base.collection, dead_slots=9_999
        )
        await library.staging.save_knowledge_base(worn)
        steps = mend(library)
        await anext(steps)
        vector = (await library.embedder.embed(["x"]))[0]
        assert len(await library.vectors.query("kb", vector, 99)) == 30
        async for _ in steps:
            pass
        fresh = (await library.registry.knowledge_bases())["kb"]
        assert fresh.dead_slots == 0
        assert fresh.collection != base.collection
        await mended(library)


async def test_processes_that_share_a_database_follow_each_other(tmp_path: pathlib.Path, postgres_url: str) -> None:
    """Each with its own keyword index; one Chroma would be shared, and is left out here."""
    one = await Library.open(tmp_path / "1", embedder=HashEmbedder(), database_url=postgres_url)
    two = await Library.open(tmp_path / "2", embedder=HashEmbedder(), database_url=postgres_url)
    await recover(one)
    await fill(one, TEXTS)
    assert await follow(two) > 0
    assert await two.keywords.ids() == await one.keywords.ids()
    await fill(one, {"d1": "Now about mountains.", "new": "Mountains, too."})
    await remove(one, ["s:d2"])
    await follow(two)
    assert await found(two, "mountains") == 2
    assert await found(two, "rivers") == 28
    await follow(one)
    assert await two.keywords.ids() == await one.keywords.ids()
    assert await follow(two) == 0
    _, chunks = made("s:d3", ["under way"])
    await one.staging.stage(chunks)
    assert await sweep(two) == 0, "what another process has under way is not touched"
    assert await sweep(two, abandoned_before=datetime.now(UTC) + timedelta(hours=1)) == 1, "unless it is dead"
    await one.close()
    await two.close()
