"""What random chunks of a knowledge base look like: the background against which a question's hits stand out."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """The agreement that is assumed of a language, as if measured on so many documents."""

    agreement: float
    documents: int


# What is assumed before anything is seen, as if so many chunks, or chunks of so many documents, had been: figures of
# MiniLM, which reads English and no Chinese. Few documents say little about the agreement: those about one thing share
# words and look alike, whether they can be read or not (0.36-0.50 measured for 2 to 20 documents in Chinese). What the
# operator says of the embedder therefore holds until many documents speak against it.
_PRIOR_COUNT = 12
_PRIOR_DEVIATION = 0.1
_PRIOR_MEAN = 0.05
_PRIOR_MEAN_UNREAD = 0.4
"""Of question and chunk in one language that the embedder cannot read: all such texts look alike to it."""
_KNOWN = Prior(agreement=0.4, documents=12)
_UNKNOWN = Prior(agreement=0.18, documents=120)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSample:
    """Random chunks in one language: unit vectors, float32 ``(n, dim)``, of how many documents, and their agreement.

    ``agreement`` is measured over pairs from different documents, and means nothing where ``documents`` is below 3.
    """

    vectors: NDArray[np.float32]
    documents: int
    agreement: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Random chunks of a knowledge base by language; ``count`` is how many chunks it has."""

    languages: Mapping[str, LanguageSample]
    count: int

    def background(
        self, vector: NDArray[np.float32], asked: str, written: str, known: frozenset[str] | None
    ) -> Background:
        """Return the background of a question, shrunk towards what is usual where the sample is small.

        Args:
            vector: The question's unit vector, float32 (dim,).
            asked: The question's language.
            written: The language of the chunks that it is compared with.
            known: Languages that the embedder reads; None: all.
        """
        mine = self.languages.get(written)
        cosines = (mine.vectors @ vector).astype(np.float64) if mine else np.zeros(0)
        total = len(cosines) + _PRIOR_COUNT
        unread = asked == written and not _reads(known, written)
        mean = (float(cosines.sum()) + _PRIOR_COUNT * (_PRIOR_MEAN_UNREAD if unread else _PRIOR_MEAN)) / total
        spread = float(np.square(cosines - (cosines.mean() if len(cosines) else 0.0)).sum())
        deviation = max(((spread + _PRIOR_COUNT * _PRIOR_DEVIATION**2) / total) ** 0.5, 1e-3)
        drawn = sum(len(sample.vectors) for sample in self.languages.values())
        return Background(
            mean=mean,
            deviation=deviation,
            count=max(round(self.count * len(cosines) / max(drawn, 1)), 2),
            agreement=min(self._agreement(asked, known), self._agreement(written, known)),
        )

    def _agreement(self, language: str, known: frozenset[str] | None) -> float:
        """Return how far words and vectors agree in a language, by what was seen and what is said of the embedder."""
        prior = _KNOWN if _reads(known, language) else _UNKNOWN
        mine = self.languages.get(language)
        if mine is None or mine.documents < 3:
            return prior.agreement
        seen, assumed = comb(mine.documents, 2), comb(prior.documents, 2)  # what is compared is pairs of documents
        return (seen * mine.agreement + assumed * prior.agreement) / (seen + assumed)


class Backgrounds:
    """Draws the sample of each knowledge base once in a while, and keeps it."""

    def __init__(self, vectors: ChunkVectors) -> None:
        """Start with none drawn."""
        self._vectors = vectors
        self._drawn: dict[tuple[str, bool], tuple[float, int, Sample]] = {}
        self._drawing: dict[tuple[str, bool], asyncio.Lock] = {}

    async def of(self, knowledge_base: str, *, count: int | None, open_alone: bool = False) -> Sample:
        """Return the sample of a knowledge base; drawn anew when ``count``, its chunks, has changed by a quarter.

        None takes what was drawn last. ``open_alone`` draws from what is open to all of the knowledge base's readers:
        for whoever may not read the rest, and so that one sample does for all of them.
        """
        key = (knowledge_base, open_alone)
        async with self._drawing.setdefault(key, asyncio.Lock()):
            known = self._drawn.get(key)
            if known is not None and _holds(known, count):
                return known[2]
            drawn = await self._vectors.sample(knowledge_base, SAMPLE, open_alone=open_alone)
            seen = len(drawn) if count is None else count
            sample = await asyncio.to_thread(summarise, drawn, seen)
            self._drawn[key] = (time.monotonic(), seen, sample)
            return sample


def summarise(drawn: Sequence[SampledChunk], count: int) -> Sample:
    """Stack the vectors and measure, language by language, how far words and vectors agree."""
    languages: dict[str, LanguageSample] = {}
    for language in sorted({chunk.language for chunk in drawn}):
        mine = [chunk for chunk in drawn if chunk.language == language]
        paired = mine[:PAIRED]
        vectors = np.stack([chunk.vector for chunk in mine])
        documents = [chunk.document_id for chunk in paired]
        languages[language] = LanguageSample(
            vectors=vectors,
            documents=len(set(documents)),
            agreement=agreement(vectors[: len(paired)], [_bag(chunk.text) for chunk in paired], documents),
        )
    return Sample(languages=languages, count=count)


def _reads(known: frozenset[str] | None, language: str) -> bool:
    return known is None or language in known


def _holds(known: tuple[float, int, Sample], count: int | None) -> bool:
    """Whether a sample still stands for its knowledge base."""
    drawn_at, was, _ = known
    return time.monotonic() - drawn_at < FRESH_SECONDS and (count is None or abs(count - was) <= was // 4)


def _bag(text: str) -> frozenset[str]:
    """Return the terms that are compared: single characters of unspaced scripts say too little."""
    return frozenset(term for term, kind in term_texts(text) if kind is not Kind.CHARACTER)
