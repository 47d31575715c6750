"""Questions of several hops: what one search finds of the documents that answer, against a research with and without a model.

    python -m benchmarks.research [SET ...] [--questions N] [--misses] [--base-url URL [--model NAME] [--reply TOKENS]
        [--tools native|json] [--seconds N]]

After `python -m benchmarks.retrieval SET`, whose indexes it reads. Each question is searched for once, with as many
chunks as an answer rests on and with as many as the research read; it is researched by its own parts and what is
found, within the usual limits; and, where ``--base-url`` names an OpenAI-compatible endpoint (or ``$BENCH_LLM_URL``
does), by what its model plans and judges; with ``--tools`` by the tools that it chooses instead, in its endpoint's own
form or as JSON in its replies. ``--seconds`` is the limit of a research with a model, where 180 are too few for it. ``--questions`` are taken by the hash of their ids, so many of each of the
collections that the set is made of. Told are the share of the documents that answer which were read, the share of
questions of which all were, chunks, searches, the seconds it took, how many cite a document that answers and how many
anything, how many kept within the limit of seconds, and calls and tokens.
"""

import argparse
import asyncio
import hashlib
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from benchmarks.answers import native, retriever_of
from benchmarks.retrieval import BENCH, half_of, indexed, mean
from ragcore.errors import ModelError
from ragcore.evaluate.judged import JudgedQuery, read_queries
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.library import Library
from ragcore.models.llm import Called, CallingModel, ChatModel, Piece, ToolSpec
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.research.research import Researcher
from ragcore.research.tools.documents import KnownDocuments
from ragcore.research.values import Limits
from ragcore.retrieval import RetrievalOptions
from ragcore.retrieval.retriever import Retrieved, Retriever
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Message, Question, ScoredChunk, Usage

SETS = ("multihop-dev",)
WINDOW, REPLY = 4_096, 200
"""Tokens that prompt and answer may take together, and an answer alone: what a small model is served with."""
HEADER = (
    "| way | recall | all found | chunks read | searches | seconds p50 / p95 | cites a right one | cites "
    "| within the limit | calls | tokens in, out |\n|" + " --- |" * 11
)
LATE = 5.0
"""Seconds over the limit that an answer without a model takes at most where the limit ends the research."""


@dataclass
class Counting:
    """A search that counts how often it is asked."""

    retriever: Retriever
    asked: list[str] = field(default_factory=list)

    async def retrieve(self, question: Question) -> Retrieved:
        """Search."""
        self.asked.append(question.text)
        return await self.retriever.retrieve(question)


class Offering:
    """A model that counts how often it was offered tools, and what it called."""

    def __init__(self, model: CallingModel) -> None:
        """Wrap a model."""
        self._model = model
        self.offers = 0
        self.replies = 0
        self.calls: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def context_window(self) -> int:
        """Return the model's window."""
        return self._model.context_window

    @property
    def max_tokens(self) -> int:
        """Return what an answer may take."""
        return self._model.max_tokens

    @property
    def takes_tools(self) -> bool:
        """Return whether its endpoint may take tools."""
        return self._model.takes_tools

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        """Yield the output."""
        return self._model.stream(messages, task=task)

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        """Return the whole text."""
        return await self._model.complete(messages, task=task)

    async def call(self, messages: Sequence[Message], *, task: str, tools: Sequence[ToolSpec]) -> Called:
        """Return the whole text and the calls, and count these."""
        self.offers += 1
        try:
            called = await self._model.call(messages, task=task, tools=tools)
        except ModelError as error:
            self.failures[type(error).__name__] += 1
            raise
        self.replies += bool(called.calls)
        self.calls.update(one.name for one in called.calls)
        return called

    def __str__(self) -> str:
        named = ", ".join(f"{name} {count}" for name, count in self.calls.most_common(8))
        failed = ", ".join(f"{name} {count}" for name, count in self.failures.most_common())
        return f"tools offered {self.offers} times, called in {self.replies} replies: {named}; failures: {failed or 0}"


@dataclass
class Row:
    """What was read for the questions, one way."""

    name: str
    recalls: list[float] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    searches: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cited: list[float] = field(default_factory=list)
    citing: list[float] = field(default_factory=list)
    within: list[float] = field(default_factory=list)
    usage: Usage = Usage()

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
        shares = [f"{mean(each):.2f}" if each else "-" for each in (self.cited, self.citing, self.within)]
        count = len(self.recalls)
        tokens = f"{self.usage.prompt_tokens / count:.0f}, {self.usage.completion_tokens / count:.0f}"
        return (
            f"| {self.name} | {mean(self.recalls):.3f} | {whole:.3f} | {mean(self.read):.1f} | {mean(self.searches):.1f} "
            f"| {middle:.2f} / {late:.2f} | {' | '.join(shares)} | {self.usage.calls / count:.1f} | {tokens} |"
        )


