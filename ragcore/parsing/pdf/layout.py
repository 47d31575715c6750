"""A page's runs as lines in reading order: columns one after the other, the cells of a table row side by side."""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ragcore.parsing.pdf.runs import PageRuns, Run

_MIN_GUTTER = 7.0
"""Points between two columns of text; narrower whitespace is a word space."""
_PROSE_LINES = 4
_CELL_GAP = 0.9
"""Line heights between two cells of a row."""
_JUSTIFIED_GAP = 2.5
"""Line heights up to which a gap in running text is a word space that justification stretched."""
_SCRIPT = 0.87
"""Font size against the usual below which short runs are sub- and superscripts."""
_SCRIPT_CHARACTERS = 8
_PROSE_CHARACTERS = 18
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of one column: its cells from left to right (one for running text), its box and its font.

    ``column_left`` and ``column_right`` are the edges of the column that the line stands in; ``region`` counts the
    columns and bands of the page in reading order.
    """

    cells: tuple[Run, ...]
    region: int
    column_left: float
    column_right: float

    @property
    def text(self) -> str:
        """The cells, set apart by a space."""
        if self.table:
            return " ".join(run.text for row in self.table for cell in row for run in cell)
        return " ".join(cell.text for cell in self.cells)

    @property
    def table(self) -> "tuple[tuple[tuple[Run, ...], ...], ...]":
        """The cells of the table that stands in place of a line, row by row."""
        return self.cells[0].table

    @property
    def left(self) -> float:
        """Where the line begins."""
        return self.cells[0].left

    @property
    def right(self) -> float:
        """Where the line ends."""
        return max(cell.right for cell in self.cells)

    @property
    def top(self) -> float:
        """The upper edge."""
        return min(cell.top for cell in self.cells)

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return max(cell.bottom for cell in self.cells)

    @property
    def size(self) -> float:
        """The line height of the longest cell's font."""
        return max(self.cells, key=lambda cell: len(cell.text)).size

    @property
    def bold(self) -> bool:
        """Whether every cell is bold."""
        return all(cell.bold for cell in self.cells)


def reading_order(page: PageRuns) -> list[Line]:
    """Return the page's lines as they are read.

    A gutter is looked for in the middle of the page. What crosses it (titles, wide tables) cuts the page into bands; a
    band with running text on both sides is read side by side, any other row by row.
    """
    lines: list[Line] = []
    for region, runs in enumerate(_regions(list(page.runs), depth=0)):
        left, right = min(run.left for run in runs), max(run.right for run in runs)
        rows = _rows(runs)
        if len(rows) >= _PROSE_LINES and _is_prose(rows):
            rows = [tuple(_joined(list(row), _JUSTIFIED_GAP)) for row in rows]
        lines += [
            Line(cells=cells, region=region, column_left=left, column_right=right)
            for row in rows
            for cells in _without_tables(row)
        ]
    return lines


def _rows(runs: Sequence[Run]) -> list[tuple[Run, ...]]:
    """Group runs whose middles stand at one height into rows, from top to bottom."""
    usual = statistics.median(run.size for run in runs for _ in range(1 + len(run.text) // 10))
    rows: list[list[Run]] = []
    small: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.middle, run.left)):
        if run.size < _SCRIPT * usual and len(run.text) < _SCRIPT_CHARACTERS:
            small.append(run)
        elif rows and _beside(rows[-1], run):
            rows[-1].append(run)
        else:
            rows.append([run])
    for run in small:
        _attach(run, rows)
    rows.sort(key=lambda row: max(row, key=lambda run: run.size).middle)
    return [tuple(_joined(_from_left(row), _CELL_GAP)) for row in rows]


def _without_tables(row: tuple[Run, ...]) -> Iterator[tuple[Run, ...]]:
    """Yield a row with the tables in it as rows of their own."""
    for is_table, group in groupby(row, key=lambda run: bool(run.table)):
        runs = tuple(group)
        yield from ((run,) for run in runs) if is_table else (runs,)


def _from_left(row: list[Run]) -> list[Run]:
    """Order a row by its left edges; of two scripts on one letter the upper comes first."""
    ordered = sorted(row, key=lambda run: run.left)
    for at in range(len(ordered) - 1):
        first, second = ordered[at], ordered[at + 1]
        if second.left - first.left < 2.0 and second.top < first.top:
            ordered[at], ordered[at + 1] = second, first
    return ordered


def _attach(run: Run, rows: list[list[Run]]) -> None:
    """Put a sub- or superscript into the row that it hangs on, else into a row of its own."""
    for row in rows:
        main = max(row, key=lambda other: other.size)
        if main.table:
            continue
        touches = min(main.bottom, run.bottom) - max(main.top, run.top) > 0.25 * run.size
        beside = any(
            abs(run.left - other.right) < main.size or abs(other.left - run.right) < main.size for other in row
        )
        if touches and beside and main.size > run.size:
            row.append(run)
            return
    rows.append([run])


def _beside(row: list[Run], run: Run) -> bool:
    tallest = max(row, key=lambda other: other.size)
    overlap = min(tallest.bottom, run.bottom) - max(tallest.top, run.top)
    if overlap < 0.55 * min(tallest.size, run.size):
        return False
    return not any(min(other.right, run.right) - max(other.left, run.left) > 2.0 for other in row)


