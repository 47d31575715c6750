"""The tags of a question reorder what passed the gate, by little, and bring in nothing."""

import asyncio
import pathlib
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.enrich.passing import enrich
from ragcore.errors import ModelUnreachable
from ragcore.library import Library
from ragcore.models.recent import LONGEST, MOST_KEPT, RecentEmbedder
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.features import RankFeature, factors
from ragcore.retrieval.ordering import Placed, arranged
from ragcore.stores.rows import StoredChunk
from ragcore.stores.tag_rows import TagRows
from ragcore.tagging.feature import TAG_WEIGHT, TagFeature, TagSource
from ragcore.tagging.scores import TagScores
from ragcore.tagging.sets import TagSets
from ragcore.types import Chunk, Question, ScoredChunk
from tests.fakes.embedding import HashEmbedder, WordsEmbedder
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_tag_step import ROWS, TAGS, fill_tags

TEXTS = {
    f"n{number}": f"# The {word}\n\nThe {word} parcel of the shop was broken and weighs {number} kilos."
    for number, word in enumerate(("blue", "red", "green", "white", "heavy", "light", "old", "new"))
}
ASKED = Question(text="Was the red parcel broken?", knowledge_bases=("kb",))
SOURCES = {"kb": TagSource(tags_from=("labels",), topn_tags=3)}


def chunk(number: int, tags: TagScores, knowledge_base: str = "kb") -> Chunk:
    return Chunk(
        id=f"g-{number}",
        document_id=f"s:{number}",
        knowledge_base=knowledge_base,
        ordinal=number,
        text="text",
        title="",
        token_count=1,
        tag_scores=tags,
    )


async def test_values_are_the_cosine_of_tags(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill_tags(library, ROWS)
        feature: RankFeature = TagFeature(TagSets(library), SOURCES, library.embedder)
        chunks = [
            chunk(1, (("damage", 9), ("Returns", 9))),
            chunk(2, (("payment", 9),)),
            chunk(3, ()),
            chunk(4, (("damage", 9),), knowledge_base="other"),
        ]
        alike, *others = await feature.values(ASKED, chunks)
        assert alike > 0.7
        assert others == [0.0, 0.0, 0.0]
        assert max(await factors([feature], ASKED, chunks)) <= 1.0 + TAG_WEIGHT


async def test_a_question_does_not_wait_for_a_large_tag_set_to_be_read(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The order without tags stands; the reading goes on, once, and a later question has them."""
    go_on, reads, read = asyncio.Event(), 0, TagRows.read

    async def slow(self: TagRows, knowledge_bases: Sequence[str], most: int) -> list[StoredChunk]:
        nonlocal reads
        reads += 1
        await go_on.wait()
        return await read(self, knowledge_bases, most)

    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill_tags(library, ROWS)
        monkeypatch.setattr(TagRows, "read", slow)
        tag_sets = TagSets(library)
        feature = TagFeature(tag_sets, SOURCES, library.embedder)
        chunks = [chunk(1, (("damage", 9), ("Returns", 9)))]
        for _ in range(3):
            assert await factors([feature], ASKED, chunks, seconds=0.02) == [1.0]
        assert "ranking without tags: no answer within 0.02 s" in caplog.text
        go_on.set()
        assert (await factors([feature], ASKED, chunks, seconds=60.0))[0] > 1.0
        assert reads == 1


async def test_what_is_read_for_nobody_ends_with_the_library(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(self: TagRows, knowledge_bases: Sequence[str], most: int) -> list[StoredChunk]:
        await asyncio.Event().wait()
        return []

    async with opened(tmp_path) as library:
        monkeypatch.setattr(TagRows, "read", endless)
        tag_sets = TagSets(library)
        reading = asyncio.create_task(tag_sets.of(("labels",)))
        await asyncio.sleep(0)
        await asyncio.wait_for(tag_sets.close(), 5.0)
        with pytest.raises(asyncio.CancelledError):
            await reading


async def test_without_tagged_chunks_nothing_is_embedded(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill_tags(library, ROWS)
        embedder = HashEmbedder()
        assert await TagFeature(TagSets(library), SOURCES, embedder).values(ASKED, [chunk(1, ())]) == [0.0]
        assert not embedder.texts


async def test_an_embedder_that_is_away_leaves_the_words(tmp_path: pathlib.Path) -> None:
    class Away(WordsEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise ModelUnreachable("away")

    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill_tags(library, ROWS)
        feature = TagFeature(TagSets(library), SOURCES, Away())
        asked = replace(ASKED, text="Was the vase broken when the parcel was opened?")
        assert (await feature.values(asked, [chunk(1, (("damage", 5),))]))[0] > 0.5


async def test_whatever_the_tags_are_nothing_below_the_gate_comes_out(tmp_path: pathlib.Path) -> None:
    draw = random.Random(5)
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, TEXTS | {"other": "# Zoo\n\nElephants sleep standing."})
        await fill_tags(library, ROWS)
        *_, _ = [event async for event in enrich(library, "kb", TAGS, None)]

        class Drawn(TagFeature):
            async def values(self, question: Question, chunks: Sequence[Chunk]) -> Sequence[float]:
                tags = [(tag, draw.randint(1, 10)) for tag in ("damage", "Returns", "payment", "unknown")]
                other = [replace(one, tag_scores=tuple(draw.sample(tags, draw.randint(0, 4)))) for one in chunks]
                return await super().values(question, other)

        plain = searcher(library, ())
        tagged = searcher(library, (Drawn(TagSets(library), SOURCES, library.embedder),))
        for _ in range(12):
            threshold, most = draw.uniform(0.02, 0.6), draw.randint(1, 9)
            passed = (await options_of(plain, threshold, 50).retrieve(ASKED)).chunks
            found = (await options_of(tagged, threshold, most).retrieve(ASKED)).chunks
            assert {one.chunk.id for one in found} <= {one.chunk.id for one in passed}
            assert len(found) == min(most, len(passed))
            assert all(one.score >= threshold for one in found)


def searcher(library: Library, features: Sequence[RankFeature]) -> Retriever:
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        features=features,
    )


def options_of(retriever: Retriever, threshold: float, most: int) -> Retriever:
    return retriever.with_options(RetrievalOptions(similarity_threshold=threshold, top_n=most))


@pytest.mark.parametrize(("second", "first"), [(0.44, 0), (0.46, 1)])
def test_what_is_clearly_more_relevant_stays_before(second: float, first: int) -> None:
    passed = [
        Placed(scored=ScoredChunk(chunk=chunk(number, ()), score=value), value=value)
        for number, value in enumerate((0.5, second))
    ]
    assert arranged(passed, [1.0, 1.0 + TAG_WEIGHT], None, shown=24)[0].chunk.ordinal == first


async def test_a_question_is_embedded_once() -> None:
    within = HashEmbedder()
    embedder = RecentEmbedder(within)
    assert (embedder.name, embedder.dimension) == (within.name, within.dimension)
    first = await embedder.embed(["a question"])
    first[:] = 0.0
    assert (await embedder.embed(["a question"]) == within.vector("a question")).all()
    assert within.texts == ["a question"]
    for number in range(MOST_KEPT):
        await embedder.embed([str(number)])
    await embedder.embed(["a question"])
    assert within.texts.count("a question") == 2
    for texts in (["x", "y"], ["z" * (LONGEST + 1)]):
        assert len(await embedder.embed(texts)) == len(await embedder.embed(texts)) == len(texts)
    assert within.texts.count("x") == 2
