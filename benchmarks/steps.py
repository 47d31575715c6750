"""What each step of ingest and retrieval that needs no model changes: off and on, set by set.

    python -m benchmarks.steps [SET ...] [--step NAME ...] [--documents N] [--questions N] [--all]

Prints a Markdown table: nDCG@10 and recall@10 (linear gain, as trec_eval), the seconds that a question takes as a chat
asks it, the seconds of ingest from nothing, MiniLM included, and of the chunks that a prompt would hold, which share of
the gold stands in them, and their tokens, each off / on. Judged are documents, in financebench-dev pages, in
chunking-dev the gold stretches, of which a large chunk may hold several. By default samples are taken, the same ones
each time: some questions by the hash of their ids, their documents, and others until there are enough; ``--all`` takes
every document, and every question unless ``--questions`` says how many. Indexes stay in ``$BENCH_CACHE`` (by default in
the temporary folder), with the seconds that they took, and vectors with theirs: a text that another index has embedded
already counts as embedded in that time.

To measure another step, add it to ``STEPS``.
"""

import argparse
import asyncio
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from benchmarks._judged_sets import BENCH, SETS, JudgedSet, read_set
from benchmarks._remembered import RememberedEmbedder
from benchmarks._step_sets import as_tables, by_contents, by_tags, filtered, plain, tagged, untagged
from ragcore.chunking import ChunkOptions
from ragcore.errors import ParseError
from ragcore.evaluate.judged import JudgedQuery
from ragcore.evaluate.retrieval import CUT, KNOWLEDGE_BASE, ndcg, recall, retriever_over
from ragcore.ingest import Failed, IngestOptions, ingest, pipeline_of
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.retrieval import RetrievalOptions
from ragcore.retrieval.retriever import Retrieving
from ragcore.tokens import offline_tokenizer
from ragcore.types import Question, SourceDocument, Usage

CACHE = pathlib.Path(os.environ.get("BENCH_CACHE") or pathlib.Path(tempfile.gettempdir()) / "bench-cache")
DOCUMENTS, QUESTIONS = 60, 40
"""What a sample holds of a set."""
LONG = {"dureader-zh": (25, 20), "financebench-dev": (3, 40)}
"""Documents and questions at most of the sets whose documents are long."""
DEEP = 250
"""Candidates of each leg where a ranking is judged: several chunks of one document must still leave ten documents."""


