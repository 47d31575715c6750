"""Setting chosen units as a text with citations. Pure."""

import re
from collections.abc import Sequence

from ragcore.citations import markers
from ragcore.citations.unmarked import unmarked
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.rows import Row
from ragcore.extractive.units import Unit
from ragcore.extractive.words import content
from ragcore.terms import language_of

_SENTENCE_STOP = re.compile(r"[.!?。！？…]+[\"'”’」』)）]*$")


def worded(units: Sequence[Unit], question: str, *, goes_on: bool = False) -> str:
    """Write the units as one text, each with its marker before the final stop; a new passage is a new paragraph.

    ``goes_on`` says that there is more than is quoted, which "…" tells.
    """
    parts: list[str] = []
    for before, unit in zip([None, *units], units, strict=False):
        if before is not None:
            parts.append(_gap(before, unit))
        parts.append(_cited_list(unit) if unit.items else _cited(_said(unit, question), unit.chunk))
    return "".join([*parts, "\n\n…"] if goes_on else parts)


def asked_columns(row: Row, question: str) -> set[int] | None:
    """Return the indexes of the cells that a question asks for, None when it doesn't tell any from the others.

    Asked for is a cell that shares a word with the question, in its column's name or its value, or that holds the kind
    of thing which is waited for: the price, the time, the person.
    """
    wanted, expectation = set(content(question)) - set(content(row.name)), Expectation(question)
    named = {i for i, (column, _) in enumerate(row.cells) if wanted & set(content(column))}
    valued = {i for i, (_, value) in enumerate(row.cells) if wanted & set(content(value))}
    kept = {i for i, (column, value) in enumerate(row.cells) if expectation.telling(f"{column}: {value}")}
    return (named | valued | kept) or None if named or kept else None


def _said(unit: Unit, question: str) -> str:
    return unit.text if unit.row is None else unit.row.said(asked_columns(unit.row, question), question)


def _gap(before: Unit, unit: Unit) -> str:
    if before.chunk != unit.chunk or before.items or unit.items:
        return "\n\n"
    if before.row is not None and unit.row is not None:
        return "\n\n"
    if any(one.alone and one.row is None for one in (before, unit)):
        return "\n\n"
    return "" if language_of(before.text) in {"zh", "ja"} else " "


def _cited_list(unit: Unit) -> str:
    """Write a list with what introduces it; each item has its marker, and "…" tells that more follow."""
    lines = [
        f"{number}. {_cited(item, unit.chunk)}" if unit.ordered else f"- {_cited(item, unit.chunk)}"
        for number, item in enumerate(unit.items, start=1)
    ]
    return "\n".join([*([unit.text, ""] if unit.text else []), *lines, *(["", "…"] if unit.goes_on else [])])


def _cited(text: str, chunk: int) -> str:
    text = unmarked(text)
    stop = _SENTENCE_STOP.search(text)
    end = stop.start() if stop else len(text)
    said = text[:end].rstrip()
    return said + markers.spaced(said + ".", len(said), markers.marker(chunk)) + text[end:]
