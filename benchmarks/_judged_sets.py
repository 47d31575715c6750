"""The public judged sets in one form: documents as a source gives them, questions, and what a found chunk is worth.

What is judged differs: a document (most sets), a page of a filing (``financebench-dev``), a stretch of a long text
(``chunking-dev``). Each has an id, and a chunk stands for the ids of what it holds.
"""

import dataclasses
import hashlib
import json
import pathlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ragcore.evaluate.judged import JudgedQuery, read_corpus, read_queries
from ragcore.types import Chunk, ScoredChunk, SourceDocument

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"
SETS = (
    "scifact",
    "faq-zoomcamp",
    "multihop-dev",
    "cmrc2018-zh",
    "dureader-zh",
    "financebench-dev",
    "chunking-dev",
)
TOLD = ("course", "section")
"""What a set tells of its documents, beside title and text."""
SOURCE = "bench"
URL = "https://bench.example/"
"""Before the id of a document: the address under which it is cited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    """Documents and questions; ``held`` names what is judged and stands in a chunk, most often its document."""

    name: str
    documents: tuple[SourceDocument, ...]
    questions: tuple[JudgedQuery, ...]
    held: Callable[[Chunk], Sequence[str]]

    def ranked(self, chunks: Sequence[ScoredChunk], grades: Mapping[str, int]) -> list[str]:
        """Return what is judged in the order in which the chunks hold it, each once; copies follow what they copy.

        A chunk that holds nothing of what the grades name takes one place, whatever else it holds.
        """
        found: dict[str, None] = {}
        for chunk in (one for scored in chunks for one in (scored.chunk, *scored.copies)):
            held = self.held(chunk)
            wanted = [one for one in held if one in grades]
            found.update(dict.fromkeys(wanted or held[:1] or [f"nothing: {chunk.id}"]))
        return list(found)

    def given(self, chunks: Sequence[ScoredChunk], grades: Mapping[str, int]) -> float:
        """Return the share of what is right that stands in some chunks, their copies, or what summaries rest on."""
        right = {one for one, grade in grades.items() if grade > 0}
        each = (
            one for scored in chunks for one in (scored.chunk, *scored.copies, *(leaf.chunk for leaf in scored.leaves))
        )
        return len(right.intersection(held for chunk in each for held in self.held(chunk))) / max(1, len(right))


def read_set(name: str, *, documents: int = 0, questions: int = 0, bench: pathlib.Path = BENCH) -> JudgedSet:
    """Read a set, or a sample of it: questions by the hash of their ids, with their documents and then others.

    Args:
        name: one of ``SETS``.
        documents: how many at most, but never fewer than answer the questions; 0: all.
        questions: how many at most; 0: all.
        bench: the folder of the sets.
    """
    folder = bench / name
    special = {"financebench-dev": _filings, "chunking-dev": _texts}
    return special.get(name, _corpus)(folder, documents, questions)


def _mixed(ids: Sequence[str], most: int) -> set[str]:
    """Return so many of the ids, always the same ones; all for 0."""
    order = sorted(ids, key=lambda one: hashlib.md5(one.encode(), usedforsecurity=False).digest())
    return set(order[:most] if most else order)


def _corpus(folder: pathlib.Path, documents: int, questions: int) -> JudgedSet:
    every = read_queries(folder)
    kept = _mixed([query.id for query in every], questions)
    asked = tuple(query for query in every if query.id in kept)
    corpus = list(read_corpus(folder))
    rows = {row.get("doc_id"): row for row in _rows(folder / "corpus.jsonl")}
    gold = {one for query in asked for one, grade in query.grades.items() if grade > 0}
    others = [document.id for document in corpus if document.id not in gold]
    room = max(0, documents - len(gold))
    chosen = gold | (_mixed(others, room) if room or not documents else set())
    return JudgedSet(
        name=folder.name,
        documents=tuple(
            _source(
                one.id,
                (one.text or one.title or one.id).encode(),
                title=one.title,
                media_type="text/plain",
                metadata={name: str(rows[one.id][name]) for name in TOLD if name in rows.get(one.id, {})},
            )
            for one in corpus
            if one.id in chosen
        ),
        questions=asked,
        held=lambda chunk: [_native(chunk)],
    )


def _filings(folder: pathlib.Path, documents: int, questions: int) -> JudgedSet:
    """Read the filings, the smallest first, and the questions about them; what is judged is a page."""
    files = sorted((folder / "documents").glob("*.pdf"), key=lambda path: path.stat().st_size)[: documents or None]
    names = {path.name for path in files}
    every = [
        JudgedQuery(
            id=row["qid"],
            text=row["query"],
            grades={f"{row['document']}#{gold['page']}": 1 for gold in row["evidence"]},
        )
        for row in _rows(folder / "queries.jsonl")
        if row["document"] in names
    ]
    kept = _mixed([query.id for query in every], questions)
    return JudgedSet(
        name=folder.name,
        documents=tuple(_source(path.name, path.read_bytes(), name=path.name) for path in files),
        questions=tuple(query for query in every if query.id in kept),
        held=lambda chunk: [
            f"{_native(chunk)}#{page}" for page in dict.fromkeys(one.location.page for one in (chunk.parts or (chunk,)))
        ],
    )


def _texts(folder: pathlib.Path, documents: int, questions: int) -> JudgedSet:
    """Read the long texts, all of them; what is judged is a gold stretch, held where half of it stands in a chunk."""
    del documents  # three, and each question is asked of all
    texts = {row["doc_id"]: row for row in _rows(folder / "corpus.jsonl")}
    spans: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for row in _rows(folder / "spans.jsonl"):
        place = f"{row['doc_id']}:{row['start']}-{row['end']}"
        grades[row["qid"]][place] = 1
        spans[row["doc_id"]].append((int(row["start"]), int(row["end"]), place))

    def held(chunk: Chunk) -> list[str]:
        own, key = chunk.text.strip(), _native(chunk)
        start = texts[key]["text"].find(own) if key in texts else -1  # no text has what is written over all of them
        end = start + len(own)
        return [
            place
            for first, last, place in dict.fromkeys(spans[key])
            if start >= 0 and 2 * (min(last, end) - max(first, start)) >= last - first
        ]

    every = [
        JudgedQuery(id=row["qid"], text=row["query"], grades=grades[row["qid"]])
        for row in _rows(folder / "queries.jsonl")
    ]
    kept = _mixed([query.id for query in every], questions)
    return JudgedSet(
        name=folder.name,
        documents=tuple(
            _source(key, row["text"].encode(), title=row["title"], name=f"{key}.txt", media_type="text/plain")
            for key, row in texts.items()
        ),
        questions=tuple(query for query in every if query.id in kept),
        held=held,
    )


def _source(native: str, content: bytes, **said: object) -> SourceDocument:
    document = SourceDocument(id=f"{SOURCE}:{native}", source=SOURCE, content=content, url=f"{URL}{quote(native)}")
    return dataclasses.replace(document, **said)  # type: ignore[arg-type]


def _native(chunk: Chunk) -> str:
    return chunk.document_id.partition(":")[2]


def _rows(path: pathlib.Path) -> list[dict]:  # type: ignore[type-arg]
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
