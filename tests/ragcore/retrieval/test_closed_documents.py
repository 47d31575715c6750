"""A document whose source told who may read it: a search gives it out to these readers alone, and finds what is open beside it."""

import pathlib
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import Connection

from ragcore.errors import IndexDamaged, StoreError
from ragcore.ingest import ingest
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.background import Backgrounds
from ragcore.stores import keyword_snapshot, reader_sets
from ragcore.stores.chroma import Chroma
from ragcore.stores.chunk_vectors import ChunkVectors
from ragcore.stores.health import IndexState
from ragcore.stores.indexes import Hit, Permitted
from ragcore.stores.rows import is_open, reader_set_of
from ragcore.types import Question, SourceDocument
from tests.fakes.libraries import each, fill, opened
from tests.ragcore.retrieval.test_retriever import WordEmbedder
from tests.soak import FIXED, scaled

ASKED = Question(text="Brightwater merger", knowledge_bases=("kb",))
ALL = RetrievalOptions(similarity_threshold=0.0, top_n=200)


async def fill_closed(
    library: Library, texts: Mapping[str, str], readers: frozenset[str] | None, *, base: str = "kb"
) -> None:
    """Index documents that only these readers may read."""

    async def closed() -> AsyncIterator[SourceDocument]:
        async for document in each(texts):
            yield replace(document, readers=readers)

    async for _ in ingest(library, base, closed()):
        pass


async def found(library: Library, question: Question, **parts: object) -> list[str]:
    """Return the documents that a search gives out, the best first."""
    made = {"vectors": library.vectors, "keywords": library.keywords, "options": ALL} | parts
    search = Retriever(registry=library.registry, embedder=library.embedder, **made)  # type: ignore[arg-type]
    return [scored.chunk.document_id for scored in (await search.retrieve(question)).chunks]


@pytest.mark.parametrize(
    ("readers", "documents"),
    [
        (None, {"s:open", "s:board", "s:nobody"}),
        (frozenset({"*", "slack:T1"}), {"s:open"}),
        (frozenset({"*", "slack:T1/@U1"}), {"s:open", "s:board"}),
        (frozenset[str](), {"s:open"}),
    ],
)
async def test_only_its_readers_find_a_document(
    readers: frozenset[str] | None, documents: set[str], tmp_path: pathlib.Path
) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"open": "The merger with Brightwater was in the news."})
        board = frozenset({"slack:T1/@U1", "email:ann@example.org"})
        await fill_closed(library, {"board": "The merger with Brightwater costs nine million."}, board)
        await fill_closed(library, {"nobody": "Brightwater merger."}, frozenset())
        assert set(await found(library, replace(ASKED, readers=readers))) == documents


async def test_many_closed_documents_hide_no_open_one(tmp_path: pathlib.Path) -> None:
    """Though 500 of them match better than all that is open, and only a few are asked of each index."""
    options = replace(ALL, top_k=10)
    async with opened(tmp_path, WordEmbedder()) as library:
        texts = {f"c{number}": f"Brightwater merger, file {number}." for number in range(500)}
        await fill_closed(library, texts, frozenset({"slack:T1/@U1"}))
        news = {
            f"open{n}": f"In the news of year {n}, among others: a merger, that with Brightwater." for n in range(8)
        }
        await fill(library, news)
        asked = replace(ASKED, readers=frozenset({"*"}))
        assert set(await found(library, asked, options=options)) == {f"s:{name}" for name in news}
        named = replace(asked, document_ids=(*(f"s:{name}" for name in texts), *(f"s:{name}" for name in news)))
        for question in (asked, named):
            for leg in ("vectors", "keywords"):  # each without the other
                alone = await found(library, question, options=options, **{leg: Nothing()})
                assert set(alone) == {f"s:{name}" for name in news}, leg
        assert "s:c7" in await found(library, replace(ASKED, readers=None)), "the operator"
        closed = Permitted(sets=frozenset(), closed=frozenset({reader_set_of({"slack:T1/@U1"})}))
        drawn = await ChunkVectors(library.database, embedder="words").sample("kb", 200, closed)
        assert {chunk.document_id for chunk in drawn} == {f"s:{name}" for name in news}, "what hits are compared with"
        few = await ChunkVectors(library.database, embedder="words").sample("kb", 2, closed)
        assert len({chunk.document_id for chunk in few} & {f"s:{name}" for name in news}) == 2, (
            "behind many closed ones"
        )


class Nothing:
    """An index that is being built anew."""

    async def query(self, knowledge_base: str, vector: NDArray[np.float32], k: int, only: object = None) -> list[Hit]:
        raise IndexDamaged("being rebuilt")

    async def read(self, work: object) -> object:
        raise IndexDamaged("being refilled")


