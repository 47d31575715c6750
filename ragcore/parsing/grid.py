"""Grids of cells (a spreadsheet, a delimited file) as tables with the titles and notes around them.

The contract with the chunker: line k (from 0) of a table's text after its header is row
``location.first_row + k`` of the sheet, counted from 1 as the spreadsheet shows it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ragcore.parsing.tables import markdown_header, markdown_row
from ragcore.types import Location, Section, SectionKind

_NUMBER = re.compile(r"^[\s$€£¥(+\-–−]*\d[\d\s.,’'%)]*\s*[%€£¥)]?$")
_YEAR = re.compile(r"^(19|20)\d\d$")
_HEADER_ROWS = 3
"""Most rows that a header spreads over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row that holds something: its number from 1, and its cells as shown.

    ``spans`` holds the columns (from 0) whose text was repeated from a merged cell; ``filled`` those with text of
    their own.
    """

    number: int
    cells: tuple[str, ...]
    spans: frozenset[int] = frozenset()

    filled: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Note the columns once: they are asked for often."""
        spans = self.spans
        own = tuple(at for at, cell in enumerate(self.cells) if cell and at not in spans and not cell.isspace())
        object.__setattr__(self, "filled", own)


def grid_sections(rows: Iterable[Row], sheet: str = "", path: tuple[str, ...] = ()) -> list[Section]:
    """Cut a grid at its empty rows into titles, tables and notes.

    Args:
        rows: The rows that hold anything, in order; a gap in their numbers is a run of empty rows.
        sheet: The sheet's name, for the locations.
        path: The heading path of the sheet.
    """
    blocks: list[list[Row]] = []
    for row in rows:
        if not row.filled:
            continue
        if not blocks or row.number != blocks[-1][-1].number + 1:
            blocks.append([])
        blocks[-1].append(row)
    writer = _GridWriter(sheet, path)
    for block in blocks:
        for part in _side_by_side(block):
            writer.block(part)
    return writer.close()


def _side_by_side(block: list[Row]) -> list[list[Row]]:
    """Cut a block at wholly empty columns when both sides have a header of their own over two columns or more."""
    width = max(len(row.cells) for row in block)
    used = [any(column < len(row.cells) and row.cells[column].strip() for row in block) for column in range(width)]
    parts = [part for part in _runs(used) if part[1] - part[0] > 1]
    if len(parts) < 2 or len(parts) != len(_runs(used)) or len(block) < 2:
        return [block]
    sides = [[_cut(row, start, end) for row in block] for start, end in parts]
    tables = [side for side in sides if _looks_headed([row for row in side if row.filled])]
    return sides if len(tables) == len(sides) else [block]


