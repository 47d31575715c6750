"""A search under a filter: it finds what it would find without, of what meets the filter, and never more than may be read."""

import pathlib
import random
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.filter_grammar import parse_filter, print_filter
from ragcore.filters import Filter, Kind
from ragcore.ingest import IngestOptions, ingest
from ragcore.library import Library
from ragcore.retrieval import RetrievalOptions, Retriever, candidates
from ragcore.stores import chunk_vectors, keyword_snapshot
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.rows import chunk_record, is_open, row_values
from ragcore.stores.value_rows import values_of
from ragcore.types import Question, SourceDocument
from tests.fakes.libraries import opened
from tests.ragcore.filtered import drawn_filter, drawn_record
from tests.ragcore.retrieval.test_closed_documents import ALL, READERS, WORDS, Nothing, found
from tests.ragcore.retrieval.test_retriever import WordEmbedder
from tests.soak import FIXED, scaled

LIKELY = tuple(map(parse_filter, ("team = a", "team != a", "no > 4", "no <= 6 and team = b", "no in (1, 3, 5, 7)")))


async def index(library: Library, documents: list[SourceDocument], *, base: str = "kb") -> None:
    """Index documents as a source gave them."""

    async def each() -> AsyncIterator[SourceDocument]:
        for document in documents:
            yield document

    async for _ in ingest(library, base, each()):
        pass


def made_document(short: str, text: str, /, **said: object) -> SourceDocument:
    """Return a document of the source ``s``."""
    made = SourceDocument(id=f"s:{short}", source="s", content=text.encode(), name=f"{short}.md")
    return replace(made, **said)  # type: ignore[arg-type]


def _asked(text: str, *filters: Filter) -> Question:
    return Question(text=text, knowledge_bases=("kb",), filters={"kb": filters} if filters else {})


def retriever(
    library: Library, options: RetrievalOptions = ALL, homes: Mapping[str, str] = MappingProxyType({})
) -> Retriever:
    """Return a retriever over a library."""
    return Retriever(
        registry=library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=options,
        homes=homes,
    )