async def measure(
    library: Library, queries: Sequence[JudgedQuery], model: CallingModel | None, arguments: argparse.Namespace
) -> list[Row]:
    """Ask each question in every way."""
    tools, limits = arguments.tools, Limits(seconds=arguments.seconds)
    usual = retriever_of(library)
    once = [(Row("one search"), RetrievalOptions())]
    once += [(Row(f"one search, {depth} chunks"), RetrievalOptions(top_n=depth)) for depth in (24, 48)]
    research: list[tuple[Row, ChatModel | None, str]] = [(Row("research without a model"), None, "")]
    research += (
        [(Row(f"research with {model.name}{f', tools {tools}' if tools else ''}"), model, tools)] if model else []
    )
    for query in queries:
        question = Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,))
        for row, options in once:
            began = time.perf_counter()
            found = await usual.with_options(options).retrieve(question)
            row.take(query, found.chunks, 1, time.perf_counter() - began)
        for row, asked, form in research:
            counting = Counting(usual)
            began = time.perf_counter()
            answer = await researched(library, counting, question, asked, form, limits)
            row.take(query, answer.chunks, len(counting.asked), seconds := time.perf_counter() - began)
            right = {document for document, grade in query.grades.items() if grade > 0}
            row.cited.append(float(any(native(one.document_id) in right for one in answer.citations)))
            row.citing.append(float(bool(answer.citations)))
            row.within.append(float(seconds <= limits.seconds + LATE))
            row.usage += answer.usage
            if arguments.misses and row.recalls[-1] < 1.0:
                print(f"\n{query.text}\n  {row.name}: {row.recalls[-1]:.2f}  " + "\n        ".join(counting.asked))
    return [row for row, _ in once] + [row for row, _, _ in research]


async def researched(
    library: Library, searcher: Counting, question: Question, model: ChatModel | None, tools: str, limits: Limits
) -> Answer:
    """Return what a research ends in; the form in which tools are called is "" where none are."""
    researcher = Researcher(
        searcher=searcher,
        embedder=library.embedder,
        tokenizer=offline_tokenizer(),
        chat_model=model,
        limits=limits,
        documents=KnownDocuments(library.registry) if tools else None,
        calling=model if tools == "native" and isinstance(model, Offering) else None,
        in_words=tools != "native",
    )
    async with aclosing(researcher.research(question)) as events:
        answer = [event async for event in events][-1]
    assert isinstance(answer, Answer)
    return answer


def collections_of(queries: Sequence[JudgedQuery], count: int | None) -> dict[str, list[JudgedQuery]]:
    """Return so many questions of each collection, which their ids begin with, by the hash of the ids."""
    found: dict[str, list[JudgedQuery]] = {}
    for query in sorted(queries, key=lambda one: hashlib.md5(one.id.encode(), usedforsecurity=False).digest()):
        found.setdefault(query.id.partition("-")[0], []).append(query)
    return {name: each[:count] for name, each in sorted(found.items())}


async def run(arguments: argparse.Namespace) -> None:
    """Print a table for each collection of each set."""
    model = None
    if arguments.base_url:
        model = OpenAIChatModel(
            base_url=arguments.base_url,
            model=arguments.model,
            api_key=os.environ.get("OPENAI_API_KEY", ""),
            context_window=WINDOW,
            options=ChatOptions(temperature=0.0, max_tokens=arguments.reply),
            limits=ChatLimits(first_token=arguments.seconds, total=arguments.seconds),
        )
    offering = Offering(model) if model else None
    for name in arguments.sets or SETS:
        queries = [query for query in read_queries(BENCH / name) if half_of(query.id) or not arguments.half]
        library = await indexed(name)
        try:
            for collection, asked in collections_of(queries, arguments.questions).items():
                rows = await measure(library, asked, offering, arguments)
                print(f"\n{name}, {collection}, {len(asked)} questions\n")
                print(HEADER, *map(str, rows), sep="\n", flush=True)
                if offering is not None and offering.offers:
                    print(f"\nso far, {offering}", flush=True)
        finally:
            await library.close()
    if model is not None:
        await model.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--questions", type=int, default=None, metavar="N")
    parser.add_argument("--half", action="store_true", help="only the questions of half 1, by the hash of their ids")
    parser.add_argument("--base-url", default=os.environ.get("BENCH_LLM_URL", ""), help="default: $BENCH_LLM_URL")
    parser.add_argument("--model", default="default")
    parser.add_argument("--reply", type=int, default=REPLY, metavar="TOKENS", help="what a reply may take at most")
    parser.add_argument("--tools", choices=["", "native", "json"], default="", help="let the model choose tools")
    parser.add_argument("--seconds", type=float, default=Limits().seconds, help="limit of a research with a model")
    parser.add_argument("--misses", action="store_true", help="print the questions of which not all was found")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
