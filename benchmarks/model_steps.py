"""What each step that asks a model changes, and what it costs: off and on, with a real model behind an endpoint.

    python -m benchmarks.model_steps --base-url URL [--rerank-url URL] [--model NAME] [--step NAME ...]
        [--documents N] [--questions N] [--reply TOKENS] [--forms | --form-url URL]

``URL`` is that of an OpenAI-compatible endpoint, up to and with its version, and may stand in ``$BENCH_LLM_URL``
instead. ``--rerank-url`` is that of a reranker, in Jina's form and without ``/rerank``; steps whose endpoint is not
named are left out. For each step a new index is made, asked, enriched, asked again, and enriched a second time, which must ask
nothing but what was answered with rubbish. Prints a Markdown table: nDCG@10, recall@10, the share of the gold in what
is given out and the seconds of a question, off / on; of enriching its calls, tokens in and out, seconds, documents that
lack something, and the calls of the second time; calls and tokens of a question. Then, of the tree and the graph, what
they hold. Documents and questions are taken by the hashes of their ids, as by ``benchmarks.steps``. Vectors are kept in
``$BENCH_CACHE``, indexes are not. With ``--forms`` the endpoint is sent the form of a step's answers, as an operator
can by ``extra_body``: a ``response_format`` with a schema as llama-cpp-python takes it; with
``--form-url`` what has such a form is asked of another endpoint, such as ``benchmarks._stand_ins``.
"""

import argparse
import asyncio
import os
import pathlib
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import text

from benchmarks._judged_sets import BENCH, JudgedSet
from benchmarks._model_plan import PATIENT, STEPS, Endpoints, ModelStep, prepare
from benchmarks._pictured import described
from benchmarks.steps import Measured, Setup, ask, fill, remembered
from ragcore.enrich.asking import Asker
from ragcore.enrich.making import chunks_of, summaries_of
from ragcore.enrich.passing import enrich, is_wanted
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.library import Library
from ragcore.models.embeddings import Embedder
from ragcore.models.http_reranker import Endpoint, HttpReranker
from ragcore.models.llm import ChatModel, Piece
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.prompts import OWN
from ragcore.reports import EnrichReport
from ragcore.retrieval import RetrievalOptions
from ragcore.retrieval.by_graph import LEG
from ragcore.retrieval.summaries import leaves_of
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.model_results import ModelResults
from ragcore.stores.overviews import Overviews
from ragcore.stores.rows import Document, StoredChunk
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message, ScoredChunk, Usage

DOCUMENTS, QUESTIONS = 300, 50
WINDOW, REPLY = 4_096, 256
"""Tokens that prompt and answer may take together, and an answer alone: what a small model is usually served with."""
PICTURED = 16_384
"""The same of a model that is shown pictures: one counts as 4,096."""
HEADER = (
    "| step | set | documents, questions | nDCG@10, off / on | recall@10 | gold quoted | seconds a question "
    "| enriching: calls | tokens in, out | seconds | documents that lack some | calls again "
    "| calls a question | tokens in, out |\n|" + " --- |" * 14
)


class InForm:
    """A model that is kept to a form, but for calls with the rules ``prose``."""

    def __init__(self, formed: ChatModel, free: ChatModel, prose: str) -> None:
        self._formed, self._free, self._prose = formed, free, prose
        self.name, self.context_window, self.max_tokens = formed.name, formed.context_window, formed.max_tokens

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        return self._for(messages).stream(messages, task=task)

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        return await self._for(messages).complete(messages, task=task)

    def _for(self, messages: Sequence[Message]) -> ChatModel:
        return self._free if messages[0].text == self._prose else self._formed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step came to: the same questions before and after it, what it took, and what the second time took."""

    off: Measured
    on: Measured
    report: EnrichReport
    again: int
    holds: str = ""


async def measure(step: ModelStep, data: JudgedSet, endpoints: Endpoints, *, embedder: Embedder) -> Outcome:
    """Index the documents anew, and ask, enrich and ask again.

    Raises:
        ParseError: A document could not be indexed.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = await Library.open(pathlib.Path(folder), embedder=embedder)
        try:
            await fill(library, data, Setup())
            await prepare(library, step)
            off = await ask(library, data, Setup(retrieval=_without_rerank(step.retrieval)))
            report = await _asked(library, data, step, endpoints.chat)
            on = await ask(
                library,
                data,
                Setup(retrieval=step.retrieval, search=lambda lib, options: step.search(lib, options, endpoints)),
            )
            again = await _asked(library, data, step, endpoints.chat)
            holds = await _held(library, data, step, endpoints)
        finally:
            await library.close()
    return Outcome(off=off, on=on, report=report, again=again.usage.calls, holds=holds)


