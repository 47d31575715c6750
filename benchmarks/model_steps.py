"""What each step that asks a model changes, and what it costs: off and on, with a real model behind an endpoint.

    python -m benchmarks.model_steps --base-url URL [--model NAME] [--step NAME ...] [--documents N] [--questions N]
        [--reply TOKENS] [--forms]

``URL`` is that of an OpenAI-compatible endpoint, up to and with its version, and may stand in ``$BENCH_LLM_URL``
instead. For each step a new index is made, asked, enriched, asked again, and enriched a second time, which must ask
nothing but what was answered with rubbish. Prints a Markdown table: nDCG@10, recall@10, the share of the gold in what
is given out and the seconds of a question, off / on; of enriching its calls, tokens in and out, seconds, documents that
lack something, and the calls of the second time; calls and tokens of a question. Then, of the tree and the graph, what
they hold. Documents and questions are taken by the hashes of their ids, as by ``benchmarks.steps``. Vectors are kept in
``$BENCH_CACHE``, indexes are not. With ``--forms`` the endpoint is sent the form of a step's answers, as an operator
can by ``extra_body``: a ``response_format`` with a schema as llama-cpp-python takes it.
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
from benchmarks._model_plan import STEPS, ModelStep, prepare
from benchmarks.steps import Measured, Setup, ask, fill, remembered
from ragcore.enrich.asking import Asker
from ragcore.enrich.making import chunks_of, summaries_of
from ragcore.enrich.passing import enrich, is_wanted
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.library import Library
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import ChatModel
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.prompts import OWN
from ragcore.reports import EnrichReport
from ragcore.retrieval import RetrievalOptions
from ragcore.retrieval.by_graph import LEG
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.model_results import ModelResults
from ragcore.stores.rows import Document, StoredChunk
from ragcore.tokens import offline_tokenizer
from ragcore.types import Usage

DOCUMENTS, QUESTIONS = 300, 50
WINDOW, REPLY = 4_096, 256
"""Tokens that prompt and answer may take together, and an answer alone: what a small model is usually served with."""
HEADER = (
    "| step | set | documents, questions | nDCG@10, off / on | recall@10 | gold quoted | seconds a question "
    "| enriching: calls | tokens in, out | seconds | documents that lack some | calls again "
    "| calls a question | tokens in, out |\n|" + " --- |" * 14
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step came to: the same questions before and after it, what it took, and what the second time took."""

    off: Measured
    on: Measured
    report: EnrichReport
    again: int
    holds: str = ""


async def measure(step: ModelStep, data: JudgedSet, model: ChatModel, *, embedder: Embedder) -> Outcome:
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
            report = await _enriched(library, step, model)
            on = await ask(
                library,
                data,
                Setup(retrieval=step.retrieval, search=lambda lib, options: step.search(lib, options, model)),
            )
            again = await _enriched(library, step, model)
            holds = await _held(library, data, step, model)
        finally:
            await library.close()
    return Outcome(off=off, on=on, report=report, again=again.usage.calls, holds=holds)


def _without_rerank(options: RetrievalOptions) -> RetrievalOptions:
    default = RetrievalOptions()
    return replace(options, rerank_candidates=default.rerank_candidates, rerank_seconds=default.rerank_seconds)


async def _enriched(library: Library, step: ModelStep, model: ChatModel) -> EnrichReport:
    """Enrich what is due, and tell how far it is."""
    report = EnrichReport(knowledge_base=KNOWLEDGE_BASE)
    if not is_wanted(step.enrich):
        return report
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
    print(f"  {step.name}: {report.usage.calls} calls, {report.seconds:.0f} s", file=sys.stderr, flush=True)
    for one in report.failed[:3]:
        print(f"  {one.document_id}: {one.reason}", file=sys.stderr)
    if report.error:
        print(f"  ended by: {report.error}", file=sys.stderr)
    return report


async def documents_of(library: Library) -> AsyncIterator[Document]:
    """Yield the live documents."""
    stored, after = Enrichment(library.database), ""
    while page := await stored.documents(KNOWLEDGE_BASE, "none has this", after=after, limit=100):
        for document in page:
            yield document
        after = page[-1].id


async def _held(library: Library, data: JudgedSet, step: ModelStep, model: ChatModel) -> str:
    """Tell what a tree or a graph holds, and for how many questions it says something."""
    if not step.enrich.raptor and not step.enrich.graph:
        return ""
    chunks: list[StoredChunk] = []
    summaries: list[StoredChunk] = []
    async for document in documents_of(library):
        chunks += [one async for page in chunks_of(library, document) for one in page]
        summaries += await summaries_of(library, document)
    retriever = step.search(library, step.retrieval, model)
    asked = [(await retriever.retrieve(Setup().question(data, query))).chunks for query in data.questions]
    if step.enrich.graph:
        async with library.database.connect() as connection:
            names, relations = [
                (await connection.execute(text(f"select count(distinct {what}) from {table}"))).scalar_one()
                for what, table in (("key", "graph_names"), ("chunk_id || number", "graph_relations"))
            ]
        told = sum(any(LEG in one.ranks for one in found) for found in asked)
        read = sum(one.graph is not None for one in chunks)
        return (
            f"{names} names and {relations} relations out of {read} of {len(chunks)} chunks; "
            f"lines added for {told} of {len(asked)} questions"
        )
    ordinals = {one.chunk.ordinal for one in chunks}
    rests = sum(set(one.chunk.leaves) <= ordinals for one in summaries)
    quoted = [[one for one in found if one.chunk.leaves] for found in asked]
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
    model: Callable[[Mapping[str, object]], ChatModel],
    *,
    documents: int,
    questions: int,
    embedder: Embedder,
) -> None:
    """Print the table, and what trees and graphs hold; ``model`` makes one that keeps to a form."""
    print(HEADER, flush=True)
    held = []
    for step in steps:
        data = step.data(documents, questions)
        outcome = await measure(step, data, model(step.form), embedder=embedder)
        print(row(step, data, outcome), flush=True)
        held += [f"{step.name}: {outcome.holds}."] if outcome.holds else []
    print("\n".join(["", *held]) if held else "", flush=True)


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", default=os.environ.get("BENCH_LLM_URL", ""), help="default: $BENCH_LLM_URL")
    parser.add_argument("--model", default="local", help="its name at that endpoint")
    parser.add_argument("--step", action="append", choices=names, help="may be given several times; default: every one")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--reply", type=int, default=REPLY, help="tokens that an answer may take")
    parser.add_argument("--forms", action="store_true", help="have the endpoint keep answers to a step's form of JSON")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    if not arguments.base_url:
        print("skipped: name the endpoint of a model by --base-url or $BENCH_LLM_URL")
        return 0

    def model(form: Mapping[str, object]) -> ChatModel:
        body = {"response_format": {"type": "json_object", "schema": form}} if form and arguments.forms else {}
        return OpenAIChatModel(
            base_url=arguments.base_url,
            model=arguments.model,
            context_window=WINDOW,
            options=ChatOptions(temperature=0.0, max_tokens=arguments.reply, extra_body=body),
            limits=ChatLimits(first_token=600.0, total=1_800.0, max_concurrent=2),
        )

    steps = [step for step in STEPS if step.name in (arguments.step or names)]
    embedder = remembered()
    try:
        asyncio.run(
            table(steps, model, documents=arguments.documents, questions=arguments.questions, embedder=embedder)
        )
    finally:
        embedder.keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
