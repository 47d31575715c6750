"""Copies: what is one, that they leave room for others, and that nobody is told of one that is closed to them."""

import pathlib
import random
import time
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.evaluate.retrieval import documents_of
from ragcore.ingest import ingest
from ragcore.retrieval import RetrievalOptions, Retriever
from ragcore.retrieval.copies import SHORT, collapsed
from ragcore.retrieval.features import PageRank
from ragcore.types import Chunk, Question, SourceDocument
from tests.fakes.libraries import fill, opened
from tests.ragcore.retrieval.test_retriever import WordEmbedder, retriever

LONG = (
    "Employees have thirty days of paid vacation each year. Whoever does not take them all may carry over five days "
    "until the end of March, if the team agrees, and if the office is told in time; the rest is lost. Days that are "
    "carried over are taken first. Ask the office for the form, and let your manager sign it before you leave."
)
CHINESE = "员工每年享有十天带薪年假，需要提前两周向部门经理申请。未休完的年假可以结转到下一年三月底，之后作废。病假不计入年假，但需要医院证明。"


def chunk(text: str, number: int = 0, *, title: str = "Leave") -> Chunk:
    return Chunk(
        id=f"g-{number}", document_id=f"s:{number}", knowledge_base="kb", ordinal=0, text=text, title=title, token_count=9
    )  # fmt: skip


def are_copies(one: str, other: str, *, title: str = "Leave") -> bool:
    return len(collapsed([chunk(one), chunk(other, 1, title=title)], 9)) == 1


@pytest.mark.parametrize(
    "other",
    [
        LONG,
        LONG.upper(),
        LONG.replace(". ", ".\n\n- "),
        LONG.replace("paid vacation", "**paid vacation**"),
        LONG.replace("; the", ", the"),
        LONG.replace("your manager", "the manager"),
        f"{LONG} Thank you.",
    ],
)
def test_small_differences_make_no_other_text(other: str) -> None:
    assert are_copies(LONG, other)
    assert are_copies(LONG, other, title="Leave (copy)")


@pytest.mark.parametrize(
    "other",
    [
        LONG.replace("year.", "year 2025."),
        LONG.replace("may carry", "may not carry"),
        LONG.replace("may carry", "can't carry"),
        LONG[: len(LONG) // 2],
        f"{LONG} {LONG[:90][::-1]}",
        " ".join(reversed(LONG.split())),
        "",
    ],
)
def test_numbers_negations_and_large_differences_do(other: str) -> None:
    assert not are_copies(LONG, other)


def test_chinese_is_compared_by_its_characters() -> None:
    assert are_copies(CHINESE, CHINESE.replace("，", " ").replace("部门经理", "部门的经理"))
    assert not are_copies(CHINESE, CHINESE.replace("可以结转", "不可以结转"))
    assert not are_copies(CHINESE, CHINESE[::-1])


def test_a_short_text_is_a_copy_only_under_the_same_title() -> None:
    assert are_copies("Yes.", "yes")
    assert not are_copies("Yes.", "Yes.", title="May I smoke here?")
    assert are_copies("", "")
    assert len(LONG.split()) > SHORT


WORDS = st.lists(st.sampled_from(["pump", "valve", "oil", "not", "7", "年假", "E-417", "the"]), max_size=40)


@given(st.lists(WORDS, max_size=8), st.integers(1, 9))
def test_groups_part_what_is_looked_at_and_the_rest_is_no_copy(texts: list[list[str]], most: int) -> None:
    chunks = [chunk(" ".join(words), number) for number, words in enumerate(texts)]
    whole = collapsed(chunks, len(chunks))
    assert sorted(place for group in whole for place in group) == list(range(len(chunks)))
    assert [group[0] for group in whole] == sorted(group[0] for group in whole)
    assert all(list(group) == sorted(group) for group in whole)
    assert collapsed(chunks, most) == whole[:most]
    for group in whole:
        assert all(collapsed([chunks[group[0]], chunks[place]], 2) == [(0, 1)] for place in group[1:])


def test_many_long_texts_are_compared_in_no_time() -> None:
    draw = random.Random(3)
    words = [f"{draw.choice('bcdfg')}{draw.choice('aeiou')}{draw.randrange(10**6):x}" for _ in range(4_000)]
    chunks = [chunk(" ".join(draw.choices(words, k=2_000)), number) for number in range(64)]
    started = time.process_time()
    assert len(collapsed(chunks, 64)) == 64
    assert time.process_time() - started < 2.0


async def test_copies_leave_room_for_others_and_are_told(tmp_path: pathlib.Path) -> None:
    texts = {f"copy{number}": f"# Leave\n\n{LONG}" for number in range(4)}
    texts["other"] = "# Vacation\n\nThe office keeps a calendar of each vacation, and paid days are marked in it."
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, texts)
        search = retriever(library, options=RetrievalOptions(top_n=2, similarity_threshold=0.05))
        found = (await search.retrieve(Question(text="paid vacation days", knowledge_bases=("kb",)))).chunks
        named = [one.chunk.document_id for one in found]
        assert len(found) == 2
        assert "s:other" in named
        first = next(one for one in found if one.chunk.document_id != "s:other")
        told = {first.chunk.document_id, *(copy.document_id for copy in first.copies)}
        assert told == {f"s:copy{number}" for number in range(4)}
        assert len(first.copies) == 3
        assert {document.id for document in documents_of(found)} == set(texts)
        each = search.with_options(RetrievalOptions(top_n=9, similarity_threshold=0.05, collapse=False))
        found = (await each.retrieve(Question(text="paid vacation days", knowledge_bases=("kb",)))).chunks
        assert {one.chunk.document_id: one.copies for one in found} == {f"s:{name}": () for name in texts}


async def test_more_copies_than_are_read_hide_nothing_else(tmp_path: pathlib.Path) -> None:
    texts = {f"copy{number}": f"# Paid vacation days\n\n{LONG}" for number in range(45)}
    texts |= {f"other{number}": f"# Note {number}\n\nPaid vacation days, by team {number}." for number in range(5)}
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, texts)
        search = retriever(library, options=RetrievalOptions(top_n=6, similarity_threshold=0.05))
        found = (await search.retrieve(Question(text="paid vacation days", knowledge_bases=("kb",)))).chunks
        assert {document.id for document in documents_of(found)} == set(texts)
        assert len(found) == 6


async def test_of_copies_the_one_of_the_highest_page_rank_stands_for_all(tmp_path: pathlib.Path) -> None:
    text = f"# Leave\n\n{LONG}"
    async with opened(tmp_path, WordEmbedder()) as library:
        await fill(library, {f"copy{number}": text for number in range(3)})

        async def wiki() -> AsyncIterator[SourceDocument]:
            yield SourceDocument(id="wiki:leave", source="wiki", content=text.encode(), name="leave.md")

        async for _ in ingest(library, "kb", wiki()):
            pass
        for ranked in ({"wiki": 90}, {"wiki": 10, "s": 20}):
            search = Retriever(
                registry=library.registry,
                vectors=library.vectors,
                keywords=library.keywords,
                embedder=library.embedder,
                features=[PageRank(sources=ranked)],
            )
            (found,) = (await search.retrieve(Question(text="paid vacation days", knowledge_bases=("kb",)))).chunks
            assert (found.chunk.document_id == "wiki:leave") == (max(ranked, key=lambda name: ranked[name]) == "wiki")
            told = {found.chunk.document_id, *(copy.document_id for copy in found.copies)}
            assert told == {"wiki:leave", "s:copy0", "s:copy1", "s:copy2"}
            assert len(found.copies) == 3