def _without_rerank(options: RetrievalOptions) -> RetrievalOptions:
    default = RetrievalOptions()
    return replace(options, rerank_candidates=default.rerank_candidates, rerank_seconds=default.rerank_seconds)


async def _asked(library: Library, data: JudgedSet, step: ModelStep, model: ChatModel | None) -> EnrichReport:
    """Have the model asked what is due, and tell how far it is."""
    report = EnrichReport(knowledge_base=KNOWLEDGE_BASE)
    if model is not None and step.is_pictured:
        report = await described(library, data, model)
    elif model is not None and is_wanted(step.enrich):
        report = await _enriched(library, step, model)
    print(f"  {step.name}: {report.usage.calls} calls, {report.seconds:.0f} s", file=sys.stderr, flush=True)
    for one in report.failed[:3]:
        print(f"  {one.document_id}: {one.reason}", file=sys.stderr)
    if report.error:
        print(f"  ended by: {report.error}", file=sys.stderr)
    return report


async def _enriched(library: Library, step: ModelStep, model: ChatModel) -> EnrichReport:
    report = EnrichReport(knowledge_base=KNOWLEDGE_BASE)
    asker = Asker(
        model=model,
        identity=model.name,
        results=ModelResults(library.database),
        prompts=OWN,
        tokenizer=offline_tokenizer(),
    )
    async for event in enrich(library, KNOWLEDGE_BASE, step.enrich, asker):
        if isinstance(event, EnrichReport):
            report = event
    return report


async def documents_of(library: Library) -> AsyncIterator[Document]:
    """Yield the live documents."""
    stored, after = Enrichment(library.database), ""
    while page := await stored.documents(KNOWLEDGE_BASE, "none has this", after=after, limit=100):
        for document in page:
            yield document
        after = page[-1].id


async def _held(library: Library, data: JudgedSet, step: ModelStep, endpoints: Endpoints) -> str:
    """Tell what a tree or a graph holds, and for how many questions it says something."""
    if not step.enrich.raptor and not step.enrich.graph:
        return ""
    chunks: list[StoredChunk] = []
    summaries: list[StoredChunk] = []
    async for document in documents_of(library):
        chunks += [one async for page in chunks_of(library, document) for one in page]
        summaries += await summaries_of(library, document)
    for overview in (await Overviews(library.database).standing(KNOWLEDGE_BASE)).values():
        summaries += [one async for page in chunks_of(library, overview) for one in page]
    retriever = step.search(library, step.retrieval, endpoints)
    asked = [(await retriever.retrieve(Setup().question(data, query))).chunks for query in data.questions]
    if step.enrich.graph:
        async with library.database.connect() as connection:
            names, relations = [
                (await connection.execute(text(f"select count(distinct {what}) from {table}"))).scalar_one()
                for what, table in (("key", "graph_names"), ("chunk_id || number", "graph_relations"))
            ]
        told = sum(any(LEG in one.ranks for one in found) for found in asked)
        read = sum(one.graph is not None for one in chunks)
        graph = (
            f"{names} names and {relations} relations out of {read} of {len(chunks)} chunks; "
            f"lines added for {told} of {len(asked)} questions"
        )
        if not step.enrich.graph_communities:
            return graph
        return f"{graph}; {_resting(chunks, summaries, asked)}"
    return _resting(chunks, summaries, asked)


def _resting(
    chunks: Sequence[StoredChunk], summaries: Sequence[StoredChunk], asked: Sequence[Sequence[ScoredChunk]]
) -> str:
    """Tell of summaries, and of reports, on what they rest and for how many questions they are found."""
    there = {one.chunk.id for one in chunks}
    rests = sum(there.issuperset(leaves_of([one.chunk])) for one in summaries)
    written = {one.chunk.id for one in summaries}
    quoted = [[one for one in found if one.chunk.id in written] for found in asked]
    cited = sum(all(one.leaves for one in found) for found in quoted if found)
    return (
        f"{len(summaries)} summaries of {len(chunks)} chunks, {rests} of them on chunks that there are; found for "
        f"{sum(map(bool, quoted))} of {len(asked)} questions, with their leaves for {cited}"
    )


