"""The relevance of a chunk, from its cosine and its BM25 score: absolute, never normalised over the results at hand.

Each leg is brought to a scale of its own that does not depend on what else was found:

- *coverage*, 0..1: the BM25 score over the most that any chunk could score for this question (each term saturated).
- *closeness*, about 0..1: the cosine above the background, ``(cosine - mean) / (1 - mean)``, where the mean is that of
  the question's cosines with random chunks. It makes embedders whose cosines are all high comparable to others.

Their weighted sum orders the chunks. How much the dense leg weighs is its setting times its *trust*, from two signs:

- Of the knowledge base: how the cosines of random pairs of its chunks in this language correlate with the overlap of
  their rare terms. An embedder that knows the language agrees with the words: 0.35-0.6 measured for MiniLM on English,
  also on documents all about one thing; 0.16-0.22 on Chinese, which it cannot read. The mean cosine of random pairs
  (0.03-0.10 against 0.28) separates those too, but a knowledge base about one thing has 0.2-0.6 in English as well.
- Of the question: by how many standard deviations of the background the nearest chunk stands out, less what the
  nearest of that many random numbers would, ``sqrt(2 ln n)``. It lets an embedder speak where the first sign is low,
  of chunks that share a word with the question: to an embedder that cannot read, letters are all there is to see.

Both are taken for each language of the chunks apart, since what cannot be read all looks alike: to MiniLM any Chinese
question is near any Chinese chunk (0.34-0.48 on average), and far from English ones.

The relevance that is given out, and judged by the gate, is that sum less what irrelevant chunks reach by chance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
"""Saturation of BM25 as Tantivy has it (so is b = 0.75): one term scores at most ``idf * (K1 + 1)``."""
TRUST_AGREEMENT = (0.23, 0.33)
"""Agreement of words and vectors at which a dense leg is trusted not at all, and fully."""
TRUST_EXCESS = (2.5, 4.0)
"""Standard deviations above chance of the nearest chunk, for no trust and for full trust. Cosines have heavier tails
than random numbers: from 1.0 on, an embedder that cannot read Chinese was believed so often that nDCG lost 0.01."""
CHANCE = 0.85
"""Share of the expected best of n random cosines that counts as reached by chance."""
CHANCE_OF_WORDS = 0.03
"""Coverage that counts as reached by chance where words stand alone: without a second leg that has to agree, a rare
word or pair of characters in common is enough for it. Chosen on two Chinese sets and their questions to each other."""
EXACT_SHARE = 0.5
"""How far an exact identifier or quoted phrase lifts a chunk's relevance towards 1."""
NAMED_SHARE = 0.8
"""How far it does so where it surely names something, and was seen in the chunk's own text."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A question's cosines with random chunks in one language: mean, standard deviation, and of how many chunks.

    ``agreement`` is the correlation of cosines and shared terms, the lower of the question's and the chunks' language.
    """

    mean: float
    deviation: float
    count: int
    agreement: float

    @property
    def chance(self) -> float:
        """Return how far above the mean, in standard deviations, the best of ``count`` random cosines is expected."""
        return math.sqrt(2.0 * math.log(max(self.count, 2)))


def idf(count: int, frequency: int) -> float:
    """Return BM25's inverse document frequency, as Tantivy computes it; > 0 for frequency <= count."""
    frequency = min(frequency, count)
    return math.log(1.0 + (count - frequency + 0.5) / (frequency + 0.5))


def closeness(cosines: Floats, background: Background) -> Floats:
    """Return the cosines above the background's mean, on a scale that ends at 1."""
    return (cosines - background.mean) / max(1.0 - background.mean, 1e-6)


def trust(best_cosine: float, background: Background) -> float:
    """Return how much the dense leg may be believed for this question here, 0..1."""
    excess = (best_cosine - background.mean) / background.deviation - background.chance
    return max(readable(background), _ramp(excess, TRUST_EXCESS))


def readable(background: Background) -> float:
    """Return how far the embedder is known to read what it compares, 0..1: the part of the trust that is no chance."""
    return _ramp(background.agreement, TRUST_AGREEMENT)


