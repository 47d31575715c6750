"""A document whose source told who may read it: a search gives it out to these readers alone, and finds what is open beside it."""

import pathlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.ingest import ingest
from ragcore.library import Library
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.stores.hits import Hit
from ragcore.types import Question, SourceDocument
from tests.fakes.libraries import each, fill, opened
from tests.ragcore.retrieval.test_retriever import WordEmbedder

ASKED = Question(text="Brightwater merger", knowledge_bases=("kb",))
ALL = RetrievalOptions(similarity_threshold=0.0)


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
    made = {"vectors": library.vectors, "keywords": library.keywords} | parts
    search = Retriever(registry=library.registry, embedder=library.embedder, options=ALL, **made)  # type: ignore[arg-type]
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
    async with opened(tmp_path, WordEmbedder()) as library:
        texts = {f"c{number}": f"Brightwater merger, file {number}." for number in range(150)}
        await fill_closed(library, texts, frozenset({"slack:T1/@U1"}))
        await fill(library, {"open": "Among other things, the news of the year were a merger, that with Brightwater."})
        assert await found(library, replace(ASKED, readers=frozenset({"*"}))) == ["s:open"]


async def test_a_knowledge_base_that_is_not_asked_is_read_in_no_case(tmp_path: pathlib.Path) -> None:
    """Whatever an index gives out: the registry has the last word."""
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {"open": "The merger with Brightwater was in the news."})
        await fill_closed(library, {"board": "The merger with Brightwater costs nine million."}, None, base="secret")

        class Strays:
            async def query(self, _: str, vector: NDArray[np.float32], k: int) -> list[Hit]:
                return [hit for base in ("secret", "kb") for hit in await library.vectors.query(base, vector, k)]

        assert await found(library, ASKED, vectors=Strays()) == ["s:open"]