def row(step: ModelStep, data: JudgedSet, outcome: Outcome) -> str:
    """Return the line of a step."""
    off, on, report, count = outcome.off, outcome.on, outcome.report, max(1, len(data.questions))
    cells = [
        step.name,
        data.name,
        f"{len(data.documents)}, {len(data.questions)}",
        *(f"{a:.3f} / {b:.3f}" for a, b in ((off.ndcg, on.ndcg), (off.recall, on.recall), (off.given, on.given))),
        f"{off.question_seconds:.2f} / {on.question_seconds:.2f}",
        str(report.usage.calls),
        _tokens(report.usage),
        f"{report.seconds:.0f}",
        str(len(report.failed)),
        str(outcome.again),
        f"{on.usage.calls / count:.1f}",
        _tokens(on.usage, count),
    ]
    return f"| {' | '.join(cells)} |"


def _tokens(usage: Usage, count: int = 1) -> str:
    return f"{usage.prompt_tokens / count:,.0f}, {usage.completion_tokens / count:,.0f}"


async def table(
    steps: Sequence[ModelStep],
    endpoints: Callable[[ModelStep], Endpoints],
    *,
    documents: int,
    questions: int,
    embedder: Embedder,
) -> None:
    """Print the table, and what trees and graphs hold; ``endpoints`` makes those of a step."""
    print(HEADER, flush=True)
    held = []
    for step in steps:
        data = step.data(documents, questions)
        outcome = await measure(step, data, endpoints(step), embedder=embedder)
        print(row(step, data, outcome), flush=True)
        held += [f"{step.name}: {outcome.holds}."] if outcome.holds else []
    print("\n".join(["", *held]) if held else "", flush=True)


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", default=os.environ.get("BENCH_LLM_URL", ""), help="default: $BENCH_LLM_URL")
    parser.add_argument("--rerank-url", default="", help="of a reranker, without /rerank")
    parser.add_argument("--model", default="local", help="its name at that endpoint")
    parser.add_argument("--step", action="append", choices=names, help="may be given several times; default: every one")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--reply", type=int, default=REPLY, help="tokens that an answer may take")
    parser.add_argument("--forms", action="store_true", help="have the endpoint keep answers to a step's form of JSON")
    parser.add_argument("--form-url", default="", help="of another endpoint, for what a step asks for as JSON")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    chosen = [step for step in STEPS if step.name in (arguments.step or names)]
    steps = [step for step in chosen if (arguments.rerank_url if step.is_reranked else arguments.base_url)]
    if not steps:
        print("skipped: name the endpoint of a model by --base-url or $BENCH_LLM_URL, of a reranker by --rerank-url")
        return 0

    def endpoints(step: ModelStep) -> Endpoints:
        if step.is_reranked:
            return Endpoints(reranker=HttpReranker(Endpoint(base_url=arguments.rerank_url, timeout=PATIENT)))
        plain = chat(PICTURED if step.is_pictured else WINDOW, {})
        if step.form and arguments.form_url:
            return Endpoints(chat=InForm(chat(WINDOW, {}, arguments.form_url), plain, step.prose))
        if not arguments.forms or not step.form:
            return Endpoints(chat=plain)
        body = {"response_format": {"type": "json_object", "schema": step.form}}
        return Endpoints(chat=InForm(chat(WINDOW, body), plain, step.prose))

    def chat(window: int, body: Mapping[str, object], base_url: str = "") -> ChatModel:
        return OpenAIChatModel(
            base_url=base_url or arguments.base_url,
            model=arguments.model,
            context_window=window,
            options=ChatOptions(temperature=0.0, max_tokens=arguments.reply, extra_body=body),
            limits=ChatLimits(first_token=600.0, total=1_800.0, max_concurrent=2),
        )

    embedder = remembered()
    size = {"documents": arguments.documents, "questions": arguments.questions}
    try:
        asyncio.run(table(steps, endpoints, **size, embedder=embedder))
    finally:
        embedder.keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
