"""Whether an exact identifier finds its document first: kinds of identifiers times ways to ask for them.

    python -m benchmarks.identifiers [--seen | --unseen] [--misses]

A made knowledge base (the same at every run) in which each identifier stands in one document, beside others about its
neighbours, others with its parts, and general prose, in English and Chinese. Asked through the product's own way from
ingest to ranking, with MiniLM. A question counts when the first chunk given out is of the document that has the
identifier. The search was mended on the kinds of ``SEEN``; those of ``UNSEEN`` judge it.
"""

import argparse
import asyncio
import os
import pathlib
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from benchmarks._identifier_documents import Family, documents, families
from benchmarks._identifier_kinds import SEEN, UNSEEN, Kind
from ragcore.errors import ParseError
from ragcore.ingest import Failed, ingest
from ragcore.library import Library
from ragcore.library.recovery import mend, recover
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.retrieval import Retriever
from ragcore.types import Question, SourceDocument

CACHE = pathlib.Path(os.environ.get("BENCH_CACHE") or pathlib.Path(tempfile.gettempdir()) / "bench-cache")
KNOWLEDGE_BASE = "identifiers"

_ENGLISH = (
    "What does {x} say about our deadlines?",
    "Who is responsible for {x} and what has to be done?",
    "I was told to look at {x} before I call the customer, what is it about?",
    "Is {x} still valid for the branches?",
)
_CHINESE = (
    "{x}是什么意思？",
    "请问{x}由哪个部门负责？",
    "客户问到 {x} 时应该怎么处理",
    "关于{x}有什么规定吗？",
)
_TYPOS = (
    "waht dose {x} maen for teh custmer",
    "who si repsonsible fro {x} adn whta shuold i od",
    "plese tel me abuot {x} its ugrent",
    "wher cna i fnid infromation on {x} thansk",
)
_ENDINGS = ("{x}?", "{x}.", "({x})", "{x}?!", "{x}: ", "{x}。", "{x}？", "{x},")
_MESSAGE = (
    "Hi all, this morning a customer called the service desk about the price list and the supplier portal. They had "
    "already asked the finance team and the warehouse, and nobody could tell them more. They mention {x} in their "
    "letter. Two people from Legal have looked at it within three working days. What should we answer them?"
)


@dataclass(frozen=True)
class Asked:
    """A question, how it asks, and the document that must come first."""

    kind: str
    way: str
    text: str
    document: str


def asked_about(family: Family) -> Iterator[Asked]:
    """Yield every way to ask for an identifier."""
    x = family.named.written
    rng = Random(f"ask {family.document}")
    texts = [
        ("alone", x),
        ("quoted", rng.choice(['"{x}"', "“{x}”", "'{x}'", "`{x}`"]).format(x=x)),
        ("English sentence", rng.choice(_ENGLISH).format(x=x)),
        ("Chinese sentence", rng.choice(_CHINESE).format(x=x)),
        ("lower case", rng.choice(_ENGLISH).format(x=x).lower()),
        ("typos around it", rng.choice(_TYPOS).format(x=x)),
        ("punctuation after it", rng.choice(_ENDINGS).format(x=x)),
        ("long message", _MESSAGE.format(x=x)),
    ]
    for number, other in enumerate(family.named.others):
        sentence = rng.choice(_CHINESE if number % 2 else _ENGLISH)
        texts += [("written otherwise", other), ("written otherwise, sentence", sentence.format(x=other))]
    for way, text in texts:
        yield Asked(family.kind, way, text, family.document)


async def ask(kinds: Mapping[str, Kind]) -> list[tuple[Asked, bool, str]]:
    """Index what is not yet indexed and ask; returns each question, whether it was met, and what came first."""
    library = await Library.open(CACHE / "identifiers", embedder=MiniLMEmbedder())
    try:
        await recover(library)
        async for _ in mend(library):
            pass
        async for event in ingest(library, KNOWLEDGE_BASE, _sources()):
            if isinstance(event, Failed):
                raise ParseError(f"{event.document_id}: {event.reason}", mend=event.mend)
        retriever = Retriever(
            registry=library.registry, vectors=library.vectors, keywords=library.keywords, embedder=library.embedder
        )
        found = []
        for family in families(kinds):
            for one in asked_about(family):
                answer = await retriever.retrieve(Question(text=one.text, knowledge_bases=(KNOWLEDGE_BASE,)))
                first = answer.chunks[0].chunk.document_id.partition(":")[2] if answer.chunks else "nothing"
                found.append((one, first == one.document, first))
        return found
    finally:
        await library.close()


async def _sources() -> AsyncIterator[SourceDocument]:
    for name, text in documents({**SEEN, **UNSEEN}):
        yield SourceDocument(
            id=f"{KNOWLEDGE_BASE}:{name}", source=KNOWLEDGE_BASE, content=text.encode(), name="page.md", version=""
        )


def table(title: str, found: list[tuple[Asked, bool, str]]) -> None:
    """Print misses and questions by kind and by way."""
    missed = sum(not met for _, met, _ in found)
    print(f"\n{title}: {missed} misses of {len(found)}, {1 - missed / len(found):.3f} first\n")
    for label in ("kind", "way"):
        asked = Counter(getattr(one, label) for one, _, _ in found)
        misses = Counter(getattr(one, label) for one, met, _ in found if not met)
        print(f"| {label} | misses | asked |\n| --- | --- | --- |")
        for name, count in asked.items():
            print(f"| {name} | {misses[name]} | {count} |")
        print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seen", action="store_true", help="only the kinds that the search was mended on")
    which.add_argument("--unseen", action="store_true", help="only the kinds that nobody looked at meanwhile")
    parser.add_argument("--misses", action="store_true", help="tell each question that was not met")
    arguments = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    for title, kinds, left_out in (("seen", SEEN, arguments.unseen), ("unseen", UNSEEN, arguments.seen)):
        if left_out:
            continue
        found = asyncio.run(ask(kinds))
        table(title, found)
        for one, met, first in found:
            if arguments.misses and not met:
                print(f"{one.kind} | {one.way} | {one.text} | {one.document} | {first}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
