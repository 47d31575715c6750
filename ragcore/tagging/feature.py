"""How alike question and chunk are by their tags: a rank feature, for chunks that are relevant already.

RAGFlow adds ten times this cosine to a relevance of 0 to 1 (``_rank_feature_scores`` in rag/nlp/search.py), which puts
any chunk with the right tags before any without, and over the threshold. Here it multiplies by 1 to 1.1, behind the
gate.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError
from ragcore.models.embeddings import Embedder
from ragcore.retrieval.query import analyse
from ragcore.tagging.scores import TagScores, likeness
from ragcore.tagging.sets import TagSets
from ragcore.types import Chunk, Question

log = logging.getLogger(__name__)

TAG_WEIGHT = 0.1
"""How much more a chunk counts that has all the question's tags: it decides between chunks that are about as relevant.
With a quarter of faq-zoomcamp's entries as a tag set of its courses and sections, nDCG@10 of the other questions was
0.829 without, and 0.826, 0.822 and 0.815 with a weight of 0.1, 0.3 and 1: what is found well gains nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSource:
    """Where the tags of a knowledge base come from: tag knowledge bases, and at most how many tags of these."""

    tags_from: tuple[str, ...]
    topn_tags: int


class TagFeature:
    """Tags the question as chunks are tagged without a model, and compares; where no chunk has tags it asks nothing."""

    name = "tags"
    weight = TAG_WEIGHT

    def __init__(self, tag_sets: TagSets, sources: Mapping[str, TagSource], embedder: Embedder) -> None:
        """Compose; ``sources`` are by the knowledge base of the chunks. The embedder is that of the retriever."""
        self._tag_sets = tag_sets
        self._sources = sources
        self._embedder = embedder

    async def values(self, question: Question, chunks: Sequence[Chunk]) -> Sequence[float]:
        """Return the cosine of the question's tags and each chunk's, 0..1; 0 where either has none.

        Raises:
            StoreError: The database failed.
        """
        named = {chunk.knowledge_base for chunk in chunks if chunk.tag_scores and chunk.knowledge_base in self._sources}
        if not named:
            return [0.0] * len(chunks)
        text = analyse(question.text).text_to_embed
        vector = await self._vector(text)
        asked: dict[str, TagScores] = {}
        for name in sorted(named):
            source = self._sources[name]
            tag_set = await self._tag_sets.of(source.tags_from)
            asked[name] = (await asyncio.to_thread(tag_set.similar, text, vector, source.topn_tags)).scores
        return [likeness(chunk.tag_scores, asked.get(chunk.knowledge_base, ())) for chunk in chunks]

    async def _vector(self, text: str) -> NDArray[np.float32] | None:
        try:
            vector: NDArray[np.float32] = (await self._embedder.embed([text]))[0]
        except ModelError as error:
            log.warning("tagging a question by words alone: the embedder failed: %s", error)
            return None
        return vector
