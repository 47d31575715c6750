"""Moves equal vectors apart before they are indexed, so that they don't hide others."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_JITTER = 1e-3
"""By how much an indexed vector is moved, out of a length of 1: more than float32 takes for equal."""


def told_apart(entries: Sequence[str], data: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move each entry's unit vector a little, always the same way, and return them as unit vectors again.

    Different texts can have one vector: in a script that the embedder does not know, all texts of one length. And one
    text has several entries where it is told to several sets of readers. In a graph of neighbours they would hide the
    rest as equal texts do. Cosines change by about 5e-5.
    """
    if not entries:
        return data
    dimension = data.shape[1]
    seeds = [int.from_bytes(hashlib.sha256(entry.encode()).digest()[:8], "little") for entry in entries]
    noise = np.stack([np.random.default_rng(seed).standard_normal(dimension, dtype=np.float32) for seed in seeds])
    moved = data + noise * np.float32(_JITTER / np.sqrt(dimension))
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), dtype=np.float32)
