"""nDCG@10 of the product's own search on the judged sets, beside what peers reach with the same embedder.

    python -m benchmarks.retrieval [SET ...] [--history | --joined] [--halves] [--gate] [--ranking similarity]

Documents are ingested as a sync would (parsed, cut, embedded by MiniLM), questions retrieved as a chat would; nothing is
set per data set. Indexes are kept in ``$BENCH_CACHE`` (by default in the temporary folder), so that only the
first run embeds. ``--halves`` tells the two halves of the queries apart, by the hash of their ids: the constants of
ragcore.retrieval.scoring were chosen on half 0. ``--gate`` asks questions of one set to the documents of another and
tells how often the default threshold lets something through. ``--ranking`` is what orders the chunks that passed. Peers: BM25 with stemming (jieba for Chinese), cosine,
reciprocal rank fusion, min-max 0.5/0.5, RAGFlow's published scoring, LlamaIndex's fusion and LangChain's ensemble,
measured once on the same data: their figures are printed, not measured again.
"""

import argparse
import asyncio
import hashlib
import os
import pathlib
import sys
import tempfile
from collections.abc import Sequence

from ragcore.evaluate.judged import read_queries
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE, RetrievalReport, evaluate_retrieval
from ragcore.library import Library
from ragcore.library.recovery import mend, recover
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.types import Question

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"
CACHE = pathlib.Path(os.environ.get("BENCH_CACHE") or pathlib.Path(tempfile.gettempdir()) / "bench-cache")
PEERS = ("BM25", "vector", "RRF 60", "weighted", "RAGFlow", "LlamaIndex", "LangChain", "aim")
FIGURES = {
    "faq-zoomcamp": (0.902, 0.851, 0.911, 0.934, 0.915, 0.908, 0.822, 0.94),
    "inscit": (0.707, 0.752, 0.761, 0.768, 0.784, 0.759, 0.626, 0.79),
    "cmrc2018-zh": (0.977, 0.093, 0.574, 0.973, 0.722, 0.146, 0.068, 0.98),
    "multihop-dev": (0.668, 0.710, 0.724, 0.740, 0.729, 0.718, 0.651, 0.75),
    "dureader-zh": (0.698, 0.170, 0.484, 0.669, 0.522, 0.128, 0.122, 0.71),
    "scifact": (0.699, 0.650, 0.719, 0.731, 0.716, 0.713, 0.629, 0.74),
}
GATE_QUESTIONS = 100
"""Questions of each set that are asked to each other set's documents."""


def workspace(name: str) -> pathlib.Path:
    return CACHE / f"retrieval-{name}"


def half_of(query_id: str) -> int:
    return hashlib.md5(query_id.encode(), usedforsecurity=False).digest()[0] & 1


class Progress:
    """One line on stderr, rewritten."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, done: int, total: int) -> None:
        """Show how far it is."""
        if done == total or done % 50 == 0:
            print(f"\r{self._name}: {done}/{total}   ", end="\n" if done == total else "", file=sys.stderr, flush=True)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


async def measure(name: str, arguments: argparse.Namespace) -> RetrievalReport:
    return await evaluate_retrieval(
        BENCH / name,
        workspace=workspace(name),
        embedder=MiniLMEmbedder(),
        history="all" if arguments.history else "joined" if arguments.joined else "none",
        retrieval_options=RetrievalOptions(ranking=arguments.ranking),
        run_file=CACHE / f"run-{name}.tsv",
        progress=Progress(name),
    )


async def table(names: Sequence[str], arguments: argparse.Namespace) -> None:
    header = ["set", *PEERS[:-1], "**Citebot**", "aim", "recall@10", "MRR", "chunks", "p50 ms", "p95 ms"]
    header += ["half 0", "half 1"] if arguments.halves else []
    print("| " + " | ".join(header) + " |\n|" + " --- |" * len(header), flush=True)
    for name in names:
        report = await measure(name, arguments)
        *peers, aim = FIGURES[name]
        cells = [name, *(f"{value:.3f}" for value in peers), f"**{report.ndcg_at_10:.3f}**", f"{aim:.2f}"]
        cells += [f"{report.recall_at_10:.3f}", f"{report.mrr:.3f}", str(report.chunks)]
        cells += [f"{report.p50_ms:.0f}", f"{report.p95_ms:.0f}"]
        if arguments.halves:
            halves = [[v for key, v in report.ndcg.items() if half_of(key) == half] for half in (0, 1)]
            cells += [f"{mean(half):.3f}" for half in halves]
        print("| " + " | ".join(cells) + " |", flush=True)


async def indexed(name: str) -> Library:
    """Open what ``measure`` has indexed; an index that another version wrote is filled anew."""
    library = await Library.open(workspace(name), embedder=MiniLMEmbedder())
    await recover(library)
    async for _ in mend(library):
        pass
    return library


async def gate(names: Sequence[str]) -> None:
    """Print, for each pair of sets, the share of questions that find nothing."""
    questions = {name: [q.text for q in read_queries(BENCH / name) if half_of(q.id)][:GATE_QUESTIONS] for name in names}
    print("| documents of | " + " | ".join(f"asked {name}" for name in names) + " |\n|" + " --- |" * (len(names) + 1))
    for name in names:
        library = await indexed(name)
        try:
            retriever = Retriever(
                registry=library.registry,
                vectors=library.vectors,
                keywords=library.keywords,
                embedder=library.embedder,
            )
            shares = []
            for asked in names:
                found = [
                    await retriever.retrieve(Question(text=text, knowledge_bases=(KNOWLEDGE_BASE,)))
                    for text in questions[asked]
                ]
                shares.append(mean([float(not one.chunks) for one in found]))
        finally:
            await library.close()
        cells = [
            f"**{share:.2f}**" if asked == name else f"{share:.2f}" for asked, share in zip(names, shares, strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[[], *FIGURES], default=[])
    turns = parser.add_mutually_exclusive_group()
    turns.add_argument("--history", action="store_true", help="with the turns before, as a chat asks")
    turns.add_argument("--joined", action="store_true", help="with the turns before as words of the question")
    parser.add_argument("--halves", action="store_true")
    parser.add_argument("--ranking", choices=["fused", "similarity"], default="fused")
    parser.add_argument("--gate", action="store_true", help="after the sets have been indexed once")
    arguments = parser.parse_args()
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return 0
    CACHE.mkdir(parents=True, exist_ok=True)
    names = arguments.sets or list(FIGURES)
    asyncio.run(gate(names) if arguments.gate else table(names, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