def _runs(used: Sequence[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for column, is_used in enumerate(used):
        if is_used and (column == 0 or not used[column - 1]):
            runs.append((column, column + 1))
        elif is_used:
            runs[-1] = (runs[-1][0], column + 1)
    return runs


def _cut(row: Row, start: int, end: int) -> Row:
    spans = frozenset(column - start for column in row.spans if start <= column < end)
    return Row(number=row.number, cells=row.cells[start:end], spans=spans)


def _looks_headed(rows: Sequence[Row]) -> bool:
    """Tell whether the first row names every column: that is what sets apart two tables from one with a gap."""
    if len(rows) < 2:
        return False
    widest = max(len(row.filled) for row in rows)
    return len(rows[0].filled) == widest and not any(is_number(cell) for cell in rows[0].cells)


def is_number(cell: str) -> bool:
    """Tell whether a cell shows a quantity; a year counts as a name, as it stands over columns."""
    text = cell.strip()
    return bool(_NUMBER.match(text)) and not _YEAR.match(text)


class _GridWriter:
    """Turns blocks of rows into sections; lone cells above a table are text before it."""

    def __init__(self, sheet: str, path: tuple[str, ...]) -> None:
        self._sheet = sheet
        self._path = path
        self._notes: list[Row] = []
        self._waiting: list[Row] = []
        self._sections: list[Section] = []

    def block(self, rows: list[Row]) -> None:
        """Add a block: leading and trailing rows of one cell are text, the rest is a table."""
        rows = [row for row in rows if row.filled]
        start = next((at for at, row in enumerate(rows) if len(row.filled) > 1), len(rows))
        end = next((at + 1 for at in range(len(rows) - 1, start, -1) if len(rows[at].filled) > 1), start + 1)
        if start == len(rows):
            self._lone_cells(rows)
            return
        self._lone_cells(rows[:start])
        table = rows[start:end]
        if start == 0 and self._belongs(table):
            header, self._waiting = self._waiting, []
            self._table(header + table, len(header))
        elif _is_header_alone(table) and end == len(rows):
            self._release()
            self._flush()
            self._waiting = table
        else:
            self._table(table, header_rows(table))
        self._lone_cells(rows[end:])

    def close(self) -> list[Section]:
        """Return all sections."""
        self._release()
        self._flush()
        return self._sections

    def _belongs(self, table: list[Row]) -> bool:
        """Tell whether a table goes under the header that waits: an empty row between them, none of its own."""
        near = bool(self._waiting) and table[0].number - self._waiting[-1].number <= 2
        return near and header_rows(table) == 0

    def _release(self) -> None:
        """Write a header that no table followed as the small table that it is."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._table(waiting, header_rows(waiting))

    def _lone_cells(self, rows: list[Row]) -> None:
        if rows:
            self._release()
        for row in rows:
            if self._notes and row.number != self._notes[-1].number + 1:
                self._flush()
            self._notes.append(row)

    def _flush(self) -> None:
        if self._notes:
            text = "\n".join(
                " ".join(" ".join(row.cells[column].split()) for column in row.filled) for row in self._notes
            )
            self._add(text, SectionKind.TEXT, self._notes)
        self._notes = []

    def _table(self, rows: list[Row], count: int) -> None:
        self._release()
        self._flush()
        columns = used_columns(rows)
        header = markdown_header([_column_name(rows[:count], column) for column in columns])
        body = rows[count:]
        lines: list[str] = []
        for row in body:
            # A gap inside one block comes only from a side of two tables that is shorter: keep the row numbers true.
            lines += [markdown_row([""] * len(columns))] * (row.number - body[0].number - len(lines))
            lines.append(markdown_row([_cell(row, column) for column in columns]))
        if not body:
            self._add(header.rstrip("\n"), SectionKind.TABLE, rows)
            return
        self._add(header + "\n".join(lines), SectionKind.TABLE, body, header)

    def _add(self, text: str, kind: SectionKind, rows: Sequence[Row], header: str = "") -> None:
        place = Location(sheet=self._sheet, first_row=rows[0].number, last_row=rows[-1].number)
        section = Section(text=text, kind=kind, heading_path=self._path, location=place, header=header)
        self._sections.append(section)


def table_columns(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Return the column names and the rows under them, empty columns left out."""
    columns = used_columns(rows)
    count = header_rows(rows)
    names = [_column_name(rows[:count], column) for column in columns]
    return names, [[_cell(row, column) for column in columns] for row in rows[count:]]


def used_columns(rows: Sequence[Row]) -> list[int]:
    """Return the columns that hold text of their own in any row."""
    return sorted({column for row in rows for column in row.filled})


def _is_header_alone(rows: Sequence[Row]) -> bool:
    """Tell a header that an empty row sets apart from its table: a few rows, no quantity in any."""
    return len(rows) <= _HEADER_ROWS and not any(_is_quantity(cell) for row in rows for cell in row.cells)


def _is_quantity(cell: str) -> bool:
    return is_number(cell) or cell.strip() in ("-", "–", "—")


def header_rows(rows: Sequence[Row]) -> int:
    """Return how many rows name the columns: 0 when the first already holds quantities."""
    if any(_is_quantity(rows[0].cells[column]) for column in rows[0].filled):
        return 0
    widest = max(len(row.filled) for row in rows)
    count = 1
    named = len(rows[0].filled)
    while (
        count < min(_HEADER_ROWS, len(rows) - 1)
        and named < widest
        and (rows[count - 1].spans or count > 1 or named == 1)
    ):
        row = rows[count]
        if len(row.filled) < 2 or any(is_number(row.cells[column]) for column in row.filled):
            break
        named = max(named, len(row.filled))
        count += 1
    return count


def _column_name(header: Sequence[Row], column: int) -> str:
    names = [_cell(row, column) for row in header]
    distinct = [name for at, name in enumerate(names) if name and name not in names[:at]]
    return " ".join(distinct)


def _cell(row: Row, column: int) -> str:
    return row.cells[column].strip() if column < len(row.cells) else ""