@pytest.mark.parametrize("few", [500, 0])
async def test_with_readers_and_a_filter_comes_out_what_both_admit(
    few: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For random documents, readers, filters and named documents; with few documents, and as if they were many."""
    monkeypatch.setattr(keyword_snapshot, "FEW", few)
    monkeypatch.setattr(candidates, "COMPARED", few)
    monkeypatch.setattr(chunk_vectors, "MOST_COUNTED", few)
    draw = random.Random(23 if FIXED else None)
    async with opened(tmp_path, WordEmbedder()) as library:
        documents = [
            made_document(
                str(number),
                " ".join(draw.choices(WORDS, k=6)) + ".",
                readers=None if draw.random() < 0.5 else frozenset(draw.sample(READERS, draw.randint(0, 3))),
                metadata={"team": draw.choice(("a", "b")), "no": str(draw.randint(0, 9)), **drawn_record(draw)},
            )
            for number in range(30)
        ]
        await index(library, documents)
        known = await library.registry.documents([document.id for document in documents])
        narrowed = 0
        for _ in range(scaled(10)):
            readers = draw.choice((None, frozenset(draw.sample(READERS, draw.randint(0, 3)))))
            filters = tuple(draw.choice((drawn_filter(draw), *LIKELY)) for _ in range(draw.choice((1, 1, 2))))
            named = tuple(document.id for document in draw.sample(documents, draw.choice((0, 0, 8))))
            question = replace(_asked(" ".join(draw.sample(WORDS, 3))), readers=readers, document_ids=named)
            options = replace(ALL, top_k=200)
            alone = await found(library, question, options=options)
            both = await found(library, replace(question, filters={"kb": filters}), options=options)
            assert all(is_open(known[document_id].readers, readers) for document_id in both)
            meeting = [
                document_id
                for document_id in alone
                if all(one.is_met_by(values_of(known[document_id])) for one in filters)
            ]
            assert set(both) == set(meeting), [print_filter(one) for one in filters]
            narrowed += 0 < len(meeting) < len(alone)
        assert narrowed > scaled(10) // 5


@pytest.mark.parametrize("few", [500, 0])
async def test_what_a_filter_leaves_out_hides_nothing(
    few: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though 150 documents that match better don't meet it, and only five are asked of each index."""
    monkeypatch.setattr(keyword_snapshot, "FEW", few)
    monkeypatch.setattr(candidates, "COMPARED", few)
    monkeypatch.setattr(chunk_vectors, "MOST_COUNTED", few)
    options = replace(ALL, top_k=5)
    async with opened(tmp_path, WordEmbedder()) as library:
        better = [
            made_document(f"b{n}", f"Brightwater merger, file {n}.", metadata={"year": "2019"}) for n in range(150)
        ]
        news = "In the news of the year, among others: a merger, that with Brightwater."
        await index(
            library, [*better, *(made_document(f"n{n}", f"{news} {n}", metadata={"year": "2024"}) for n in range(4))]
        )
        asked = _asked("Brightwater merger", parse_filter("year >= 2024"))
        expected = {f"s:n{n}" for n in range(4)}
        assert set(await found(library, asked, options=options)) == expected
        for leg in ("vectors", "keywords"):
            if few or leg == "keywords":  # many are asked of the vector index, which is away
                assert set(await found(library, asked, options=options, **{leg: Nothing()})) == expected, leg


async def test_a_filter_that_no_document_meets_finds_nothing_and_says_so(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        await index(library, [made_document("a", "The merger with Brightwater.", metadata={"year": "2019"})])
        search = retriever(library, RetrievalOptions())
        asked = _asked("Brightwater merger", parse_filter("year = 2024"))
        nothing = await search.retrieve(asked)
        assert (nothing.chunks, nothing.near, nothing.notes) == ((), (), ("filter_without_match",))
        something = await search.retrieve(_asked("Brightwater merger", parse_filter("year = 2019")))
        assert [scored.chunk.document_id for scored in something.chunks] == ["s:a"]
        assert something.notes == ()
        irrelevant = await search.retrieve(_asked("penguins", parse_filter("year = 2019")))
        assert (irrelevant.chunks, irrelevant.notes) == ((), ())


async def test_a_document_that_changes_under_the_search_is_judged_as_it_is_then(tmp_path: pathlib.Path) -> None:
    """Its new version does not meet the filter any more: neither version comes out."""
    async with opened(tmp_path, WordEmbedder()) as library:
        before = made_document("a", "The merger with Brightwater.", metadata={"status": "open"})
        await index(library, [before])

        class Changing:
            """The keyword index, under whose first search the document is changed."""

            done = False

            async def read(self, work: object) -> object:
                if not self.done:
                    self.done = True
                    await index(library, [replace(before, metadata={"status": "closed"})])
                return await library.keywords.read(work)  # type: ignore[arg-type]

        asked = _asked("Brightwater merger", parse_filter("status = open"))
        assert await found(library, asked, keywords=Changing()) == []
        assert await found(library, _asked("Brightwater merger", parse_filter("status = closed"))) == ["s:a"]


def sheet(rows: int) -> str:
    """Return a csv of items with their state, amount and day."""
    lines = [
        f"item {n},{'open' if n % 7 == 0 else 'closed'},{n * 10},2026-{1 + n % 12:02}-{1 + n % 28:02}"
        for n in range(rows)
    ]
    return "\n".join(["Item,Status,Amount,Due", *lines])


async def index_tables(library: Library, documents: list[SourceDocument], tokens: int = 32) -> None:
    """Index documents by the method ``table``."""

    async def each() -> AsyncIterator[SourceDocument]:
        for document in documents:
            yield document

    options = IngestOptions(chunk=ChunkOptions(method="table", chunk_tokens=tokens))
    async for _ in ingest(library, "kb", each(), options):
        pass


async def test_the_rows_of_a_table_are_found_by_their_values(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordEmbedder()) as library:
        csv = made_document("items", sheet(120), name="items.csv", metadata={"team": "sales"})
        closed = made_document("board", sheet(30), name="board.csv", readers=frozenset({"slack:T1"}))
        told = made_document("told", "Which item is open?", metadata={"status": "open", "amount": "1000"})
        await index_tables(library, [csv, closed, told])
        values = DocumentValues(library.database)

        async def items(text: str, **of: Any) -> set[int]:
            """Return the items of the first sheet in the chunks that meet a filter."""
            met = await values.matching("kb", [parse_filter(text)], **of)
            chunks = await library.registry.live_chunks(sorted(met.chunk_ids))
            return {
                int(number)
                for chunk in chunks.values()
                if chunk.document_id == "s:items"
                for number in re.findall(r"item (\d+)", chunk.text)
            }

        assert len(await library.registry.chunks_of(["s:items"])) > 100, "about a row a chunk"
        wanted = {n for n in range(120) if n % 7 == 0 and n * 10 > 1000}
        assert wanted <= await items("status = open and amount > 1000")
        assert len(await items("status = open and amount > 1000")) <= len(wanted) + 2
        assert await items("amount > 1000 and amount < 1000") == set()
        assert {n for n in range(120) if n % 12 == 10} <= await items("due >= 2026-11-01 and due < 2026-12-01")
        assert await items("team = sales and status = open") >= wanted
        assert await items("team = board and status = open") == set()
        assert await items("status = open", document_ids=("s:told",)) == set()

        asked = _asked("Which item is open?", parse_filter("status = open and amount >= 1000"))
        assert set(await found(library, asked)) == {"s:items", "s:told"}
        both = [scored.chunk for scored in (await retriever(library).retrieve(replace(asked, readers=None))).chunks]
        assert all("open" in chunk.text for chunk in both)
        few = _asked("Which item is open?", parse_filter("status = open and amount <= 70"))
        assert set(await found(library, few)) == {"s:items", "s:board"}
        assert set(await found(library, replace(few, readers=frozenset({"*"})))) == {"s:items"}
        fields = {field.name: field for field in await values.fields("kb")}
        assert (fields["status"].sample, fields["status"].is_whole) == (("closed", "open"), True)
        assert (fields["amount"].kind, fields["due"].kind) == (Kind.NUMBER, Kind.DATE)
        narrowed = await values.fields("kb", filters=[parse_filter("status = open")])
        assert "closed" not in {text for field in narrowed for text in field.sample}, "nor of rows that don't meet it"
        named = await values.fields("kb", document_ids=["s:items"])
        assert {"status", "amount"} <= {field.name for field in named}


async def test_rows_of_a_table_stay_with_their_chunks(tmp_path: pathlib.Path) -> None:
    """Whoever reads a stored chunk to write it anew writes its rows, too; a new version has its own."""
    async with opened(tmp_path, WordEmbedder()) as library:
        document = made_document("items", sheet(20), name="items.csv")
        await index_tables(library, [document])
        page = await library.registry.live_page("kb")
        assert all(stored.rows is not None and stored.rows.fields[0] == "item" for stored in page)
        written = [row_values(chunk_record(stored)["enrichment"]) for stored in page]
        assert written == [stored.rows for stored in page]
        values = DocumentValues(library.database)
        asked = [parse_filter("status = open")]
        before = await values.matching("kb", asked)
        assert before.chunk_ids
        assert (await values.matching("kb", asked)) == before, "remembered"
        await index_tables(library, [replace(document, content=sheet(20).replace("open", "done").encode())])
        assert (await values.matching("kb", asked)).count == 0
        assert (await values.matching("kb", [parse_filter("status = done")])).chunk_ids
