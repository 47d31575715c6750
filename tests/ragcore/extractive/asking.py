"""Asking the extractive answerer in tests."""

from collections.abc import Sequence

from ragcore.extractive import extract
from ragcore.models.embeddings import Embedder
from ragcore.types import ScoredChunk


async def direct(question: str, chunks: Sequence[ScoredChunk], embedder: Embedder | None, *, sure: bool = True) -> str:
    """Return what is given for a direct answer, "" for none."""
    found = await extract(question, chunks, embedder, sure=sure)
    return found.text if found.direct else ""


async def nearest(question: str, chunks: Sequence[ScoredChunk], embedder: Embedder | None) -> str:
    """Return what is quoted as near to what is asked, "" for none."""
    found = await extract(question, chunks, embedder)
    return "" if found.direct else found.text
