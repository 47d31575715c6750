"""How much of what answers a question stands in the best chunks that fit 4,000 characters, and what a chunk size costs.

    python -m benchmarks.chunking                the default beside its neighbours and a fixed 150 words
    python -m benchmarks.chunking sweep          all sizes and overlaps
    python -m benchmarks.chunking documents      nDCG@10 of documents by their best chunk, by chunk size
    python -m benchmarks.chunking place          nDCG@10 by the way in which title and headings are embedded

Spans: ``chunking-dev``, 276 questions over three texts, all searched at once; the score of a question is the share of
its gold spans' characters that lie in the chunks read, best first, until 4,000 characters are full. "cut": the last
chunk is cut at the limit, as the peers' figures have it; "whole": a chunk that doesn't fit is passed over.
Search: BM25 (bm25s, stemmed) and MiniLM, each min-max scaled by question, half and half; Chinese by words of jieba and
BM25 alone, since MiniLM knows none. Vectors are kept in ``$BENCH_CACHE``, by default in the temporary folder.
"""

import asyncio
import json
import os
import pathlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
import snowballstemmer
from numpy.typing import NDArray

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
    return bm25s.tokenize(list(texts), stopwords="en", stemmer=STEM, return_ids=False, show_progress=False)


def hybrid(texts: Sequence[str], questions: Sequence[str], label: str, chinese: bool = False) -> Iterator[NDArray]:
    """Yield for each question the score of each text."""
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
    for piece in chunk_sections(parsed, options, offline_tokenizer()):
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


def that_fit(chunks: Sequence[Span], scores: NDArray[np.float32], cut: bool) -> list[Span]:
    left, read = ROOM, []
    for index in np.argsort(-scores, kind="stable"):
        chunk = chunks[index]
        size = chunk.end - chunk.start
        if size <= left:
            read.append(chunk)
            left -= size
        elif cut:
            return [*read, Span(document=chunk.document, start=chunk.start, end=chunk.start + left)]
    return read


def measure_spans(label: str, split: Callable[[str], list[tuple[int, int]]]) -> None:
    """Print one row: chunks, characters a chunk, share of the gold inside."""
    folder = BENCH / "chunking-dev"
    corpus = {line["doc_id"]: line for line in read_lines(folder / "corpus.jsonl")}
    questions = read_lines(folder / "queries.jsonl")
    gold = defaultdict(list)
    for line in read_lines(folder / "spans.jsonl"):
        gold[line["qid"]].append(Span(document=line["doc_id"], start=int(line["start"]), end=int(line["end"])))
    chunks = [Span(document=key, start=a, end=b) for key, line in corpus.items() for a, b in split(line["text"])]
    texts = [
        embedding_text(corpus[chunk.document]["title"], (), corpus[chunk.document]["text"][chunk.start : chunk.end])
        for chunk in chunks
    ]
    rows = list(hybrid(texts, [question["query"] for question in questions], label))
    shares = [
        np.mean([covered(gold[q["qid"]], that_fit(chunks, row, cut)) for q, row in zip(questions, rows, strict=True)])
        for cut in (True, False)
    ]
    size = np.mean([chunk.end - chunk.start for chunk in chunks])
    print(f"| {label} | {len(chunks)} | {size:.0f} | {shares[0]:.3f} | {shares[1]:.3f} |", flush=True)


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


def spans(counts: Sequence[int], overlaps: Sequence[float]) -> None:
    print("| chunks | number | characters | cut | whole |\n|---|---|---|---|---|")
    measure_spans("fixed 150 words", fixed_words)
    ragflow = ChunkOptions(chunk_tokens=128, delimiters="\n!?。；！？")
    measure_spans("128 tokens at RAGFlow's delimiters", lambda text: chunked(text, ragflow))
    for label, options in sizes(counts, overlaps):
        measure_spans(label, lambda text, options=options: chunked(text, options))


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
    default = ChunkOptions().chunk_tokens
    commands: dict[str, Callable[[], None]] = {
        "": lambda: spans((default - 32, default, default + 32), (ChunkOptions().overlap,)),
        "sweep": lambda: spans((64, 96, 128, 160, 192, 224, 256, 320, 384, 512), (0.0, 0.1, 0.25)),
        "documents": documents,
        "place": places,
    }
    command = commands.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if command is None:
        sys.exit(f"python -m benchmarks.chunking [{'|'.join(filter(None, commands))}]")
    if not BENCH.is_dir():
        sys.exit("the public data sets are not beside this checkout (../shared/bench)")
    command()


if __name__ == "__main__":
    main()
