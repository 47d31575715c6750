import asyncio
import pathlib
import random
import traceback

import numpy as np
import pytest

from ragcore.errors import ConfigError, EmbedderMismatch, IndexDamaged, StoreError
from ragcore.stores.chroma import LAYOUT, Chroma
from ragcore.stores.database import Database
from ragcore.stores.health import IndexState
from ragcore.stores.rows import digest
from ragcore.stores.vectors import INDEX, MOST_EQUAL
from tests.fakes.embedding import HashEmbedder
from tests.fakes.stored import EMBEDDER, made
from tests.fakes.vector_stores import Stores, all_chunks


@pytest.mark.parametrize("base", ["hr", "文档库", "a b/c?", "x" * 200, "Ω" * 200])
async def test_a_knowledge_base_may_have_any_name(stores: Stores, base: str) -> None:
    ids = await stores.put("s:a", ["one", "two"], base=base)
    hits = await stores.index.query(base, EMBEDDER.vector("two"), 5)
    assert [hit.chunk_id for hit in hits] == [ids[1], ids[0]]
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    cosine = float(EMBEDDER.vector("one") @ EMBEDDER.vector("two"))
    assert hits[1].score == pytest.approx(cosine, abs=1e-3)
    assert await stores.index.query("never heard of", EMBEDDER.vector("two"), 5) == []


async def test_a_crowd_of_equal_texts_hides_nothing(stores: Stores) -> None:
    """Indexed one by one, 1,270 equal vectors hid 69 of these 100 from every search."""
    crowd = [f"text {n}" for n in range(100)] + ["the same line"] * 1_270
    random.Random(0).shuffle(crowd)
    ids = [chunk_id for n in range(10) for chunk_id in await stores.put(f"s:{n}", crowd[n::10])]
    assert await stores.index.count("kb") == 101
    for n in range(100):
        hits = await stores.index.query("kb", EMBEDDER.vector(f"text {n}"), 8)
        assert hits[0].score > 0.99, n
        assert len(hits) == 8
    crowded = await stores.index.query("kb", EMBEDDER.vector("the same line"), 50)
    assert len(crowded) == 50
    assert sum(hit.score > 0.99 for hit in crowded) == MOST_EQUAL
    assert {hit.chunk_id for hit in crowded} <= set(ids)
    assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_a_crowd_of_texts_that_the_embedder_cannot_tell_apart_hides_little(stores: Stores) -> None:
    rng = np.random.default_rng(5)
    data = rng.standard_normal((1_370, 384)).astype(np.float32)
    data[100:] = data[100]
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    index = Stores(stores.database, stores.chroma, HashEmbedder(dimension=384))
    document, chunks = made("s:a", [f"text {n}" for n in rng.permutation(1_370)])
    await index.index.prepare("kb")
    await index.staging.stage(chunks)
    await index.index.add("kb", [c.vector_key for c in chunks], data[[int(c.chunk.text[5:]) for c in chunks]])
    await index.staging.switch([document])
    nearest = [(await index.index.query("kb", data[n], 8))[0].score for n in range(100)]
    assert sum(score > 0.99 for score in nearest) > 80
    assert all(score < 1.001 for score in nearest)


async def test_an_entry_goes_with_its_last_chunk(stores: Stores) -> None:
    await stores.put("s:a", ["shared", "only a"])
    await stores.put("s:b", ["shared", "only b"])
    for document, left in (("s:a", {"shared", "only b"}), ("s:b", set())):
        await stores.staging.tombstone([document])
        garbage = await stores.staging.garbage()
        await stores.index.delete("kb", await stores.orphans(garbage))
        await stores.staging.forget(garbage)
        assert await stores.index.ids("kb") == {digest(text) for text in left}
        assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_what_is_not_live_takes_no_place_in_a_search(stores: Stores) -> None:
    ids = await stores.put("s:a", [f"text {n}" for n in range(20)])
    _, coming = made("s:b", [f"coming {n}" for n in range(200)])
    await stores.staging.stage(coming)
    data = np.stack([EMBEDDER.vector(c.chunk.text) for c in coming])
    await stores.index.add("kb", [c.vector_key for c in coming], data)
    for n in range(20):
        hits = await stores.index.query("kb", EMBEDDER.vector(f"coming {n}"), 15)
        assert len(hits) == 15
        assert {hit.chunk_id for hit in hits} <= set(ids)


