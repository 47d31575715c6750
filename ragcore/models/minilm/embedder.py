"""The embedder over the network: texts to windows, windows to batches, batches to unit vectors."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
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
# More than the sentences of all that an answer quotes from: nobody waits for it, short as its texts may be.
BULK_CHARACTERS = 20_000
# How many texts are cut into windows and sorted at a time: bounds the memory that a large call holds.
SLICE = 256
# More threads than that gain little: they wait for the same memory.
MOST_THREADS = min(2, os.cpu_count() or 1)
# Long enough from one question to the embedding of its answer's sentences, short enough that a sync loses little.
ROOM_SECONDS = 2.0

P = ParamSpec("P")
T = TypeVar("T")


class Lane:
    """Threads for large batches: all of them, or one less for a while after ``make_room``; at least one."""

    def __init__(self, threads: int) -> None:
        """Prepare so many threads; none is started yet."""
        self._threads = threads
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="minilm-bulk")
        self._changed = threading.Condition()
        self._under_way = 0
        self._room_until = 0.0

    def make_room(self) -> None:
        """Leave a core to somebody who waits; what is under way is not broken off."""
        self._room_until = time.monotonic() + ROOM_SECONDS

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Do work in its turn."""
        return self._pool.submit(self._in_turn, partial(work, *args, **kwargs))

    def _in_turn(self, work: Callable[[], T]) -> T:
        with self._changed:
            while self._under_way >= self._most():
                self._changed.wait(timeout=ROOM_SECONDS / 10)
            self._under_way += 1
        try:
            return work()
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify()

    def _most(self) -> int:
        return max(1, self._threads - 1) if time.monotonic() < self._room_until else self._threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some word pieces of text number ``owner``."""

    owner: int
    pieces: list[int]


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with mean pooling: 384 dimensions, English, 256 word pieces at a time.

    A longer text is read in windows that overlap by 32 word pieces; their vectors are averaged, weighted by tokens.
    The weights are loaded at the first call. Small batches have a thread of their own, so that a question asked during
    a long ingest is embedded at once; large ones have two, and one while somebody asks. Calls of the same size take
    turns.
    """

    def __init__(self) -> None:
        """Prepare the threads; nothing is loaded yet."""
        self._quick = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm-quick")
        self._bulk = Lane(MOST_THREADS)

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
        characters = sum(map(len, texts))
        small, bulk = characters <= QUICK_CHARACTERS, characters > BULK_CHARACTERS
        windows = await self._run(small, _cut, network, texts)
        batches = list(_batches(windows))
        rows: dict[int, NDArray[np.float32]] = {}
        left = iter(enumerate(batches))

        async def take_batches() -> None:
            for number, batch in left:
                pieces = [window.pieces for window in batch]
                small = not bulk and len(pieces) * (len(pieces[-1]) + 2) <= QUICK_PIECES
                rows[number] = await self._run(small, network.vectors, pieces)

        takers = [asyncio.create_task(take_batches()) for _ in range(min(MOST_THREADS, len(batches)))]
        try:
            await asyncio.gather(*takers)
        finally:
            for taker in takers:
                taker.cancel()
        owners = [window.owner for window in windows]
        weights = [len(window.pieces) for window in windows]
        return pool(np.concatenate([rows[number] for number in range(len(batches))]), owners, weights, len(texts))

    async def _run(self, small: bool, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if small:
            self._bulk.make_room()
            return await asyncio.wrap_future(self._quick.submit(work, *args, **kwargs))
        return await asyncio.wrap_future(self._bulk.submit(work, *args, **kwargs))


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
