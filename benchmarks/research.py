"""Questions of several hops: what one search finds of the documents that answer, against a research without a model.

    python -m benchmarks.research [SET ...] [--questions N] [--misses]

After `python -m benchmarks.retrieval SET`, whose indexes it reads. Each question is searched for once, with as many
chunks as an answer rests on and with as many as the research read; and it is researched by its own parts and what is
found, within the usual limits. Told are the share of the documents that answer which were read, the share of questions
of which all were, how many searches a research made, the seconds it took, and how many were answered or quoted from.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from benchmarks.answers import native, retriever_of
from benchmarks.retrieval import BENCH, half_of, indexed, mean
from ragcore.evaluate.judged import JudgedQuery, read_queries
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.library import Library
from ragcore.research.research import Researcher
from ragcore.retrieval import RetrievalOptions
from ragcore.retrieval.retriever import Retrieved, Retriever
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Question, ScoredChunk

SETS = ("multihop-dev",)


@dataclass
class Counting:
    """A search that counts how often it is asked."""

    retriever: Retriever
    asked: list[str] = field(default_factory=list)

    async def retrieve(self, question: Question) -> Retrieved:
        """Search."""
        self.asked.append(question.text)
        return await self.retriever.retrieve(question)


@dataclass
class Row:
    """What was read for the questions, one way."""

    name: str
    recalls: list[float] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    searches: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cited: list[float] = field(default_factory=list)

    def take(self, query: JudgedQuery, chunks: Sequence[ScoredChunk], searches: int, seconds: float) -> None:
        """Count one question."""
        right = {document for document, grade in query.grades.items() if grade > 0}
        found = {native(scored.chunk.document_id) for scored in chunks}
        self.recalls.append(len(right & found) / len(right))
        self.read.append(len(chunks))
        self.searches.append(searches)
        self.seconds.append(seconds)

    def __str__(self) -> str:
        whole = mean([float(one == 1.0) for one in self.recalls])
        times = sorted(self.seconds)
        middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
        cited = f"{mean(self.cited):.2f}" if self.cited else "-"
        return (
            f"| {self.name} | {mean(self.recalls):.3f} | {whole:.3f} | {mean(self.read):.1f} | {mean(self.searches):.1f} "
            f"| {middle:.2f} / {late:.2f} | {cited} |"
        )


async def measure(library: Library, queries: Sequence[JudgedQuery], misses: bool) -> list[Row]:
    usual = retriever_of(library)
    once, research = Row("one search"), Row("research without a model")
    deep = {depth: Row(f"one search, {depth} chunks") for depth in (24, 48)}
    for query in queries:
        question = Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,))
        for row, options in [(once, RetrievalOptions()), *((deep[n], RetrievalOptions(top_n=n)) for n in deep)]:
            began = time.perf_counter()
            found = await usual.with_options(options).retrieve(question)
            row.take(query, found.chunks, 1, time.perf_counter() - began)
        counting = Counting(usual)
        researcher = Researcher(searcher=counting, embedder=library.embedder, tokenizer=offline_tokenizer())
        began = time.perf_counter()
        async with aclosing(researcher.research(question)) as events:
            answer = [event async for event in events][-1]
        assert isinstance(answer, Answer)
        research.take(query, answer.chunks, len(counting.asked), time.perf_counter() - began)
        right = {document for document, grade in query.grades.items() if grade > 0}
        research.cited.append(float(any(native(one.document_id) in right for one in answer.citations)))
        if misses and research.recalls[-1] < 1.0:
            print(f"\n{query.text}\n  {research.recalls[-1]:.2f}  " + "\n        ".join(counting.asked))
    return [once, *deep.values(), research]


async def run(arguments: argparse.Namespace) -> None:
    for name in arguments.sets or SETS:
        queries = [query for query in read_queries(BENCH / name) if half_of(query.id) or not arguments.half]
        library = await indexed(name)
        try:
            rows = await measure(library, queries[: arguments.questions], arguments.misses)
        finally:
            await library.close()
        print(f"\n{name}, {len(queries[: arguments.questions])} questions\n")
        print("| way | recall | all found | chunks read | searches | seconds p50 / p95 | cites a right one |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        print("\n".join(map(str, rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--questions", type=int, default=None, metavar="N")
    parser.add_argument("--half", action="store_true", help="only the questions of half 1, by the hash of their ids")
    parser.add_argument("--misses", action="store_true", help="print the questions of which not all was found")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
