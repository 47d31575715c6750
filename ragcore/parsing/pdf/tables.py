"""Tables of figures in a page's lines: rows whose numbers stand under each other, with the names above them.

Only what is surely a table becomes one; any other rows of cells stay lines of text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.parsing.grid import is_number
from ragcore.parsing.pdf.layout import Line
from ragcore.parsing.pdf.ruled import lines_of_cell
from ragcore.parsing.pdf.runs import Run

_MIN_ROWS = 3
_HEADER_LINES = 5
_FIGURE_SHARE = 0.6
"""Share of a table's rows that hold a figure in at least half of their cells but the first."""
_NEAR = 4.0
"""Line heights between two rows of one table, blank rows of its setting included."""
_TOUCH = 3.0
"""Points by which a name must reach over a column to belong to it."""
_LABEL_CHARACTERS = 90
_CELL_CHARACTERS = 60
_DASHES = frozenset(("-", "–", "—", "N/A", "n/a", "NM", "nm"))
_SIGN = re.compile(r"^[$€£¥]$")
_TRAILING_SIGN = re.compile(r"\s+[$€£¥]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table found on a page: ``start`` and ``end`` (exclusive) count its lines in reading order.

    ``header`` are the lines of the columns' names, ``lines`` those of each row. ``is_ruled``: its rules tell its rows,
    the first of which is taken for the names.
    """

    start: int
    end: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    header: tuple[Line, ...]
    lines: tuple[tuple[Line, ...], ...]
    is_ruled: bool = False

    @property
    def left(self) -> float:
        """Where it begins."""
        return min(line.left for lines in (self.header, *self.lines) for line in lines)

    @property
    def has_bold_names(self) -> bool:
        """Whether the names of its columns stand out, and its first row doesn't."""
        return all(line.bold for line in self.header) and not all(line.bold for line in self.lines[0])


Span = tuple[float, float]


def find_tables(lines: Sequence[Line]) -> list[PageTable]:
    """Return the tables of a page, in order."""
    found: list[PageTable] = []
    at = 0
    while at < len(lines):
        if lines[at].table:
            found.append(_ruled_table(lines[at], at))
            at += 1
            continue
        end = _end_of_rows(lines, at)
        found += _tables_between(lines, at, end, found[-1].end if found else 0)
        at = max(end, at + 1)
    return found


def _ruled_table(line: Line, at: int) -> PageTable:
    """Return the table that stands in place of a line, the ``at``-th of its page; the first row names the columns."""
    rows = [tuple(_text_of(cell) for cell in row) for row in line.table]
    printed = [(replace(line, cells=tuple(run for cell in row for run in cell)),) for row in line.table]
    return PageTable(
        start=at,
        end=at + 1,
        columns=rows[0],
        rows=tuple(rows[1:]),
        header=printed[0],
        lines=tuple(printed[1:]),
        is_ruled=True,
    )


def _text_of(cell: Sequence[Run]) -> str:
    return " ".join(run.text for line in lines_of_cell(cell) for run in line)


def _tables_between(lines: Sequence[Line], start: int, end: int, after: int) -> list[PageTable]:
    """Return the rows as one table or, where their figures do not share columns, as those on both sides of a gap."""
    if end - start < _MIN_ROWS:
        return []
    table = _table(lines, start, end, after)
    if table is not None:
        return [table]
    gaps = [lines[at].top - lines[at - 1].top for at in range(start + 1, end)]
    widest = max(gaps)
    if widest < 1.5 * min(gaps):
        return []
    cut = start + 1 + gaps.index(widest)
    above = _tables_between(lines, start, cut, after)
    return above + _tables_between(lines, cut, end, above[-1].end if above else after)


def _end_of_rows(lines: Sequence[Line], start: int) -> int:
    """Return where the rows that begin at a line of several cells end; short labels among them belong to them."""
    if len(lines[start].cells) < 2:
        return start
    end = start + 1
    at = end
    while at < len(lines) and not lines[at].table and _follows(lines[at - 1], lines[at]):
        if any(len(cell.text) > _CELL_CHARACTERS for cell in lines[at].cells[1:]):
            break  # a note whose number stands apart from its text
        if len(lines[at].cells) > 1:
            end = at + 1
        elif at - end >= 2 or not _is_label(lines[at].text):
            break
        at += 1
    return end


def _is_label(text: str) -> bool:
    """Tell a label among rows from a line of running text."""
    return len(text) <= _LABEL_CHARACTERS or (text.rstrip().endswith(":") and len(text) < 2 * _LABEL_CHARACTERS)


def _follows(before: Line, line: Line) -> bool:
    near = 0 < line.top - before.top < _NEAR * max(before.size, line.size)
    return near and line.region == before.region and abs(line.size - before.size) < 0.25 * before.size


def _table(lines: Sequence[Line], start: int, end: int, after: int) -> PageTable | None:
    """Build the table of the lines from start to end; None when the figures do not stand in columns."""
    first = next((at for at in range(start, end) if _has_figures(lines[at])), end)
    while first - 1 > start and len(lines[first - 1].cells) == 1:
        first -= 1  # a label over the first figures is a row without figures, not a name of columns
    body = lines[first:end]
    rows = [line for line in body if len(line.cells) > 1]
    if len(rows) < _MIN_ROWS or first - start > _HEADER_LINES:
        return None
    if sum(map(_has_figures, rows)) < _FIGURE_SHARE * len(rows):
        return None
    columns = _columns(rows)
    if not columns:
        return None
    placed = [_placed(line, columns) for line in body]
    if any(row is None for row in placed):
        return None
    while not any((placed[-1] or ())[1:]):
        placed.pop()  # a note or label that stands under the table
    top = _header_start(lines, start, columns, after) if first - start < _HEADER_LINES else start
    labels = [line.cells[0].right for line in rows if _column_of(line.cells[0], columns) == 0]
    names = _names(lines[top:first], columns, max(labels, default=0.0))
    return PageTable(
        start=top,
        end=first + len(placed),
        columns=names,
        rows=tuple(row for row in placed if row is not None),
        header=tuple(lines[top:first]),
        lines=tuple((line,) for line in body[: len(placed)]),
    )


def _is_figure(text: str) -> bool:
    bare = _TRAILING_SIGN.sub("", text.strip())
    return is_number(bare) or bare in _DASHES


def _has_figures(line: Line) -> bool:
    """Tell whether half of a row's cells after the first are figures."""
    cells = [cell for cell in line.cells[1:] if not _SIGN.match(cell.text)]
    return bool(cells) and sum(_is_figure(cell.text) for cell in cells) >= len(cells) / 2


def _columns(rows: Sequence[Line]) -> list[Span]:
    """Return the columns of figures as the strips of the page that figures of several rows share."""
    spans = sorted((cell.left, cell.right) for row in rows for cell in row.cells[1:] if _is_figure(cell.text))
    columns: list[Span] = []
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns if 1 <= len(columns) <= 20 else []


def _placed(line: Line, columns: Sequence[Span]) -> tuple[str, ...] | None:
    """Return a row's cells by column, its label first.

    None when two cells would share a column of figures, or only words stand there: the header of another table.
    """
    cells = ["", *[""] * len(columns)]
    sign = ""
    for cell in line.cells:
        text = cell.text.strip()
        if _SIGN.match(text):
            sign = text
            continue
        at = _column_of(cell, columns)
        trailing = _TRAILING_SIGN.search(text)
        text = sign + _TRAILING_SIGN.sub("", text) if at else text
        sign = trailing.group().strip() if trailing and at else "" if at else sign
        if at and cells[at]:
            return None
        cells[at] = f"{cells[at]} {text}".strip()
    words_only = any(cells[1:]) and not any(_is_figure(text) for text in cells[1:] if text)
    return None if words_only else tuple(cells)


def _column_of(cell: Run, columns: Sequence[Span]) -> int:
    """Return the column, from 1, that a cell overlaps most; 0 is the label's."""
    overlaps = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
    best = max(range(len(columns)), key=lambda at: overlaps[at])
    if overlaps[best] > 0 and (cell.left > columns[0][0] - 40 or _is_figure(cell.text)):
        return best + 1
    return 0


def _header_start(lines: Sequence[Line], start: int, columns: Sequence[Span], after: int) -> int:
    """Include the lone names right above the rows that stand over the columns of figures."""
    top = start
    while top > after and start - top < _HEADER_LINES:
        above, line = lines[top - 1], lines[top]
        near = 0 < line.top - above.top < 1.6 * line.size and above.region == line.region
        over = above.left > columns[0][0] - 60 and above.left > lines[start].left + 40
        if not near or not over or len(above.cells) > 1 or len(above.text) > 60:
            break
        top -= 1
    return top


def _names(header: Sequence[Line], columns: Sequence[Span], label_end: float) -> tuple[str, ...]:
    """Return the column names: a cell names each column that it stands over, a wide one several.

    One that stands over none names the nearest, or the labels when it begins where they do.
    """
    names: list[list[str]] = [[] for _ in range(len(columns) + 1)]
    for cell in (cell for line in header for cell in line.cells if not _SIGN.match(cell.text.strip())):
        for at in _named(cell, columns, label_end):
            names[at].append(cell.text.strip())
    return tuple(" ".join(parts) for parts in names)


def _named(cell: Run, columns: Sequence[Span], label_end: float) -> list[int]:
    reach = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
    over = [at for at, width in enumerate(reach, start=1) if width > _TOUCH]
    if over or cell.left <= label_end:
        return over or [0]
    middle = (cell.left + cell.right) / 2
    distances = [abs(middle - (left + right) / 2) for left, right in columns]
    return [distances.index(min(distances)) + 1]
