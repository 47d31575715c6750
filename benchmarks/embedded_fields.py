"""Whether the keywords and questions of a chunk belong into what is embedded of it, or into the search by words alone.

    python -m benchmarks.embedded_fields [SET ...] [--field NAME ...] [--documents N] [--questions N]

Keywords stand in for a model's: of each chunk the five words that are rarest elsewhere and most frequent in it, chosen
without a look at any question of the set. Questions are, in faq-zoomcamp, the ones that people wrote above its entries;
what is asked are others. Both are in the search by words in every row; what differs is the text that is embedded: that
of the chunk, with the keywords or questions after it, or, as RAGFlow does, the questions in place of it. Prints nDCG@10
of half 0 of the questions, by the hash of their ids, and of half 1: what is best is chosen on half 0.
"""

import argparse
import asyncio
import math
import pathlib
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from benchmarks._judged_sets import BENCH, JudgedSet, read_set
from benchmarks.retrieval import half_of
from benchmarks.steps import Setup, ask, fill, remembered
from ragcore.enrich.making import chunks_of
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.ingest.batch import write_batch
from ragcore.ingest.prepare import Prepared
from ragcore.ingest.spool import Draft, Spool
from ragcore.library import Library
from ragcore.library.recovery import embedded_text
from ragcore.models.embeddings import Embedder
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.rows import Document, StoredChunk, digest, generation
from ragcore.terms import is_stop_word, terms

KEYWORDS = 5
ENGLISH = ("faq-zoomcamp", "multihop-dev", "scifact")
FIELDS = ("keywords", "questions")
ASKED = "faq-zoomcamp"
"""The set whose documents have questions for titles."""
_WORD = re.compile(r"[^\W\d_][\w-]{2,}")

Said = Callable[[StoredChunk], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Which text is embedded, made of that of the chunk and of what is said of it."""

    name: str
    text: Callable[[str, Sequence[str]], str]


ALONE = Way(name="the text alone", text=lambda text, said: text)
AFTER = Way(name="and what is said after it", text=lambda text, said: "\n".join([text, ", ".join(said)]))
INSTEAD = Way(name="what is said instead", text=lambda text, said: "\n".join(said) or text)


def frequencies(texts: Sequence[str]) -> Counter[str]:
    """Return in how many of the texts each word stands."""
    return Counter(word for text in texts for word in set(_words(text)))


def keywords(text: str, known: Counter[str], texts: int) -> tuple[str, ...]:
    """Return the five words that tell a text best from the others, the best first."""
    counts = Counter(_words(text))
    worth = {word: count * math.log((texts + 1) / (known[word] + 0.5)) for word, count in counts.items()}
    return tuple(sorted(worth, key=lambda word: (-worth[word], word))[:KEYWORDS])


def _words(text: str) -> list[str]:
    found = _WORD.findall(text.casefold())
    return [word for word in found if not any(is_stop_word(term) for term in terms(word))]


async def measure(data: JudgedSet, field: str, ways: Sequence[Way], *, embedder: Embedder) -> None:
    """Print a line for each way.

    Raises:
        ParseError: A document could not be indexed.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = await Library.open(pathlib.Path(folder), embedder=embedder)
        try:
            await fill(library, data, Setup())
            said = await _said(library, data, field)
            for way in ways:
                print(f"  {data.name}, {field}: {way.name}", file=sys.stderr, flush=True)
                await _rewrite(library, field, said, way)
                halves = [await ask(library, _half(data, half), Setup()) for half in (0, 1)]
                cells = [field, data.name, way.name, *(f"{half.ndcg:.3f} | {half.recall:.3f}" for half in halves)]
                print(f"| {' | '.join(cells)} |", flush=True)
        finally:
            await library.close()


def untitled(data: JudgedSet) -> JudgedSet:
    """Return a set whose documents have lost their titles, which are what is said of their chunks."""
    return replace(data, documents=tuple(replace(one, title="") for one in data.documents))


def _half(data: JudgedSet, half: int) -> JudgedSet:
    return replace(data, questions=tuple(one for one in data.questions if half_of(one.id) == half))


async def _said(library: Library, data: JudgedSet, field: str) -> dict[str, Sequence[str]]:
    """Return what is said of each chunk, by document and number."""
    chunks = [one async for _, page in _pages(library) for one in page]
    if field == "questions":
        titles = {one.id: one.title for one in read_set(data.name).documents}
        return {_key(one): (titles[one.chunk.document_id],) for one in chunks}
    known = frequencies([one.chunk.text for one in chunks])
    return {_key(one): keywords(one.chunk.text, known, len(chunks)) for one in chunks}


async def _rewrite(library: Library, field: str, said: dict[str, Sequence[str]], way: Way) -> None:
    """Replace every document by one with what is said of its chunks, and with another text embedded."""
    batch: list[Prepared] = []
    async for document, page in _pages(library):
        name = generation(document.id, document.knowledge_base, digest(document.hash, field, way.name))
        spool = Spool(library.data_dir)
        for one in page:
            bare = replace(one, chunk=replace(one.chunk, keywords=(), questions=()))
            text = way.text(_own_text(one), said[_key(one)])
            chunk = replace(bare.chunk, id=f"{name}-{one.chunk.ordinal}", **{field: tuple(said[_key(one)])})  # type: ignore[arg-type]
            spool.extend([Draft(stored=replace(bare, chunk=chunk, vector_key=digest(text)), text=text)])
        fresh = replace(document, generation=name)
        batch.append(Prepared(document=fresh, chunks=spool, is_new=False, replaces=document.generation))
    async for _ in write_batch(library, batch):
        pass


def _own_text(stored: StoredChunk) -> str:
    """Return what the product embeds of a chunk, whatever was embedded of it the last time."""
    return embedded_text(replace(stored, vector_key=""))


def _key(stored: StoredChunk) -> str:
    return f"{stored.chunk.document_id} {stored.chunk.ordinal}"


async def _pages(library: Library) -> AsyncIterator[tuple[Document, list[StoredChunk]]]:
    """Yield each live document with its chunks."""
    stored, after = Enrichment(library.database), ""
    while page := await stored.documents(KNOWLEDGE_BASE, "none has this", after=after, limit=100):
        for document in page:
            yield document, [one async for some in chunks_of(library, document) for one in some]
        after = page[-1].id


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *ENGLISH], default=[])
    parser.add_argument("--documents", type=int, default=0, help="of each set; 0: all")
    parser.add_argument("--questions", type=int, default=0, help="of each set; 0: all")
    parser.add_argument("--field", nargs="+", choices=FIELDS, default=FIELDS)
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    print("| field | set | embedded | nDCG@10, chosen on | recall@10 | nDCG@10, unseen | recall@10 |\n|" + " --- |" * 7)
    embedder = remembered()
    for name in arguments.sets or ENGLISH:
        data = read_set(name, documents=arguments.documents, questions=arguments.questions)
        try:
            if "keywords" in arguments.field:
                asyncio.run(measure(data, "keywords", (ALONE, AFTER), embedder=embedder))
            if "questions" in arguments.field and name == ASKED:
                asyncio.run(measure(untitled(data), "questions", (ALONE, AFTER, INSTEAD), embedder=embedder))
        finally:
            embedder.keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
