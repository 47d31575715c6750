"""A summary of many documents is given out only while all that it rests on is there and open, and is no document."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ragcore.stores.database import Database
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.overviews import Overviews, Readership, source_of
from ragcore.stores.registry import Counts, Registry
from ragcore.stores.rows import Document, StoredChunk, is_open
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from ragcore.types import Leaf
from tests.fakes.stored import made, put
from tests.soak import FIXED, scaled

A, B = "slack:T/@A", "slack:T/@B"
READERS = (None, frozenset({A}), frozenset({A, B}), frozenset[str]())
AUDIENCES = (None, frozenset({A}), frozenset({B}), frozenset({"*"}))
HOMES = {"moved": "other"}
BASES = {"s:0": "kb", "s:1": "kb", "s:2": "other", "moved:3": "kb"}
NAMES = tuple(BASES)
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["document", "overview", "overview", "gone"]),
        st.integers(0, 3),
        st.sampled_from(READERS),
        st.sets(st.integers(0, 3), min_size=1),
    ),
    min_size=4,
    max_size=14,
)
Turn = tuple[str, int, frozenset[str] | None, set[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """What a model of the registry knows of a live document; ``leaves`` are those of an overview's one summary."""

    document: Document
    leaves: tuple[Leaf, ...] = ()


async def put_overview(
    database: Database, base: str, kind: str, readers: frozenset[str] | None, leaves: Sequence[Leaf]
) -> tuple[Document, StoredChunk]:
    name = Readership(knowledge_base=base, readers=readers).overview_id(kind)
    document, (stored,) = made(name, [f"All of {len(leaves)}"], base=base, title="".join(str(leaves)), readers=readers)
    stored = replace(stored, chunk=replace(stored.chunk, rests_on=tuple(leaves)))
    document = replace(document, source=source_of(kind))
    await put(Staging(database), Vectors(database), document, [stored])
    return document, stored


async def holds(database: Database, turns: Sequence[Turn]) -> int:
    """Play the turns, and compare after each what the registry gives out; return how many overviews it gave."""
    registry, staging, given_out = Registry(database), Staging(database), 0
    stands: dict[str, Stands] = {}
    for number, (what, which, readers, others) in enumerate(turns):
        name = NAMES[which]
        if what == "gone":
            await staging.tombstone([name])
            stands.pop(name, None)
        elif what == "document":
            document, stored = made(name, [f"{name} says {number}"], base=BASES[name], readers=readers)
            await put(staging, Vectors(database), document, stored)
            stands[name] = Stands(document=document)
        elif live := [stands[NAMES[other]].document for other in sorted(others) if NAMES[other] in stands]:
            leaves = tuple(Leaf(chunk_id=f"{one.generation}-0", document_id=one.id) for one in live)
            document, _ = await put_overview(database, "kb", f"kind{which}", readers, leaves)
            stands[document.id] = Stands(document=document, leaves=leaves)
        for audience in AUDIENCES:
            for bases in (("kb",), ("kb", "other")):
                ids = [f"{one.document.generation}-0" for one in stands.values()]
                found = await registry.readable_chunks(ids, bases, readers=audience, homes=HOMES)
                assert set(found) == {
                    f"{one.document.generation}-0"
                    for one in stands.values()
                    if may_read(one.document, audience, bases)
                    and all(leaf_stands(stands, leaf, audience, bases) for leaf in one.leaves)
                }
                given_out += sum(bool(chunk.rests_on) for chunk in found.values())
    return given_out


def may_read(document: Document, audience: frozenset[str] | None, bases: Sequence[str]) -> bool:
    home = HOMES.get(document.source, document.knowledge_base)
    return document.knowledge_base in bases and home == document.knowledge_base and is_open(document.readers, audience)


def leaf_stands(stands: dict[str, Stands], leaf: Leaf, audience: frozenset[str] | None, bases: Sequence[str]) -> bool:
    now = stands.get(leaf.document_id)
    if now is None or leaf.chunk_id != f"{now.document.generation}-0":
        return False
    return may_read(now.document, audience, bases)


