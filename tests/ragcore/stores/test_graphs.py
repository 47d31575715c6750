"""The graph is walked as if what may not be seen were not there, on both databases."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragcore.graph.doubtful import pair_of
from ragcore.graph.names import key_of, names_asked
from ragcore.graph.values import ChunkGraph, Entity, Relation
from ragcore.graph.walking import Around
from ragcore.stores.database import Database
from ragcore.stores.graph_same import Evidence, Finding, Sameness
from ragcore.stores.graphs import Admitted, Graphs
from ragcore.stores.indexes import Matching, Permitted
from ragcore.stores.rows import generation_of, reader_set_of
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from tests.fakes.stored import made, put
from tests.soak import FIXED, scaled

NAMES = ("Ann Lee", "Acme", "Acme Bank", "Port Elm", "World Board", "WB", "Inner Board", "IB", "Kay")
FORMS = (("WB", "World Board"), ("IB", "Inner Board"), ("WB", "Wide Bank"))
QUESTIONS = (
    "What of Acme?",
    "Did Ann Lee buy Acme Bank?",
    "Who governs the WB, and what is the IB?",
    "World Board?",
    "?",
)
CLOSED = frozenset({"slack:T1/@U1"})


def drawn(draw: random.Random, tag: str) -> ChunkGraph:
    """Return what a chunk says, of a few names; ``tag`` stands in all of it."""
    names = draw.sample(NAMES, draw.randint(2, 4))
    form = draw.choice([*FORMS, None, None, None])
    entities = [Entity(name=name, said=f"{name} in {tag}") for name in names]
    if form and form[0] in names:
        entities[names.index(form[0])] = replace(entities[names.index(form[0])], also=(form,))
    pairs = [draw.sample(range(len(names)), 2) for _ in range(draw.randint(0, 3))]
    relations = [Relation(source=a, target=b, said=f"said in {tag}", weight=draw.randint(1, 10)) for a, b in pairs]
    return ChunkGraph(entities=tuple(entities), relations=tuple(relations))


async def put_in(
    database: Database, base: str, tag: str, graphs: Sequence[ChunkGraph], readers: frozenset[str] | None, *, live: bool
) -> str:
    document, stored = made(f"s:{base}{tag}", [f"{tag} {n}" for n in range(len(graphs))], base=base, readers=readers)
    stored = [replace(one, graph=graph) for one, graph in zip(stored, graphs, strict=True)]
    staging = Staging(database)
    if live:
        await put(staging, Vectors(database), document, stored)
    else:  # another version of the document is live, which names nothing
        await put(staging, Vectors(database), *made(document.id, ["Nothing"], base=base))
        await staging.stage(stored)
    return document.generation


Place = tuple[str, str, str]
"""A key, the document that tells it, and the chunk."""


def told_in(generation: str, tag: str, graphs: Sequence[ChunkGraph]) -> list[Place]:
    return [
        (key_of(one.name), tag, f"{generation}-{ordinal}")
        for ordinal, graph in enumerate(graphs)
        for one in graph.entities
    ]


def drawn_same(draw: random.Random, places: Sequence[Place], fates: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return names that mean the same, each with its document: in one set of readers each pair once."""
    found: dict[object, tuple[str, ...]] = {}
    for _ in range(40):
        one, other = draw.sample(places, 2)
        closed = fates[one[1]] == "closed"
        if one[0] != other[0] and closed == (fates[other[1]] == "closed"):
            found.setdefault((pair_of(one[0], other[0]), closed), (*one[:2], *other[:2]))
    return list(found.values())


