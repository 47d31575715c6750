"""Answers without a model on public questions: how many are given directly or as near, and how many cite a right document.

    python -m benchmarks.answers [SET ...] [--questions N]

After `python -m benchmarks.retrieval SET`, whose indexes it reads. Each question of a set is asked three ways, through the
product's own way from question to answer: as it is; with the documents that answer it left out of what the search gave,
so that only what is near to the matter is there; and to the documents of another set. A direct answer is right to be
given in the first case only, though what is near sometimes answers, too. The constants of ragcore.extractive were chosen on
half 0 of the questions, by the hash of their ids; asked are those of half 1.
"""

import argparse
import asyncio
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace

from benchmarks.retrieval import BENCH, half_of, indexed, workspace
from ragcore.answer import Answerer
from ragcore.citations import markers
from ragcore.evaluate.judged import JudgedQuery, read_queries
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.library import Library
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.retriever import Retrieved
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Question, ScoredChunk, Support

SETS = ("faq-zoomcamp", "inscit", "cmrc2018-zh")
QUESTIONS = 80
_DEEP = 40
"""Chunks that the search gives where some are left out: enough then remain."""


@dataclass(frozen=True)
class Without:
    """A search that leaves documents out, and then gives as many chunks as usual."""

    retriever: Retriever
    left_out: Collection[str]

    async def retrieve(self, question: Question) -> Retrieved:
        """Return what the search finds elsewhere."""
        found = await self.retriever.retrieve(question)
        return replace(found, chunks=self._kept(found.chunks)[: RetrievalOptions().top_n], near=self._kept(found.near))

    def _kept(self, chunks: tuple[ScoredChunk, ...]) -> tuple[ScoredChunk, ...]:
        return tuple(scored for scored in chunks if native(scored.chunk.document_id) not in self.left_out)


def native(document_id: str) -> str:
    return document_id.partition(":")[2]


def retriever_of(library: Library, options: RetrievalOptions | None = None) -> Retriever:
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=options,
    )


async def answered(library: Library, searcher: Retriever | Without, query: JudgedQuery, *, history: bool) -> Answer:
    answerer = Answerer(retriever=searcher, embedder=library.embedder, tokenizer=offline_tokenizer())
    asked = Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,), history=query.history if history else ())
    async for event in answerer.answer(asked):
        if isinstance(event, Answer):
            return event
    raise AssertionError("every question ends in an answer")


async def measure(name: str, queries: list[JudgedQuery], foreign: list[JudgedQuery]) -> str:
    """Return the row of a set."""
    library = await indexed(name)
    try:
        usual, deep = retriever_of(library), retriever_of(library, RetrievalOptions(top_n=_DEEP))
        own = [await answered(library, usual, query, history=True) for query in queries]
        near = [await answered(library, Without(deep, _right(query)), query, history=True) for query in queries]
        far = [await answered(library, usual, query, history=False) for query in foreign]
    finally:
        await library.close()
    sentences = sum(len(markers.find(answer.raw_text)) for answer in own) / len(own)
    cells = [name, *_kinds(own, queries), f"{sentences:.1f}", *_kinds(near), *_kinds(far)]
    return "| " + " | ".join(cells) + " |"


def _kinds(answers: list[Answer], queries: list[JudgedQuery] | None = None) -> list[str]:
    """Return how many are given for direct answers and how many as near, and of each how many cite a right document."""
    cells = []
    for support in (Support.CITED, Support.NEAREST):
        given = [index for index, answer in enumerate(answers) if answer.support is support]
        cells.append(str(len(given)))
        if queries:
            right = (any(native(one.document_id) in _right(queries[i]) for one in answers[i].citations) for i in given)
            cells.append(str(sum(right)))
    return cells


def _right(query: JudgedQuery) -> set[str]:
    return {document for document, grade in query.grades.items() if grade > 0}


async def table(names: list[str], count: int) -> None:
    queries = {name: [query for query in read_queries(BENCH / name) if half_of(query.id)][:count] for name in SETS}
    print(
        f"| set ({count} questions each) | direct | right | near | right | sentences "
        "| direct without its source | near | direct elsewhere | near |"
    )
    print("|" + " --- |" * 10, flush=True)
    for name in names:
        others = [query for other in SETS if other != name for query in queries[other][: count // 2]]
        print(await measure(name, queries[name], others), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], default=[])
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="how many of each set")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    names = arguments.sets or list(SETS)
    if missing := [name for name in names if not workspace(name).is_dir()]:
        print(f"skipped: `python -m benchmarks.retrieval {' '.join(missing)}` makes the indexes first")
        return 0
    asyncio.run(table(names, arguments.questions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
