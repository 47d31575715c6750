"""What a model is shown of a community stands in the chunks that its report rests on, fits, and does not hang on ids."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.reporting import (
    FEWEST_CHUNKS,
    FEWEST_LINES,
    MOST_CHUNKS,
    Material,
    communities,
    heading_of,
    material_of,
)
from ragcore.graph.names import key_of
from ragcore.graph.values import ChunkGraph, Entity, Relation
from ragcore.stores.graph_ties import ToldTie
from ragcore.stores.rows import StoredChunk
from ragcore.types import Chunk

NAMES = ("Ann Lee", "Acme", "Acme Bank", "Port Elm", "Kay", "Pier Nine", "World Board", "WB")


def stored(number: int, graph: ChunkGraph, *, generation: str = "g", text: str = "") -> StoredChunk:
    chunk = Chunk(
        id=f"{generation}{number // 3}-{number % 3}",
        document_id=f"s:d{number // 3}",
        knowledge_base="kb",
        ordinal=number % 3,
        text=text or f"The passage number {number}.",
        title=f"T{number}",
        token_count=4,
    )
    return StoredChunk(chunk=chunk, vector_key="v", language="en", graph=graph)


def graph(number: int, pairs: Sequence[tuple[str, str]]) -> ChunkGraph:
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return ChunkGraph(
        entities=tuple(Entity(name=name) for name in names),
        relations=tuple(
            Relation(
                source=names.index(one), target=names.index(other), said=f"said in c{number}.", weight=1 + number % 9
            )
            for one, other in pairs
        ),
    )


def ties_of(chunks: Sequence[StoredChunk]) -> list[ToldTie]:
    return [
        ToldTie(
            chunk_id=one.chunk.id,
            document_id=one.chunk.document_id,
            source=key_of(one.graph.entities[relation.source].name),
            target=key_of(one.graph.entities[relation.target].name),
            weight=relation.weight,
        )
        for one in chunks
        if one.graph
        for relation in one.graph.relations
    ]


def materials(chunks: Sequence[StoredChunk], same: dict[str, str], room: int = 3_000) -> list[Material]:
    by_id = {one.chunk.id: one for one in chunks}
    each = (
        material_of(one, same, by_id, room=room, count=lambda text: len(text.split()))
        for one in communities(ties_of(chunks), same)
    )
    return [material for material in each if material]


def test_lines_stand_before_passages_under_the_names() -> None:
    chunks = [
        stored(0, graph(0, [("Ann Lee", "Acme")])),
        stored(1, graph(8, [("Acme", "Kay"), ("Ann Lee", "Kay")])),
        stored(2, graph(3, [("Port Elm", "Pier Nine")])),
    ]
    (only,) = materials(chunks, {})
    assert only.text == (
        "Kay, Acme, Ann Lee\n\n"
        "- Acme – Kay: said in c8.\n- Ann Lee – Kay: said in c8.\n- Ann Lee – Acme: said in c0.\n\n"
        "T1\nThe passage number 1.\n\nT0\nThe passage number 0."
    )
    assert [one.chunk.id for one in only.chunks] == ["g0-1", "g0-0"]


def test_names_of_one_thing_count_as_one() -> None:
    chunks = [
        stored(n, graph(n, [pair])) for n, pair in enumerate([("WB", "Kay"), ("World Board", "Acme"), ("Acme", "Kay")])
    ]
    assert communities(ties_of(chunks[:2]), {}) == []
    (only,) = materials(chunks, {"world board": "wb"})
    assert only.names == ("Acme", "Kay", "WB") or set(only.names) == {"Acme", "Kay", "World Board"}


_PAIRS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda pair: pair[0] != pair[1]), max_size=4
)
_WORLD = st.lists(_PAIRS, max_size=40)


@given(world=_WORLD, room=st.integers(0, 900), is_same=st.booleans())
def test_nothing_is_shown_but_what_the_report_rests_on(
    world: list[list[tuple[str, str]]], room: int, is_same: bool
) -> None:
    same = {"world board": "wb"} if is_same else {}
    chunks = [stored(n, graph(n, pairs)) for n, pairs in enumerate(world)]
    found = materials(chunks, same, room)
    for material in found:
        assert FEWEST_CHUNKS <= len(material.chunks) <= MOST_CHUNKS
        assert material.text.count("\n- ") >= FEWEST_LINES
        assert len(material.text.split()) <= room
        places = {one.chunk.id for one in material.chunks}
        for number, one in enumerate(chunks):
            if one.chunk.id not in places:
                assert f"c{number}." not in material.text
                assert f"number {number}." not in material.text
        named = {entity.name for one in material.chunks if one.graph for entity in one.graph.entities}
        assert set(material.names) <= named
    names = [key_of(name) for material in found for name in material.names]
    assert len(names) == len(set(names)), "each thing is in one report at most"
    renamed = [replace(one, chunk=replace(one.chunk, id=f"z{one.chunk.id}")) for one in chunks]
    assert [one.text for one in materials(list(reversed(renamed)), same, room)] == [one.text for one in found]


def test_a_long_heading_is_cut_between_names() -> None:
    assert heading_of([]) == ""
    assert heading_of([f"N{n}" for n in range(20)]) == "N0, N1, N2, N3, N4, N5, N6, N7"
    assert heading_of(["a" * 90, "b" * 90, "c" * 90]) == f"{'a' * 90}, {'b' * 90}"
