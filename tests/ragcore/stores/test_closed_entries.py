"""What a search of the vectors gives to those who may not read everything, embedded and on a server."""

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.stores.chroma import WITHOUT_READERS
from ragcore.stores.health import IndexState
from ragcore.stores.indexes import Permitted
from ragcore.stores.rows import digest, entry_of, reader_set_of
from ragcore.stores.vectors import MOST_EQUAL
from tests.fakes.stored import EMBEDDER
from tests.fakes.vector_stores import Stores, all_chunks


def assert_nearest(found: list[tuple[str, float]], query: NDArray[np.float32], texts: list[str]) -> None:
    """Whether what was found are the nearest of these texts; such as are as near may stand in each other's places."""
    cosines = sorted((float(query @ EMBEDDER.vector(text)) for text in texts), reverse=True)
    assert {text for text, _ in found} <= set(texts)
    assert [score for _, score in found] == pytest.approx(cosines[: len(found)], abs=2e-3)


@pytest.mark.parametrize(
    "mine",
    [pytest.param(0, marks=pytest.mark.soak), 1, 39],
    ids=["none of them mine", "one of them mine", "all but one mine"],
)
async def test_what_is_closed_takes_no_place_in_a_search(stores: Stores, mine: int) -> None:
    """The entries of 40 sets of readers, each nearer to some question than all that is open."""
    texts = [f"open {n}" for n in range(12)]
    await stores.put("s:open", texts)
    sets = []
    for n in range(40):
        readers = frozenset({f"slack:T/@U{n}"})
        await stores.put(f"s:{n}", [f"closed {n} {m}" for m in range(6)], readers=readers)
        sets.append(reader_set_of(readers))
    only = Permitted(sets=frozenset(sets[:mine]), closed=frozenset(sets[mine:]))
    readable = texts + [f"closed {n} {m}" for n in range(mine) for m in range(6)]
    of = {chunk.chunk.id: chunk.chunk.text for chunk in await all_chunks(stores)}

    async def finds_the_nearest(n: int) -> None:
        vector = EMBEDDER.vector(f"closed {n} 0")
        hits = await stores.index.query("kb", vector, 10, only)
        assert len(hits) == 10
        assert_nearest([(of[hit.chunk_id], hit.score) for hit in hits], vector, readable)

    for n in range(mine, 40, 7):
        await finds_the_nearest(n)
    everything = await stores.index.query("kb", EMBEDDER.vector("closed 39 0"), 1)
    assert of[everything[0].chunk_id] == "closed 39 0", "who reads everything"
    assert (await stores.index.probe("kb")).state is IndexState.WELL
    await stores.rebuild()
    await finds_the_nearest(39)


async def test_more_sets_of_readers_than_chroma_can_filter_by_damage_nothing(stores: Stores) -> None:
    texts = [f"open {n}" for n in range(12)]
    await stores.put("s:open", texts)
    readers = frozenset({"slack:T/@U1"})
    await stores.put("s:closed", [f"closed {n}" for n in range(200)], readers=readers)
    mine, theirs = ([f"{who}{n:031x}" for n in range(33_000)] for who in "ab")
    only = Permitted(sets=frozenset(mine), closed=frozenset({*theirs, reader_set_of(readers)}))
    of = {chunk.chunk.id: chunk.chunk.text for chunk in await all_chunks(stores)}
    vector = EMBEDDER.vector("closed 7")
    hits = await stores.index.query("kb", vector, 10, only)
    assert len(hits) == 10
    assert_nearest([(of[hit.chunk_id], hit.score) for hit in hits], vector, texts)
    assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_one_text_is_told_to_several_and_each_finds_their_own(stores: Stores) -> None:
    told = [frozenset({f"email:{n}@example.org"}) for n in range(30)]
    ids = [(await stores.put(f"s:{n}", ["the same footer"], readers=readers))[0] for n, readers in enumerate(told)]
    sets = frozenset(map(reader_set_of, told))
    vector = EMBEDDER.vector("the same footer")
    for n in (0, 17, 29):
        mine = frozenset({reader_set_of(told[n])})
        hits = await stores.index.query("kb", vector, 5, Permitted(sets=mine, closed=sets - mine))
        assert [hit.chunk_id for hit in hits] == [ids[n]]
    assert len(await stores.index.query("kb", vector, 100)) == MOST_EQUAL, "they say the same"
    await stores.staging.tombstone(["s:17"])
    gone = await stores.orphans(garbage := await stores.staging.garbage())
    assert gone == [entry_of(digest("the same footer"), reader_set_of(told[17]))]
    await stores.index.delete("kb", gone)
    await stores.staging.forget(garbage)
    assert await stores.index.count("kb") == 29
    assert (await stores.index.probe("kb")).state is IndexState.WELL


async def test_a_collection_from_before_readers_stays_while_all_is_open(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcore.stores.chroma.LAYOUT", WITHOUT_READERS)
    await stores.put("s:a", ["one", "two"])
    assert (await stores.index.probe("kb")).state is IndexState.WELL
    await stores.put("s:b", ["three"], readers=frozenset({"slack:T"}))
    assert (await stores.index.probe("kb")).state is IndexState.DAMAGED