def dense_share(weight: float, trusted: float) -> float:
    """Return the dense leg's part of the sum, 0..1, from its setting and its trust."""
    dense, keyword = weight * trusted, 1.0 - weight
    return dense / (dense + keyword) if dense + keyword > 0 else 0.0


def relevance(cosines: Floats, coverage: Floats | None, background: Background, weight: float) -> Floats:
    """Return the relevance of chunks, at most 1; below 0 is what chance would reach too.

    Args:
        cosines: Of question and chunks, float64 (n,).
        coverage: Share of the highest possible BM25 score, float64 (n,), 0..1; None where words cannot be searched.
        background: Of this question among the chunks of this language in this knowledge base.
        weight: Of the dense leg when it is fully trusted, 0..1.
    """
    trusted = trust(float(cosines.max(initial=-1.0)), background)
    share = dense_share(weight if coverage is not None else 1.0, trusted)
    near = closeness(cosines, background)
    words = np.zeros(len(cosines)) if coverage is None else coverage
    if trusted > 0.0:
        # Where a chunk merely stands out to an embedder that cannot read it, letters are all that it has seen: only
        # with a word in common is it believed.
        read = np.minimum(near, near * (readable(background) / trusted))
        near = np.where(words > CHANCE_OF_WORDS, near, read)
    fused = share * near + (1.0 - share) * words
    chance = share * CHANCE * background.chance * background.deviation / max(1.0 - background.mean, 1e-6)
    if coverage is not None:
        chance += (1.0 - trusted) * CHANCE_OF_WORDS
    return _above(fused, min(chance, 0.9))


def relevance_of_words(coverage: Floats) -> Floats:
    """Return the relevance of chunks where only words can be searched, at most 1."""
    return _above(coverage, CHANCE_OF_WORDS)


def lifted(relevances: Floats, exact: Floats, most: float = EXACT_SHARE) -> Floats:
    """Lift chunks that hold what was asked for to the letter.

    Args:
        relevances: What they have without, float64 (n,), at most 1.
        exact: The share of it that each holds, float64 (n,), 0..1.
        most: How far all of it lifts a relevance towards 1, 0..1.
    """
    return relevances + (1.0 - relevances) * most * exact


def agreement(vectors: NDArray[np.float32], bags: Sequence[frozenset[str]], documents: Sequence[str]) -> float:
    """Return the correlation of cosine and shared terms over all pairs of chunks from different documents.

    Args:
        vectors: Unit vectors, float32 (n, dim).
        bags: The terms of each chunk. Shared terms count by their rarity within the sample, as a cosine of idf vectors.
        documents: The document of each chunk. Chunks of one document are alike in everything, whoever looks at them.
    """
    kept = [place for place, bag in enumerate(bags) if bag]
    columns = {term: column for column, term in enumerate(sorted({term for bag in bags for term in bag}))}
    present = np.zeros((len(kept), len(columns)), dtype=np.float32)
    for row, place in enumerate(kept):
        present[row, [columns[term] for term in bags[place]]] = 1.0
    weighted = present * np.log((len(kept) + 1.0) / np.maximum(present.sum(axis=0), 1.0))
    weighted /= np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-9)
    _, numbers = np.unique([documents[place] for place in kept], return_inverse=True)
    pairs = np.tril(numbers[:, None] != numbers[None, :], -1)
    lexical = (weighted @ weighted.T)[pairs].astype(np.float64)
    dense = (vectors[kept] @ vectors[kept].T)[pairs].astype(np.float64)
    if len(lexical) < 3 or lexical.std() < 1e-9 or dense.std() < 1e-9:
        return 0.0
    return float(np.corrcoef(lexical, dense)[0, 1])


def _above(scores: Floats, chance: float) -> Floats:
    """Return how far scores are above chance, on a scale that ends at 1."""
    return (scores - chance) / (1.0 - chance)


def _ramp(value: float, bounds: tuple[float, float]) -> float:
    """Return 0 up to the first bound, 1 from the second on, a straight line between."""
    low, high = bounds
    return min(1.0, max(0.0, (value - low) / (high - low)))
