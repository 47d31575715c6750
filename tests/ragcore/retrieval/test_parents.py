"""Search small, quote large: what passed the gate is given out with its parent's text."""

import pathlib
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunk_parts import as_found
from ragcore.chunking import ChunkOptions
from ragcore.citations.cite import cite
from ragcore.extractive import extract
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import IngestOptions, ingest
from ragcore.library import Library
from ragcore.links import deep_link, place
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.parents import alone, widened
from ragcore.stores.registry import Registry
from ragcore.stores.rows import digest
from ragcore.types import (
    Chunk,
    ChunkPart,
    Location,
    Parent,
    Permalink,
    Question,
    ScoredChunk,
    SectionKind,
    SourceDocument,
    Support,
)
from tests.fakes.libraries import each, fill, opened
from tests.ragcore.retrieval.test_closed_documents import fill_closed
from tests.ragcore.retrieval.test_retriever import WordEmbedder

SMALL = ChunkOptions(chunk_tokens=24)
LARGE = replace(SMALL, parent_tokens=96)
HANDBOOK = """\
# Buses

The night bus leaves at eleven from the harbour and takes forty minutes to the airport.

Tickets are sold by the driver, who takes coins alone and gives no change at all.

Bicycles ride for free on the night bus, two at most, and hang outside at its back.

# Canteen

Lunch is served from noon. The menu changes each week, and soup is free for whoever works late.
"""
ASKED = Question(text="Do bicycles ride for free on the night bus?", knowledge_bases=("kb",))


def retriever(library: Library, top_n: int = 8, registry: Registry | None = None) -> Retriever:
    return Retriever(
        registry=registry or library.registry,
        vectors=library.vectors,
        keywords=library.keywords,
        embedder=library.embedder,
        options=RetrievalOptions(top_n=top_n, similarity_threshold=0.05),
    )


async def test_a_chunk_is_found_small_and_quoted_large(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path / "data", WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, IngestOptions(chunk=SMALL))
        small = (await retriever(library).retrieve(ASKED)).chunks
        assert max(len(scored.chunk.text) for scored in small) < 120
        assert len({scored.chunk.heading_path for scored in small}) < len(small), "two of one section are found"
        await fill(library, {"handbook": HANDBOOK}, IngestOptions(chunk=LARGE))
        wide = (await retriever(library).retrieve(ASKED)).chunks
        best = wide[0]
        assert best.chunk.text == HANDBOOK[: HANDBOOK.index("\n\n# Canteen")]
        assert best.chunk.ordinal == small[0].chunk.ordinal
        assert best.chunk.location == small[0].chunk.location
        assert best.score == small[0].score
        assert set(best.matched) >= {"Bicycles", "ride", "free", "night", "bus"}
        assert as_found(best.chunk).text == small[0].chunk.text
        assert len({scored.chunk.heading_path for scored in wide}) == len(wide), "two of one section are one now"
        first = (await retriever(library, top_n=1).retrieve(ASKED)).chunks
        assert [scored.chunk for scored in first] == [best.chunk]


async def test_what_is_embedded_stays_the_same(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path / "data", WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, IngestOptions(chunk=SMALL))
        told = await fill(library, {"handbook": HANDBOOK}, IngestOptions(chunk=LARGE))
        assert [(one.change.value, one.embedded) for one in told] == [("changed", 0)]  # type: ignore[union-attr]
        chunks = await library.registry.chunks_of(["s:handbook"])
        assert [chunk.parent for chunk in chunks][:2] == [
            Parent(first=0, last=2),
            Parent(first=0, last=2, goes_on=True),
        ]


async def test_siblings_are_read_by_the_same_rules_as_what_was_found(tmp_path: pathlib.Path) -> None:
    readers = frozenset({"slack:T1/@U1"})
    async with opened(tmp_path / "data", WordEmbedder()) as library:
        await fill_closed(library, {"handbook": HANDBOOK}, readers)
        async for _ in ingest(library, "kb", _closed(readers), IngestOptions(chunk=LARGE)):
            pass
        found = (await retriever(library).retrieve(replace(ASKED, readers=readers))).chunks
        assert "Tickets are sold" in found[0].chunk.text
        ids = [chunk.id for chunk in await library.registry.chunks_of(["s:handbook"])]
        registry = library.registry
        assert list(await registry.readable_chunks(ids, ["kb"], readers=readers)) == ids
        assert not await registry.readable_chunks(ids, ["kb"], readers=frozenset({"*"}))
        assert not await registry.readable_chunks(ids, ["other"])
        assert not await registry.readable_chunks(ids, ["kb"], homes={"s": "other"})
        await fill(library, {"handbook": HANDBOOK + "\nMore.\n"}, IngestOptions(chunk=LARGE))
        assert not await registry.readable_chunks(ids, ["kb"]), "they are of a version that is gone"


async def _closed(readers: frozenset[str]):  # type: ignore[no-untyped-def]
    async for document in each({"handbook": HANDBOOK}):
        yield replace(document, readers=readers)


async def _named(name: str, text: str):  # type: ignore[no-untyped-def]
    yield SourceDocument(id="s:valves", source="s", content=text.encode(), name=name)