READERS = ["*", "slack:T1", "slack:T1/C1", "slack:T1/@U1", "slack:T1/@U2", "discord:1", "email:ann@example.org"]
WORDS = ["harbour", "glacier", "valley", "merger", "salary", "canteen", "holiday", "tunnel", "invoice", "budget"]


async def test_a_search_finds_what_it_would_if_nothing_closed_were_there(tmp_path: pathlib.Path) -> None:
    """For random documents, readers and audiences."""
    drawn = random.Random(7 if FIXED else None)
    for world in range(scaled(2)):
        sets = [None, None, *(frozenset(drawn.sample(READERS, drawn.randint(0, 3))) for _ in range(5))]
        told = {f"d{n}": (" ".join(drawn.choices(WORDS, k=6)), drawn.choice(sets)) for n in range(40)}
        async with opened(tmp_path / f"{world}", WordEmbedder()) as whole:
            await fill_told(whole, told)
            for turn in range(2):
                audience = frozenset(drawn.sample(READERS, drawn.randint(0, 4)))
                readable = {name: one for name, one in told.items() if is_open(one[1], audience)}
                async with opened(tmp_path / f"{world}-{turn}", WordEmbedder()) as alone:
                    await fill_told(alone, readable)
                    for _ in range(4):
                        asked = replace(ASKED, text=" ".join(drawn.sample(WORDS, 2)), readers=audience)
                        assert sorted(await found(whole, asked)) == sorted(
                            await found(alone, replace(asked, readers=None))
                        ), (told, asked)


async def fill_told(library: Library, told: Mapping[str, tuple[str, frozenset[str] | None]]) -> None:
    """Index documents, each for the readers that its source told."""

    async def documents() -> AsyncIterator[SourceDocument]:
        async for document in each({name: text for name, (text, _) in told.items()}):
            yield replace(document, readers=told[document.id.removeprefix("s:")][1])

    async for _ in ingest(library, "kb", documents()):
        pass


async def test_only_where_something_is_closed_to_the_audience_there_is_a_filter(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_of_chroma: list[object] = []
    filtered_words: list[Permitted] = []
    read: list[str] = []
    query, filtered, sets = Chroma.query, keyword_snapshot._filtered, reader_sets._read

    async def seen(
        self: Chroma, name: str, vector: NDArray[np.float32], k: int, only: Permitted | None = None
    ) -> object:
        asked_of_chroma.append(only)
        return await query(self, name, vector, k, only)

    def seen_words(schema: object, wanted: object, only: Permitted) -> object:
        filtered_words.append(only)
        return filtered(schema, wanted, only)  # type: ignore[arg-type]

    def seen_sets(connection: Connection, name: str, wanted: Sequence[str]) -> dict[str, frozenset[str]]:
        read.extend(wanted)
        return sets(connection, name, wanted)

    monkeypatch.setattr(Chroma, "query", seen)
    monkeypatch.setattr(keyword_snapshot, "_filtered", seen_words)
    monkeypatch.setattr(reader_sets, "_read", seen_sets)
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {f"open{n}": f"The merger with Brightwater, {n}." for n in range(5)})
        workspace = replace(ASKED, readers=frozenset({"*", "slack:T1"}))
        await found(library, workspace)
        assert (asked_of_chroma, filtered_words, read) == ([None], [], []), "no source told readers"
        texts = {f"team{n}": f"Brightwater merger {n}" for n in range(9)}
        await fill_closed(library, texts, frozenset({"slack:T1"}))
        await found(library, workspace)
        await found(library, replace(ASKED, readers=None))
        assert (set(asked_of_chroma), filtered_words) == ({None}, []), "nothing is closed to whoever asks"
        outsiders = replace(ASKED, readers=frozenset({"*"}))
        await found(library, outsiders)
        assert filtered_words
        assert set(asked_of_chroma) == {None}, "there is room for all that is open beside what is closed"
        assert await found(library, outsiders, options=replace(ALL, top_k=2, vector_similarity_weight=1.0))
        assert asked_of_chroma[-1] == filtered_words[-1]
        assert read == [reader_set_of(frozenset({"slack:T1"}))], "read once, and remembered"


