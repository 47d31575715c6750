"""Reading a long text in windows, and making one unit vector of theirs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def spread_windows(length: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Cover ``range(length)`` with the fewest windows of at most ``size``, evenly spread.

    Even windows pad to the same length and weigh the same, where a greedy cut would leave a short last one.

    Args:
        length: How many tokens there are; 0 gives one empty window.
        size: How many tokens a window takes.
        overlap: How many tokens neighbours share at least; 0 <= overlap < size.

    Returns:
        (start, end) of each window, in order; each token lies in at least one.
    """
    if length <= size:
        return [(0, length)]
    count = -(-(length - overlap) // (size - overlap))
    last_start = length - size
    return [(start := round(index * last_start / (count - 1)), start + size) for index in range(count)]


def pool(
    vectors: NDArray[np.float32], owners: Sequence[int], weights: Sequence[int], count: int
) -> NDArray[np.float32]:
    """Average the windows of each text, weighted by their tokens, and bring the mean to length 1.

    Args:
        vectors: One row a window, shape (windows, dimension).
        owners: The index of the text that each window belongs to, 0 <= owner < count.
        weights: Tokens in each window; one without tokens still counts as 1.
        count: How many texts there are.

    Returns:
        float32 (count, dimension), L2-normalised.
    """
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, list(owners), vectors * np.maximum(np.asarray(weights, dtype=np.float64), 1.0)[:, None])
    return unit(sums)


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Bring each row to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
