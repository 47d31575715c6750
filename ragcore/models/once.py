"""An embedder for one piece of work that comes to the same texts again and again: each is embedded once."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.models.embeddings import Embedder

MOST_KEPT = 10_000
"""Vectors that are kept: 15 MB at 384 dimensions."""


class OnceEmbedder:
    """Embeds by another embedder what it has not embedded yet; lives on one event loop, as long as the work.

    What somebody else has asked for and not got yet is waited for. Where that fails or is broken off, whoever waits
    asks for it himself.
    """

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder."""
        self._embedder = embedder
        self._kept: dict[str, NDArray[np.float32]] = {}
        self._under_way: dict[str, asyncio.Event] = {}

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
        if not texts:
            return await self._embedder.embed(texts)
        found = {text: self._kept[text] for text in texts if text in self._kept}
        while lacking := list(dict.fromkeys(text for text in texts if text not in found)):
            mine = [text for text in lacking if text not in self._under_way]
            if mine:
                found |= zip(mine, await self._embed(mine), strict=True)
            else:
                await self._under_way[lacking[0]].wait()
            found |= {text: self._kept[text] for text in lacking if text in self._kept}
        return np.stack([found[text] for text in texts])

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        ended = asyncio.Event()
        self._under_way |= dict.fromkeys(texts, ended)
        try:
            vectors = await self._embedder.embed(texts)
            self._kept |= zip(texts, vectors, strict=True)
        finally:
            for text in texts:
                del self._under_way[text]
            ended.set()
        for text in list(self._kept)[: max(0, len(self._kept) - MOST_KEPT)]:
            del self._kept[text]
        return vectors
