"""What random chunks of a knowledge base look like: the background against which a question's hits stand out."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieval.scoring import Background, agreement
from ragcore.stores.chunk_vectors import ChunkVectors, SampledChunk
from ragcore.terms import Kind, term_texts

SAMPLE = 256
"""Chunks drawn: the standard deviation of their cosines is then right within 5 %."""
PAIRED = 120
"""Of these at most so many of one language are compared in pairs; the correlation varies by 0.02 between samples."""
FRESH_SECONDS = 600.0
"""How long a background is used before it is drawn anew."""

# What is assumed of a small knowledge base, as if so many chunks had been seen: figures of MiniLM on English.
_PRIOR_COUNT = 12
_PRIOR_MEAN = 0.05
_PRIOR_DEVIATION = 0.1
_PRIOR_AGREEMENT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Vectors of random chunks, float32 ``(n, dim)``, and by language how far words and vectors agree."""

    vectors: NDArray[np.float32]
    agreements: dict[str, float]
    count: int

    def background(self, vector: NDArray[np.float32], language: str) -> Background:
        """Return the background of a question, shrunk towards what is usual where the sample is small."""
        seen = len(self.vectors)
        cosines = self.vectors.astype(np.float64) @ vector.astype(np.float64) if seen else np.zeros(0)
        total = seen + _PRIOR_COUNT
        mean = (float(cosines.sum()) + _PRIOR_COUNT * _PRIOR_MEAN) / total
        spread = float(np.square(cosines - (cosines.mean() if seen else 0.0)).sum())
        deviation = max(((spread + _PRIOR_COUNT * _PRIOR_DEVIATION**2) / total) ** 0.5, 1e-3)
        return Background(
            mean=mean,
            deviation=deviation,
            count=max(self.count, 2),
            agreement=self.agreements.get(language, _PRIOR_AGREEMENT),
        )


class Backgrounds:
    """Draws the sample of each knowledge base once in a while, and keeps it."""

    def __init__(self, vectors: ChunkVectors) -> None:
        """Start with none drawn."""
        self._vectors = vectors
        self._drawn: dict[str, tuple[float, int, Sample]] = {}
        self._drawing: dict[str, asyncio.Lock] = {}

    async def of(self, knowledge_base: str, *, count: int | None) -> Sample:
        """Return the sample of a knowledge base; drawn anew when ``count``, its chunks, has changed by a quarter.

        None takes what was drawn last.
        """
        async with self._drawing.setdefault(knowledge_base, asyncio.Lock()):
            known = self._drawn.get(knowledge_base)
            if known is not None and _holds(known, count):
                return known[2]
            drawn = await self._vectors.sample(knowledge_base, SAMPLE)
            seen = len(drawn) if count is None else count
            sample = await asyncio.to_thread(summarise, drawn, seen)
            self._drawn[knowledge_base] = (time.monotonic(), seen, sample)
            return sample


def summarise(drawn: Sequence[SampledChunk], count: int) -> Sample:
    """Stack the vectors and measure, language by language, how far words and vectors agree."""
    vectors = np.stack([chunk.vector for chunk in drawn]) if drawn else np.zeros((0, 1), dtype=np.float32)
    agreements: dict[str, float] = {}
    for language in {chunk.language for chunk in drawn}:
        mine = [chunk for chunk in drawn if chunk.language == language][:PAIRED]
        bags = [_bag(chunk.text) for chunk in mine]
        measured, seen = agreement(np.stack([chunk.vector for chunk in mine]), bags)
        agreements[language] = (seen * measured + _PRIOR_COUNT * _PRIOR_AGREEMENT) / (seen + _PRIOR_COUNT)
    return Sample(vectors=vectors, agreements=agreements, count=count)


def _holds(known: tuple[float, int, Sample], count: int | None) -> bool:
    """Whether a sample still stands for its knowledge base."""
    drawn_at, was, _ = known
    return time.monotonic() - drawn_at < FRESH_SECONDS and (count is None or abs(count - was) <= was // 4)


def _bag(text: str) -> frozenset[str]:
    """Return the terms that are compared: single characters of unspaced scripts say too little."""
    return frozenset(term for term, kind in term_texts(text) if kind is not Kind.CHARACTER)
