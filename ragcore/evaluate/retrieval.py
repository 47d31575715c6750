"""Retrieval measured on judged data, by the product's own way: documents ingested, questions retrieved."""

import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ragcore.errors import ParseError
from ragcore.evaluate.judged import JudgedQuery, read_corpus, read_queries
from ragcore.ingest import Failed, Indexed, IngestOptions, ingest
from ragcore.library import Library
from ragcore.library.recovery import mend, recover
from ragcore.models.embeddings import Embedder
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.types import Question, ScoredChunk, SourceDocument

DEPTH = 100
"""Documents that a run lists for each query."""
CUT = 10
"""The rank at which nDCG and recall are taken."""
KNOWLEDGE_BASE = "eval"
_CANDIDATES = 250
"""Candidates of each leg: several chunks of one document must still leave DEPTH documents."""
_SMALLEST_STEP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedDocument:
    """A document in a ranking, with the score of its best chunk."""

    id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalReport:
    """Means over the queries; ``ndcg`` is by query.

    Milliseconds are of one question as a chat asks it, at the default depth, embedding included.
    """

    queries: int
    documents: int
    chunks: int
    ndcg_at_10: float
    recall_at_10: float
    mrr: float
    p50_ms: float
    p95_ms: float
    ndcg: Mapping[str, float]


async def evaluate_retrieval(
    folder: Path,
    *,
    workspace: Path,
    embedder: Embedder,
    history: Literal["none", "all", "joined"] = "none",
    run_file: Path | None = None,
    ingest_options: IngestOptions | None = None,
    retrieval_options: RetrievalOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RetrievalReport:
    """Index a judged corpus in a workspace of its own, ask its queries, and measure.

    Args:
        folder: The judged data; see ragcore.evaluate.judged.
        workspace: An empty folder for the indexes, or one left by the same corpus: nothing is embedded twice.
        embedder: The embedder to measure with.
        history: Whether the turns before a query are asked along with it; ``joined``: as if all were one question.
        run_file: Where to write the ranking, as a TREC run; None writes none.
        ingest_options: How documents are cut.
        retrieval_options: What else to measure than the defaults; the gate and top_n do not apply.
        progress: Called with (done, total) for documents, then for queries.

    Raises:
        ConfigError: The data is missing or not what it should be.
        ParseError: A document could not be indexed.
    """
    queries = read_queries(folder)
    library = await Library.open(workspace, embedder=embedder)
    try:
        await recover(library)
        async for _ in mend(library):  # an index of an older version, or a damaged one, would be searched in part
            pass
        documents = await _index(library, folder, ingest_options, progress)
        chunks = await library.registry.live_count(KNOWLEDGE_BASE)
        rankings, seconds = await _ask(library, queries, history, retrieval_options, progress)
    finally:
        await library.close()
    if run_file is not None:
        write_run(run_file, {query.id: rankings[query.id] for query in queries})
    return _report(queries, rankings, seconds, documents=documents, chunks=chunks)


async def _index(
    library: Library, folder: Path, options: IngestOptions | None, progress: Callable[[int, int], None] | None
) -> int:
    """Ingest the corpus and return the number of its documents."""
    corpus = list(read_corpus(folder))

    async def sources() -> AsyncIterator[SourceDocument]:
        for document in corpus:
            yield SourceDocument(
                id=f"{KNOWLEDGE_BASE}:{document.id}",
                source=KNOWLEDGE_BASE,
                content=(document.text or document.title or document.id).encode(),
                media_type="text/plain",
                title=document.title,
                url=document.url,
            )

    done = 0
    async for event in ingest(library, KNOWLEDGE_BASE, sources(), options):
        if isinstance(event, Failed):
            raise ParseError(f"{event.document_id}: {event.reason}", mend=event.mend)
        done += isinstance(event, Indexed)
        if progress is not None:
            progress(done, len(corpus))
    return len(corpus)


async def _ask(
    library: Library,
    queries: Sequence[JudgedQuery],
    history: Literal["none", "all", "joined"],
    options: RetrievalOptions | None,
    progress: Callable[[int, int], None] | None,
) -> tuple[dict[str, list[RankedDocument]], list[float]]:
    """Retrieve for each query; returns the rankings, and how long a search as a chat makes it took, in seconds."""
    given = options or RetrievalOptions()
    deep = replace(given, top_k=max(given.top_k, _CANDIDATES), top_n=2 * _CANDIDATES, similarity_threshold=0.0)
    usual, whole = retriever_over(library, given), retriever_over(library, deep)
    rankings: dict[str, list[RankedDocument]] = {}
    seconds: list[float] = []
    for number, query in enumerate(queries, start=1):
        said = [message.text for message in query.history] if history == "joined" else []
        asked = Question(
            text="\n".join((*said, query.text)),
            knowledge_bases=(KNOWLEDGE_BASE,),
            history=query.history if history == "all" else (),
        )
        started = time.perf_counter()
        await usual.retrieve(asked)
        seconds.append(time.perf_counter() - started)
        rankings[query.id] = documents_of((await whole.retrieve(asked)).chunks)
        if progress is not None:
            progress(number, len(queries))
    return rankings, seconds


def retriever_over(library: Library, options: RetrievalOptions) -> Retriever:
    """Compose the product's retriever over a library."""
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=options,
    )


