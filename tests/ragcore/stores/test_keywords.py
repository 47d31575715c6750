import asyncio
import dataclasses
import pathlib
import shutil
import tempfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import BusyError, IndexDamaged
from ragcore.retrieval.scoring import idf
from ragcore.stores.indexes import Alternative, KeywordQuery, Permitted
from ragcore.stores.keywords import TantivyKeywords
from ragcore.terms import Kind, terms
from ragcore.types import Chunk
from tests.soak import scaled


def chunk(generation: str, ordinal: int, text: str, **more: object) -> Chunk:
    made = Chunk(
        id=f"{generation}-{ordinal}",
        document_id="s:guide.md",
        knowledge_base="kb",
        ordinal=ordinal,
        text=text,
        title="",
        token_count=1,
    )
    return dataclasses.replace(made, **more)  # type: ignore[arg-type]


def asked(text: str) -> KeywordQuery:
    return KeywordQuery(clauses=tuple((Alternative(terms=(term.text,)),) for term in terms(text)))


async def found(index: TantivyKeywords, text: str, *, base: str = "kb", documents: tuple[str, ...] = ()) -> list[str]:
    return [hit.chunk_id for hit in await index.read(lambda reader: reader.search(base, asked(text), 10, documents))]


async def test_an_index_starts_empty_and_remembers_its_revision(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path / "keywords")
    assert (await index.revision(), await index.count(), await index.ids()) == (0, 0, set())
    await index.write(add=[chunk("g", 0, "one"), chunk("g", 1, "two")], revision=7)
    assert (await index.revision(), await index.count(), await index.count("kb")) == (7, 2, 2)
    await index.write(add=[chunk("h", 0, "three")])
    assert await index.revision() == 7
    await index.close()
    again = TantivyKeywords(tmp_path / "keywords")
    assert (await again.revision(), await again.ids()) == (7, {"g-0", "g-1", "h-0"})
    await again.close()


async def test_one_commit_replaces_a_generation(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(add=[chunk("old", 0, "holidays"), chunk("old", 1, "holidays"), chunk("other", 0, "holidays")])
    await index.write(add=[chunk("new", 0, "holiday")], remove_generations=["old"], revision=2)
    assert set(await found(index, "holidays")) == {"new-0", "other-0"}
    await index.write(add=[chunk("new", 0, "payday")])
    assert (await found(index, "holiday"), await index.count()) == (["other-0"], 2)
    await index.close()


async def test_a_knowledge_base_never_answers_for_another(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(
        add=[chunk("a", 0, "salary bands"), chunk("b", 0, "salary of the board", knowledge_base="文档库")]
    )
    assert await found(index, "salary") == ["a-0"]
    assert await found(index, "salary", base="文档库") == ["b-0"]
    assert await found(index, "salary", base="other") == []
    assert (await index.read(lambda reader: reader.statistics("kb", ["salari", "board"]))).frequencies == (1, 0)
    assert await index.read(lambda reader: reader.scores("kb", asked("salary"), ["b-0"])) == []
    await index.close()


async def test_documents_narrow_the_search(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(add=[chunk(name, 0, "leave", document_id=f"s:{name} x.md") for name in ("a", "b", "c")])
    assert await found(index, "leave", documents=("s:a x.md", "s:c x.md", "s:none")) == ["a-0", "c-0"]
    await index.close()


@pytest.mark.parametrize("mine", [0, 1, 29])
async def test_what_is_closed_is_as_if_it_were_not_there(tmp_path: pathlib.Path, mine: int) -> None:
    """In the search, in its scores and in what is counted: else a rare word would tell that it stands somewhere."""
    sets = [f"{n:032x}" for n in range(30)]
    opened = [chunk("o", n, f"leave policy number {n} of the year") for n in range(4)]
    closed = [
        chunk(f"c{n}", m, f"leave leave policy merger {n} {m}", reader_set=sets[n]) for n in range(30) for m in range(3)
    ]
    readable = [*opened, *(one for one in closed if one.reader_set in sets[:mine])]
    whole, alone = TantivyKeywords(tmp_path / "whole"), TantivyKeywords(tmp_path / "alone")
    await whole.write(add=[*opened, *closed])
    await alone.write(add=readable)
    only = Permitted(sets=frozenset(sets[:mine]), closed=frozenset(sets[mine:]))
    words = ["leav", "polici", "merger", "year", "nowhere"]
    counted = await whole.read(lambda reader: reader.statistics("kb", words, only))
    expected = await alone.read(lambda reader: reader.statistics("kb", words))
    assert (counted.count, counted.frequencies) == (expected.count, expected.frequencies)
    assert (counted.indexed, expected.indexed) == (94, None)
    rarity = {word: idf(counted.count, n) for word, n in zip(words, counted.frequencies, strict=True) if n}
    query = KeywordQuery(clauses=tuple((Alternative(terms=(word,)),) for word in words), rarity=rarity)
    hits = await whole.read(lambda reader: reader.search("kb", query, 200, (), only))
    same = await alone.read(lambda reader: reader.search("kb", replace(query, rarity={}), 200))
    assert {hit.chunk_id for hit in hits} == {one.id for one in readable} == {hit.chunk_id for hit in same}
    scores = {hit.chunk_id: hit.score for hit in same}
    # They differ by what is left: how long a chunk is on average, and the one document that is no chunk.
    assert all(hit.score == pytest.approx(scores[hit.chunk_id], rel=0.2) for hit in hits)
    assert len(await whole.read(lambda reader: reader.search("kb", query, 3, (), only))) == min(3, len(readable))
    ids = [one.id for one in (*opened, *closed)]
    scored = await whole.read(lambda reader: reader.scores("kb", query, ids, only))
    assert {hit.chunk_id for hit in scored} == {one.id for one in readable}
    assert len(await found(whole, "leave merger")) == 10, "who reads everything"
    for index in (whole, alone):
        await index.close()


async def test_better_places_count_more(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    filler = "some words about nothing at all"
    await index.write(
        add=[
            chunk("text", 0, f"{filler} vacation"),
            chunk("title", 0, filler, title="Vacation"),
            chunk("key", 0, filler, keywords=("vacation",)),
            chunk("path", 0, filler, heading_path=("Vacation",)),
            chunk("none", 0, filler),
        ]
    )
    order = await found(index, "vacation")
    assert set(order[:3]) == {"title-0", "key-0", "path-0"}
    assert order[3:] == ["text-0"]
    await index.close()


async def test_a_file_is_found_by_its_name(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(add=[chunk("a", 0, "text", document_id="s:it/setup_v2.pdf"), chunk("b", 0, "setup pdf")])
    assert (await found(index, "setup_v2.pdf"))[0] == "a-0"
    assert (await found(index, "it/setup_v2.pdf"))[0] == "a-0"
    await index.close()


async def test_scores_complete_what_the_search_left_out(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(add=[chunk("g", place, "leave " * (place + 1) + "policy") for place in range(20)])
    every = await index.read(lambda reader: reader.search("kb", asked("leave policy"), 20))
    some = await index.read(lambda reader: reader.scores("kb", asked("leave policy"), ["g-3", "g-17", "gone-0"]))
    assert {hit.chunk_id: hit.score for hit in some} == {
        hit.chunk_id: pytest.approx(hit.score) for hit in every if hit.chunk_id in {"g-3", "g-17"}
    }
    await index.close()


async def test_a_clause_is_met_by_its_best_alternative_and_phrases_whole(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(add=[chunk("a", 0, "annual leave"), chunk("b", 0, "annual report"), chunk("c", 0, "holidays")])
    clause = (Alternative(terms=("holiday",), weight=0.5), Alternative(terms=("annual", "leav"), weight=0.7))
    hits = await index.read(lambda reader: reader.search("kb", KeywordQuery(clauses=(clause,)), 5))
    assert {hit.chunk_id for hit in hits} == {"a-0", "c-0"}
    assert await index.read(lambda reader: reader.search("kb", KeywordQuery(), 5)) == []
    await index.close()


async def test_a_second_writer_is_told_to_wait(tmp_path: pathlib.Path) -> None:
    first, second = TantivyKeywords(tmp_path), TantivyKeywords(tmp_path)
    await first.write(add=[chunk("a", 0, "one")], revision=1)
    with pytest.raises(BusyError):
        await second.write(add=[chunk("b", 0, "two")])
    assert await second.count() == 1
    await first.close()
    await second.write(add=[chunk("b", 0, "two")])
    assert await second.count() == 2
    await second.close()


@pytest.mark.parametrize("how", ["cut", "gone", "garbage"])
async def test_damage_is_recognised_and_can_be_cleared(tmp_path: pathlib.Path, how: str) -> None:
    whole = tmp_path / "whole"
    index = TantivyKeywords(whole)
    await index.write(add=[chunk("g", place, f"leave {place}") for place in range(50)], revision=3)
    await index.close()
    damaged = 0
    for number, name in enumerate(sorted(path.name for path in whole.iterdir())):
        folder = tmp_path / f"{how}{number}"
        shutil.copytree(whole, folder)
        content = (folder / name).read_bytes()
        if how == "gone":
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content[: len(content) // 2] if how == "cut" else b"\xff" * len(content))
        index = TantivyKeywords(folder)
        try:
            await index.revision()
            await index.count()
            await found(index, "leave")
            await index.write(add=[chunk("h", 0, "more")], revision=4)
        except IndexDamaged:
            damaged += 1
        await index.clear()
        assert (await index.revision(), await index.count()) == (0, 0)
        await index.write(add=[chunk("h", 0, "leave")], revision=5)
        assert await found(index, "leave") == ["h-0"]
        await index.close()
    assert damaged >= 3


async def test_reading_beside_writing_sees_whole_commits(tmp_path: pathlib.Path) -> None:
    index = TantivyKeywords(tmp_path)
    await index.write(add=[chunk("g0", place, "leave") for place in range(3)])
    seen: list[int] = []

    async def read() -> None:
        seen.extend([len(await found(index, "leave")) for _ in range(40)])

    async def write() -> None:
        for number in range(1, 10):
            chunks = [chunk(f"g{number}", place, "leave") for place in range(3)]
            await index.write(add=chunks, remove_generations=[f"g{number - 1}"], revision=number)

    await asyncio.gather(read(), write(), read())
    assert set(seen) == {3}
    assert (await index.revision(), await index.ids()) == (9, {"g9-0", "g9-1", "g9-2"})
    await index.close()


@settings(max_examples=scaled(15))
@given(st.text(max_size=60))
def test_whatever_is_typed_can_be_asked_and_found(text: str) -> None:
    async def run(folder: pathlib.Path) -> None:
        index = TantivyKeywords(folder)
        await index.write(add=[chunk("g", 0, text, title=text)])
        told = [term for term in terms(text) if term.kind is not Kind.CHARACTER]
        assert (await found(index, text) == ["g-0"]) or not told
        await index.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(pathlib.Path(folder)))
