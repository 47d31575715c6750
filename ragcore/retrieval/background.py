"""What random chunks of a knowledge base look like: the background against which a question's hits stand out."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieval.scoring import Background, agreement
from ragcore.stores.chunk_vectors import ChunkVectors, SampledChunk
from ragcore.stores.indexes import Permitted
from ragcore.terms import Kind, term_texts

SAMPLE = 256
"""Chunks drawn: the standard deviation of their cosines is then right within 5 %."""
PAIRED = 120
"""Of these at most so many of one language are compared in pairs; the correlation varies by 0.02 between samples."""
FRESH_SECONDS = 600.0
"""How long a background is used before it is drawn anew."""
MOST_KEPT = 32
"""Samples that are kept, one for each knowledge base and audience: 0.4 MB each at 384 dimensions."""


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
    """Random chunks of a knowledge base by language; ``count`` is how many chunks it has for who asks."""

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
    """Draws the sample of each knowledge base, for each audience, once in a while, and keeps it."""

    def __init__(self, vectors: ChunkVectors) -> None:
        """Start with none drawn."""
        self._vectors = vectors
        self._kept: OrderedDict[tuple[str, frozenset[str] | None], _Kept] = OrderedDict()

    async def of(self, knowledge_base: str, *, count: int | None, only: Permitted | None = None) -> Sample:
        """Return the sample of a knowledge base; drawn anew when ``count`` has changed by a quarter.

        Args:
            knowledge_base: Where to draw.
            count: How many chunks it has for this audience; None takes what was drawn last.
            only: What of it the audience may read, where something is closed: the rest is not drawn from.
        """
        key = (knowledge_base, None if only is None else only.sets)
        kept = self._kept.setdefault(key, _Kept())
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        async with kept.drawing:
            if kept.sample is None or not _holds(kept.drawn_at, kept.sample.count, count):
                drawn = await self._vectors.sample(knowledge_base, SAMPLE, only)
                seen = len(drawn) if count is None else count
                kept.sample = await asyncio.to_thread(summarise, drawn, seen)
                kept.drawn_at = time.monotonic()
            return kept.sample


class _Kept:
    """A sample that was drawn, and when; who draws it keeps the others waiting."""

    def __init__(self) -> None:
        self.drawing = asyncio.Lock()
        self.sample: Sample | None = None
        self.drawn_at = 0.0


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


def _holds(drawn_at: float, was: int, count: int | None) -> bool:
    """Whether a sample still stands for its knowledge base."""
    return time.monotonic() - drawn_at < FRESH_SECONDS and (count is None or abs(count - was) <= was // 4)


def _bag(text: str) -> frozenset[str]:
    """Return the terms that are compared: single characters of unspaced scripts say too little."""
    return frozenset(term for term, kind in term_texts(text) if kind is not Kind.CHARACTER)
