"""Tables that are drawn with rules: where their cells are, and which text stands in them.

Two kinds: grids, with rules around most cells, and tables whose rows alone are ruled, or only the names of their
columns (a rule above, below and at the end). What isn't surely a table stays text.
"""

import statistics
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from ragcore.parsing.grid import is_number
from ragcore.parsing.pdf.frame import Sides
from ragcore.parsing.pdf.runs import Run
from ragcore.parsing.pdf.shapes import Shapes

_MOST_RULES = 600
"""Rules of a page from which on they are a drawing."""
_SAME = 3.0
"""Points by which rules may miss each other and still meet, or be the same."""
_GAP = 6.0
"""Points between two rules in one line that are one: rules are often drawn cell by cell."""
_MOST_ROW = 150.0
"""Points between two rules that part rows, where no rules part columns: what is farther apart are not rows."""
_MOST_COLUMNS = 25
_CELL_CHARACTERS = 800
_GUTTER = 5.0
_SHORT_CELL = 35
"""Characters of most cells of a table without rules between its rows; longer ones are columns of running text."""

_FIGURE_SHARE = 0.3
_SEVERAL_SHARE = 0.15
_DASHES = frozenset("-–—$€£¥")

_Rule = tuple[float, float, float]
"""Where it stands, from where to where it reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledTable:
    """The runs of each cell, row by row, and what the table's rules enclose: left, top, right, bottom."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    sides: Sides


def ruled_tables(runs: Sequence[Run], shapes: Shapes) -> list[RuledTable]:
    """Return the tables that the rules make of a page's runs; no run is in two of them."""
    if not shapes.across or len(shapes.across) + len(shapes.down) > _MOST_RULES:
        return []
    across = _merged([((top + bottom) / 2, left, right) for left, top, right, bottom in shapes.across])
    down = _merged([((left + right) / 2, top, bottom) for left, top, right, bottom in shapes.down])
    found: list[RuledTable] = []
    for columns, rows in [*_grids(across, down), *_row_ruled(across, runs)]:
        if any(_overlap((columns[0], rows[0], columns[-1], rows[-1]), table.sides) for table in found):
            continue
        table = _table(runs, columns, rows)
        if table is not None and not _has_figures(table) and not _is_frame(table):
            found.append(table)
    return found


def _has_figures(table: RuledTable) -> bool:
    """Tell a table of figures, whose columns are told by how these stand under each other: rules part them anyhow."""
    texts = [run.text for row in table.rows for cell in row[1:] for run in cell]
    return sum(is_number(text) or text in _DASHES for text in texts) >= _FIGURE_SHARE * len(texts)


def _is_frame(table: RuledTable) -> bool:
    """Tell rules around parts of a form, within which text has columns of its own, or which text runs across."""
    left, _, right, _ = table.sides
    cells = [cell for row in table.rows for cell in row if cell]
    lines = [line for cell in cells for line in lines_of_cell(cell)]
    several = sum(len(line) > 1 for line in lines)
    across = any(run.left < left - _SAME or run.right > right + _SAME for cell in cells for run in cell)
    return across or several > _SEVERAL_SHARE * len(lines)


def lines_of_cell(cell: Sequence[Run]) -> list[list[Run]]:
    """Return the lines of a cell, from top to bottom."""
    lines: list[list[Run]] = []
    for run in sorted(cell, key=lambda run: (run.middle, run.left)):
        if lines and run.middle - lines[-1][0].middle < 0.5 * run.size:
            lines[-1].append(run)
        else:
            lines.append([run])
    return [sorted(line, key=lambda run: run.left) for line in lines]


def _merged(rules: Sequence[_Rule]) -> list[_Rule]:
    """Return rules with those in one line and next to each other put together, in order."""
    merged: list[_Rule] = []
    for place, start, end in sorted(rules):
        near = takewhile(lambda at: place - merged[at][0] <= _SAME, range(len(merged) - 1, -1, -1))  # noqa: B023
        same = next((at for at in near if start <= merged[at][2] + _GAP and end >= merged[at][1] - _GAP), None)
        if same is None:
            merged.append((place, start, end))
        else:
            merged[same] = (merged[same][0], min(start, merged[same][1]), max(end, merged[same][2]))
    return merged