async def test_more_than_a_batch(stores: Stores) -> None:
    count = 5_600
    name = await stores.chroma.create(embedder="e", dimension=4, knowledge_base="kb")
    data = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    ids = [f"id-{n}" for n in range(count)]
    await stores.chroma.add(name, ids, data)
    assert await stores.chroma.count(name) == count
    assert await stores.chroma.ids(name) == set(ids)
    kept = await stores.chroma.vectors(name, ids)
    assert all(np.allclose(kept[i], v, atol=1e-6) for i, v in zip(ids, data, strict=True))
    await stores.chroma.delete(name, [*ids[:-2], "never there"])
    assert await stores.chroma.ids(name) == set(ids[-2:])


class Late(HashEmbedder):
    """Its dimension is known as soon as it has embedded something, as an endpoint's is."""

    @property
    def dimension(self) -> int:
        return super().dimension if self.texts else 0


async def test_a_dimension_that_is_not_known_is_asked_when_a_collection_is_made(stores: Stores) -> None:
    first, again, longer = Late(), Late(), Late(dimension=24)
    await Stores(stores.database, stores.chroma, first).index.prepare("kb")
    assert len(first.texts) == 1
    await stores.put("s:a", ["one", "two"])
    assert (await stores.index.probe("kb")).state is IndexState.WELL, "it was made for vectors of the right length"
    later = Stores(stores.database, stores.chroma, again)
    assert (await later.index.probe("kb")).state is IndexState.WELL
    await later.index.prepare("kb")
    await later.rebuild()
    assert (await later.index.probe("kb")).state is IndexState.WELL
    assert again.texts == [], "what is indexed tells it"
    (vector,) = await longer.embed(["one"])
    with pytest.raises(EmbedderMismatch):
        await Stores(stores.database, stores.chroma, longer).index.query("kb", vector, 3)


async def test_another_embedder_is_refused_and_then_adopted(stores: Stores) -> None:
    await stores.put("s:a", ["one", "two"])
    other = HashEmbedder(name="other", dimension=8)
    theirs = Stores(stores.database, stores.chroma, other)
    with pytest.raises(EmbedderMismatch, match=r"'hash'.*'other'.*sync --full"):
        await theirs.index.query("kb", other.vector("one"), 3)
    with pytest.raises(EmbedderMismatch):
        await theirs.index.prepare("kb")
    assert (await theirs.index.probe("kb")).state is IndexState.MISMATCHED
    page = await theirs.registry.live_page("kb")
    await theirs.rows.put("other", [c.vector_key for c in page], np.stack([other.vector(c.chunk.text) for c in page]))
    await theirs.rebuild()
    hits = await theirs.index.query("kb", other.vector("one"), 3)
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert (await theirs.rows.sums("kb"))["en"].units.shape == (8,)
    assert len(await stores.chroma.names()) == 1, "the old collection is gone"


async def test_a_deleted_collection_is_damage_and_is_refilled(stores: Stores) -> None:
    ids = await stores.put("s:a", ["one", "two"])
    for name in await stores.chroma.names():
        await stores.chroma.drop(name)
    with pytest.raises(IndexDamaged):
        await stores.index.query("kb", EMBEDDER.vector("one"), 3)
    assert stores.health.of(INDEX, "kb").state is IndexState.DAMAGED
    await stores.put("s:b", ["three"])  # goes on: SQL has it
    await stores.rebuild()
    assert (await stores.index.probe("kb")).state is IndexState.WELL
    hits = await stores.index.query("kb", EMBEDDER.vector("three"), 3)
    assert len(hits) == 3
    assert {hit.chunk_id for hit in hits} > set(ids)


@pytest.mark.parametrize(
    "file", ["data_level0.bin", *(pytest.param(one, marks=pytest.mark.soak) for one in ("index_metadata.pickle", "*"))]
)
async def test_damaged_files_are_found_and_mended(tmp_path: pathlib.Path, file: str) -> None:
    """As a killed process leaves them; a cut data file makes Chroma's native part crash the process that searches."""
    database = await Database.open(tmp_path / "x.sqlite")
    stores = Stores(database, await Chroma.open(tmp_path / "chroma", instance="i"))
    await stores.put("s:a", [f"text {n}" for n in range(1_100)])
    await stores.index.close()
    _damage(tmp_path, file)
    stores = Stores(database, await Chroma.open(tmp_path / "chroma", instance="i"))
    health = await stores.index.probe("kb")
    assert health.state is IndexState.DAMAGED
    assert health.reason
    await stores.rebuild()
    assert (await stores.index.probe("kb")).state is IndexState.WELL
    assert await stores.index.ids("kb") == {c.vector_key for c in await all_chunks(stores)}
    await stores.index.close()
    await database.close()


