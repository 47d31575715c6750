"""How long a search takes among many chunks, the embedding of the question left out, and what memory it holds.

    python -m benchmarks.latency [--chunks 100000] [--questions 400] [--folder FOLDER] [--closed SHARE] [--document 40]

Texts are drawn from a vocabulary in which word n is as frequent as 1/n, vectors around a thousand topics; documents have
40 chunks (``--document``) of 120 words. They are written by the product's own ingest (without parsing), so SQL, Chroma and Tantivy hold
what they would in use. Questions have 3 to 12 words and are asked one after the other, then eight at a time.
With ``--closed`` the source told readers of this share of the documents, of each others, and the same questions are also
asked by somebody who may read a tenth of them.
``--folder`` keeps the index there, and takes it from there the next time: to compare two versions on the same index.
"""

import argparse
import asyncio
import pathlib
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.evaluate.retrieval import percentile
from ragcore.ingest.batch import write_batch
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.spool import Draft, Spool
from ragcore.library import Library
from ragcore.library.recovery import mend, recover
from ragcore.retrieval import Retriever
from ragcore.stores.rows import Document, StoredChunk, digest, generation, reader_set_of
from ragcore.types import Chunk, Question

DIMENSION = 384
TOPICS = 1_000
WORDS = 50_000
IDENTIFIERS = 50_000
WORDS_A_CHUNK = 120
CHUNKS_A_BATCH = 2_000
BASE = "kb"
READER = "slack:T/@Uasker"


class TopicEmbedder:
    """Gives a text the vector of the topic that its first word names, and some noise of its own."""

    name = "topics"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._topics = np.random.default_rng(1).standard_normal((TOPICS, DIMENSION)).astype(np.float32)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n, 384)."""
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            draw = np.random.default_rng(zlib.crc32(text.encode()))  # the same in every process
            topic = zlib.crc32(text.split(" ", 1)[0].encode()) % TOPICS
            found[row] = self._topics[topic] + 0.8 * draw.standard_normal(DIMENSION, dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def sentence(draw: np.random.Generator, length: int) -> str:
    """Return words after the name of a topic. They are made of letters alone: with a digit each would be a name."""
    ranks = np.minimum(draw.zipf(1.1, length), WORDS)
    return f"topic{word(int(draw.integers(TOPICS)))} " + " ".join(f"word{word(int(rank))}" for rank in ranks)


def word(number: int) -> str:
    """Return a number in letters."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def naming(text: str, draw: np.random.Generator) -> str:
    """Return the words and an identifier, as some chunks have one and some questions name one."""
    return f"{text} REF-{draw.integers(IDENTIFIERS)}"


def readers_of(number: int, closed: float) -> frozenset[str] | None:
    """Return who may read a document, evenly spread; every tenth of those that tell it names ``READER``, too."""
    before, told = int(number * closed), int((number + 1) * closed)
    if before == told:
        return None
    return frozenset({f"slack:T/@U{number}", READER} if told % 10 == 0 else {f"slack:T/@U{number}"})


def prepared(number: int, draw: np.random.Generator, folder: pathlib.Path, length: int, closed: float) -> Prepared:
    document_id = f"bench:doc{number}.md"
    texts = tuple(naming(sentence(draw, WORDS_A_CHUNK), draw) for _ in range(length))
    readers = readers_of(number, closed)
    hashed = digest(*texts)
    name = generation(document_id, BASE, hashed)
    chunks = tuple(
        StoredChunk(
            chunk=Chunk(
                id=f"{name}-{ordinal}",
                document_id=document_id,
                knowledge_base=BASE,
                ordinal=ordinal,
                text=text,
                title=f"Document {number}",
                token_count=WORDS_A_CHUNK,
                reader_set=reader_set_of(readers),
            ),
            vector_key=digest(text),
            language="en",
        )
        for ordinal, text in enumerate(texts)
    )
    document = Document(
        id=document_id,
        knowledge_base=BASE,
        source="bench",
        title=f"Document {number}",
        hash=hashed,
        pipeline="bench",
        generation=name,
        chunk_count=len(chunks),
        readers=readers,
    )
    spool = Spool(folder)
    spool.extend(Draft(stored=stored, text=text) for stored, text in zip(chunks, texts, strict=True))
    return Prepared(document=document, chunks=spool, is_new=True)