def findings(
    base: str, same: Sequence[tuple[str, ...]], places: Sequence[Place], fates: Mapping[str, str]
) -> list[Finding]:
    """Return those of them that this knowledge base has chunks for."""
    chunks = {(key, tag): chunk_id for key, tag, chunk_id in places}
    found = []
    for one, tag, other, tagged in same:
        if (one, tag) in chunks and (other, tagged) in chunks:
            lines = {
                key: Evidence(
                    said="",
                    chunk_id=chunks[key, where],
                    document_id=f"s:{base}{where}",
                    generation=generation_of(chunks[key, where]),
                )
                for key, where in ((one, tag), (other, tagged))
            }
            pair = pair_of(one, other)
            reader_set = reader_set_of(CLOSED) if fates[tag] == "closed" else ""
            found.append(Finding(reader_set=reader_set, pair=pair, first=lines[pair.key], second=lines[pair.other]))
    return found


async def seen(graphs: Graphs, base: str, question: str, admitted: Admitted) -> Around | None:
    asked = names_asked(question)
    known = await graphs.known([base], asked)
    return await graphs.around(base, asked, known.get(base, []), admitted)


def told(around: Around | None) -> tuple[object, ...]:
    """Return what it says, whichever knowledge base it stands in."""
    if around is None:
        return ()
    near, far = ({(one.source, one.target, one.said, one.weight) for one in some} for some in (around.near, around.far))
    return dict(around.same), {(one.key, one.said) for one in around.names}, near, far


async def test_what_may_not_be_seen_is_as_if_it_were_not_there(database: Database) -> None:
    """Closed documents, those that a filter leaves out, and those that are not live: one base has them, one lacks them."""
    found = merged = 0
    for run in range(scaled(2)):
        draw = random.Random(run if FIXED else None)
        matching: set[str] = set()
        everything, open_alone = f"all{run}", f"open{run}"
        fates: dict[str, str] = {}
        places: dict[str, list[Place]] = {everything: [], open_alone: []}
        for number in range(14):
            fate = draw.choice(["open", "open", "closed", "filtered", "staged"])
            graphs = [drawn(draw, f"d{number}c{chunk}") for chunk in range(draw.randint(1, 3))]
            readers = CLOSED if fate == "closed" else None
            generation = await put_in(database, everything, f"-{number}", graphs, readers, live=fate != "staged")
            if fate != "filtered":
                matching.add(generation)
            fates[f"-{number}"] = fate
            places[everything] += told_in(generation, f"-{number}", graphs)
            if fate == "open":
                alone = await put_in(database, open_alone, f"-{number}", graphs, None, live=True)
                places[open_alone] += told_in(alone, f"-{number}", graphs)
        same = drawn_same(draw, places[everything], fates)
        for base in (everything, open_alone):
            await Sameness(database).put(base, findings(base, same, places[base], fates))
        admitted = Admitted(
            only=Permitted(sets=frozenset(), closed=frozenset({reader_set_of(CLOSED)})),
            matching=Matching(generations=frozenset(matching)),
        )
        for question in QUESTIONS:
            some = await seen(Graphs(database), everything, question, admitted)
            assert told(some) == told(await seen(Graphs(database), open_alone, question, Admitted()))
            found += some is not None
            merged += some is not None and any(one.said for one in some.names) and len(some.same) > 2
            for one in (*some.near, *some.far, *some.names) if some else ():
                assert generation_of(one.chunk_id) in matching
    assert found
    assert merged


async def test_another_knowledge_base_and_a_source_that_moved_are_not_looked_at(database: Database) -> None:
    graph = ChunkGraph(
        entities=(Entity(name="Acme"), Entity(name="Kay")),
        relations=(Relation(source=0, target=1, said="Kay owns Acme", weight=3),),
    )
    await put_in(database, "kb", "1", [graph], None, live=True)
    graphs = Graphs(database)
    around = await seen(graphs, "kb", "Acme?", Admitted(homes={"s": "kb"}))
    assert around is not None
    assert [one.said for one in around.near] == ["Acme – Kay: Kay owns Acme"]
    assert await seen(graphs, "other", "Acme?", Admitted()) is None
    assert await seen(graphs, "kb", "Acme?", Admitted(homes={"s": "other"})) is None
