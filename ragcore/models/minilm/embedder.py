"""The embedder over the network: texts to windows, windows to batches, batches to unit vectors."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragcore.models.embedding_windows import pool, spread_windows
from ragcore.models.minilm.network import DIMENSION, WEIGHTS_SHA256, Network, load_network

# The model was trained on up to 256 word pieces, two of which are [CLS] and [SEP].
WINDOW = 254
OVERLAP = 32
# Measured on two cores: 5,000 word pieces a second with these; 8 x 256 fell to 3,200, 32 x 256 took 3 GB.
BATCH_TEXTS = 8
BATCH_PIECES = 1024
# What a question or a few sentences need; larger batches have a thread of their own.
QUICK_PIECES = 512
QUICK_CHARACTERS = 4_000
# How many texts are cut into windows and sorted at a time: bounds the memory that a large call holds.
SLICE = 256

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some word pieces of text number ``owner``."""

    owner: int
    pieces: list[int]


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with mean pooling: 384 dimensions, English, 256 word pieces at a time.

    A longer text is read in windows that overlap by 32 word pieces; their vectors are averaged, weighted by tokens.
    The weights are loaded at the first call. Work runs in two threads, one for small batches and one for large ones,
    and each call has one batch under way: a question asked during a long ingest is embedded at once, and calls of the
    same size take turns.
    """

    def __init__(self) -> None:
        """Prepare the threads; nothing is loaded yet."""
        self._quick = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm-quick")
        self._bulk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm-bulk")

    @property
    def name(self) -> str:
        """Return the identity of the vectors: weights, pooling, windows."""
        return f"all-MiniLM-L6-v2@{WEIGHTS_SHA256[:8]}/mean/{WINDOW}+{OVERLAP}"

    @property
    def dimension(self) -> int:
        """Return 384."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """Return how many word pieces of a text are read in one piece, without [CLS] and [SEP]: 254."""
        return WINDOW

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 ``(len(texts), 384)``, L2-normalised, row i for ``texts[i]``.

        Any string works, also an empty one.

        Raises:
            ConfigError: The weights or the tokenizer are missing or not the ones expected.
        """
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        network = await asyncio.to_thread(load_network)
        for start in range(0, len(texts), SLICE):
            part = texts[start : start + SLICE]
            vectors[start : start + len(part)] = await self._embed_slice(network, part)
        return vectors

    async def _embed_slice(self, network: Network, texts: Sequence[str]) -> NDArray[np.float32]:
        small = sum(map(len, texts)) <= QUICK_CHARACTERS
        windows = await self._run(small, _cut, network, texts)
        rows: list[NDArray[np.float32]] = []
        for batch in _batches(windows):
            pieces = [window.pieces for window in batch]
            small = len(pieces) * (len(pieces[-1]) + 2) <= QUICK_PIECES
            rows.append(await self._run(small, network.vectors, pieces))
        owners = [window.owner for window in windows]
        weights = [len(window.pieces) for window in windows]
        return pool(np.concatenate(rows), owners, weights, len(texts))

    async def _run(self, small: bool, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        lane = self._quick if small else self._bulk
        return await asyncio.wrap_future(lane.submit(work, *args, **kwargs))


def _cut(network: Network, texts: Sequence[str]) -> list[Window]:
    """Return the windows of all texts, shortest first: neighbours then need little filling."""
    windows = [
        Window(owner=owner, pieces=pieces[start:end])
        for owner, pieces in enumerate(network.word_pieces(texts))
        for start, end in spread_windows(len(pieces), WINDOW, OVERLAP)
    ]
    return sorted(windows, key=lambda window: len(window.pieces))


def _batches(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """Group sorted windows into batches within both limits."""
    batch: list[Window] = []
    for window in windows:
        padded = (len(batch) + 1) * (len(window.pieces) + 2)
        if batch and (len(batch) == BATCH_TEXTS or padded > BATCH_PIECES):
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch
