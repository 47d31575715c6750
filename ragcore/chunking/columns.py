"""What the columns of a table hold: numbers, dates or text, and each cell's value: what a filter compares.

A column is of numbers or dates when nine in ten of its filled cells are, read in one and the same way: whether "1.234"
is a thousand, or "3/4/2026" a day of April, is for the other cells of its column to tell; where they don't, the column
is text, as a filter on a wrong value is worse than none. ("1,234" alone is a thousand: three decimals are seldom.)
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from ragcore.chunking.rows import Grid

SHARE = 0.9
"""Of the filled cells of a column that must be of its type; what the others hold has no value."""

Value = float | date | str | None

_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "none", "null", "无", "/"})
_MONEY = "€$£¥₽₹元 \u00a0\u202f"
_POINT = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_COMMA = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?|\d+(?:,\d+)?|,\d+")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})日?")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})")
_NAMED = re.compile(r"(?:(\d{1,2})\.? )?([^\W\d_]{3,9})\.? (?:(\d{1,2})(?:st|nd|rd|th)?,? )?(\d{4})", re.IGNORECASE)
_TIME = re.compile(r"[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class ColumnType(StrEnum):
    """How the values of a column compare."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table: its name ("" when it has none), what it holds, and a value a row.

    A number is a float (a percentage 12 % is 12.0), a date a ``date`` (a time of day is left out), text itself; None
    where the cell is empty, says that there is nothing ("-", "n/a"), or is not of the type.
    """

    name: str
    type: ColumnType
    values: tuple[Value, ...]


def columns_of(grid: Grid) -> tuple[Column, ...]:
    """Return the columns of a table with their values; linear in its cells."""
    return tuple(_column(name, [row.cell(at) for row in grid.rows]) for at, name in enumerate(grid.header.cells))


def _column(name: str, cells: Sequence[str]) -> Column:
    filled = ["" if cell.casefold() in _NOTHING else cell for cell in cells]
    for kind, readings in ((ColumnType.DATE, _DATES), (ColumnType.NUMBER, _NUMBERS)):
        best = _best(filled, readings)
        if len(best) > 1 and kind is ColumnType.NUMBER and not any("." in cell for cell in filled):
            del best[1:]
        if len(best) == 1:
            return Column(name=name, type=kind, values=best[0])
    return Column(name=name, type=ColumnType.TEXT, values=tuple(cell or None for cell in filled))


def _best(cells: Sequence[str], readings: Sequence[Callable[[str], Value]]) -> list[tuple[Value, ...]]:
    """Return what the readings that understand most make of the cells, each once; [] when that is too few of them."""
    found = [tuple(reading(cell) if cell else None for cell in cells) for reading in readings]
    understood = [sum(value is not None for value in values) for values in found]
    most = max(understood)
    if not most or most < SHARE * sum(map(bool, cells)):
        return []
    return list(dict.fromkeys(values for values, count in zip(found, understood, strict=True) if count == most))


def _number(cell: str, pattern: re.Pattern[str], point: str, thousands: str) -> float | None:
    text = cell.strip().removesuffix("%").strip(_MONEY)
    sign = -1.0 if text.startswith(("-", "−", "–", "(")) else 1.0
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    elif text.startswith(("+", "-", "−", "–")):
        text = text[1:]
    text = text.strip(_MONEY)
    return sign * float(text.replace(thousands, "").replace(point, ".")) if pattern.fullmatch(text) else None


def _with_point(cell: str) -> float | None:
    return _number(cell, _POINT, ".", ",")


def _with_comma(cell: str) -> float | None:
    return _number(cell, _COMMA, ",", ".")


def _date(cell: str, *, day_first: bool) -> date | None:
    text = _TIME.sub("", cell.strip())
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = map(int, match.groups())
    elif match := _YEAR_LAST.fullmatch(text):
        one, two, year = map(int, match.groups())
        day, month = (one, two) if day_first else (two, one)
    elif match := _NAMED.fullmatch(text):
        before, name, after, last = match.groups()
        if (before is None) == (after is None) or name[:3].casefold() not in _MONTHS:
            return None
        year, month, day = int(last), _MONTHS.index(name[:3].casefold()) + 1, int(before or after)
    else:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day_first(cell: str) -> date | None:
    return _date(cell, day_first=True)


def _month_first(cell: str) -> date | None:
    return _date(cell, day_first=False)


_NUMBERS: tuple[Callable[[str], Value], ...] = (_with_point, _with_comma)
_DATES: tuple[Callable[[str], Value], ...] = (_day_first, _month_first)