class Switching(Registry):
    """A registry under which the document is replaced once between the search and the reading of siblings."""

    def __init__(self, library: Library) -> None:
        super().__init__(library.database)
        self._library = library
        self._left = 1

    async def readable_chunks(self, *args: Any, **said: Any) -> dict[str, Chunk]:
        if self._left:
            self._left -= 1
            await fill(self._library, {"handbook": HANDBOOK + "\nMore.\n"}, IngestOptions(chunk=LARGE))
        return await super().readable_chunks(*args, **said)


async def test_a_document_replaced_before_its_siblings_are_read_is_searched_again(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path / "data", WordEmbedder()) as library:
        await fill(library, {"handbook": HANDBOOK}, IngestOptions(chunk=LARGE))
        best, *_ = (await retriever(library, registry=Switching(library)).retrieve(ASKED)).chunks
        assert best.chunk.text == HANDBOOK[: HANDBOOK.index("\n\n# Canteen")]
        assert best.chunk.id in {chunk.id for chunk in await library.registry.chunks_of(["s:handbook"])}


def child(ordinal: int, text: str, **changes: object) -> Chunk:
    values: dict[str, object] = {
        "id": f"{digest('g')[:32]}-{ordinal}", "document_id": "s:a", "knowledge_base": "kb", "ordinal": ordinal, "text": text,
        "title": "Buses", "token_count": 9, "url": "https://wiki.example/buses", "parent": Parent(first=0, last=2, goes_on=True),
    }  # fmt: skip
    return Chunk(**{**values, **changes})  # type: ignore[arg-type]


def scored(chunk: Chunk, score: float, **changes: object) -> ScoredChunk:
    return replace(ScoredChunk(chunk=chunk, score=score, ranks={"dense": 3}, matched=("bus",)), **changes)  # type: ignore[arg-type]


def test_two_children_of_one_parent_are_one() -> None:
    members = [child(0, "One. "), child(1, "Two. "), child(2, "Three.")]
    other = child(3, "Four.", parent=None)
    found = [
        scored(members[2], 0.9, ranks={"dense": 4, "keyword": 1}),
        scored(other, 0.8),
        scored(members[0], 0.7, ranks={"dense": 1}, matched=("night", "bus")),
    ]
    wide = widened(found, {chunk.id: chunk for chunk in members})
    assert [(one.chunk.id, one.score) for one in wide] == [(members[2].id, 0.9), (other.id, 0.8)]
    assert wide[0].chunk.text == "One. Two. Three."
    assert wide[0].ranks == {"dense": 1, "keyword": 1}
    assert wide[0].matched == ("bus", "night")
    assert wide[1] is found[1]


def test_a_child_whose_siblings_are_gone_stays_alone() -> None:
    members = [child(0, "One. "), child(1, "Two. "), child(2, "Three.")]
    found = [scored(members[1], 0.9), scored(members[0], 0.5)]
    assert widened(found, {members[0].id: members[0]}) == tuple(found)


def test_what_a_chunk_repeats_stands_once_and_its_lines_are_counted_without_it() -> None:
    lines = [f"line {number} of the notes\n" for number in range(1, 10)]
    members = [
        child(0, "".join(lines[:4]), location=Location(first_line=1, last_line=4)),
        child(1, "".join(lines[2:7]), overlap=len("".join(lines[2:4])), location=Location(first_line=3, last_line=7)),
        child(2, "".join(lines[7:]), location=Location(first_line=8, last_line=9)),
    ]
    wide = _wide(members, 2, media_type="text/plain")
    assert wide.text == "".join(lines)
    assert [part.location.first_line for part in wide.parts] == [1, 5, 8]
    for number, line in enumerate(lines, start=1):
        assert deep_link(wide, line.strip()) == f"https://wiki.example/buses#L{number}"
    assert deep_link(wide, lines[3] + lines[4].strip()).endswith("#L4-L5"), "over a seam"
    assert deep_link(wide).endswith("#L8-L9"), "without a passage: where the best child stands"
    assert place(wide, "not there") == "lines 8-9"


def _wide(members: list[Chunk], best: int, **changes: object) -> Chunk:
    members = [replace(member, **changes) for member in members]  # type: ignore[arg-type]
    return widened([scored(members[best], 0.9)], {one.id: one for one in members})[0].chunk


def test_a_passage_is_linked_to_the_page_and_the_message_it_stands_in() -> None:
    pages = [child(n, f"Text of page {n + 4}. ", location=Location(page=n + 4)) for n in range(3)]
    wide = _wide(pages, 0, media_type="application/pdf")
    assert deep_link(wide, "Text of page 6.").endswith("#page=6")
    assert place(wide, "Text of page 5. Text of page 6.") == "p. 5"
    links = [Permalink(line=n + 1, url=f"https://chat.example/{n}") for n in range(3)]
    said = [
        child(n, f"Message {n}.\n", location=Location(first_line=n + 1, last_line=n + 1, permalinks=(links[n],)))
        for n in range(3)
    ]
    assert deep_link(_wide(said, 0), "Message 2.") == "https://chat.example/2"