def _grids(across: Sequence[_Rule], down: Sequence[_Rule]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the columns' and rows' borders of each group of rules that meet."""
    groups: list[tuple[set[int], list[_Rule]]] = []
    for upright in down:
        met = {at for at, rule in enumerate(across) if _meet(rule, upright)}
        if len(met) < 2:
            continue
        touching = [group for group in groups if not group[0].isdisjoint(met)]
        groups = [group for group in groups if group[0].isdisjoint(met)]
        every = met.union(*(group[0] for group in touching))
        groups.append((every, [upright, *(rule for group in touching for rule in group[1])]))
    for flat, uprights in groups:
        rules = [across[at] for at in flat]
        rows = _distinct([rule[0] for rule in rules] + [end for rule in uprights for end in rule[1:]])
        columns = _distinct([rule[0] for rule in uprights] + [end for rule in rules for end in rule[1:]])
        if len(rows) > 2 and 2 < len(columns) <= _MOST_COLUMNS + 1:
            yield columns, rows


def _meet(rule: _Rule, upright: _Rule) -> bool:
    across = rule[1] - _SAME <= upright[0] <= rule[2] + _SAME
    return across and upright[1] - _SAME <= rule[0] <= upright[2] + _SAME


def _distinct(places: Sequence[float]) -> list[float]:
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > 2 * _SAME:
            found.append(place)
    return found


def _row_ruled(across: Sequence[_Rule], runs: Sequence[Run]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the borders of tables whose rows are ruled: rules of one length under each other, columns between them."""
    stacks: list[list[_Rule]] = []
    for rule in across:
        for stack in stacks:
            last = stack[-1]
            aligned = abs(last[1] - rule[1]) <= _SAME and abs(last[2] - rule[2]) <= _SAME
            if aligned and rule[0] - last[0] <= _MOST_ROW:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    for stack in stacks:
        rows = _distinct([rule[0] for rule in stack])
        if len(rows) < 3:
            continue
        left, right = stack[0][1], stack[0][2]
        inside = [run for run in runs if _is_inside(run, (left, rows[0], right, rows[-1]))]
        columns = _columns(inside, left, right)
        if len(rows) == 3 and columns and any(run.middle < rows[1] for run in inside):
            # Only the names of the columns are ruled off: each line below them is a row.
            rows = _lines_as_rows(inside, rows, columns)
        if len(rows) > 3 and 2 < len(columns) <= _MOST_COLUMNS + 1 and not _is_prose(inside, columns):
            yield columns, rows


def _columns(runs: Sequence[Run], left: float, right: float) -> list[float]:
    """Return the borders of the columns: where no text stands, but that which reaches over most of the width."""
    spans = sorted((run.left, run.right) for run in runs if run.right - run.left < 0.6 * (right - left))
    if not spans:
        return []
    borders = [left]
    reach = spans[0][1]
    for start, end in spans[1:]:
        if start - reach >= _GUTTER:
            borders.append((reach + start) / 2)
        reach = max(reach, end)
    return [*borders, right]


def _lines_as_rows(runs: Sequence[Run], rows: Sequence[float], columns: Sequence[float]) -> list[float]:
    """Return the borders between the lines of a table's body; none where a line fills one column alone."""
    below = [run for run in runs if run.middle > rows[1]]
    lines = lines_of_cell(below)
    filled = sum(len({bisect_right(columns, run.left + 1) for run in line}) > 1 for line in lines)
    if len(lines) < 2 or filled < 0.8 * len(lines):
        return []
    between = [(one[0].middle + other[0].middle) / 2 for one, other in pairwise(lines)]
    return [*rows[:2], *between, rows[2]]


def _is_prose(runs: Sequence[Run], columns: Sequence[float]) -> bool:
    return len(columns) == 3 and statistics.median(len(run.text) for run in runs) > _SHORT_CELL


def _is_inside(run: Run, sides: Sides) -> bool:
    middle = (run.left + run.right) / 2
    return sides[0] <= middle <= sides[2] and sides[1] <= run.middle <= sides[3]


def _overlap(one: Sides, other: Sides) -> bool:
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > _SAME and min(one[3], other[3]) - max(one[1], other[1]) > _SAME
    )


def _table(runs: Sequence[Run], columns: Sequence[float], rows: Sequence[float]) -> RuledTable | None:
    """Return the cells between the borders, without rows and columns that hold nothing; None where it is no table."""
    sides = (columns[0], rows[0], columns[-1], rows[-1])
    cells: dict[tuple[int, int], list[Run]] = {}
    for run in runs:
        if _is_inside(run, sides):
            row = min(max(bisect_right(rows, run.middle) - 1, 0), len(rows) - 2)
            column = min(max(bisect_right(columns, run.left + _SAME) - 1, 0), len(columns) - 2)
            cells.setdefault((row, column), []).append(run)
    used_rows, used_columns = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
    table = tuple(tuple(tuple(cells.get((row, column), ())) for column in used_columns) for row in used_rows)
    if (
        len(table) < 2
        or len(used_columns) < 2
        or any(sum(len(run.text) for run in cell) > _CELL_CHARACTERS for cell in cells.values())
    ):
        return None
    full = sum(sum(map(bool, row)) > 1 for row in table)
    return RuledTable(rows=table, sides=sides) if full >= 0.5 * len(table) else None


def taken_out(runs: Sequence[Run], tables: Sequence[RuledTable]) -> list[Run]:
    """Return the runs with one in the place of each table, which holds its runs."""
    held = {id(run) for table in tables for row in table.rows for cell in row for run in cell}
    left = [run for run in runs if id(run) not in held]
    for table in tables:
        every = [run for row in table.rows for cell in row for run in cell]
        # As wide and as high as its text: rules may reach beyond the column that it stands in.
        left.append(
            Run(
                text="",
                left=min(run.left for run in every),
                right=max(run.right for run in every),
                top=min(run.top for run in every),
                bottom=max(run.bottom for run in every),
                size=statistics.median_low([run.size for run in every]),
                table=table.rows,
            )
        )
    return left
