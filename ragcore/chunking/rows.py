"""The rows of a table as a parser wrote it, and pieces of some of them under its header."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.chunking import naive
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.places import Places
from ragcore.tokens import Tokenizer
from ragcore.types import Location, Section, SectionKind

_BAR = re.compile(r"(?<!\\)\|[^\S\n]*+")
_RULE = frozenset("|-: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """``section.text[start:end]``, its newline included, and the cells as they are read; an empty cell is ""."""

    start: int
    end: int
    cells: tuple[str, ...]

    def cell(self, column: int) -> str:
        """Return the cell of a column, counted from 0; "" where the row is shorter."""
        return self.cells[column] if column < len(self.cells) else ""

    @property
    def is_blank(self) -> bool:
        """Whether no cell holds anything."""
        return not any(self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table: the row of its column names, the rule included, and its rows, which tile the rest of the text."""

    section: Section
    header: Row
    rows: tuple[Row, ...]

    @property
    def width(self) -> int:
        """How many columns have a name or stand in the header without one."""
        return len(self.header.cells)

    def without_names(self) -> "Grid":
        """Return the same grid, its header being a row like the others."""
        start = Row(start=0, end=0, cells=("",) * self.width)
        return replace(self, header=start, rows=(self.header, *self.rows))


def read_grid(section: Section) -> Grid | None:
    """Return the rows of a table; None for what is none, or has no header of two lines."""
    if section.kind is not SectionKind.TABLE:
        return None
    lines = _lines(section.text)
    if len(lines) < 2 or not _is_rule(lines[1]):
        return None
    end = len(lines[0]) + len(lines[1])
    header = Row(start=0, end=end, cells=_cells(lines[0]))
    rows: list[Row] = []
    for line in lines[2:]:
        rows.append(Row(start=end, end=end + len(line), cells=_cells(line)))
        end += len(line)
    return Grid(section=section, header=header, rows=tuple(rows))


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *filter(None, lines[-1:])]


def _is_rule(line: str) -> bool:
    return "-" in line and _RULE.issuperset(line.strip())


def _cells(line: str) -> tuple[str, ...]:
    """Return the cells of a row of Markdown, with or without bars at its ends."""
    inner = line.strip().removeprefix("|")
    cells = _BAR.split(inner)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()  # what follows the last bar
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)


def cell_start(section: Section, row: Row, column: int) -> int:
    """Return the offset in the section's text at which a cell of a row begins; the row's end where it has none."""
    line = section.text[row.start : row.end]
    bars = [match.end() for match in _BAR.finditer(line)]
    starts = bars if line.lstrip().startswith("|") else [0, *bars]
    return row.start + (starts[column] if column < len(starts) else len(line))


class RowCutter:
    """Cuts runs of rows of one grid, each under the header; the first run holds the header as its own.

    The runs tile the rows, in order: what an earlier piece holds already is told by ``overlap``. Where the header has
    no room beside a run, it stands in the first alone.
    """

    def __init__(self, grid: Grid, options: ChunkOptions, tokenizer: Tokenizer) -> None:
        """Begin."""
        self._section = grid.section
        self.header = grid.section.text[: grid.header.end]
        self._options = options
        self._tokenizer = tokenizer
        self._places = Places(grid.section)

    def cut(self, rows: Sequence[Row], lead: int = 0) -> list[Piece]:
        """Return the pieces of rows that follow each other: one, where they fit with the header.

        Otherwise the first row up to ``lead``, an offset in the section's text, is repeated like the header where it
        has room: the question of an answer that goes on.
        """
        whole = self.whole(rows)
        if whole.token_count <= self._options.chunk_tokens:
            return [whole]
        lines = self._places.lines(rows[0].start, rows[-1].end, at=len(self.header))
        if not whole.overlap:
            lines = (*self._places.lines(0, len(self.header)), *lines)
        under = replace(self._section, text=whole.text, header=self.header, location=whole.location, lines=lines)
        for repeated in (self.header + self._section.text[rows[0].start : lead], self.header):
            first, *others = self._naive(replace(under, header=repeated))
            if repeated and all(piece.text.startswith(repeated) for piece in (first, *others)):
                return [replace(first, overlap=whole.overlap), *others]
        if whole.overlap:
            own = self._places.lines(rows[0].start, rows[-1].end)
            return self._naive(replace(under, text=whole.text[whole.overlap :], header="", lines=own))
        return [first, *others]

    def _naive(self, section: Section) -> list[Piece]:
        return naive.chunk([section], self._options, self._tokenizer, None)

    def whole(self, rows: Sequence[Row]) -> Piece:
        """Return one piece of rows that follow each other, under the header, however long it is."""
        start, end = rows[0].start, rows[-1].end
        text = self.header + self._section.text[start:end]
        return Piece(
            text=text,
            overlap=0 if start == len(self.header) else len(self.header),
            kind=self._section.kind,
            heading_path=self._section.heading_path,
            location=self._place(start, end),
            token_count=self._tokenizer.count(text),
        )

    def _place(self, start: int, end: int) -> Location:
        """Return where rows stand; of a header that is a row like the others, one row above those of the section."""
        place, header = self._section.location, self._section.header
        if self.header or not header:
            return self._places.within(0 if start == len(self.header) else start, end)
        if start:
            return self._places.within(start, end)
        last = place if end <= len(header) else self._places.within(len(header), end)
        first_row, first_line = max(0, place.first_row - 1), max(0, place.first_line - header.count("\n"))
        if end <= len(header):
            last = replace(place, last_row=first_row, last_line=first_line)
        whole = self._places.within(start, end)
        return replace(last, first_row=first_row, first_line=first_line, page=whole.page, boxes=whole.boxes)
