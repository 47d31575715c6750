"""How much of what answers a question stands in the best chunks that fit 4,000 characters, and what a chunk size costs.

    python -m benchmarks.chunking                the default, a band of sizes around it, and fixed numbers of words
    python -m benchmarks.chunking sweep          more sizes, with overlaps, by the plain search alone
    python -m benchmarks.chunking documents      nDCG@10 of documents by their best chunk, by chunk size
    python -m benchmarks.chunking place          nDCG@10 by the way in which title and headings are embedded

Spans: ``chunking-dev``, 276 questions over three texts, all searched at once; the score of a question is the share of
its gold spans' characters that lie in the chunks read, best first, until 4,000 characters are full. "cut": the last
chunk is cut at the limit, as the peers' figures have it; "whole": a chunk that doesn't fit is passed over.
Plain search: BM25 (bm25s, stemmed) and MiniLM, each min-max scaled by question, half and half; Chinese by words of jieba
and BM25 alone, since MiniLM knows none. "product": texts ingested and asked as a sync and a chat would. A single size
is luck to within 0.02, so the mean over the band is what counts. Vectors are kept in ``$BENCH_CACHE``, by default in
the temporary folder.
"""

import asyncio
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from benchmarks._product_rankings import product_rankings
from ragcore.chunking import ChunkOptions, chunk_sections, embedding_text
from ragcore.models.embeddings import vector_key
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.tokens import offline_tokenizer
from ragcore.types import ParsedDocument, Section

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"
CACHE = pathlib.Path(os.environ.get("BENCH_CACHE") or pathlib.Path(tempfile.gettempdir()) / "bench-cache")
ROOM = 4000
LARGEST_SET = 300
"""Documents of a retrieval set that are indexed: those that answer, then the first others."""
BAND = (112, 128, 144, 160, 176, 192, 224, 256)
SWEEP = (96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256)
FIXED = (75, 100, 125, 150, 175, 200)
RAGFLOW = ChunkOptions(chunk_tokens=128, delimiters="\n!?。；！？")
STEM = snowballstemmer.stemmer("english").stemWords


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """``corpus[document][start:end]``, a chunk or a gold span."""

    document: str
    start: int
    end: int