async def test_a_change_of_readers_alone_reaches_both_indexes_and_embeds_nothing(tmp_path: pathlib.Path) -> None:
    embedder = WordEmbedder()
    calls: list[Sequence[str]] = []
    async with opened(tmp_path, embedder) as library:
        text = "The merger with Brightwater, in ten parts."
        first, second = frozenset({"slack:T1/@U1"}), frozenset({"slack:T1/@U2"})
        await fill_told(library, {"a": (text, first), "b": (text, first), "c": (text, None)})
        kept = await library.keywords.ids()
        entries = await library.vectors.ids("kb")
        assert len(entries) == 2, "a text, for all and for some"
        embed = embedder.embed

        async def counted(texts: Sequence[str]) -> NDArray[np.float32]:
            calls.append(texts)
            return await embed(texts)

        embedder.embed = counted  # type: ignore[method-assign]
        await fill_told(library, {"a": (text, second), "b": (text, first), "c": (text, None)})
        assert calls == []
        assert len(kept - await library.keywords.ids()) == 1, "one document is written anew"
        assert await library.vectors.ids("kb") - entries == {f"{min(entries)}.{reader_set_of(second)}"}
        for readers, documents in ((first, {"s:b", "s:c"}), (second, {"s:a", "s:c"}), (None, {"s:a", "s:b", "s:c"})):
            for vectors in (library.vectors, Nothing()):
                assert set(await found(library, replace(ASKED, readers=readers), vectors=vectors)) == documents
        await fill_told(library, {"a": (text, None), "b": (text, first), "c": (text, None)})
        assert set(await found(library, replace(ASKED, readers=frozenset({"*"})))) == {"s:a", "s:c"}
        assert await library.vectors.ids("kb") == entries
        assert {health.state for health in await check(library)} == {IndexState.WELL}


async def failing(*_: object) -> int:
    raise StoreError("the database failed")


@pytest.mark.parametrize("state", ["live", "being written", "deleted"])
@pytest.mark.parametrize("others", [0, 3], ids=["the only ones closed", "others are closed, too"])
async def test_a_word_that_only_closed_documents_have_is_as_unknown_as_any(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, state: str, others: int
) -> None:
    """Whoever asks for it learns nothing from what is found, from its scores, or from what is judged relevant.

    Not even while the indexes hold what is not live yet, or any more.
    """
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {f"open{n}": f"The canteen has its {WORDS[n % 5]} on day {n}." for n in range(12)})
        for n in range(others):
            await fill_closed(library, {f"other{n}": f"Canteen file {n}."}, frozenset({f"slack:T1/@V{n}"}))
        closed = {f"c{n}": f"Zyxgate takes over the canteen, says file {n}." for n in range(9)}
        if state == "being written":
            monkeypatch.setattr(library.staging, "switch", failing)
        with suppress(StoreError):
            await fill_closed(library, closed, frozenset({"slack:T1/@U1"}))
        if state == "deleted":
            await library.staging.tombstone([f"s:{name}" for name in closed])
        audience = frozenset({"*"})
        search = Retriever(
            registry=library.registry, vectors=Nothing(), keywords=library.keywords, embedder=library.embedder
        )
        results = [
            await search.retrieve(Question(text=text, knowledge_bases=("kb",), readers=audience))
            for text in ("Glacier of Zyxgate", "Glacier of Quvgate")
        ]
        known, unknown = (
            [(one.chunk.id, one.score, one.matched) for one in (*result.chunks, *result.near)] for result in results
        )
        assert known == unknown
        assert known
        assert results[0].relaxed == results[1].relaxed


async def test_a_knowledge_base_that_is_not_asked_is_read_in_no_case(tmp_path: pathlib.Path) -> None:
    """Whatever an index gives out: the registry has the last word."""
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"open": "The merger with Brightwater was in the news."})
        await fill_closed(library, {"board": "The merger with Brightwater costs nine million."}, None, base="secret")

        class Strays:
            async def query(
                self, _: str, vector: NDArray[np.float32], k: int, only: Permitted | None = None
            ) -> list[Hit]:
                return [hit for base in ("secret", "kb") for hit in await library.vectors.query(base, vector, k, only)]

        assert await found(library, ASKED, vectors=Strays()) == ["s:open"]


async def test_what_is_closed_makes_no_word_common_and_no_background(tmp_path: pathlib.Path) -> None:
    """The one open document about glaciers is as relevant as if sixty closed ones were not there."""
    open_texts = {f"open{n}": f"The canteen has its {WORDS[n]} on day {n}." for n in range(len(WORDS))}
    closed = {f"c{n}": f"Our {WORDS[1]} file number {n} is a secret." for n in range(60)}
    question = Question(text=WORDS[1], knowledge_bases=("kb",), readers=frozenset({"*"}))
    scores = []
    for name, texts in (("whole", closed), ("alone", {})):
        async with opened(tmp_path / name, WordEmbedder()) as library:
            await fill(library, open_texts)
            await fill_closed(library, texts, frozenset({"slack:T1/@U1"}))
            backgrounds = Backgrounds(ChunkVectors(library.database, embedder="words"))
            none = Permitted(sets=frozenset(), closed=frozenset({reader_set_of({"slack:T1/@U1"})}))
            drawn = [await backgrounds.of("kb", count=None, only=only) for only in (None, none)]
            vectors = [sum(len(one.vectors) for one in sample.languages.values()) for sample in drawn]
            assert vectors == [len(open_texts) + len(texts), len(open_texts)]
            for parts in ({"vectors": Nothing()}, {"vectors": library.vectors}):
                search = Retriever(
                    registry=library.registry,
                    keywords=library.keywords,
                    embedder=library.embedder,
                    **parts,  # type: ignore[arg-type]
                )
                (only,) = (await search.retrieve(question)).chunks
                assert only.chunk.document_id == "s:open1"
                scores.append(only.score)
    assert scores[:2] == pytest.approx(scores[2:], abs=0.02)


