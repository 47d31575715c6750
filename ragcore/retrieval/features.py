"""What counts besides relevance in the order of chunks that are relevant: a value of each, 0..1, with a weight.

A feature multiplies: with weight 0.5 a chunk of value 1 counts half as much again as one of value 0. It is asked of
chunks that have passed the gate alone, so none can bring in a chunk that is not relevant.
"""

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ragcore.errors import ModelError, StoreError
from ragcore.types import Chunk, Question

log = logging.getLogger(__name__)

PAGERANK_WEIGHT = 0.5
"""How much more a chunk of the highest page rank counts: what is twice as relevant stays before it."""
HIGHEST_PAGERANK = 100
MOST_SECONDS = 1.0
"""How long one feature is waited for: the order without it stands."""


class RankFeature(Protocol):
    """Tells of chunks how much they count besides their relevance."""

    @property
    def name(self) -> str:
        """Return what it is called in messages."""
        ...

    @property
    def weight(self) -> float:
        """Return how much more a chunk of value 1 counts than one of value 0; from 0 on."""
        ...

    async def values(self, question: Question, chunks: Sequence[Chunk]) -> Sequence[float]:
        """Return a value, 0..1, of each chunk; may raise ModelError or StoreError, and then counts for nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRank:
    """The weight that an operator gave a knowledge base or a source, 0..100; a source's own goes before."""

    knowledge_bases: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    name: str = "pagerank"
    weight: float = PAGERANK_WEIGHT

    async def values(self, question: Question, chunks: Sequence[Chunk]) -> Sequence[float]:
        """Return the share of the highest page rank that each chunk has."""
        return [self._of(chunk) / HIGHEST_PAGERANK for chunk in chunks]

    def _of(self, chunk: Chunk) -> int:
        source = chunk.document_id.partition(":")[0]
        return self.sources.get(source, self.knowledge_bases.get(chunk.knowledge_base, 0))


async def factors(
    features: Sequence[RankFeature], question: Question, chunks: Sequence[Chunk], *, seconds: float = MOST_SECONDS
) -> list[float]:
    """Return by how much the relevance of each chunk is multiplied: 1 and the sum of weights by values.

    What is no number counts as 0, and what lies outside 0..1 as the nearer end. A feature that fails, or takes longer
    than ``seconds``, counts for nothing.
    """
    total = [1.0] * len(chunks)
    for feature in features:
        try:
            async with asyncio.timeout(seconds):
                values = await feature.values(question, chunks)
        except TimeoutError:
            log.warning("ranking without %s: no answer within %g s", feature.name, seconds)
            continue
        except (ModelError, StoreError) as error:
            log.warning("ranking without %s: %s", feature.name, error)
            continue
        for place, value in enumerate(values):
            total[place] += feature.weight * (min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0)
    return total
