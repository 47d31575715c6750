"""The product's own search over a few texts: they are ingested as by a sync and asked as by a chat."""

import os
import pathlib
import tempfile
from collections.abc import AsyncIterator, Mapping

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.errors import ParseError
from ragcore.ingest import Failed, IngestOptions, ingest
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.parsing.registry import parse
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.tokens import offline_tokenizer
from ragcore.types import Question, SourceDocument

CACHE = pathlib.Path(os.environ.get("BENCH_CACHE") or pathlib.Path(tempfile.gettempdir()) / "bench-cache")
KNOWLEDGE_BASE = "chunking"
MEDIA_TYPE = "text/plain"
DEEP = RetrievalOptions(top_k=250, top_n=60, similarity_threshold=0.0)


async def product_rankings(
    texts: Mapping[str, str], titles: Mapping[str, str], questions: Mapping[str, str], options: ChunkOptions
) -> list[list[tuple[str, int, int]]]:
    """Return for each question the chunks best first, as (text, start, end) in characters of the text.

    Args:
        texts: By id.
        titles: Of the texts, by id.
        questions: By id.
        options: How the texts are cut.

    Raises:
        ParseError: A text could not be indexed.
    """
    places = {key: _places(key, text, options) for key, text in texts.items()}
    library = await Library.open(CACHE / "chunking-product", embedder=MiniLMEmbedder())
    try:
        await recover(library)
        async for event in ingest(library, KNOWLEDGE_BASE, _sources(texts, titles), IngestOptions(chunk=options)):
            if isinstance(event, Failed):
                raise ParseError(f"{event.document_id}: {event.reason}", mend=event.mend)
        retriever = Retriever(
            registry=library.registry,
            vectors=library.vectors,
            keywords=library.keywords,
            embedder=library.embedder,
            options=DEEP,
        )
        rankings = []
        for question in questions.values():
            found = await retriever.retrieve(Question(text=question, knowledge_bases=(KNOWLEDGE_BASE,)))
            named = [(one.chunk.document_id.partition(":")[2], one.chunk.ordinal) for one in found.chunks]
            rankings.append([(key, *places[key][ordinal]) for key, ordinal in named])
        return rankings
    finally:
        await library.close()


async def _sources(texts: Mapping[str, str], titles: Mapping[str, str]) -> AsyncIterator[SourceDocument]:
    for key, text in texts.items():
        yield SourceDocument(
            id=f"{KNOWLEDGE_BASE}:{key}",
            source=KNOWLEDGE_BASE,
            content=text.encode(),
            media_type=MEDIA_TYPE,
            title=titles[key],
            url="",
        )


def _places(key: str, text: str, options: ChunkOptions) -> list[tuple[int, int]]:
    """Return where each chunk stands in the text, by its ordinal, white space around it left out."""
    parsed = parse(text.encode(), name=key, media_type=MEDIA_TYPE)
    found: list[tuple[int, int]] = []
    end = 0
    for piece in chunk_sections(parsed.sections, options, offline_tokenizer()):
        own = piece.text[piece.overlap :].strip()
        end = text.index(own, end) + len(own)
        found.append((end - len(piece.text.strip()), end))
    return found
