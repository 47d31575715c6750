import asyncio
import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.stores.database import Database
from ragcore.stores.registry import SEARCH_ATTEMPTS, Counts, KnowledgeBase, Registry
from ragcore.stores.rows import Document, StoredChunk, chunk_record, storable
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors, VectorSum
from ragcore.types import Box, Chunk, Location, SectionKind
from tests.fakes.stored import EMBEDDER, made, put
from tests.soak import scaled


@pytest.fixture
def registry(database: Database) -> Registry:
    return Registry(database)


@pytest.fixture
def staging(database: Database) -> Staging:
    return Staging(database)


@pytest.fixture
def vectors(database: Database) -> Vectors:
    return Vectors(database)


FULL = Chunk(
    id="0123456789abcdef-0",
    document_id="s:a",
    knowledge_base="文档库",
    ordinal=0,
    text="a\n| b | 年假 |",
    title="Ein Titel",
    token_count=7,
    url="https://example.org/a",
    media_type="text/html",
    kind=SectionKind.TABLE,
    heading_path=("One", "二"),
    location=Location(
        sheet="S",
        first_row=3,
        last_row=9,
        anchor="x",
        boxes=(Box(page=3, left=72.1, top=80.0, right=300.5, bottom=92.4),),
    ),
    overlap=4,
    updated_at=datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2))),
    keywords=("k",),
    questions=("q?",),
    tags=("t",),
)


async def test_a_chunk_comes_back_as_it_went(registry: Registry, staging: Staging, vectors: Vectors) -> None:
    document = Document(
        id="s:a", knowledge_base="文档库", source="s", title="Ein Titel", url="https://example.org/a",
        media_type="text/html", generation="0123456789abcdef", hash="h", pipeline="p", chunk_count=1, token_count=7,
        readers=frozenset({"b", "a"}), metadata={"x": "y"}, updated_at=FULL.updated_at,
    )  # fmt: skip
    await put(staging, vectors, document, [StoredChunk(chunk=FULL, vector_key="k", language="zh")])
    assert await registry.live_chunks([FULL.id, "nothing-0"]) == {FULL.id: FULL}
    found = await registry.document("s:a")
    assert found is not None
    assert found.indexed_at is not None
    assert dataclasses.replace(found, revision=0, indexed_at=None) == document
    assert found.updated_at == FULL.updated_at


async def test_only_the_switched_generation_is_live(registry: Registry, staging: Staging, vectors: Vectors) -> None:
    old, old_chunks = made("s:a", ["one", "two"])
    new, new_chunks = made("s:a", ["one", "three", "four"])
    ids = [c.chunk.id for c in [*old_chunks, *new_chunks]]
    first = await put(staging, vectors, old, old_chunks)
    await staging.stage(new_chunks)
    assert {c.text for c in (await registry.live_chunks(ids)).values()} == {"one", "two"}
    assert [n.generation for n in await staging.garbage()] == [new.generation]
    second = await put(staging, vectors, new, new_chunks)
    assert second > first
    assert {c.text for c in (await registry.live_chunks(ids)).values()} == {"one", "three", "four"}
    garbage = await staging.garbage()
    assert [n.generation for n in garbage] == [old.generation]
    await staging.forget(garbage)
    assert await staging.garbage() == []
    assert await registry.live_count("kb") == 3


async def test_going_back_to_an_earlier_version(registry: Registry, staging: Staging, vectors: Vectors) -> None:
    a, a_chunks = made("s:a", ["one"])
    b, b_chunks = made("s:a", ["two"])
    for document, chunks in ((a, a_chunks), (b, b_chunks), (a, a_chunks), (a, a_chunks)):
        await put(staging, vectors, document, chunks)
    assert [n.generation for n in await staging.garbage()] == [b.generation]
    assert [c.text for c in await registry.chunks_of(["s:a"])] == ["one"]
    assert (await vectors.sums("kb"))["en"].count == 1


