"""What a model is shown of a community stands in the chunks that its report rests on, fits, and does not hang on ids."""

import random
from collections.abc import Sequence

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


def graph(number: int, pairs: Sequence[tuple[str, str]], words: int = 0) -> ChunkGraph:
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return ChunkGraph(
        entities=tuple(Entity(name=name) for name in names),
        relations=tuple(
            Relation(
                source=names.index(one),
                target=names.index(other),
                said=f"said in c{number}.{' word' * words}",
                weight=1 + number % 3,
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


def test_what_does_not_fit_is_not_named_either() -> None:
    three = [("Ann Lee", "Acme"), ("Acme", "Kay"), ("Kay", "Ann Lee")]
    chunks = [stored(n, graph(n, [pair])) for n, pair in enumerate(three)]
    chunks.append(stored(3, graph(0, [("Acme", "Port Elm")], words=400)))
    (only,) = materials(chunks, {}, room=400)
    assert "Port Elm" not in only.text
    assert set(only.names) == {"Ann Lee", "Acme", "Kay"}
    assert [one.chunk.title for one in only.chunks] == ["T2", "T1", "T0"]
    (roomy,) = materials(chunks, {}, room=2_000)
    assert "Port Elm" in roomy.names


def test_of_too_many_communities_those_of_which_most_is_told_are_kept() -> None:
    threes = [("a", "b"), ("b", "c"), ("c", "a")]
    pairs = [(f"{one}{n}", f"{other}{n}") for n in range(6) for one, other in (*threes, *threes[: n % 3])]
    chunks = [stored(at, graph(0, [pair])) for at, pair in enumerate(pairs)]
    ties = ties_of(chunks)
    whole = communities(ties, {})
    assert [len(one.chunk_ids) for one in whole] == [3, 4, 5, 3, 4, 5]
    assert communities(ties, {}, most=3) == [whole[1], whole[2], whole[5]]


@given(
    draw=st.randoms(use_true_random=False),
    count=st.integers(0, 40),
    room=st.integers(200, 900),
    words=st.sampled_from([0, 30]),
    is_same=st.booleans(),
)
def test_nothing_is_shown_but_what_the_report_rests_on(
    draw: random.Random, count: int, room: int, words: int, is_same: bool
) -> None:
    same = {"world board": "wb"} if is_same else {}
    world = [
        [(one, other) for one, other in (draw.sample(NAMES, 2) for _ in range(draw.randint(0, 3)))]
        for _ in range(count)
    ]
    graphs = [graph(n, pairs, words) for n, pairs in enumerate(world)]
    chunks = [stored(n, said) for n, said in enumerate(graphs)]
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
    renamed = [stored(n, said, generation=f"{50 - n // 3}g") for n, said in enumerate(graphs)]
    assert [one.text for one in materials(list(reversed(renamed)), same, room)] == [one.text for one in found]


def test_a_long_heading_is_cut_between_names() -> None:
    assert heading_of([]) == ""
    assert heading_of([f"N{n}" for n in range(20)]) == "N0, N1, N2, N3, N4, N5, N6, N7"
    assert heading_of(["a" * 90, "b" * 90, "c" * 90]) == f"{'a' * 90}, {'b' * 90}"
