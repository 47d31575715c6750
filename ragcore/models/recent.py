"""An embedder that remembers the last questions: whoever needs one's vector again doesn't embed it again."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.models.embeddings import Embedder

MOST_KEPT = 64
"""Vectors that are kept: 0.1 MB at 384 dimensions."""
LONGEST = 4_000
"""Characters of a text whose vector is kept; questions are shorter."""


class RecentEmbedder:
    """Embeds by another embedder, and keeps the vectors of texts that are asked for alone."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder."""
        self._embedder = embedder
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def name(self) -> str:
        """Return the identity of the vectors: that of the embedder within."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Return the length of a vector, as the embedder within tells it."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 ``(len(texts), dimension)``; ModelError if it fails."""
        if len(texts) != 1 or len(texts[0]) > LONGEST:
            return await self._embedder.embed(texts)
        text = texts[0]
        if text not in self._kept:
            self._kept[text] = (await self._embedder.embed(texts))[0]
        self._kept.move_to_end(text)
        vector = self._kept[text]
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return vector[None, :].copy()
