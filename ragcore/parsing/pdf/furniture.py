"""Running headers, footers and page numbers: lines at a page's edge that come back on other pages."""

import re
import statistics
from collections import Counter
from collections.abc import Sequence

from ragcore.parsing.pdf.layout import Line

_EDGE = 0.09
"""Share of the page height at its top and bottom where running lines stand (an inch of margin is 0.09 of letter)."""
_NEAR_EDGE = 0.14
_HEADLINE = 1.25
"""Font size against the page's usual from which a line near the edge is the page's own headline."""
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"^[ivxlcdm]+$", re.IGNORECASE)
_AUTHORS = re.compile(r"\d{1,5}\s+[^\W\d].{0,60}\bet\s+al\.?|[^\W\d].{0,60}\bet\s+al\.?\s+\d{1,5}")
"""``2 Z. Shen et al.``, ``Shen et al. 3``."""
_GRID = 6.0
"""Points by which a running line may move between pages."""

Pattern = tuple[str, int]
"""What a running line reads, its numbers masked, and its height on the page in steps of ``_GRID``."""
_PAGE_NUMBER: Pattern = ("#", 0)


class Furniture:
    """Counts edge lines over the pages seen so far, and tells which of them run through the document.

    Args:
        pages: How many the document has; None lets nothing but bare numbers run.
    """

    def __init__(self, pages: int | None) -> None:
        self._numbers_only = pages is None
        self._needed = 2 if pages is None or pages <= 5 else 3
        self._seen: Counter[Pattern] = Counter()

    def learn(self, lines: Sequence[Line], height: float) -> None:
        """Count the edge lines of one page."""
        self._seen.update(set(_patterns(lines, height).values()))

    def without(self, lines: Sequence[Line], height: float) -> list[Line]:
        """Return a page's lines without those that run through the document."""
        running = {at for at, pattern in _patterns(lines, height).items() if self._count(pattern) >= self._needed}
        if not self._numbers_only:
            running |= _authors_above(lines, height)
        return [line for at, line in enumerate(lines) if at not in running]

    def _count(self, pattern: Pattern) -> int:
        text, step = pattern
        if self._numbers_only and pattern != _PAGE_NUMBER:
            return 0
        return sum(self._seen[(text, near)] for near in (step - 1, step, step + 1))


def edge_lines(lines: Sequence[Line], height: float) -> list[int]:
    """Return the positions of the lines that could run: at the very edge, or near it and set apart from the text."""
    order = sorted(range(len(lines)), key=lambda at: lines[at].top)
    found: list[int] = []
    usual = _usual_size(lines)
    for sequence, distance in ((order, _from_top), (order[::-1], _from_bottom)):
        for place, at in enumerate(sequence[:6]):
            share = distance(lines[at], height) / height
            inner = sequence[place + 1] if place + 1 < len(sequence) else None
            apart = inner is not None and _gap(lines[at], lines[inner]) > 0.9 * lines[at].size
            small = lines[at].size < _HEADLINE * usual
            outermost_number = place == 0 and _is_bare_number(lines[at])
            if share < _EDGE or (share < _NEAR_EDGE and apart and small) or outermost_number:
                found.append(at)
    return found


def _authors_above(lines: Sequence[Line], height: float) -> set[int]:
    """Return the position of a page's first line if it is its number and the authors of a paper, set apart.

    It runs on every other page, so that in a paper of two or three it comes once.
    """
    order = sorted(range(len(lines)), key=lambda at: lines[at].top)[:2]
    if len(order) < 2 or lines[order[0]].bottom > _NEAR_EDGE * height:
        return set()
    first, second = (lines[at] for at in order)
    is_apart = _gap(first, second) > 0.9 * first.size
    return {order[0]} if is_apart and _AUTHORS.fullmatch(first.text.strip()) else set()


def _from_top(line: Line, height: float) -> float:
    return line.bottom


def _from_bottom(line: Line, height: float) -> float:
    return height - line.top


def _gap(line: Line, other: Line) -> float:
    return max(other.top - line.bottom, line.top - other.bottom)


def _usual_size(lines: Sequence[Line]) -> float:
    return statistics.median(line.size for line in lines) if lines else 0.0


def _patterns(lines: Sequence[Line], height: float) -> dict[int, Pattern]:
    """Return what the edge lines of a page read, by their position."""
    usual = _usual_size(lines)
    return {at: _pattern(lines[at], usual) for at in edge_lines(lines, height)}


def _pattern(line: Line, usual: float) -> Pattern:
    if _is_bare_number(line):
        return _PAGE_NUMBER  # they move with the length of the page's text
    text = "".join(line.text.lower().split())
    # In large type "Part 1", "Part 2" are headlines of their own; only what stays the same runs through.
    return text if line.size >= _HEADLINE * usual else _NUMBER.sub("#", text), round(line.top / _GRID)


def _is_bare_number(line: Line) -> bool:
    text = line.text.strip()
    return (text.isdigit() and len(text) < 5) or bool(_ROMAN.match(text))
