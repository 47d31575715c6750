"""What every embedder does, and the key under which a vector is remembered."""

import hashlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors.

    ``name`` identifies the model and everything that changes its vectors: vectors of two names never meet.
    A text longer than the model reads in one piece is embedded in windows and pooled, never cut unseen.
    """

    @property
    def name(self) -> str:
        """Return the identity of the vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 while only an endpoint knows it that has not been asked yet."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 ``(len(texts), dimension)``, L2-normalised, row i for texts[i]; ModelError if it fails."""
        ...


def vector_key(embedder_name: str, text: str) -> str:
    """Return the key of a text's vector: SHA-256 over the embedder's name and the text embedded, 64 hex digits."""
    digest = hashlib.sha256(f"{len(embedder_name)}:{embedder_name}:".encode())
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
