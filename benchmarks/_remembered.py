"""An embedder that embeds a text once for all indexes of a benchmark, and tells what it would have taken."""

import pathlib
import pickle
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.models.embeddings import Embedder, vector_key


class RememberedEmbedder:
    """Keeps the vectors of documents in a file, each with the seconds that it took.

    ``saved`` are the seconds that all texts would have taken which were remembered instead. A lone text is a question,
    and always embedded: its time is what is measured.
    """

    def __init__(self, inner: Embedder, folder: pathlib.Path) -> None:
        """Read what is remembered of this embedder in the folder."""
        self._inner = inner
        self._path = folder / f"vectors-{vector_key(inner.name, '')[:16]}.pickle"
        self._known = self._kept()
        self.saved = 0.0

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(texts) == 1:
            return await self._inner.embed(texts)
        keys = [vector_key(self.name, text) for text in texts]
        self.saved += sum(self._known[key][1] for key in keys if key in self._known)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            started = time.perf_counter()
            vectors = await self._inner.embed(list(new.values()))
            each = (time.perf_counter() - started) / sum(len(text) + 1 for text in new.values())
            for (key, text), vector in zip(new.items(), vectors, strict=True):
                self._known[key] = (vector.tobytes(), each * (len(text) + 1))
        return np.stack([np.frombuffer(self._known[key][0], dtype=np.float32) for key in keys])

    def keep(self) -> None:
        """Write down what is remembered, beside what others have written down since."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_suffix(".new")
        unfinished.write_bytes(pickle.dumps({**self._kept(), **self._known}))
        unfinished.replace(self._path)

    def _kept(self) -> dict[str, tuple[bytes, float]]:
        known: dict[str, tuple[bytes, float]] = pickle.loads(self._path.read_bytes()) if self._path.is_file() else {}
        return known
