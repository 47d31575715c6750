"""Sets as single steps need them, and what such a step does with an index or a question."""

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace

from benchmarks._judged_sets import SOURCE, URL, JudgedSet, read_set
from ragcore.chunking import ChunkOptions
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich
from ragcore.errors import ParseError
from ragcore.evaluate.judged import JudgedQuery
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE, retriever_over
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import Failed, IngestOptions, ingest
from ragcore.library import Library
from ragcore.prompts import OWN
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.by_contents import ContentsRetriever
from ragcore.retrieval.retriever import Retrieving
from ragcore.tagging.feature import TagFeature, TagSource
from ragcore.tagging.sets import TagSets
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk, Question, SourceDocument

TAGS = "tags"
TAGGED_BY = EnrichOptions(tags_from=(TAGS,))


def plain(data: JudgedSet, query: JudgedQuery) -> Question:
    """Return the question as it stands."""
    return Question(text=query.text, knowledge_bases=(KNOWLEDGE_BASE,))


def filtered(data: JudgedSet, query: JudgedQuery) -> Question:
    """Return the question with a filter as an asker sets it who knows where to look: the right course, or the file."""
    right = {f"{SOURCE}:{one.partition('#')[0]}" for one, grade in query.grades.items() if grade > 0}
    told = next(document for document in data.documents if document.id in right)
    said = f'course = "{told.metadata["course"]}"' if "course" in told.metadata else f'name = "{told.name}"'
    return replace(plain(data, query), filters={KNOWLEDGE_BASE: (parse_filter(said),)})


def as_tables(data: JudgedSet) -> JudgedSet:
    """Return the entries of a set as one table for each course, with columns of questions and answers.

    What is judged is an entry, held by each chunk that has a part of its row.
    """
    tables: dict[str, list[SourceDocument]] = defaultdict(list)
    for document in data.documents:
        tables[document.metadata["course"]].append(document)
    return replace(
        data, documents=tuple(_table(course, entries) for course, entries in tables.items()), held=_entries_in(tables)
    )


def _table(course: str, entries: Sequence[SourceDocument]) -> SourceDocument:
    return _csv(course, [("question", "answer"), *((one.title, one.content.decode()) for one in entries)])


def _csv(name: str, rows: Sequence[Sequence[str]]) -> SourceDocument:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return SourceDocument(
        id=f"{SOURCE}:{name}",
        source=SOURCE,
        content=written.getvalue().encode(),
        name=f"{name}.csv",
        media_type="text/csv",
        title=name,
        url=f"{URL}{name}",
    )


def _entries_in(tables: Mapping[str, Sequence[SourceDocument]]) -> Callable[[Chunk], Sequence[str]]:
    """Return what tells the entries that stand in a chunk by its rows; the first row has the names of the columns."""

    def held(chunk: Chunk) -> Sequence[str]:
        entries, place = tables[chunk.document_id.partition(":")[2]], chunk.location
        return [one.id.partition(":")[2] for one in entries[max(0, place.first_row - 2) : max(0, place.last_row - 1)]]

    return held


def untagged(data: JudgedSet) -> JudgedSet:
    """Return a set without the quarter of its entries that makes the tag set, and without the questions about them."""
    kept = tuple(one for one in data.documents if not _is_example(one))
    ids = {one.id.partition(":")[2] for one in kept}
    return replace(data, documents=kept, questions=tuple(one for one in data.questions if ids >= set(one.grades)))


def _is_example(document: SourceDocument) -> bool:
    return hashlib.md5(document.id.encode(), usedforsecurity=False).digest()[0] % 4 == 0


async def fill_tags(library: Library) -> None:
    """Fill the tag knowledge base: a quarter of the entries, each with its course and section.

    Raises:
        ParseError: They cannot be indexed.
    """
    examples = [one for one in read_set("faq-zoomcamp").documents if _is_example(one)]
    rows = [("text", "tags")]
    for one in examples:
        tags = ", ".join(said.replace(",", " ") for said in (one.metadata["course"], one.metadata["section"]))
        rows.append((f"{one.title} {one.content.decode()}", tags))
    table = _csv(TAGS, rows)

    async def source() -> AsyncIterator[SourceDocument]:
        yield table

    options = IngestOptions(chunk=ChunkOptions(method="tag"))
    async for event in ingest(library, TAGS, source(), options):
        if isinstance(event, Failed):
            raise ParseError(f"{event.document_id}: {event.reason}", mend=event.mend)


async def tagged(library: Library) -> None:
    """Give each chunk tags by similar entries of the tag set, without a model."""
    await fill_tags(library)
    async for _ in enrich(library, KNOWLEDGE_BASE, TAGGED_BY, None):
        pass


def by_tags(library: Library, options: RetrievalOptions) -> Retriever:
    """Compose a retriever that lets tags count in the order of what is relevant."""
    source = TagSource(tags_from=TAGGED_BY.tags_from, topn_tags=TAGGED_BY.topn_tags)
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=options,
        features=(TagFeature(TagSets(library), {KNOWLEDGE_BASE: source}, library.embedder),),
    )


def by_contents(library: Library, options: RetrievalOptions) -> Retrieving:
    """Compose a retriever that adds sections whose titles fit by their words, without a model."""
    retriever = retriever_over(library, options)
    return ContentsRetriever(
        retriever,
        registry=library.registry,
        values=retriever.values,
        model=None,
        prompts=OWN,
        tokenizer=offline_tokenizer(),
        seconds=60.0,
    )
