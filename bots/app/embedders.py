"""The embedder that the settings name; the length of an endpoint's vectors is asked once and remembered."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from bots.settings import Settings
from ragcore.errors import ModelBadOutput, ModelUnreachable
from ragcore.models.embeddings import Embedder
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.models.openai_embeddings import OpenAIEmbedder

FILE = "dimensions.json"
"""In the data directory: the length of the vectors of each endpoint's model, so that a start needs no endpoint."""


class SizedEmbedder:
    """An embedder whose endpoint must keep the dimension that it once gave."""

    def __init__(
        self,
        embedder: OpenAIEmbedder,
        dimension: int = 0,
        *,
        host: str = "",
        remember: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Wrap an embedder; a dimension of 0 is learned from its first vectors, and ``remember`` called with it."""
        self._embedder = embedder
        self._dimension = dimension
        self._host = host
        self._remember = remember

    @property
    def name(self) -> str:
        """Return the identity of the vectors."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 while the endpoint has never been asked."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 ``(len(texts), dimension)``.

        Raises:
            ModelBadOutput: The endpoint gives another length than before.
            ModelError: It cannot be asked.
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        try:
            vectors = await self._embedder.embed(texts)
        except ModelUnreachable as error:
            raise ModelUnreachable(f"[embedding] at {self._host}: {error}") from error
        if not self._dimension:
            self._dimension = int(vectors.shape[1])
            await asyncio.to_thread(self._remember, self._dimension)
        if vectors.shape[1] != self._dimension:
            told = f"{self.name} gives vectors of {vectors.shape[1]} numbers now, and gave {self._dimension} before"
            raise ModelBadOutput(
                f"{told}: give the model another name at the endpoint, then `citebot sync --full`", raw=""
            )
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._embedder.close()


async def open_embedder(settings: Settings) -> Embedder:
    """Return the embedder; an endpoint is not asked yet, so whatever needs no vector goes on without it."""
    embedding = settings.embedding
    if embedding.provider == "minilm":
        return MiniLMEmbedder()
    limits = {
        "batch_size": embedding.batch_size,
        "dimension": embedding.dimension,
        "max_tokens": embedding.max_tokens,
    }
    given = {name: value for name, value in limits.items() if value}
    key = embedding.api_key.get_secret_value() if embedding.api_key else ""
    embedder = OpenAIEmbedder(base_url=embedding.base_url, model=embedding.model, api_key=key, **given)
    file = settings.data_dir / FILE
    known = await asyncio.to_thread(_read, file)
    # Without what may stand before the host: a name and a password.
    place = urlsplit(embedding.base_url)
    host = place.netloc.rpartition("@")[2]
    name = f"{place._replace(netloc=host).geturl()} {embedder.name}"
    return SizedEmbedder(
        embedder, known.get(name, 0), host=host, remember=lambda dimension: _write(file, name, dimension)
    )


def _read(file: Path) -> dict[str, int]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): size for name, size in known.items() if isinstance(size, int)} if isinstance(known, dict) else {}


def _write(file: Path, name: str, dimension: int) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps({**_read(file), name: dimension}, indent=1), encoding="utf-8")
    fresh.replace(file)