async def test_a_probe_notices_one_entry_in_place_of_another(stores: Stores) -> None:
    await stores.put("s:a", ["one", "two", "three"])
    collection = (await stores.registry.knowledge_bases())["kb"].collection
    assert (await stores.index.probe("kb")).state is IndexState.WELL
    await stores.chroma.delete(collection, [digest("two")])
    await stores.chroma.add(collection, ["stray"], -EMBEDDER.vector("two")[None])
    assert (await stores.index.probe("kb")).state is IndexState.DAMAGED
    await stores.rebuild()
    assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_a_collection_of_another_layout_is_built_anew(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    await stores.put("s:a", ["one", "two"])
    monkeypatch.setattr("ragcore.stores.vectors.LAYOUT", LAYOUT + 1)
    assert (await stores.index.probe("kb")).state is IndexState.DAMAGED
    monkeypatch.setattr("ragcore.stores.chroma.LAYOUT", LAYOUT + 1)
    await stores.rebuild()
    assert (await stores.index.probe("kb")).state is IndexState.WELL


def _damage(folder: pathlib.Path, name: str) -> None:
    files = [path for path in folder.glob(f"chroma/*/{name}") if path.is_file()]
    assert files, "1,100 vectors are past the first write of the files"
    for path in files:
        path.unlink() if name == "*" else path.write_bytes(b"xx")


async def test_what_comes_and_goes_during_a_rebuild_is_in_it(stores: Stores) -> None:
    texts = [f"text {n}" for n in range(700)]
    await stores.put("s:a", texts)
    steps = stores.index.rebuild("kb")
    await anext(steps)
    await stores.put("s:b", ["late"])
    await stores.staging.tombstone(["s:a"])
    await stores.index.delete("kb", [digest(text) for text in texts])
    await stores.staging.forget(await stores.staging.garbage())
    async for _ in steps:
        pass
    assert await stores.index.ids("kb") == {digest("late")}
    assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_an_interrupted_rebuild_leaves_a_stray_that_goes(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    await stores.put("s:a", [f"text {n}" for n in range(600)])
    steps = stores.index.rebuild("kb")
    await anext(steps)
    await steps.aclose()
    neighbour = Chroma(stores.chroma._client, instance="j")
    theirs = await neighbour.create(embedder="e", dimension=3, knowledge_base="kb")
    assert len(await stores.chroma.names()) == 2
    if not stores.chroma.is_embedded:  # then it may be what another process is filling just now
        await stores.index.drop_strays()
        assert len(await stores.chroma.names()) == 2
        monkeypatch.setattr("ragcore.stores.vectors.STRAY_SECONDS", 0)
    await stores.index.drop_strays()
    assert len(await stores.chroma.names()) == 1
    assert await neighbour.names() == [theirs]
    assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_a_worn_collection_is_named(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.stores.vectors.MIN_DEAD_SLOTS", 100)
    texts = [f"text {n}" for n in range(60)]
    for turn in range(3):
        await stores.put("s:a", [f"{text} {turn}" for text in texts])
        garbage = await stores.staging.garbage()
        orphans = await stores.orphans(garbage)
        await stores.index.delete("kb", orphans)
        await stores.staging.forget(garbage, dead={"kb": len(orphans)})
    assert await stores.index.worn() == ["kb"]
    await stores.rebuild()
    assert await stores.index.worn() == []


async def test_a_server_that_is_not_there_is_a_plain_error() -> None:
    with pytest.raises(StoreError, match="Chroma"):
        await Chroma.open("http://127.0.0.1:9", instance="i")
    with pytest.raises(ConfigError, match=r"chroma\.url"):
        await Chroma.open("localhost:8000", instance="i")


@pytest.mark.parametrize(
    "url",
    [
        "http://me:hidden@127.0.0.1:9",
        "http://hidden@127.0.0.1:9",
        "http://me:hidden/more@127.0.0.1:9",
        "http://127.0.0.1:9/hidden",
        "http://127.0.0.1:9/?token=hidden",
        "http://127.0.0.1:9#hidden",
        "http://127.0.0.1:hidden",
        "http://[hidden",
        "hidden:8000",
    ],
)
async def test_what_an_address_of_chroma_cannot_hold_is_refused_unseen(url: str) -> None:
    with pytest.raises(ConfigError, match=r"chroma\.url .*write .*http://host:8000") as raised:
        await Chroma.open(url, instance="i")
    assert "hidden" not in "".join(traceback.format_exception(raised.value))


async def test_a_slash_behind_the_port_is_no_path() -> None:
    with pytest.raises(StoreError, match="Chroma"):
        await Chroma.open("http://127.0.0.1:9/", instance="i")


async def test_the_loop_goes_on_while_chroma_works(stores: Stores) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await stores.put("s:a", [f"text {n}" for n in range(1_500)])
    ticking.cancel()
    assert ticks > 5
