"""The values of its rows that each chunk of a table carries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.chunking.row_values import MOST_COLUMNS, RowSamples
from ragcore.filters import SHOWN, RowValues
from ragcore.types import Section, SectionKind
from tests.ragcore.chunking.files import KINDS, sections_of, table_file
from tests.ragcore.chunking.held import TOKENIZER, cut

ROWS = [
    ["Item", "Status", "Amount", "Due", "", "Status"],
    ["Lamp", "Open", "1,200.50", "3 March 2026", "x", "old"],
    ["Desk", "closed", "-3", "-", "", ""],
    ["Chair", "", "12 %", "2026-04-01", "", "new"],
]


def _table(rows: list[list[str]]) -> Section:
    header, *body = ["| " + " | ".join(row) + " |\n" for row in rows]
    header += "| " + " | ".join("---" for _ in rows[0]) + " |\n"
    return Section(text=header + "".join(body), kind=SectionKind.TABLE, header=header)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_carries_its_rows_as_filters_read_them(kind: str) -> None:
    rows = [[cell for place, cell in enumerate(row) if place < 4] for row in ROWS]
    (piece,) = cut("table", sections_of(kind, table_file(kind, rows)), tokens=500)
    assert piece.rows is not None
    assert piece.rows.fields == ("item", "status", "amount", "due")
    assert list(piece.rows.records()) == [
        {"item": "Lamp", "status": "Open", "amount": "1200.5", "due": "2026-03-03"},
        {"item": "Desk", "status": "closed", "amount": "-3"},
        {"item": "Chair", "amount": "12", "due": "2026-04-01"},
    ]


def test_of_two_columns_of_a_name_the_first_that_is_filled_counts() -> None:
    (piece,) = cut("table", [_table(ROWS)], tokens=500)
    assert piece.rows is not None
    assert [row.get("status") for row in piece.rows.records()] == ["Open", "closed", "new"]
    assert "" not in piece.rows.fields


@given(
    amounts=st.lists(st.integers(-9999, 9999), min_size=1, max_size=60),
    words=st.integers(1, 30),
    size=st.integers(20, 90),
    overlap=st.sampled_from((0.0, 0.2)),
)
def test_each_row_is_found_in_a_chunk_that_holds_of_it(
    amounts: list[int], words: int, size: int, overlap: float
) -> None:
    rows = [["No", "Amount", "Text"], *([f"n{n}", str(a), "word " * (words * (n % 3))] for n, a in enumerate(amounts))]
    options = ChunkOptions(method="table", chunk_tokens=size, overlap=overlap)
    pieces = chunk_sections([_table(rows)], options, TOKENIZER)
    found: set[tuple[str, str]] = set()
    for piece in pieces:
        records = list(piece.rows.records()) if piece.rows else []
        found |= {(record["no"], record["amount"]) for record in records}
        # Only the first may have begun in the piece before.
        assert all(f"| {record['no']} |" in piece.text[piece.overlap :] for record in records[1:])
    assert found == {(f"n{n}", str(a)) for n, a in enumerate(amounts)}


def test_a_very_wide_table_keeps_its_first_columns() -> None:
    wide = [[f"c{n}" for n in range(MOST_COLUMNS + 9)], [str(n) for n in range(MOST_COLUMNS + 9)]]
    pieces = cut("table", [_table(wide)], tokens=2_000)
    fields = {field for piece in pieces if piece.rows for field in piece.rows.fields}
    assert fields == {f"c{n}" for n in range(MOST_COLUMNS)}


def test_what_is_no_table_has_no_rows() -> None:
    assert all(piece.rows is None for piece in cut("table", [Section(text="Words.")]))


def test_a_sample_of_a_column_tells_whether_it_is_all() -> None:
    samples = RowSamples()
    for part in range(3):
        rows = tuple((f"State {n % 2}", str(n + 100 * part), "") for n in range(100))
        samples.add([RowValues(fields=("state", "no", "empty"), rows=rows)])
    told = samples.by_field()
    assert told["state"] == ("state 0", "state 1")
    assert len(told["no"]) == SHOWN + 1
    assert told["empty"] == ()