def remembered() -> RememberedEmbedder:
    """Return the embedder that all indexes of these benchmarks share."""
    return RememberedEmbedder(MiniLMEmbedder(), CACHE / "steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How documents are cut and questions searched; the defaults are the product's.

    ``after`` is done to a new index and counts as ingest; it needs ``after_name``, under which the index is kept.
    ``search`` composes the retriever, ``question`` what is asked of it.
    """

    chunk: ChunkOptions = field(default_factory=ChunkOptions)
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    after: Callable[[Library], Awaitable[None]] | None = None
    after_name: str = ""
    search: Callable[[Library, RetrievalOptions], Retrieving] = retriever_over
    question: Callable[[JudgedSet, JudgedQuery], Question] = plain


DEFAULT = Setup()
Narrow = Callable[[JudgedSet], JudgedSet]


def whole(data: JudgedSet) -> JudgedSet:
    """Return a set as it is."""
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step, measured on these sets with and without it; ``data`` makes of a set what the step is for."""

    name: str
    on: Setup
    off: Setup = DEFAULT
    sets: Sequence[str] = SETS
    data: Narrow = whole


SEEN_WITHIN = ("faq-zoomcamp", "financebench-dev", "chunking-dev")
"""Sets that show what the size of a chunk does, and are small."""
STEPS: tuple[Step, ...] = (
    Step(
        name="vectors beside keywords",
        off=Setup(retrieval=RetrievalOptions(vector_similarity_weight=0.0)),
        on=DEFAULT,
    ),
    Step(name="parents of 512", on=Setup(chunk=ChunkOptions(parent_tokens=512))),
    Step(
        name="chunks of 128 in parents of 512",
        on=Setup(chunk=ChunkOptions(chunk_tokens=128, parent_tokens=512)),
        sets=SEEN_WITHIN,
    ),
    Step(
        name="chunks of 96 in parents of 512",
        on=Setup(chunk=ChunkOptions(chunk_tokens=96, parent_tokens=512)),
        sets=SEEN_WITHIN,
    ),
    Step(name="ranking `similarity`", on=Setup(retrieval=RetrievalOptions(ranking="similarity"))),
    Step(name="copies collapsed", off=Setup(retrieval=RetrievalOptions(collapse=False)), on=DEFAULT),
    *(
        Step(
            name=f"chunk method `{method}`, a table a course",
            on=Setup(chunk=ChunkOptions(method=method)),
            sets=("faq-zoomcamp",),
            data=as_tables,
        )
        for method in ("qa", "table")
    ),
    *(
        Step(
            name=f"chunk method `{method}`",
            on=Setup(chunk=ChunkOptions(method=method)),
            sets=("financebench-dev", "chunking-dev"),
        )
        for method in ("book", "manual", "laws", "paper")
    ),
    Step(
        name="tags, a quarter as tag set",
        on=Setup(after=tagged, after_name="tags", search=by_tags),
        sets=("faq-zoomcamp",),
        data=untagged,
    ),
    Step(
        name="`toc_enhance` without a model",
        on=Setup(search=by_contents),
        sets=("financebench-dev", "chunking-dev"),
    ),
    Step(
        name="a filter that is right",
        on=Setup(question=filtered),
        sets=("faq-zoomcamp", "financebench-dev"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Means over the questions of one set, how long its documents took, and what all questions took of a model."""

    ndcg: float
    recall: float
    question_seconds: float
    given: float
    prompt_tokens: float
    ingest_seconds: float = 0.0
    usage: Usage = Usage()


@asynccontextmanager
async def indexed(
    data: JudgedSet, setup: Setup, *, cache: pathlib.Path, embedder: RememberedEmbedder
) -> AsyncIterator[tuple[Library, float]]:
    """Open an index of the documents, which is made unless it was before, and tell how many seconds that took.

    Raises:
        ParseError: A document could not be indexed.
    """
    folder = cache / "steps" / f"{data.name}-{_key(data, setup, embedder)}"
    seconds_file = folder / "seconds.json"
    is_new = not seconds_file.is_file()
    if is_new:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    library = await Library.open(folder / "data", embedder=embedder)
    try:
        await recover(library)
        if is_new:
            started, saved = time.perf_counter(), embedder.saved
            await fill(library, data, setup)
            seconds_file.write_text(json.dumps(time.perf_counter() - started + embedder.saved - saved))
            embedder.keep()
        yield library, float(json.loads(seconds_file.read_text()))
    finally:
        await library.close()


async def measure(data: JudgedSet, setup: Setup, *, cache: pathlib.Path, embedder: RememberedEmbedder) -> Measured:
    """Ask the questions of an index, and average.

    Raises:
        ParseError: A document could not be indexed.
    """
    async with indexed(data, setup, cache=cache, embedder=embedder) as (library, seconds):
        return replace(await ask(library, data, setup), ingest_seconds=seconds)


def _key(data: JudgedSet, setup: Setup, embedder: RememberedEmbedder) -> str:
    """Return what tells an index from others of the same set: its documents, how they are cut, what is done after."""
    pipeline = pipeline_of(IngestOptions(chunk=setup.chunk), tokenizer=offline_tokenizer().name)
    documents = (f"{document.id} {document.name} {document.url} {document.metadata}" for document in data.documents)
    said = "\0".join((pipeline, embedder.name, setup.after_name, *documents))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


async def fill(library: Library, data: JudgedSet, setup: Setup) -> None:
    """Index the documents.

    Raises:
        ParseError: One of them could not be.
    """

    async def sources() -> AsyncIterator[SourceDocument]:
        for document in data.documents:
            yield document

    async for event in ingest(library, KNOWLEDGE_BASE, sources(), IngestOptions(chunk=setup.chunk)):
        if isinstance(event, Failed):
            raise ParseError(f"{event.document_id}: {event.reason}", mend=event.mend)
    if setup.after is not None:
        await setup.after(library)


async def ask(library: Library, data: JudgedSet, setup: Setup) -> Measured:
    """Ask the questions of an index, and average; seconds of ingest are left at 0."""
    options = setup.retrieval
    usual = setup.search(library, options)
    deep = setup.search(library, replace(options, top_k=max(options.top_k, DEEP), top_n=DEEP, similarity_threshold=0.0))
    tokenizer = offline_tokenizer()
    gains, recalls, seconds, held, tokens, usage = [], [], [], [], [], Usage()
    for query in data.questions:
        question = setup.question(data, query)
        started = time.perf_counter()
        found = await usual.retrieve(question)
        seconds.append(time.perf_counter() - started)
        usage += found.usage
        held.append(data.given(found.chunks, query.grades))
        tokens.append(sum(tokenizer.count(scored.chunk.text) for scored in found.chunks))
        ranked = data.ranked((await deep.retrieve(question)).chunks, query.grades)
        gains.append(ndcg(ranked, query.grades, CUT))
        recalls.append(recall(ranked, query.grades, CUT))
    count = max(1, len(data.questions))
    return Measured(
        ndcg=sum(gains) / count,
        recall=sum(recalls) / count,
        question_seconds=sum(seconds) / count,
        given=sum(held) / count,
        prompt_tokens=sum(tokens) / count,
        usage=usage,
    )


HEADER = (
    "| step | set | nDCG@10, off / on | recall@10 | seconds a question | seconds of ingest | gold quoted | tokens |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def row(step: Step, data: JudgedSet, off: Measured, on: Measured) -> str:
    """Return the line of one step and one set; what is better by 0.005 or more is bold."""
    cells = [
        step.name,
        data.name,
        *(_pair(f"{a:.3f}", f"{b:.3f}", b - a >= 0.005) for a, b in ((off.ndcg, on.ndcg), (off.recall, on.recall))),
        _pair(f"{off.question_seconds:.3f}", f"{on.question_seconds:.3f}"),
        _pair(f"{off.ingest_seconds:.1f}", f"{on.ingest_seconds:.1f}"),
        _pair(f"{off.given:.3f}", f"{on.given:.3f}", on.given - off.given >= 0.005),
        _pair(f"{off.prompt_tokens:.0f}", f"{on.prompt_tokens:.0f}"),
    ]
    return f"| {' | '.join(cells)} |"


def _pair(off: str, on: str, better: bool = False) -> str:
    return f"{off} / **{on}**" if better else f"{off} / {on}"


async def table(
    steps: Sequence[Step], sets: Sequence[JudgedSet], *, cache: pathlib.Path, embedder: RememberedEmbedder
) -> None:
    """Print the table; what is the same off in several steps is measured once."""
    print(HEADER, flush=True)
    known: dict[tuple[str, Narrow, Setup], Measured] = {}
    for step in steps:
        for data in (step.data(one) for one in sets if one.name in step.sets):
            for setup in (step.off, step.on):
                if (data.name, step.data, setup) not in known:
                    print(f"  {step.name}: {data.name}", file=sys.stderr, flush=True)
                    known[data.name, step.data, setup] = await measure(data, setup, cache=cache, embedder=embedder)
            off, on = (known[data.name, step.data, setup] for setup in (step.off, step.on))
            print(row(step, data, off, on), flush=True)


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], default=[])
    parser.add_argument("--step", action="append", choices=names, help="may be given several times; default: every one")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--questions", type=int, help=f"default: {QUESTIONS}, with --all every one")
    parser.add_argument("--all", action="store_true", help="every document, not samples of them")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    sets = []
    for name in arguments.sets or SETS:
        if arguments.all:
            sets.append(read_set(name, questions=arguments.questions or 0))
            continue
        questions = arguments.questions or QUESTIONS
        most, asked = LONG.get(name, (arguments.documents, questions))
        sets.append(read_set(name, documents=min(most, arguments.documents), questions=min(asked, questions)))
    for data in sets:
        print(f"{data.name}: {len(data.documents)} documents, {len(data.questions)} questions", file=sys.stderr)
    steps = [step for step in STEPS if step.name in (arguments.step or names)]
    asyncio.run(table(steps, sets, cache=CACHE, embedder=remembered()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