def documents_of(chunks: Sequence[ScoredChunk]) -> list[RankedDocument]:
    """Return each document once, by its best chunk, best first, with falling scores; copies follow what they copy.

    Scores fall strictly, so that a reader of the run that breaks ties in its own way keeps our order.
    """
    ranked: list[RankedDocument] = []
    seen: set[str] = set()
    found = ((chunk, scored.score) for scored in chunks for chunk in (scored.chunk, *scored.copies))
    for chunk, own in found:
        native = chunk.document_id.partition(":")[2]
        if native in seen:
            continue
        seen.add(native)
        score = min(own, ranked[-1].score - _SMALLEST_STEP) if ranked else own
        ranked.append(RankedDocument(id=native, score=score))
        if len(ranked) == DEPTH:
            break
    return ranked


def write_run(path: Path, rankings: Mapping[str, Sequence[RankedDocument]]) -> None:
    """Write a TREC run, tab-separated because ids may hold spaces: ``qid Q0 doc_id rank score citebot``."""
    lines = [
        f"{query_id}\tQ0\t{document.id}\t{rank}\t{document.score:.6f}\tcitebot\n"
        for query_id, ranked in rankings.items()
        for rank, document in enumerate(ranked, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], cut: int = CUT) -> float:
    """Return nDCG with linear gain, as trec_eval's ndcg_cut: grades below 0 gain nothing."""
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:cut]
    best = _dcg(ideal)
    return _dcg([max(0, grades.get(document, 0)) for document in ranked[:cut]]) / best if best else 0.0


def recall(ranked: Sequence[str], grades: Mapping[str, int], cut: int = CUT) -> float:
    """Return the share of the relevant documents among the first ``cut``."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:cut])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return 1 over the rank of the first relevant document, 0 if there is none."""
    return next((1.0 / rank for rank, document in enumerate(ranked, start=1) if grades.get(document, 0) > 0), 0.0)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile of values, 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _dcg(gains: Sequence[int]) -> float:
    """Return the discounted sum of gains in ranking order."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _report(
    queries: Sequence[JudgedQuery],
    rankings: Mapping[str, Sequence[RankedDocument]],
    seconds: Sequence[float],
    *,
    documents: int,
    chunks: int,
) -> RetrievalReport:
    """Average over the queries."""
    ranked = {query.id: [document.id for document in rankings[query.id]] for query in queries}
    by_query = {query.id: ndcg(ranked[query.id], query.grades) for query in queries}
    count = max(len(queries), 1)
    return RetrievalReport(
        queries=len(queries),
        documents=documents,
        chunks=chunks,
        ndcg_at_10=sum(by_query.values()) / count,
        recall_at_10=sum(recall(ranked[query.id], query.grades) for query in queries) / count,
        mrr=sum(reciprocal_rank(ranked[query.id], query.grades) for query in queries) / count,
        p50_ms=percentile(seconds, 0.5) * 1000,
        p95_ms=percentile(seconds, 0.95) * 1000,
        ndcg=by_query,
    )
