"""What indexing costs besides embedding: the share of wall time in which the embedder does nothing, and the memory.

    python -m benchmarks.ingest [--documents 5183] [--set scifact] [--no-embedding]

With ``--no-embedding`` a stand-in embeds for nothing: the time is then all the rest, which otherwise hides behind it.
"""

import argparse
import asyncio
import json
import pathlib
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest import Indexed, Underway, ingest
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.models.embeddings import Embedder
from ragcore.types import SourceDocument
from tests.fakes.embedding import HashEmbedder

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"


class Timed:
    """An embedder that notes how long it was at work."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.seconds = 0.0
        self.texts = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed, and note the time."""
        started = time.perf_counter()
        try:
            return await self._embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - started
            self.texts += len(texts)


async def documents(file: pathlib.Path, limit: int) -> AsyncIterator[SourceDocument]:
    with file.open(encoding="utf-8") as lines:
        for line, _ in zip(lines, range(limit), strict=False):
            read = json.loads(line)
            yield SourceDocument(
                id=f"bench:{read['doc_id']}",
                source="bench",
                content=read["text"].encode(),
                name=f"{read['doc_id']}.txt",
                title=read.get("title", ""),
            )


async def measure(file: pathlib.Path, limit: int, embedder: Timed) -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = await Library.open(pathlib.Path(folder), embedder=embedder)
        await recover(library)
        started = time.perf_counter()
        events = [e async for e in ingest(library, "bench", documents(file, limit)) if not isinstance(e, Underway)]
        seconds = time.perf_counter() - started
        chunks = sum(event.chunks for event in events if isinstance(event, Indexed))
        texts = embedder.texts
        started_again = time.perf_counter()
        repeated = [e async for e in ingest(library, "bench", documents(file, limit)) if not isinstance(e, Underway)]
        again = time.perf_counter() - started_again
        assert all(isinstance(event, Indexed) for event in repeated)
        await library.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    print(f"documents {len(events)}, chunks {chunks}, failed {sum(not isinstance(e, Indexed) for e in events)}")
    print(f"wall {seconds:.1f} s, embedder {embedder.seconds:.1f} s ({texts} texts)")
    print(f"share outside the embedder {1 - embedder.seconds / seconds:.1%}; peak memory {memory:.0f} MB")
    print(f"all of it again, unchanged: {again:.1f} s, {embedder.texts - texts} texts embedded")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--set", default="scifact")
    parser.add_argument("--no-embedding", action="store_true")
    arguments = parser.parse_args()
    file = BENCH / arguments.set / "corpus.jsonl"
    if not file.exists():
        print(f"skipped: {file.parent.name} is not in ../shared/bench")
        return 0
    from ragcore.models.minilm import MiniLMEmbedder

    inner: Embedder = HashEmbedder(dimension=384) if arguments.no_embedding else MiniLMEmbedder()
    asyncio.run(measure(file, arguments.documents, Timed(inner)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
