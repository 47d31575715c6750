"""An embedder that costs nothing: every text has its own unit vector, the same in every process."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class HashEmbedder:
    """Counts what it was asked for in ``texts``; texts of the same words in another order are unrelated."""

    def __init__(self, *, name: str = "hash", dimension: int = 16) -> None:
        self._name = name
        self._dimension = dimension
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts.extend(texts)
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(f"{self._name}:{text}".encode()).digest()[:8], "little")
        drawn = np.random.default_rng(seed).standard_normal(self._dimension)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)


class WordsEmbedder(HashEmbedder):
    """Texts are as near as they share words: a vector is the sum of those of the words."""

    def __init__(self, *, name: str = "words", dimension: int = 512) -> None:
        super().__init__(name=name, dimension=dimension)

    def vector(self, text: str) -> NDArray[np.float32]:
        words = sorted(frozenset(re.findall(r"\w+", text.casefold())))
        total = np.sum([super(WordsEmbedder, self).vector(word) for word in words or [text]], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)
