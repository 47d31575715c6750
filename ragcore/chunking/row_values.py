"""The values of the rows that each piece of a table holds, as filters compare them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from ragcore.chunking.columns import Value, columns_of
from ragcore.chunking.pieces import Piece
from ragcore.chunking.rows import Grid
from ragcore.filters import MOST, SHOWN, RowValues, field_name, normal, spread

MOST_COLUMNS = 64
"""Columns whose values are kept, from the left: a wider table is a matrix, and nobody names its columns."""
_GATHERED = 64
"""Values of a column that are looked at for a sample of it."""


def with_rows(grid: Grid, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of a table, which tile its text, each with the values of the rows that begin or go on in it.

    A row that was split stands in each of its pieces. What a piece repeats of an earlier one isn't its own.
    """
    named = [(field_name(column.name), column) for column in columns_of(grid)[:MOST_COLUMNS]]
    columns = [(name, [_text(value) for value in column.values]) for name, column in named if name]
    if not columns:
        return list(pieces)
    fields = tuple(name for name, _ in columns)
    starts, ends = [row.start for row in grid.rows], [row.end for row in grid.rows]
    found: list[Piece] = []
    at = 0
    for piece in pieces:
        after = at + len(piece.text) - piece.overlap
        held = range(bisect_right(ends, at), bisect_left(starts, after))
        rows = (tuple(texts[number] for _, texts in columns) for number in held)
        filled = tuple(row for row in rows if any(row))
        found.append(replace(piece, rows=RowValues(fields=fields, rows=filled)) if filled else piece)
        at = after
    return found


def _text(value: Value) -> str:
    """Return a value as ``ragcore.filters`` reads it."""
    if value is None:
        return ""
    if isinstance(value, float):
        # Without an exponent, which is no number to a filter.
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    if isinstance(value, date):
        return value.isoformat()
    return value[:MOST]


class RowSamples:
    """Some values of each column of the tables of a document, gathered as it is cut."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: dict[str, set[str]] = {}

    def add(self, several: Iterable[RowValues]) -> None:
        """Look at more rows."""
        for values in several:
            for number, field in enumerate(values.fields):
                seen = self._seen.setdefault(field, set())
                for row in values.rows if len(seen) < _GATHERED else ():
                    if said := normal(row[number]):
                        seen.add(said)

    def by_field(self) -> dict[str, tuple[str, ...]]:
        """Return the values by field: all of them, or more than ``SHOWN`` where there are more."""
        return {field: spread(sorted(seen), SHOWN + 1) for field, seen in self._seen.items()}