def read_lines(path: pathlib.Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def embedded(texts: Sequence[str], label: str) -> NDArray[np.float32]:
    """Return the vectors, from a file when these texts were embedded before."""
    embedder = MiniLMEmbedder()
    path = CACHE / f"chunking-{vector_key(embedder.name, chr(0).join(texts))[:24]}.npz"
    if path.exists():
        return np.asarray(np.load(path)["vectors"])
    print(f"  embedding {len(texts)} texts: {label}", file=sys.stderr)
    vectors = asyncio.run(embedder.embed(texts))
    CACHE.mkdir(parents=True, exist_ok=True)
    np.savez(path, vectors=vectors)
    return vectors


def scaled(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread > 0 else np.zeros_like(scores)


def words(texts: Sequence[str], chinese: bool) -> list[list[str]]:
    if chinese:
        import jieba

        jieba.setLogLevel("ERROR")
        return [[word for word in jieba.lcut_for_search(text.lower()) if word.strip()] for text in texts]
    import bm25s

    return bm25s.tokenize(list(texts), stopwords="en", stemmer=STEM, return_ids=False, show_progress=False)


def hybrid(texts: Sequence[str], questions: Sequence[str], label: str, chinese: bool = False) -> Iterator[NDArray]:
    """Yield for each question the score of each text."""
    import bm25s

    index = bm25s.BM25()
    index.index(words(texts, chinese), show_progress=False)
    known = set(index.vocab_dict)
    if not chinese:
        vectors, asked = embedded(texts, label), embedded(questions, "questions")
    for row, terms in enumerate(words(questions, chinese)):
        found = [term for term in terms if term in known]
        scores = scaled(index.get_scores(found) if found else np.zeros(len(texts), dtype=np.float32))
        yield scores if chinese else 0.5 * scores + 0.5 * scaled(vectors @ asked[row])


def chunked(text: str, options: ChunkOptions) -> list[tuple[int, int]]:
    """Return where the chunks of one text stand, white space around them left out."""
    parsed = ParsedDocument(title="", media_type="text/plain", sections=(Section(text=text),))
    spans: list[tuple[int, int]] = []
    end = 0
    for piece in chunk_sections(parsed.sections, options, offline_tokenizer()):
        start, end = end - piece.overlap, end - piece.overlap + len(piece.text)
        blank = len(piece.text) - len(piece.text.lstrip())
        if blank < len(piece.text):
            spans.append((start + blank, start + len(piece.text.rstrip())))
    return spans


def fixed_words(text: str, count: int = 150) -> list[tuple[int, int]]:
    """Return spans of a fixed number of words, the plain method that peers are measured by."""
    import re

    found = [match.span() for match in re.finditer(r"\S+", text)]
    return [
        (part[0][0], part[-1][1]) for start in range(0, len(found), count) if (part := found[start : start + count])
    ]


def covered(gold: Sequence[Span], read: Sequence[Span]) -> float:
    """Return the share of the gold spans' characters that lie in what was read."""
    total = inside = 0
    for span in gold:
        seen = np.zeros(span.end - span.start, dtype=bool)
        for chunk in read:
            if chunk.document == span.document:
                seen[max(0, chunk.start - span.start) : max(0, chunk.end - span.start)] = True
        total, inside = total + len(seen), inside + int(seen.sum())
    return inside / total


def that_fit(ranked: Iterable[Span], cut: bool) -> list[Span]:
    """Return the spans, best first, that 4,000 characters hold."""
    left, read = ROOM, []
    for chunk in ranked:
        size = chunk.end - chunk.start
        if size <= left:
            read.append(chunk)
            left -= size
        elif cut:
            return [*read, Span(document=chunk.document, start=chunk.start, end=chunk.start + left)]
    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """``chunking-dev``: the texts by id, the questions, and where each question's answer stands."""

    titles: dict[str, str]
    texts: dict[str, str]
    questions: dict[str, str]
    gold: dict[str, list[Span]]


@lru_cache(maxsize=1)
def judged() -> Judged:
    folder = BENCH / "chunking-dev"
    corpus = read_lines(folder / "corpus.jsonl")
    gold = defaultdict(list)
    for line in read_lines(folder / "spans.jsonl"):
        gold[line["qid"]].append(Span(document=line["doc_id"], start=int(line["start"]), end=int(line["end"])))
    return Judged(
        titles={line["doc_id"]: line["title"] for line in corpus},
        texts={line["doc_id"]: line["text"] for line in corpus},
        questions={line["qid"]: line["query"] for line in read_lines(folder / "queries.jsonl")},
        gold=dict(gold),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One way to cut: how many chunks, their mean length in characters, and the shares of the gold inside."""

    label: str
    chunks: int
    characters: float
    shares: tuple[float, ...]

    def __str__(self) -> str:
        cells = [self.label, f"{self.chunks}", f"{self.characters:.0f}", *(f"{share:.3f}" for share in self.shares)]
        return f"| {' | '.join(cells)} |"


def shares(rankings: Sequence[Sequence[Span]]) -> tuple[float, float]:
    """Return the mean share of the gold inside what is read, the last chunk cut, and only whole chunks read."""
    gold = [judged().gold[question] for question in judged().questions]
    cut, whole = (
        float(np.mean([covered(spans, that_fit(ranked, cut)) for spans, ranked in zip(gold, rankings, strict=True)]))
        for cut in (True, False)
    )
    return cut, whole


def plain_search(label: str, split: Callable[[str], list[tuple[int, int]]]) -> Row:
    data = judged()
    chunks = [Span(document=key, start=a, end=b) for key, text in data.texts.items() for a, b in split(text)]
    texts = [
        embedding_text(data.titles[chunk.document], (), data.texts[chunk.document][chunk.start : chunk.end])
        for chunk in chunks
    ]
    rows = hybrid(texts, list(data.questions.values()), label)
    rankings = [[chunks[index] for index in np.argsort(-row, kind="stable")] for row in rows]
    size = float(np.mean([chunk.end - chunk.start for chunk in chunks]))
    return Row(label=label, chunks=len(chunks), characters=size, shares=shares(rankings))


def mean_of(rows: Sequence[Row]) -> str:
    """Return the row of means over a band, with the deviation among its sizes."""
    columns = list(zip(*(row.shares for row in rows), strict=True))
    cells = [f"{np.mean(column):.3f} ± {np.std(column):.3f}" for column in columns]
    return f"| mean of {len(rows)} | | | {' | '.join(cells)} |"


def ndcg(ranked: Sequence[str], grades: dict[str, float]) -> float:
    """Return nDCG@10 with linear gain, as trec_eval."""
    gain = sum(grades.get(document, 0.0) / np.log2(rank + 1) for rank, document in enumerate(ranked[:10], 1))
    best = sum(grade / np.log2(rank + 1) for rank, grade in enumerate(sorted(grades.values(), reverse=True)[:10], 1))
    return float(gain / best)


def measure_documents(name: str, label: str, options: ChunkOptions, place: Callable[[str, str], str]) -> None:
    """Print one row: nDCG@10 over documents, each by its best chunk."""
    folder = BENCH / name
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        grades[question][document] = float(grade)
    answering = {document for row in grades.values() for document in row}
    corpus = sorted(read_lines(folder / "corpus.jsonl"), key=lambda line: line["doc_id"] not in answering)[:LARGEST_SET]
    kept = {line["doc_id"] for line in corpus}
    questions = [
        line for line in read_lines(folder / "queries.jsonl") if kept.issuperset(grades.get(line["qid"], [""]))
    ]
    owners, texts = [], []
    for line in corpus:
        for start, end in chunked(line["text"], options) or [(0, 0)]:
            owners.append(line["doc_id"])
            texts.append(place(line["title"], line["text"][start:end]))
    scores = []
    asked = [question["query"] for question in questions]
    for question, row in zip(questions, hybrid(texts, asked, f"{name}, {label}", name.endswith("-zh")), strict=True):
        ranked = list(dict.fromkeys(owners[index] for index in np.argsort(-row, kind="stable")[:200]))
        scores.append(ndcg(ranked, grades[question["qid"]]))
    print(f"| {name} | {label} | {len(texts)} | {np.mean(scores):.4f} |", flush=True)


def sizes(counts: Sequence[int], overlaps: Sequence[float]) -> Iterator[tuple[str, ChunkOptions]]:
    default = ChunkOptions()
    for count in counts:
        for overlap in overlaps:
            options = ChunkOptions(chunk_tokens=count, overlap=overlap)
            yield f"{count} tokens, overlap {overlap:.0%}{' (default)' if options == default else ''}", options


def band() -> None:
    """Print the band of sizes, by the plain search and by the product's, with the means that count."""
    print("| chunks | number | characters | cut | whole |\n|---|---|---|---|---|")
    fixed = [plain_search(f"fixed {n} words", lambda text, n=n: fixed_words(text, n)) for n in FIXED]
    for row in fixed:
        print(row)
    print(mean_of(fixed))
    print(plain_search("128 tokens at RAGFlow's delimiters", lambda text: chunked(text, RAGFLOW)), flush=True)
    print(
        "\n| chunks | number | characters | cut | whole | product, cut | product, whole |\n|---|---|---|---|---|---|---|"
    )
    rows = []
    for label, options in sizes(BAND, (ChunkOptions().overlap,)):
        row = plain_search(label, lambda text, options=options: chunked(text, options))
        rankings = asyncio.run(product_rankings(judged().texts, judged().titles, judged().questions, options))
        found = [[Span(document=key, start=a, end=b) for key, a, b in ranked] for ranked in rankings]
        rows.append(dataclasses.replace(row, shares=row.shares + shares(found)))
        print(rows[-1], flush=True)
    print(mean_of(rows))


def sweep() -> None:
    print("| chunks | number | characters | cut | whole |\n|---|---|---|---|---|")
    for overlap in (0.0, 0.1, 0.2):
        rows = []
        for label, options in sizes(SWEEP, (overlap,)):
            rows.append(plain_search(label, lambda text, options=options: chunked(text, options)))
            print(rows[-1], flush=True)
        print(mean_of(rows))


def documents() -> None:
    print("| set | chunks | number | nDCG@10 |\n|---|---|---|---|")
    for name in ("dureader-zh", "faq-zoomcamp", "scifact"):
        for label, options in sizes((128, 160, 256), (0.0,)):
            measure_documents(name, label, options, lambda title, text: embedding_text(title, (), text))


PLACES: dict[str, Callable[[str, str], str]] = {
    "text alone": lambda title, text: text,
    "title, line break (the product)": lambda title, text: embedding_text(title, (), text),
    "title, full stop": lambda title, text: f"{title}. {text}",
    "title, empty line": lambda title, text: f"{title}\n\n{text}",
    "named: Title: ..., Text: ...": lambda title, text: f"Title: {title}\nText: {text}",
    "title twice": lambda title, text: f"{title}\n{title}\n{text}",
}


def places() -> None:
    print("| set | embedded | number | nDCG@10 |\n|---|---|---|---|")
    for name in ("dureader-zh", "faq-zoomcamp", "scifact"):
        for label, place in PLACES.items():
            measure_documents(name, label, ChunkOptions(), place)


def main() -> None:
    commands: dict[str, Callable[[], None]] = {"": band, "sweep": sweep, "documents": documents, "place": places}
    command = commands.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if command is None:
        sys.exit(f"python -m benchmarks.chunking [{'|'.join(filter(None, commands))}]")
    if not BENCH.is_dir():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return
    if not find_spec("bm25s"):
        sys.exit("chunking needs the extra \"bench\": pip install -c constraints.txt '.[bench]'")
    command()


if __name__ == "__main__":
    main()