def resident() -> float:
    """Return the resident memory in MB."""
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def fill(library: Library, arguments: argparse.Namespace) -> None:
    draw = np.random.default_rng(2)
    documents = arguments.chunks // arguments.document
    started = time.perf_counter()
    together = max(1, CHUNKS_A_BATCH // arguments.document)
    for first in range(0, documents, together):
        numbers = range(first, min(first + together, documents))
        batch = [prepared(n, draw, library.data_dir, arguments.document, arguments.closed) for n in numbers]
        async for _ in write_batch(library, batch):
            pass
        print(f"\r{first + len(batch)}/{documents} documents", end="", file=sys.stderr, flush=True)
    print(f"\nwritten in {time.perf_counter() - started:.0f} s", file=sys.stderr)


async def ask(
    retriever: Retriever,
    questions: Sequence[str],
    documents: tuple[str, ...] = (),
    readers: frozenset[str] | None = None,
) -> list[float]:
    seconds = []
    for text in questions:
        started = time.perf_counter()
        await retriever.retrieve(Question(text=text, knowledge_bases=(BASE,), document_ids=documents, readers=readers))
        seconds.append(time.perf_counter() - started)
    return seconds


def report(label: str, seconds: Sequence[float]) -> None:
    times = " | ".join(f"{percentile(seconds, share) * 1000:.1f}" for share in (0.5, 0.95, 0.99))
    print(f"| {label} | {times} |", flush=True)


async def run(arguments: argparse.Namespace, folder: pathlib.Path) -> None:
    embedder = TopicEmbedder()
    library = await Library.open(folder, embedder=embedder)
    try:
        if not await library.keywords.count(BASE):
            await fill(library, arguments)
    finally:
        await library.close()
    library = await Library.open(folder, embedder=embedder)
    try:
        await recover(library)
        async for _ in mend(library):  # an index that another version wrote is filled anew
            pass
        retriever = Retriever(
            registry=library.registry, vectors=library.vectors, keywords=library.keywords, embedder=embedder
        )
        draw = np.random.default_rng(3)
        questions = [sentence(draw, int(draw.integers(2, 12))) for _ in range(arguments.questions)]
        first = await ask(retriever, questions[:1])
        print(f"| {arguments.chunks} chunks | p50 ms | p95 ms | p99 ms |\n| --- | --- | --- | --- |")
        report("the first question", first)
        started, loop_started = time.process_time(), time.thread_time()
        report("one at a time", await ask(retriever, questions))
        processor = (time.process_time() - started) / len(questions) * 1000
        on_loop = (time.thread_time() - loop_started) / len(questions) * 1000
        report(
            "by a reader of less than all" if arguments.closed else "by a reader of all",
            await ask(retriever, questions, readers=frozenset({"*", READER})),
        )
        some = tuple(f"bench:doc{number}.md" for number in range(3))
        report("in three named documents", await ask(retriever, questions[:100], some))
        report("naming an identifier", await ask(retriever, [naming(text, draw) for text in questions[:100]]))
        parts = [questions[start::8] for start in range(8)]
        together = await asyncio.gather(*(ask(retriever, part) for part in parts))
        report("eight at a time", [second for part in together for second in part])
        print(f"\nprocessor time of one question: {processor:.1f} ms, {on_loop:.1f} ms of it on the event loop")
        print(f"resident memory: {resident():.0f} MB")
    finally:
        await library.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--closed", type=float, default=0.0)
    parser.add_argument("--document", type=int, default=40, help="chunks of a document")
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citebot-latency-") as folder:
        asyncio.run(run(arguments, arguments.folder or pathlib.Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
