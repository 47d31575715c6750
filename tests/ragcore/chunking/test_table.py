import pathlib
import time
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.chunking.columns import ColumnType, columns_of
from ragcore.chunking.rows import read_grid
from ragcore.chunking.table import WHOLE
from ragcore.parsing import parse
from ragcore.types import Section, SectionKind
from tests.ragcore.chunking.files import KINDS, sections_of, table_file
from tests.ragcore.chunking.held import TOKENIZER, check, cut

REAL = pathlib.Path(__file__).parents[4] / "shared/bench/documents/unstructured-stanley-cups.csv"

ROWS = [
    ["Name", "Start", "Salary", "City"],
    ["Ada", "2024-03-05", "3,000.50", "Oslo"],
    ["Bo", "2025-12-24", "2,500", "Rome"],
    ["Cy", "", "-", "12"],
]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_a_file_have_types_and_values(kind: str) -> None:
    (section,) = sections_of(kind, table_file(kind, ROWS))
    grid = read_grid(section)
    assert grid is not None
    columns = columns_of(grid)
    assert [column.name for column in columns] == ROWS[0]
    assert [column.type for column in columns] == [
        ColumnType.TEXT, ColumnType.DATE, ColumnType.NUMBER, ColumnType.TEXT,
    ]  # fmt: skip
    assert columns[1].values == (date(2024, 3, 5), date(2025, 12, 24), None)
    assert columns[2].values == (3000.5, 2500.0, None)
    assert columns[3].values == ("Oslo", "Rome", "12")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.234,50", "12"], (1234.5, 12.0)),
        (["1,234", "999"], (1234.0, 999.0)),
        (["(1,200)", "-3", "€ 4.5", "12 %", "−2"], (-1200.0, -3.0, 4.5, 12.0, -2.0)),
        (["0.125", "0.250"], (0.125, 0.25)),
        (["3/14/2026", "3/4/2026"], (date(2026, 3, 14), date(2026, 3, 4))),
        (["14.3.2026", "4.3.2026"], (date(2026, 3, 14), date(2026, 3, 4))),
        (["2026年3月4日", "2026/3/14"], (date(2026, 3, 4), date(2026, 3, 14))),
        (["5 March 2026", "Mar 6, 2026", "2026-03-07 12:30"], (date(2026, 3, 5), date(2026, 3, 6), date(2026, 3, 7))),
        (["2026-02-30"], ("2026-02-30",)),
        (["3/4/2026", "5/6/2026"], ("3/4/2026", "5/6/2026")),
        (["1.234", "5.678"], ("1.234", "5.678")),
        (["12 kg", "13 kg"], ("12 kg", "13 kg")),
        (["1"] * 9 + ["?"], (*[1.0] * 9, None)),
        (["1"] * 8 + ["?"], (*["1"] * 8, "?")),
        (["", "n/a"], (None, None)),
    ],
)
def test_a_column_is_read_in_one_way_or_as_text(cells: list[str], values: tuple[object, ...]) -> None:
    text = "| c |\n| --- |\n" + "\n".join(f"| {cell} |" for cell in cells)
    grid = read_grid(Section(text=text, kind=SectionKind.TABLE))
    assert grid is not None
    (column,) = columns_of(grid)
    assert column.values == values


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1, max_size=9))
def test_written_numbers_are_read_back(numbers: list[float]) -> None:
    text = "| c |\n| --- |\n" + "\n".join(f"| {number:,.2f} |" for number in numbers)
    grid = read_grid(Section(text=text, kind=SectionKind.TABLE))
    assert grid is not None
    (column,) = columns_of(grid)
    assert column.values == tuple(round(number, 2) for number in numbers)