def _joined(row: list[Run], limit: float) -> list[Run]:
    """Put runs back together that are closer than ``limit`` line heights: words of one line."""
    joined = [row[0]]
    for run in row[1:]:
        last = joined[-1]
        gap = run.left - last.right
        if run.table or last.table or gap > limit * max(last.size, run.size):
            joined.append(run)
            continue
        space = "" if gap < 0.12 * max(last.size, run.size) or last.text.endswith(" ") else " "
        main = max(last, run, key=lambda part: len(part.text))
        joined[-1] = Run(
            text=f"{last.text}{space}{run.text}",
            left=last.left,
            right=max(last.right, run.right),
            top=min(last.top, run.top),
            bottom=max(last.bottom, run.bottom),
            size=main.size,
            bold=last.bold and run.bold,
        )
    return joined


def _regions(runs: list[Run], depth: int) -> list[list[Run]]:
    """Cut runs into regions that are read one after the other."""
    gutter = _gutter(runs) if depth < 3 and len(runs) > 2 * _PROSE_LINES else None
    if gutter is None:
        return [runs] if runs else []
    regions: list[list[Run]] = []
    rowwise: list[Run] = []
    for band in _bands(runs, gutter):
        left = [run for run in band if run.right <= gutter[1]]
        right = [run for run in band if run.right > gutter[1]]
        if all(run.left >= gutter[0] for run in right) and _are_columns(left, right):
            regions += [rowwise] if rowwise else []
            rowwise = []
            regions += _regions(left, depth + 1) + _regions(right, depth + 1)
        else:
            rowwise += band
    return regions + ([rowwise] if rowwise else [])


def _gutter(runs: list[Run]) -> tuple[float, float] | None:
    """Return the strip in the middle part of the region that the least text crosses, if one stands out."""
    low, high = min(run.left for run in runs), max(run.right for run in runs)
    width = high - low
    edges = sorted({run.right for run in runs if low + 0.15 * width < run.right < low + 0.85 * width})
    best: tuple[float, tuple[float, float]] | None = None
    total = sum(len(run.text) for run in runs)
    for start in edges[:: max(1, len(edges) // 60)]:
        after = [run.left for run in runs if run.left > start]
        end = min((left for left in after if left - start >= _MIN_GUTTER), default=None)
        if end is None:
            continue
        end = min(end, start + 60)
        crossing = sum(len(run.text) for run in runs if run.left < end - 1 and run.right > start + 1)
        balance = abs((start + end) / 2 - (low + high) / 2) / width
        score = crossing / total + 0.2 * balance
        if best is None or score < best[0]:
            best = (score, (start, end))
    return best[1] if best is not None and best[0] < 0.6 else None


def _bands(runs: list[Run], gutter: tuple[float, float]) -> list[list[Run]]:
    """Cut runs at the rows that cross the gutter; each crossing row is a band with its like."""
    crossing = sorted(
        (run for run in runs if run.left < gutter[1] - 1 and run.right > gutter[0] + 1), key=lambda r: r.middle
    )
    rest = sorted(
        (run for run in runs if not (run.left < gutter[1] - 1 and run.right > gutter[0] + 1)), key=lambda r: r.middle
    )
    bands: list[list[Run]] = []
    at = 0
    for run in crossing:
        below = at
        while below < len(rest) and rest[below].middle < run.top:
            below += 1
        if below > at:
            bands.append(rest[at:below])
        at = below
        level = at
        while level < len(rest) and rest[level].middle < run.bottom:
            level += 1
        bands.append([run, *rest[at:level]])
        at = level
    return [*bands, rest[at:]] if at < len(rest) else bands


def _are_columns(left: list[Run], right: list[Run]) -> bool:
    """Tell two columns of running text from the cells of a table."""
    if not left or not right:
        return False
    sides = [(side, _rows(side)) for side in (left, right)]
    counts = sorted(len(rows) for _, rows in sides)
    if counts[1] < _PROSE_LINES or counts[0] < 2:
        return False
    return all(_is_prose(rows) or _is_two_columns(side) for side, rows in sides)


def _is_two_columns(side: list[Run]) -> bool:
    """Tell whether one side of a gutter is two columns itself, from top to bottom: a page may have three or four."""
    gutter = _gutter(side) if len(side) > 2 * _PROSE_LINES else None
    if gutter is None or any(run.left < gutter[0] and run.right > gutter[1] for run in side):
        return False
    columns = [_rows([run for run in side if (run.right > gutter[1]) == is_right]) for is_right in (False, True)]
    return all(len(rows) >= _PROSE_LINES and _is_prose(rows) for rows in columns)


def _is_prose(rows: list[tuple[Run, ...]]) -> bool:
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    filled = statistics.median((row[-1].right - row[0].left) / max(1.0, right - left) for row in rows)
    texts = [" ".join(run.text for run in row) for row in rows]
    characters = statistics.median(map(len, texts))
    digits = sum(len(_DIGIT.findall(text)) for text in texts) / max(1, sum(map(len, texts)))
    single = sum(len(row) == 1 for row in rows) / len(rows)
    wide = any("\u2e80" <= char <= "\uffee" for char in texts[0])
    return filled > 0.5 and characters > _PROSE_CHARACTERS * (0.5 if wide else 1) and digits < 0.25 and single > 0.6