async def test_a_deleted_document_is_gone_and_told(registry: Registry, staging: Staging, vectors: Vectors) -> None:
    document, chunks = made("s:a", ["one"])
    before = await put(staging, vectors, document, chunks)
    assert await staging.tombstone(["s:a", "s:unknown"]) == ["s:a"]
    assert await staging.tombstone(["s:a"]) == []
    assert await registry.live_chunks([chunks[0].chunk.id]) == {}
    assert [(d.id, d.deleted) for d in await registry.changed_since(before, limit=9)] == [("s:a", True)]
    assert await registry.document_ids("s") == []
    assert await registry.counts_by_source() == {}
    assert await vectors.sums("kb") == {}
    assert await registry.known_versions("s", knowledge_base="kb", pipeline_of=always("p")) == {}
    await put(staging, vectors, document, chunks)  # it comes back
    assert list(await registry.live_chunks([chunks[0].chunk.id])) == [chunks[0].chunk.id]


async def test_known_versions_hold_only_under_the_same_pipeline(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    document, chunks = made("s:a", ["one"])
    await put(staging, vectors, document, chunks)
    assert await registry.known_versions("s", knowledge_base="kb", pipeline_of=always("p")) == {"s:a": document.version}
    assert await registry.known_versions("s", knowledge_base="kb", pipeline_of=always("q")) == {}
    assert await registry.known_versions("s", knowledge_base="other", pipeline_of=always("p")) == {}
    assert await registry.known_versions("t", knowledge_base="kb", pipeline_of=always("p")) == {}


def always(pipeline: str) -> Callable[[str, str], str]:
    return lambda document_id, name: pipeline


async def test_the_pipeline_of_a_document_is_asked_for_by_its_id_and_name(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    for name in ("a", "b"):
        document, chunks = made(f"s:{name}", ["one"])
        await put(staging, vectors, dataclasses.replace(document, name=f"{name}.md"), chunks)
    asked: list[tuple[str, str]] = []

    def pipeline_of(document_id: str, name: str) -> str:
        asked.append((document_id, name))
        return "p" if name == "b.md" else "q"

    known = await registry.known_versions("s", knowledge_base="kb", pipeline_of=pipeline_of)
    assert known.keys() == {"s:b"}
    assert sorted(asked) == [("s:a", "a.md"), ("s:b", "b.md")]


async def test_more_ids_than_a_statement_takes(registry: Registry, staging: Staging, vectors: Vectors) -> None:
    document, chunks = made("s:a", [f"text {n}" for n in range(1300)])
    await put(staging, vectors, document, chunks)
    ids = [c.chunk.id for c in chunks]
    asked = [f"x-{n}" for n in range(40_000)] + ids
    assert list(await registry.live_chunks(asked)) == ids
    assert len(await vectors.get("hash", [c.vector_key for c in chunks] * 2)) == 1300
    assert await registry.counts_by_knowledge_base() == {"kb": Counts(documents=1, chunks=1300)}
    after, seen = "", []
    while page := await registry.live_page("kb", after=after):
        seen += [stored.chunk.id for stored in page]
        after = page[-1].chunk.id
    assert sorted(seen) == sorted(ids)


async def test_changes_since_a_revision_are_never_cut_in_two(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    made_ones = [made(f"s:{n}", [f"text {n}"]) for n in range(6)]
    for _, chunks in made_ones:
        await vectors.put("hash", [c.vector_key for c in chunks], np.stack([EMBEDDER.vector("x")]))
        await staging.stage(chunks)
    await staging.switch([d for d, _ in made_ones[:1]])
    await staging.switch([d for d, _ in made_ones[1:5]])
    await staging.switch([d for d, _ in made_ones[5:]])
    first = await registry.changed_since(0, limit=2)
    assert {d.id for d in first} == {f"s:{n}" for n in range(5)}
    rest = await registry.changed_since(first[-1].revision, limit=2)
    assert [d.id for d in rest] == ["s:5"]


async def test_revisions_grow_in_the_order_of_commits(database: Database, staging: Staging) -> None:
    """Readers never see a revision before a smaller one: what they skipped would be lost to them."""
    registry = Registry(database)
    seen: set[str] = set()
    lost: list[str] = []

    async def write(n: int) -> None:
        for turn in range(5):
            document, _ = made(f"s:{n}-{turn}", [])
            await staging.switch([document])

    async def follow() -> None:
        at = 0
        while len(seen) < 40:
            for document in await registry.changed_since(at, limit=3):
                at = max(at, document.revision)
                seen.add(document.id)
            await asyncio.sleep(0)

    await asyncio.wait_for(asyncio.gather(follow(), *(write(n) for n in range(8))), 30)
    assert not lost
    assert len(seen) == 40


@settings(max_examples=scaled(20))
@given(st.lists(st.tuples(st.integers(0, 5), st.lists(st.integers(0, 9), max_size=4)), max_size=12))
async def test_sums_are_exact_whatever_came_and_went(turns: list[tuple[int, list[int]]]) -> None:
    database = await Database.open(":memory:")
    staging, vectors = Staging(database), Vectors(database)
    state: dict[str, list[str]] = {}
    for number, words in turns:
        document_id, texts = f"s:{number}", [f"word {w}" for w in dict.fromkeys(words)]
        if texts:
            await put(staging, vectors, *made(document_id, texts))
            state[document_id] = texts
        else:
            await staging.tombstone([document_id])
            state.pop(document_id, None)
    live = [text for texts in state.values() for text in texts]
    sums = await vectors.sums("kb")
    await database.close()
    if not live:
        assert sums == {}
        return
    expected = VectorSum.of(np.stack([EMBEDDER.vector(text) for text in live]))
    assert sums["en"].count == expected.count
    assert (sums["en"].units == expected.units).all()


def test_the_mean_cosine_is_that_of_all_pairs() -> None:
    data = np.stack([EMBEDDER.vector(str(n)) for n in range(30)])
    cosines = data @ data.T
    pairs = cosines[~np.eye(30, dtype=bool)]
    assert VectorSum.of(data).mean_cosine == pytest.approx(float(pairs.mean()), abs=1e-6)
    assert VectorSum.of(data[:1]).mean_cosine == 0.0


async def test_vectors_come_back_to_the_bit(vectors: Vectors) -> None:
    data = np.stack([EMBEDDER.vector(str(n)) for n in range(3)])
    await vectors.put("e", ["a", "b", "c"], data)
    await vectors.put("e", ["a"], data[1:2])  # the first stays
    found = await vectors.get("e", ["a", "b", "c", "d"])
    assert set(found) == {"a", "b", "c"}
    assert (found["a"] == data[0]).all()
    assert found["a"].dtype == np.float32
    assert await vectors.get("other", ["a"]) == {}
    assert await vectors.known("e", ["a", "z"]) == {"a"}


async def test_unused_vectors_are_those_of_no_chunk_and_those_of_another_embedder(
    staging: Staging, vectors: Vectors
) -> None:
    document, chunks = made("s:a", ["one", "two"])
    await put(staging, vectors, document, chunks)
    await staging.save_knowledge_base(KnowledgeBase(name="kb", embedder="hash", dimension=16, collection="c"))
    assert (await vectors.unused()).count == 0
    data = np.stack([EMBEDDER.vector("x")] * 2)
    await vectors.put("hash", ["x", "y"], data)
    await vectors.put("other", [chunk.vector_key for chunk in chunks], data)
    unused = await vectors.unused()
    assert unused.count == 4
    assert unused.bytes > 4 * data[0].nbytes


async def test_a_search_repeats_when_a_document_was_replaced_under_it(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    old, old_chunks = made("s:a", ["old"])
    new, new_chunks = made("s:a", ["new"])
    await put(staging, vectors, old, old_chunks)
    searches = 0

    async def search(extra: int, _: object) -> list[str]:
        nonlocal searches
        searches += 1
        if searches == 1:  # the index still has the old one only, and it is replaced before the look-up
            await put(staging, vectors, new, new_chunks)
            return [old_chunks[0].chunk.id]
        return [old_chunks[0].chunk.id, new_chunks[0].chunk.id]

    _, live = await registry.settled_search(["kb"], search, list)
    assert [c.text for c in live.values()] == ["new"]
    assert searches == 2
    await registry.settled_search(["kb"], search, list)
    assert searches == 3, "what was replaced before the search began does not repeat it"


async def test_a_search_comes_to_its_end_however_often_a_document_is_replaced_under_it(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    searches = 0

    async def search(extra: int, _: object) -> list[str]:
        nonlocal searches
        searches += 1
        shown = made("s:a", [f"version {searches}"])
        await put(staging, vectors, *shown)
        if searches < SEARCH_ATTEMPTS:
            await put(staging, vectors, *made("s:a", [f"after {searches}"]))
        return [shown[1][0].chunk.id]

    _, live = await registry.settled_search(["kb"], search, list)
    assert [chunk.text for chunk in live.values()] == [f"version {SEARCH_ATTEMPTS}"]
    assert searches == SEARCH_ATTEMPTS


async def test_a_search_repeats_when_chunks_that_are_not_live_took_its_places(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    old, old_chunks = made("s:a", ["old"])
    _, new_chunks = made("s:a", ["new"])
    await put(staging, vectors, old, old_chunks)
    asked: list[int] = []

    async def search(extra: int, _: object) -> list[str]:
        asked.append(extra)
        await staging.stage(new_chunks)  # while the index is asked for one chunk and what it was told to add
        return [c.chunk.id for c in [*new_chunks, *old_chunks]][: 1 + extra]

    _, live = await registry.settled_search(["kb"], search, list)
    assert [c.text for c in live.values()] == ["old"]
    assert asked == [0, 1]


async def test_a_search_repeats_when_what_it_met_was_swept_as_well(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    """An entry of the vector index may lead to no chunk any more: nothing is left by which the change could be told."""
    old, old_chunks = made("s:a", ["old"])
    new, new_chunks = made("s:a", ["new"])
    await put(staging, vectors, old, old_chunks)
    searches = 0

    async def search(extra: int, _: object) -> list[str]:
        nonlocal searches
        searches += 1
        if searches == 1:
            await put(staging, vectors, new, new_chunks)
            await staging.forget(await staging.garbage())
            return []
        return [new_chunks[0].chunk.id]

    _, live = await registry.settled_search(["kb"], search, list)
    assert [c.text for c in live.values()] == ["new"]
    other, other_chunks = made("s:b", ["elsewhere"], base="other")
    await registry.settled_search(["kb"], search, list)
    await put(staging, vectors, other, other_chunks)
    assert searches == 3, "what happens in another knowledge base repeats nothing"


async def test_many_chunks_under_way_cost_a_search_nothing(
    registry: Registry, staging: Staging, vectors: Vectors
) -> None:
    old, old_chunks = made("s:a", ["old"])
    _, coming = made("s:b", [f"coming {n}" for n in range(1_800)])
    await put(staging, vectors, old, old_chunks)
    await staging.stage(coming)
    asked: list[int] = []

    async def search(extra: int, _: object) -> list[str]:
        asked.append(extra)
        return [c.chunk.id for c in [*old_chunks, *coming[:1]]]

    await registry.settled_search(["kb"], search, list)
    assert asked == [0]


async def test_leftovers_in_an_index_do_not_repeat_a_search_for_long(registry: Registry) -> None:
    searches = 0

    async def search(extra: int, _: object) -> list[str]:
        nonlocal searches
        searches += 1
        return ["nowhere-0"]

    assert await registry.settled_search(["kb"], search, list) == (["nowhere-0"], {})
    assert searches == 1


@given(st.text())
def test_what_is_storable_is_utf8_without_nul(text: str) -> None:
    cleaned = storable(text + "\0\ud800")
    assert "\0" not in cleaned
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert storable("a年") == "a年"


def test_a_location_is_kept_as_what_is_set() -> None:
    record = chunk_record(StoredChunk(chunk=FULL, vector_key="k", language="zh"))
    boxes = "[[3,72.1,80.0,300.5,92.4]]"
    assert record["location"] == f'{{"sheet":"S","first_row":3,"last_row":9,"anchor":"x","boxes":{boxes}}}'
    assert record["generation"] == "0123456789abcdef"
    assert datetime.now(UTC).tzinfo is UTC
