"""Sentences that lean on one another, in a chain longer than an answer may be."""

import pytest

from ragcore.extractive import ExtractOptions, extract
from ragcore.types import Chunk, ScoredChunk

CHAIN = (
    "The Kestrel was built in a shed. It was then painted. It was shown to a crowd. It flew over the lake. "
    "It was sold to a museum in Leyton for 900 francs. It rains."
)


@pytest.mark.parametrize("sentences", [1, 2, 3, 4, 6])
async def test_the_best_is_quoted_also_where_what_it_leans_on_has_no_room(sentences: int) -> None:
    chunk = Chunk(
        id="k-0",
        document_id="docs:kestrel",
        knowledge_base="kb",
        ordinal=0,
        text=CHAIN,
        title="Planes",
        token_count=40,
        url="https://wiki.example/kestrel",
    )
    found = [ScoredChunk(chunk=chunk, score=0.6)]
    options = ExtractOptions(sentences=sentences, sentences_near=sentences)
    for question in ("For how many francs was it sold to a museum in Leyton?", "museum Leyton two"):
        text = (await extract(question, found, None, options)).text
        assert "museum in Leyton" in text
        assert text.count("[ID:0]") <= max(1, sentences)