@pytest.mark.parametrize("open_documents", [0, 30], ids=["all of them told", "the Chinese ones told"])
async def test_what_may_be_read_is_judged_alike_whether_its_source_told_readers_or_not(
    tmp_path: pathlib.Path, open_documents: int
) -> None:
    """Hits are compared with random chunks that their asker may read, not with those alone that all may read."""
    mine = frozenset({"slack:T1/@U1"})
    texts = {f"en{n}": (f"The {WORDS[n % 10]} of {WORDS[n % 7]} has number {n}.", None) for n in range(30)}
    texts |= {f"zh{n}": (f"第{n}号员工每年享有带薪年假，需要提前申请。", None) for n in range(30)}
    told = {name: (text, None if n < open_documents else mine) for n, (name, (text, _)) in enumerate(texts.items())}
    told |= {f"closed-{name}": (text, frozenset({"slack:T1/@U2"})) for name, (text, _) in texts.items()}
    judged = []
    for name, world, readers in (("whole", told, mine), ("alone", texts, None)):
        async with opened(tmp_path / name, WordEmbedder()) as library:
            await fill_told(library, world)
            search = Retriever(
                registry=library.registry, vectors=library.vectors, keywords=library.keywords, embedder=library.embedder
            )
            for asked in ("harbour number", "valley budget", "员工年假怎么申请"):
                given = await search.retrieve(Question(text=asked, knowledge_bases=("kb",), readers=readers))
                judged.append((len(given.chunks), [one.score for one in given.chunks[:3]]))
    whole, alone = judged[: len(judged) // 2], judged[len(judged) // 2 :]
    assert [count for count, _ in whole] == [count for count, _ in alone]
    assert any(count for count, _ in alone)
    for (_, scores), (_, same) in zip(whole, alone, strict=True):
        assert scores == pytest.approx(same, abs=0.03)


async def test_what_an_index_gives_by_mistake_is_checked_against_the_registry(tmp_path: pathlib.Path) -> None:
    """An index that knows nothing of readers, as it might after damage, gives no closed text out."""
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"open": "The merger with Brightwater is in the news."})
        await fill_closed(
            library, {"board": "The merger with Brightwater costs nine million."}, frozenset({"slack:T1"})
        )

        class Careless:
            async def query(self, base: str, vector: NDArray[np.float32], k: int, only: object = None) -> list[Hit]:
                return await library.vectors.query(base, vector, k)

        outsiders = replace(ASKED, readers=frozenset({"*"}))
        assert await found(library, outsiders, vectors=Careless()) == ["s:open"]
        assert set(await found(library, replace(ASKED, readers=None), vectors=Careless())) == {"s:open", "s:board"}


@pytest.mark.parametrize(
    ("readers", "given", "told"),
    [
        (frozenset({"slack:T1/@U1"}), {"s:one"}, set[str]()),
        (frozenset({"slack:T1/@U2"}), {"s:two"}, set[str]()),
        (frozenset({"*"}), set[str](), set[str]()),
        (None, {"s:one", "s:two"}, {"s:one", "s:two"}),
    ],
)
async def test_who_may_read_one_copy_alone_gets_that_one_and_hears_of_no_other(
    readers: frozenset[str] | None, given: set[str], told: set[str], tmp_path: pathlib.Path
) -> None:
    text = "# Merger\n\nThe merger with Brightwater costs nine million, and the board decides of it before the summer."
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill_closed(library, {"one": text}, frozenset({"slack:T1/@U1"}))
        await fill_closed(library, {"two": text}, frozenset({"slack:T1/@U2"}))
        search = Retriever(
            registry=library.registry,
            vectors=library.vectors,
            keywords=library.keywords,
            embedder=library.embedder,
            options=ALL,
        )
        chunks = (await search.retrieve(replace(ASKED, readers=readers))).chunks
        assert len(chunks) == min(1, len(given))
        assert {one.chunk.document_id for one in chunks} <= given
        seen = {one.document_id for scored in chunks for one in (scored.chunk, *scored.copies)}
        assert seen == (told or given)