def test_the_rows_of_a_table_are_counted_below_its_header() -> None:
    header = "| Code | Action |\n| --- | --- |\n"
    rows = [
        child(
            n,
            f"{header}| E-{n}0 | Dry it |\n| E-{n}1 | Turn it |\n",
            overlap=len(header) if n else 0,
            kind=SectionKind.TABLE,
            location=Location(first_row=2 * n + 2, last_row=2 * n + 3),
        )
        for n in range(3)
    ]
    wide = _wide(rows, 1)
    assert wide.kind is SectionKind.TABLE
    assert wide.text.count(header) == 1
    assert [place(wide, f"| E-{n}{k} |") for n in range(3) for k in range(2)] == [f"row {n}" for n in range(2, 8)]
    assert place(wide, "| E-01 | Turn it |\n| E-10 | Dry it |") == "rows 3-4"


async def test_a_sentence_of_a_sibling_is_cited_and_linked_where_it_stands() -> None:
    texts = [
        "The night bus leaves at eleven from the harbour.\n",
        "Tickets are sold by the driver for coins alone.\n",
        "Bicycles hang outside at its back.",
    ]
    members = [child(n, text, location=Location(page=n + 1)) for n, text in enumerate(texts)]
    wide = _wide(members, 2, media_type="application/pdf")
    cited = await cite("Tickets are sold by the driver for coins alone [ID:0].", [wide])
    assert cited.support is Support.CITED
    (citation,) = cited.citations
    assert (citation.chunk_id, citation.location) == (members[2].id, "p. 2")
    assert citation.url == "https://wiki.example/buses#page=2"
    assert citation.quote in wide.text
    assert "coins alone" in citation.quote
    bare = await cite("Tickets are sold by the driver for coins alone.", [wide])
    assert [one.url for one in bare.citations] == [citation.url]


async def test_text_and_code_of_one_parent_are_quoted_each_in_its_way() -> None:
    text = "To start the pump, run the command below on the console of the pump.\n\n"
    code = "pump --start --pressure 4"
    wide = child(
        0,
        f"{text}{code}\n\nThe pump starts after ten seconds and then shows a green light.",
        parts=(
            ChunkPart(start=0, ordinal=0, kind=SectionKind.TEXT, location=Location()),
            ChunkPart(start=len(text), ordinal=1, kind=SectionKind.CODE, location=Location()),
            ChunkPart(start=len(text) + len(code) + 2, ordinal=2, kind=SectionKind.TEXT, location=Location()),
        ),
    )
    found = await extract("What does the pump show after it starts?", [scored(wide, 0.9)], None)
    assert "The pump starts after ten seconds and then shows a green light" in found.text
    found = await extract("Which --pressure has pump --start?", [scored(wide, 0.9)], None)
    assert f"`{code}`" in found.text


async def test_a_filter_on_rows_keeps_the_rows_beside_out_of_what_is_quoted(tmp_path: pathlib.Path) -> None:
    """A parent is quoted whole where all its chunks meet the filter; else what was found stands alone."""
    rows = [(f"valve {number}", "open" if number % 4 < 2 else "closed") for number in range(24)]
    sheet = "part,status\n" + "".join(f"{part},{status}\n" for part, status in rows)
    small = ChunkOptions(method="table", chunk_tokens=24)
    asked = Question(text="Which valve is open?", knowledge_bases=("kb",))
    options = IngestOptions(chunk=replace(small, parent_tokens=120))
    async with opened(tmp_path / "data", WordEmbedder()) as library:
        async for _ in ingest(library, "kb", _named("valves.csv", sheet), options):
            pass
        chunks = await library.registry.chunks_of(["s:valves"])
        assert max(chunk.parent.last - chunk.parent.first for chunk in chunks if chunk.parent) > 1
        wide = (await retriever(library).retrieve(asked)).chunks
        assert any("closed" in one.chunk.text for one in wide), "without a filter rows come with those beside them"
        for status, other in (("open", "closed"), ("closed", "open")):
            only = replace(asked, filters={"kb": (parse_filter(f"status = {status}"),)})
            found = (await retriever(library).retrieve(only)).chunks
            met = {one.text for one in chunks if status in one.text}
            assert found
            assert {one.chunk.text for one in found} <= met
            assert [one.chunk.text for one in found if other not in one.chunk.text]
        every = replace(asked, filters={"kb": (parse_filter("part start with valve"),)})
        assert {one.chunk.text for one in (await retriever(library).retrieve(every)).chunks} == {
            one.chunk.text for one in wide
        }


@given(st.integers(0, 5), st.sets(st.integers(0, 9)))
def test_only_a_parent_that_meets_a_filter_whole_is_kept(own: int, met: set[int]) -> None:
    one = replace(child(own, "text"), parent=Parent(first=0, last=5))
    rows = frozenset(f"{one.id.rpartition('-')[0]}-{number}" for number in met)
    found = alone(one, rows)
    assert (found.parent is None) == (own in met and not met >= set(range(6)))
    assert replace(found, parent=one.parent) == one
