"""What chunks of the same readers tell of the graph, and what a model says of their names, on both databases."""

from ragcore.graph.doubtful import pair_of
from ragcore.graph.values import ChunkGraph, Entity, Relation
from ragcore.stores.database import Database
from ragcore.stores.graph_same import Evidence, Finding, Sameness
from ragcore.stores.graph_ties import Ties
from ragcore.stores.rows import digest, generation_of, reader_set_of
from ragcore.stores.staging import Staging
from tests.ragcore.stores.test_graphs import CLOSED, put_in

SET = reader_set_of(CLOSED)
IFB = (("IFB", "Fruit Board"),)


def graph(one: str, other: str, said: str, *, also: tuple[tuple[str, str], ...] = ()) -> ChunkGraph:
    return ChunkGraph(
        entities=(Entity(name=one, said=said, also=also), Entity(name=other)),
        relations=(Relation(source=0, target=1, said=f"{one} has {other}", weight=4),),
    )


async def told(database: Database) -> dict[str, str]:
    """Write documents, open, closed and not live, and return their generations."""
    graphs = {
        "open": [graph("Ann Lee", "Acme", "a person"), graph("IFB", "Acme", "", also=IFB)],
        "more": [graph("Anne Lee", "Acme", "another person"), graph("IB", "Acme", "", also=(("IB", "Inner Board"),))],
        "two": [graph("IB", "Kay", "", also=(("IB", "Iron Bank"),))],
    }
    found = {tag: await put_in(database, "kb", tag, some, None, live=True) for tag, some in graphs.items()}
    found["closed"] = await put_in(database, "kb", "closed", [graph("Ann Lee", "Kay", "x" * 50)], CLOSED, live=True)
    await put_in(database, "kb", "staged", [graph("Zoe", "Acme", "staged")], None, live=False)
    await put_in(database, "other", "1", [graph("Zoe", "Acme", "elsewhere")], None, live=True)
    return found


async def test_what_is_told_is_that_of_one_set_of_readers(database: Database) -> None:
    generations = await told(database)
    ties = Ties(database)
    some = await ties.told("kb", "")
    assert sorted((one.source, one.target) for one in some) == [
        ("ann lee", "acme"),
        ("anne lee", "acme"),
        ("ib", "acme"),
        ("ib", "kay"),
        ("ifb", "acme"),
    ]
    assert {one.document_id for one in some} == {"s:kbopen", "s:kbmore", "s:kbtwo"}
    assert {one.place for one in some if one.document_id == "s:kbopen"} == {("s:kbopen", 0), ("s:kbopen", 1)}
    (closed,) = await ties.told("kb", SET)
    assert (closed.source, closed.target, closed.weight) == ("ann lee", "kay", 4)
    chunks = await ties.chunks({one.chunk_id for one in some} | {"f" * 32 + "-0"})
    assert set(chunks) == {one.chunk_id for one in some}
    assert all(stored.graph for stored in chunks.values())
    await Staging(database).tombstone(["s:kbopen"])
    assert "s:kbopen" not in {one.document_id for one in await ties.told("kb", "")}
    assert not await ties.chunks({f"{generations['open']}-0"})


async def test_names_mean_the_same_by_rule_where_that_is_clear_and_by_what_a_model_says(database: Database) -> None:
    await told(database)
    same, ties = Sameness(database), Ties(database)
    assert await ties.same("kb", "") == [("ifb", "fruit board")], "IB is short for two things"
    names = await same.told("kb")
    assert set(names) == {"", SET}
    assert names[""].chunks["acme"] == 4
    assert names[""].chunks["ann lee"] == 1, "as if what is closed were not there"
    assert set(names[SET].chunks) == {"ann lee", "kay"}
    assert pair_of("ifb", "fruit board") in names[""].related
    assert "zoe" not in names[""].chunks
    lines = await same.evidence("kb", "", ["ann lee", "anne lee", "acme", "zoe"])
    assert {key: line.said for key, line in lines.items()} == {
        "ann lee": "Ann Lee: a person",
        "anne lee": "Anne Lee: another person",
        "acme": "Anne Lee – Acme: Anne Lee has Acme",
    }
    pair = pair_of("ann lee", "anne lee")
    found = Finding(reader_set="", pair=pair, first=lines[pair.key], second=lines[pair.other])
    gone = Evidence(said="", chunk_id=f"{'f' * 32}-0", document_id="s:gone", generation=generation_of(f"{'f' * 32}-0"))
    half = Finding(reader_set="", pair=pair_of("acme", "kay"), first=lines["acme"], second=gone)
    mark = digest("so far")
    await same.put("kb", [found, half], mark)
    assert set(await ties.same("kb", "")) == {("ann lee", "anne lee"), ("ifb", "fruit board")}
    assert await ties.same("kb", SET) == []
    assert await same.told("kb") == names, "what a model says of names is no name, and no rule"
    assert await same.is_marked("kb", mark)
    assert not await same.is_marked("other", mark)
    await same.put("other", [])
    assert len(await ties.same("kb", "")) == 2
    before = await same.revision("kb")
    await Staging(database).tombstone(["s:kbmore"])
    assert await same.revision("kb") > before
    assert ("ann lee", "anne lee") not in await ties.same("kb", "")
    await same.put("kb", [])
    assert not await same.is_marked("kb", mark)
    assert await ties.same("kb", "") == [("ib", "iron bank"), ("ifb", "fruit board")]