@pytest.mark.parametrize("kind", KINDS)
def test_every_chunk_of_a_file_has_header_and_whole_rows(kind: str) -> None:
    rows = [["Name", "City"], *([f"Person {n}", f"City {n}"] for n in range(60))]
    (section,) = sections_of(kind, table_file(kind, rows))
    pieces = cut("table", [section], tokens=60)
    check(section, pieces, tokens=60)
    assert len(pieces) > 5
    assert all(piece.text.startswith(section.header) for piece in pieces)
    assert all(piece.text.rstrip().endswith("|") for piece in pieces)


def test_a_row_that_has_no_room_beside_its_header_stays_whole_with_it() -> None:
    columns = [f"A rather long name of column {n}" for n in range(12)]
    rows = [columns, *([f"value {row} in {n}" for n in range(12)] for row in range(6))]
    (section,) = sections_of("csv", table_file("csv", rows))
    pieces = cut("table", [section], tokens=80)
    check(section, pieces, tokens=80 * WHOLE)
    assert [piece.location.first_row for piece in pieces] == [2, 3, 4, 5, 6, 7]
    assert all(piece.text.startswith(section.header) for piece in pieces)
    assert not all(piece.text.startswith(section.header) for piece in cut("naive", [section], tokens=80))


def test_a_row_of_a_book_is_cut_in_the_end() -> None:
    rows = [["Name", "Text"], ["a", "short"], ["b", "Long tales are told, and told again. " * 400], ["c", "short"]]
    (section,) = sections_of("csv", table_file("csv", rows))
    pieces = cut("table", [section], tokens=60)
    check(section, pieces, tokens=60)
    assert all(piece.text.startswith(section.header) for piece in pieces)


cells = st.text(alphabet="abc 年.,;-\\", max_size=30)
tables = st.lists(st.tuples(cells, cells).map(lambda row: f"| {row[0]} | {row[1]} |"), max_size=20)


@given(tables, st.integers(1, 60), st.integers(16, 60))
@example(["| " + "long " * 300 + "|"], 3, 40)
def test_nothing_is_lost_and_no_row_parted_from_its_header(lines: list[str], width: int, tokens: int) -> None:
    header = f"| {'name ' * width}| value |\n| --- | --- |\n"
    section = Section(text=header + "\n".join(lines), kind=SectionKind.TABLE, header=header)
    pieces = cut("table", [section], tokens=tokens)
    check(section, pieces, tokens=tokens * WHOLE)
    longest = max((TOKENIZER.count(f"{header}{line}\n") for line in lines), default=0)
    if any(lines) and longest <= tokens * WHOLE:
        assert all(piece.text.startswith(header) for piece in pieces)
        assert all(piece.overlap == len(header) for piece in pieces[1:])


def test_other_text_is_cut_as_ever() -> None:
    sections = sections_of("md", b"# One\n\nSome text.\n\n```\ncode\n```\n")
    assert cut("table", sections) == cut("naive", sections)


def test_a_real_file() -> None:
    if not REAL.is_file():
        pytest.skip("the documents to measure on are not here")
    sections = parse(REAL.read_bytes(), name=REAL.name).sections
    pieces = cut("table", sections, tokens=40)
    (section,) = [section for section in sections if section.kind is SectionKind.TABLE]
    rows = [piece for piece in pieces if piece.kind is SectionKind.TABLE]
    check(section, rows, tokens=40)
    grid = read_grid(section)
    assert grid is not None
    assert ColumnType.NUMBER in {column.type for column in columns_of(grid)}


@pytest.mark.parametrize("method", ["qa", "table", "tag"])
@pytest.mark.parametrize("width", [1, 20])
def test_many_rows_take_about_a_millisecond_each(method: str, width: int) -> None:
    header = f"| Question {'and more ' * 4 * width}| Tags |\n| --- | --- |\n"
    lines = "".join(f"| Who is number {n}? | six, of nine, and ten more people {n} |\n" for n in range(500))
    section = Section(text=header + lines, kind=SectionKind.TABLE, header=header)
    begin = time.process_time()
    chunk_sections([section], ChunkOptions(method=method), TOKENIZER)
    assert time.process_time() - begin < 0.75
