"""Memory of the process that writes the index, while one PDF that grows comes in: its peak, stage by stage.

    python -m benchmarks.memory [--pages 300 1200 4800]

Each size runs in a process of its own, with an empty index. Embedding is left out: a stand-in draws random vectors of 384
numbers, so the embedder's own memory is not in the figures. The same text then comes in as one small document a page:
what that takes as well is the indexes' own, and grows with what is stored, however it comes.
"""

import argparse
import asyncio
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest import Indexed, Underway, ingest
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.types import SourceDocument
from tests.ragcore.parsing.makers import Words, lines, pdf

LINES = 45
"""Lines of text on a page: about six chunks."""


class RandomEmbedder:
    """Every text has a random unit vector."""

    name = "random"
    dimension = 384

    def __init__(self) -> None:
        self._drawn = np.random.default_rng(0)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Draw a vector for each text."""
        vectors = self._drawn.standard_normal((len(texts), self.dimension), dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def page_lines(page: int) -> list[str]:
    """Return the text of one page, with words of its own."""
    drawn = np.random.default_rng(page)
    numbers = drawn.integers(0, 5000, size=(LINES, 3))
    return [
        f"{page}: Line {line} says that part {a} of matter {b} has some weight, as term{c} is held to be."
        for line, (a, b, c) in enumerate(numbers)
    ]


def write_pdf(file: pathlib.Path, pages: int) -> None:
    """Make the PDF."""
    body = [[Words(text=f"Report {page}", y=770, size=9), *lines(page_lines(page))] for page in range(pages)]
    file.write_bytes(pdf(body))


async def whole(file: pathlib.Path) -> AsyncIterator[SourceDocument]:
    """Yield the PDF as one document."""
    content = await asyncio.to_thread(file.read_bytes)
    yield SourceDocument(id="bench:big", source="bench", content=content, name="big.pdf", title="Report")


async def by_page(pages: int) -> AsyncIterator[SourceDocument]:
    """Yield the same text as one document a page."""
    for page in range(pages):
        text = "\n".join(page_lines(page))
        yield SourceDocument(
            id=f"bench:{page}", source="bench", content=text.encode(), name=f"{page}.txt", title="Report"
        )


def peak() -> float:
    """Return the most memory that this process has had resident so far, in MB."""
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # what getrusage tells begins with the process that started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


async def measure(documents: AsyncIterator[SourceDocument]) -> None:
    """Index the documents and print one line: chunks, seconds, and the peak at the end of each stage."""
    with tempfile.TemporaryDirectory() as folder:
        library = await Library.open(pathlib.Path(folder), embedder=RandomEmbedder())
        await recover(library)
        begun, started = peak(), time.perf_counter()
        reached: dict[str, float] = {}
        chunks, told, longest = 0, started, 0.0
        async for event in ingest(library, "bench", documents):
            now = time.perf_counter()
            longest, told = max(longest, now - told), now
            if isinstance(event, Underway):
                reached[event.stage.value] = peak()
            elif isinstance(event, Indexed):
                chunks += event.chunks
            else:
                raise SystemExit(event.reason)
        seconds = time.perf_counter() - started
        await library.close()
    stages = ", ".join(f"{memory:.0f} {stage}" for stage, memory in reached.items())
    print(
        f"{chunks:6} chunks, {seconds:6.1f} s; MB at the peak: {begun:.0f} before, {stages}, {peak():.0f} in all; "
        f"longest time without a word: {longest:.1f} s",
        flush=True,
    )


def main() -> int:
    """Run each size, both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[300, 1200, 4800])
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # the process that is measured: a PDF, or "by-page"
    arguments = parser.parse_args()
    if arguments.measure:
        (pages,) = arguments.pages
        asyncio.run(
            measure(by_page(pages) if arguments.measure == "by-page" else whole(pathlib.Path(arguments.measure)))
        )
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for pages in arguments.pages:
            file = pathlib.Path(folder) / f"{pages}.pdf"
            write_pdf(file, pages)
            for told, what in (("one PDF", str(file)), ("a document a page", "by-page")):
                print(f"{pages:5} pages, {told:17}", end=" ", flush=True)
                command = [sys.executable, "-m", "benchmarks.memory", "--pages", str(pages), "--measure", what]
                subprocess.run(command, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
