"""What every embedder does, and the client for OpenAI-compatible endpoints."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors.

    ``name`` identifies the model and everything that changes its vectors: vectors of two names never meet.
    ``max_tokens`` is how much of one text the model reads in one piece, in its own tokens; what is longer is embedded
    in windows and pooled, never cut unseen.
    """

    @property
    def name(self) -> str:
        """Return the identity of the vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 ``(len(texts), dimension)``, L2-normalised, row i for texts[i]; ModelError if it fails."""
        ...
