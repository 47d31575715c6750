"""Which words of a question a sentence holds: the same words, or words that an embedder knows to mean the like.

"Cost" is met by "price" and "heavy" by "weighs", while "colour" is met by nothing of a price list. The embedder is
asked about single words, of the few best sentences only.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.extractive.contrasts import may_stand_for
from ragcore.extractive.words import Word
from ragcore.terms import gap_of, may_be_abbreviated

Floats = NDArray[np.float64]

_ALIKE = (0.25, 0.5)
"""Cosines above those of unrelated words, on a scale that ends at 1: from where on two words are a little alike, and
from where on one stands for the other. With MiniLM, whose unrelated words have 0.28: 0.46 and 0.64."""
_SAME_NAME = 0.55
"""On that scale, how alike a word must be to stand for part of a row's name: 0.68 with MiniLM. A laptop is a computer,
but sales are not marketing, though their words are near."""
_UNRELATED = (0.0, 0.5)
"""Within these the cosine of unrelated words is believed: a handful of words may all be alike."""
MOST_WORDS = 120
"""Words that are embedded for one question: a sixth of a second for MiniLM on two cores."""


def embeddable(written: str) -> bool:
    """Whether a word can be compared by meaning: one of an alphabet, of three letters or more."""
    return len(written) > 2 and written.isalpha() and written.isascii()


def words_to_embed(words: Sequence[Word], pools: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the written words, each once, that tell which of the question's missing words are meant by others."""
    pools = list(pools)
    missing = [word.written for word in words if embeddable(word.written) and not all(word.term in p for p in pools)]
    if not missing:
        return []
    known = {word.term for word in words}
    others = (written for pool in pools for term, written in pool.items() if term not in known and embeddable(written))
    return list(dict.fromkeys([*missing, *others]))[:MOST_WORDS]


class Likeness:
    """How far written words mean the like, by their vectors; without vectors no two do."""

    def __init__(self, written: Sequence[str], vectors: NDArray[np.float32] | None) -> None:
        """Take the words and their unit vectors, float32 (n, dim)."""
        self._row = {word: row for row, word in enumerate(written)} if vectors is not None else {}
        self._cosines = (vectors @ vectors.T).astype(np.float64) if vectors is not None else np.zeros((0, 0))
        off = self._cosines[~np.eye(len(self._cosines), dtype=bool)]
        self._unrelated = float(np.clip(np.median(off), *_UNRELATED)) if off.size else 0.0

    def of(self, word: Word, pool: Mapping[str, str], names: Collection[str] = ()) -> float:
        """Return 1 for a word that the pool (term to written) has, else how far its nearest word stands for it.

        ``names`` are terms of the pool that name one thing among its like: for them only a word of the same meaning
        does.
        """
        if word.term in pool or (may_be_abbreviated(word.term) and gap_of(word.term) in pool):
            return 1.0
        if word.written not in self._row or word.names:
            return 0.0
        close = [
            closeness
            for term, written in pool.items()
            if written in self._row
            and may_stand_for(written, word.written)
            and ((closeness := self._closeness(word.written, written)) >= _SAME_NAME or term not in names)
        ]
        low, high = _ALIKE
        return min(1.0, max(0.0, (max(close, default=0.0) - low) / (high - low)))

    def _closeness(self, written: str, other: str) -> float:
        cosine = float(self._cosines[self._row[written], self._row[other]])
        return (cosine - self._unrelated) / max(1.0 - self._unrelated, 1e-6)

    def matrix(
        self, words: Sequence[Word], pools: Sequence[Mapping[str, str]], names: Sequence[Collection[str]] = ()
    ) -> Floats:
        """Return how far each pool, of which ``names`` are the names, holds each word, (pools, words), 0..1."""
        of_pools = names or [()] * len(pools)
        held = [[self.of(word, pool, own) for word in words] for pool, own in zip(pools, of_pools, strict=True)]
        return np.array(held).reshape(len(pools), len(words))
