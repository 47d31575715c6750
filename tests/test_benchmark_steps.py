"""The table of steps, on made-up sets: what is sampled, what counts as found, and what stands in a line."""

import json
import pathlib
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import _step_sets, steps
from benchmarks._judged_sets import SETS, read_set
from benchmarks._remembered import RememberedEmbedder
from ragcore.chunking import ChunkOptions
from ragcore.filter_grammar import print_filter
from ragcore.retrieval import RetrievalOptions
from ragcore.types import Chunk, ChunkPart, Location, ScoredChunk, SectionKind
from tests.fakes.embedding import HashEmbedder

PLACES = ["harbour", "orchard", "quarry", "lighthouse", "smithy", "granary", "ferry", "chapel"]
NOTES = " ".join(
    f"The {place} opens at {hour} and closes in the evening." for hour, place in enumerate(PLACES, start=5)
)


def lines(path: pathlib.Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a folder with a set of documents and one of long texts."""
    folder = tmp_path / "bench" / "faq-zoomcamp"
    told = [
        {"doc_id": place, "title": place, "text": f"The {place} is old.", "course": "ab"[number % 2], "section": "age"}
        for number, place in enumerate(PLACES)
    ]
    lines(folder / "corpus.jsonl", told)  # type: ignore[arg-type]
    lines(
        folder / "queries.jsonl",
        [{"qid": f"q{n}", "query": f"How old is the {place}?"} for n, place in enumerate(PLACES)],
    )
    (folder / "qrels.tsv").write_text("".join(f"q{n}\t{place}\t1\n" for n, place in enumerate(PLACES)))
    folder = tmp_path / "bench" / "chunking-dev"
    lines(folder / "corpus.jsonl", [{"doc_id": "notes", "title": "Hours", "text": NOTES}])
    asked = [{"qid": f"q{n}", "query": f"When does the {place} open?"} for n, place in enumerate(PLACES)]
    lines(folder / "queries.jsonl", asked)  # type: ignore[arg-type]
    spans: list[dict[str, object]] = []
    for number, place in enumerate(PLACES):
        start = NOTES.index(f"The {place}")
        spans.append({"qid": f"q{number}", "doc_id": "notes", "start": start, "end": start + 30})
    lines(folder / "spans.jsonl", spans)
    return tmp_path / "bench"


def test_a_sample_is_always_the_same_and_holds_what_answers(bench: pathlib.Path) -> None:
    sample = read_set("faq-zoomcamp", documents=5, questions=3, bench=bench)
    assert (len(sample.documents), len(sample.questions)) == (5, 3)
    answering = {f"bench:{one}" for query in sample.questions for one in query.grades}
    assert answering < {document.id for document in sample.documents}
    again = read_set("faq-zoomcamp", documents=5, questions=3, bench=bench)
    assert (again.documents, again.questions) == (sample.documents, sample.questions)
    assert len(read_set("faq-zoomcamp", documents=1, questions=3, bench=bench).documents) == 3
    whole = read_set("faq-zoomcamp", bench=bench)
    assert (len(whole.documents), len(whole.questions)) == (8, 8)


def test_a_stretch_is_found_where_half_of_it_stands(bench: pathlib.Path) -> None:
    data = read_set("chunking-dev", bench=bench)

    def found(start: int, end: int) -> ScoredChunk:
        chunk = Chunk(
            id=f"g-{start}",
            document_id="bench:notes",
            knowledge_base="kb",
            ordinal=0,
            text=NOTES[start:end],
            title="",
            token_count=1,
        )
        return ScoredChunk(chunk=chunk, score=0.5)

    first, second = (NOTES.index(f"The {place}") for place in PLACES[:2])
    spans = [f"notes:{start}-{start + 30}" for start in (first, second)]
    both = dict.fromkeys(spans, 1)
    assert data.ranked([found(second, second + 15), found(0, second + 40)], both) == [spans[1], spans[0]]
    assert data.ranked([found(second + 16, second + 40)], both) == [f"nothing: g-{second + 16}"], "it takes a place"
    one = {spans[1]: 1}
    assert data.ranked([found(0, second + 40)], one) == [spans[1]], "what another question asks for takes none"


def test_a_page_is_found_by_each_part_of_a_chunk(tmp_path: pathlib.Path) -> None:
    (tmp_path / "financebench-dev" / "documents").mkdir(parents=True)
    lines(tmp_path / "financebench-dev" / "queries.jsonl", [])
    held = read_set("financebench-dev", bench=tmp_path).held
    chunk = Chunk(
        id="g-1", document_id="bench:a.pdf", knowledge_base="kb", ordinal=1, text="ab", title="", token_count=1, location=Location(page=7)
    )  # fmt: skip
    assert held(chunk) == ["a.pdf#7"]
    part = ChunkPart(start=0, ordinal=0, kind=SectionKind.TEXT, location=Location(page=6))
    parts = (part, ChunkPart(start=1, ordinal=1, kind=SectionKind.TEXT, location=Location(page=7)))
    assert held(Chunk(**{**{name: getattr(chunk, name) for name in chunk.__slots__}, "parts": parts})) == [
        "a.pdf#6",
        "a.pdf#7",
    ]


@pytest.mark.soak
async def test_a_line_tells_off_and_on(bench: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ChunkOptions(chunk_tokens=16)
    off = steps.Setup(chunk=small, retrieval=RetrievalOptions(similarity_threshold=0.0, top_n=2))
    on = steps.Setup(chunk=ChunkOptions(chunk_tokens=16, parent_tokens=64), retrieval=off.retrieval)
    made = (
        steps.Step(name="parents", off=off, on=on),
        steps.Step(name="elsewhere", off=off, on=on, sets=("scifact",)),
    )
    data = [read_set(name, bench=bench) for name in ("faq-zoomcamp", "chunking-dev")]
    for _ in range(2):  # the second time from what is kept
        embedder = RememberedEmbedder(HashEmbedder(), bench.parent / "vectors")
        await steps.table(made, data, cache=bench.parent / "cache", embedder=embedder)
        told = capsys.readouterr()
        header, rule, *rows = told.out.splitlines()
        assert f"{header}\n{rule}" == steps.HEADER
        assert [line.split(" | ")[:2] for line in rows] == [
            ["| parents", "faq-zoomcamp"],
            ["| parents", "chunking-dev"],
        ]
        cells = rows[1].strip("| ").split(" | ")
        assert len(cells) == header.count(" | ") + 1
        before, after = (int(number) for number in cells[-1].split(" / "))
        assert after > before > 0
        recalls = [float(number.strip("*")) for number in cells[3].split(" / ")]
        assert 0 < recalls[0] <= recalls[1] <= 1
    kept = list((bench.parent / "cache" / "steps").iterdir())
    assert len(kept) == 4
    assert all((folder / "seconds.json").is_file() for folder in kept)


async def test_a_text_is_embedded_once_and_its_time_is_told(tmp_path: pathlib.Path) -> None:
    texts = ["one", "two", "a third one"]
    first = RememberedEmbedder(HashEmbedder(), tmp_path)
    made = await first.embed(texts)
    assert np.array_equal(made, await HashEmbedder().embed(texts))
    assert first.saved == 0.0
    first.keep()
    again = RememberedEmbedder(Silent(), tmp_path)
    assert np.array_equal(await again.embed(texts[::-1]), made[::-1])
    assert again.saved > 0.0
    with pytest.raises(AssertionError, match="asked"):
        await again.embed(["one"])


class Silent(HashEmbedder):
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("asked")


def test_entries_stand_in_a_table_by_their_rows(bench: pathlib.Path) -> None:
    data = read_set("faq-zoomcamp", bench=bench)
    tables = _step_sets.as_tables(data)
    assert [document.name for document in tables.documents] == ["a.csv", "b.csv"]
    lines_of_b = tables.documents[1].content.decode().splitlines()
    assert lines_of_b == ["question,answer", *(f"{place},The {place} is old." for place in PLACES[1::2])]
    chunk = Chunk(
        id="g-0", document_id="bench:b", knowledge_base="kb", ordinal=0, text="", title="", token_count=0, location=Location(first_row=3, last_row=4)
    )  # fmt: skip
    assert list(tables.held(chunk)) == PLACES[3:6:2]
    assert tables.questions == data.questions


def test_a_filter_names_where_the_answer_is(bench: pathlib.Path) -> None:
    data = read_set("faq-zoomcamp", bench=bench)
    for query in data.questions:
        (place,) = query.grades
        ((said,),) = _step_sets.filtered(data, query).filters.values()
        assert print_filter(said) == f"course = {'ab'[PLACES.index(place) % 2]}"


def test_what_is_a_tag_set_is_neither_searched_nor_asked_for(bench: pathlib.Path) -> None:
    data = read_set("faq-zoomcamp", bench=bench)
    rest = _step_sets.untagged(data)
    ids = {document.id.partition(":")[2] for document in rest.documents}
    assert 0 < len(ids) < len(PLACES)
    assert {place for query in rest.questions for place in query.grades} == ids


def test_gold_is_given_in_a_chunk_its_copies_or_what_it_rests_on(bench: pathlib.Path) -> None:
    data = read_set("faq-zoomcamp", bench=bench)

    def chunk(place: str) -> Chunk:
        return Chunk(
            id=f"{place}-0", document_id=f"bench:{place}", knowledge_base="kb", ordinal=0, text=place, title="", token_count=1
        )  # fmt: skip

    one, two, three, four = PLACES[:4]
    leaf = ScoredChunk(chunk=chunk(three), score=0.5)
    found = [ScoredChunk(chunk=chunk(one), score=0.5, copies=(chunk(two),), leaves=(leaf,))]
    assert data.ranked(found, {four: 1}) == [one, two]
    assert data.given(found, {one: 1, two: 0, three: 1, four: 2}) == 2 / 3
    assert data.given([], {one: 1}) == 0.0


def test_every_step_names_sets_that_there_are() -> None:
    assert len({step.name for step in steps.STEPS}) == len(steps.STEPS)
    for step in steps.STEPS:
        assert set(step.sets) <= set(SETS)
        assert step.on != step.off
