import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.chunking.joining import joined
from ragcore.chunking.one import MOST_TOKENS
from ragcore.parsing import parse
from ragcore.tokens import offline_tokenizer
from ragcore.types import Location, Section, SectionKind
from tests.ragcore.nasty import NASTY
from tests.soak import scaled

TOKENIZER = offline_tokenizer()
ONE = ChunkOptions(method="one")
NAIVE = ChunkOptions()

LETTER = """# Notice of termination

Dear Ms Ortega,

I end my tenancy of the flat in Mill Lane 4.

## Keys

| key | pieces |
| --- | --- |
| house | 2 |
| cellar | 1 |

## Deposit

Please send it to the account that you know.
"""

sections = st.lists(
    st.builds(
        Section,
        text=NASTY,
        kind=st.sampled_from(SectionKind),
        heading_path=st.lists(st.sampled_from(["A", "B"]), max_size=3).map(tuple),
        location=st.builds(Location, page=st.integers(0, 3), first_row=st.integers(0, 2), last_row=st.integers(2, 9)),
    ),
    max_size=6,
)


def test_a_letter_is_one_chunk_as_it_stands_in_its_file() -> None:
    parsed = parse(LETTER.encode(), name="letter.md")
    assert len(parsed.sections) == 4
    (piece,) = chunk_sections(parsed.sections, ONE, TOKENIZER)
    assert piece.text == LETTER.rstrip("\n")
    assert piece.token_count == TOKENIZER.count(piece.text)
    assert (piece.location.first_line, piece.location.last_line) == (1, len(LETTER.splitlines()))
    assert (piece.heading_path, piece.overlap, piece.kind) == ((), 0, SectionKind.TEXT)


@given(sections, st.integers(1, 200))
def test_every_text_stands_in_it_in_order_and_nothing_else_does(found: list[Section], limit: int) -> None:
    piece = joined(found, TOKENIZER, limit)
    filled = [section for section in found if section.text.strip()]
    if piece is None:
        assert not filled or TOKENIZER.count("\n\n".join(section.text for section in filled)) > limit
        return
    assert piece.text == "\n\n".join(section.text for section in filled)
    assert piece.token_count == TOKENIZER.count(piece.text) <= limit
    assert piece.heading_path == filled[0].heading_path[: len(piece.heading_path)]
    assert all(section.heading_path[: len(piece.heading_path)] == piece.heading_path for section in filled)
    assert piece.location.page == filled[0].location.page
    if len(filled) == 1:
        assert (piece.kind, piece.location, piece.heading_path) == (
            filled[0].kind,
            filled[0].location,
            filled[0].heading_path,
        )


@given(
    st.lists(st.sampled_from(["# One", "## Two", "", "", "text", "| a |\n| - |\n| 1 |", "```\nx\n```"]), max_size=20)
)
def test_its_lines_are_those_of_the_file(lines: list[str]) -> None:
    text = "start\n" + "\n".join(lines)
    found = parse(text.encode(), name="a.md").sections
    (piece,) = chunk_sections(found, ONE, TOKENIZER)
    first, last = piece.location.first_line, piece.location.last_line
    assert piece.text == "\n".join(text.split("\n")[first - 1 : last])


def test_tables_of_one_sheet_keep_their_rows_and_those_of_several_have_none() -> None:
    table = "| a |\n| --- |\n| 1 |"
    one, two, three = (
        Section(text=table, kind=SectionKind.TABLE, location=Location(sheet=sheet, first_row=first, last_row=first + 1))
        for sheet, first in (("S", 2), ("S", 7), ("T", 2))
    )
    (piece,) = chunk_sections([one, two], ONE, TOKENIZER)
    assert piece.location == Location(sheet="S", first_row=2, last_row=8)
    (piece,) = chunk_sections([one, three], ONE, TOKENIZER)
    assert (piece.location.first_row, piece.location.last_row) == (0, 0)


def test_a_long_document_is_cut_as_naive_does() -> None:
    long = [Section(text="word " * 500, heading_path=(f"{n}",)) for n in range(2 * MOST_TOKENS // 500)]
    assert chunk_sections(long, ONE, TOKENIZER) == chunk_sections(long, NAIVE, TOKENIZER)
    (piece,) = chunk_sections(long, ChunkOptions(method="one", chunk_tokens=3 * MOST_TOKENS), TOKENIZER)
    assert piece.token_count > MOST_TOKENS


@pytest.mark.parametrize("blank", [[], [Section(text=" \n")]], ids=["nothing", "blank"])
def test_nothing_gives_no_piece(blank: list[Section]) -> None:
    assert chunk_sections(blank, ONE, TOKENIZER) == []


def test_the_time_grows_with_the_length_alone() -> None:
    many = [Section(text=f"Paragraph {n} of a long book. ") for n in range(scaled(6_000))]
    started = time.process_time()
    pieces = chunk_sections(many, ONE, TOKENIZER)
    assert time.process_time() - started < 4 + 20 * sum(len(section.text) for section in many) / 1_000_000
    assert len(pieces) == len(many)
    assert all(before.text != after.text for before, after in pairwise(pieces))