# Each example opens a database: making a failing one smaller would take minutes.
@settings(max_examples=scaled(4), deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(TURNS)
async def test_a_summary_is_given_out_to_who_may_read_all_that_it_rests_on(turns: list[Turn]) -> None:
    database = await Database.open(":memory:")
    try:
        await holds(database, turns)
    finally:
        await database.close()


async def test_so_it_is_on_both_databases(database: Database) -> None:
    draw = random.Random(7 if FIXED else None)
    whats = ("document", "document", "overview", "overview", "gone")
    turns = [
        (draw.choice(whats), draw.randrange(4), draw.choice(READERS), set(draw.sample(range(4), draw.randint(1, 3))))
        for _ in range(scaled(30))
    ]
    # One that is given out, however few are drawn.
    assert await holds(database, [("document", 0, None, {0}), ("overview", 0, None, {0}), *turns])


async def test_an_overview_is_no_document_where_documents_are_listed_counted_filtered_or_enriched(
    database: Database,
) -> None:
    document, stored = made("s:a", ["One.", "Two."])
    await put(Staging(database), Vectors(database), document, stored)
    leaves = [Leaf(chunk_id=one.chunk.id, document_id="s:a") for one in stored]
    overview, summary = await put_overview(database, "kb", "raptor", None, leaves)
    registry = Registry(database)
    (kept,) = [one for one in await registry.live_page("kb") if one.chunk.rests_on]
    assert kept == replace(summary, chunk=kept.chunk)
    assert kept.chunk.rests_on == tuple(leaves)
    assert kept.chunk.is_summary
    for audience in (None, frozenset({"*"})):
        assert await registry.counts_by_source(audience) == {"s": Counts(documents=1, chunks=2)}
    assert await registry.counts_by_knowledge_base() == {"kb": Counts(documents=1, chunks=3)}
    assert (await Enrichment(database).count("kb", "wanted")).documents == 1
    assert [one.id for one in await Enrichment(database).documents("kb", "wanted", after="", limit=9)] == ["s:a"]
    (source,) = [field for field in await DocumentValues(database).fields("kb") if field.name == "source"]
    assert source.sample == ("s",)
    assert overview.generation not in (await DocumentValues(database).matching("kb", ())).generations
    overviews = Overviews(database)
    assert list(await overviews.standing("kb")) == [overview.id]
    (readership,) = await overviews.readerships("kb")
    assert dict(readership.generations) == {"s:a": document.generation}
    assert not await overviews.standing("other")
    await Staging(database).tombstone([overview.id])
    assert not await overviews.standing("kb")


async def test_documents_are_told_apart_by_exactly_who_may_read_them(database: Database) -> None:
    for number, readers in enumerate((*READERS, None, frozenset({B, A}))):
        await put(Staging(database), Vectors(database), *made(f"s:{number}", [f"Text {number}"], readers=readers))
    found = await Overviews(database).readerships("kb")
    told = {one.readers: set(one.generations) for one in found}
    assert told == {None: {"s:0", "s:4"}, READERS[1]: {"s:1"}, READERS[2]: {"s:2", "s:5"}, READERS[3]: {"s:3"}}
    assert len({one.overview_id("raptor") for one in found} | {found[0].overview_id("other")}) == 5


async def test_the_last_chunks_of_each_document_are_read_as_far_as_it_stands(database: Database) -> None:
    staging, vectors = Staging(database), Vectors(database)
    for number in range(5):
        name, count = f"s:{number}", number + 1
        await put(staging, vectors, *made(name, [f"{name} {at}" for at in range(count)]))
        await put(staging, vectors, *made(name.replace("s:", "s:closed"), ["Closed."], readers=frozenset({A})))
    overviews = Overviews(database)
    readership = (await overviews.readerships("kb"))[0]
    await put(staging, vectors, *made("s:1", ["Changed."]))
    await staging.tombstone(["s:2"])
    (page,) = [some async for some in overviews.ends(readership, 2)]
    assert [[stored.chunk.text for stored in end] for end in page] == [
        ["s:0 0"],
        ["s:3 2", "s:3 3"],
        ["s:4 3", "s:4 4"],
    ]
    assert set(readership.without({"s:0"}).generations) == {"s:1", "s:2", "s:3", "s:4"}
    assert readership.without({"s:0"}).overview_id("raptor") == readership.overview_id("raptor")
