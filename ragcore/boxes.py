"""The rectangles that printed lines fill, as few as tell where a passage stands."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from ragcore.types import Box, PrintedLine

MOST_BOXES = 8
"""More than these are taken together page by page: a passage is shown in a few rectangles, or as most of a page."""
_APART = 2.5
"""Line heights of nothing between two lines from which on they stand in rectangles of their own."""


def boxes_of(lines: Iterable[PrintedLine]) -> tuple[Box, ...]:
    """Return the rectangles of lines, in reading order: lines under each other in a column are one.

    Each line lies whole in one of them. They are at most ``MOST_BOXES``, or one a page where there are more pages.
    """
    found: list[PrintedLine] = []
    for line in lines:
        if found and line.column == found[-1].column and _goes_on(found[-1].box, line.box):
            found[-1] = replace(found[-1], box=_around((found[-1].box, line.box)))
        else:
            found.append(line)
    return few([line.box for line in found])


def few(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Return the boxes, each once; all of a page as one where they are more than ``MOST_BOXES``."""
    distinct = list(dict.fromkeys(boxes))
    if len(distinct) <= MOST_BOXES:
        return tuple(distinct)
    by_page = sorted(distinct, key=lambda box: box.page)
    return tuple(_around(list(group)) for _, group in groupby(by_page, key=lambda box: box.page))


def lines_within(lines: Sequence[PrintedLine], start: int, end: int, at: int = 0) -> tuple[PrintedLine, ...]:
    """Return the lines of ``text[start:end]``, their offsets counted from ``at`` on, parts of lines cut to it."""
    return tuple(
        replace(line, start=max(line.start, start) - start + at, end=min(line.end, end) - start + at)
        for line in lines
        if line.start < end and line.end > start
    )


def _goes_on(before: Box, line: Box) -> bool:
    """Tell whether a line stands right by those before it; under them, or beside them where text is turned."""
    gap = max(line.top - before.bottom, before.top - line.bottom, line.left - before.right, before.left - line.right)
    height = max(min(line.bottom - line.top, line.right - line.left), 1.0)
    return before.page == line.page and gap < _APART * height


def _around(boxes: Sequence[Box]) -> Box:
    assert all(one.page == other.page for one, other in pairwise(boxes))
    return Box(
        page=boxes[0].page,
        left=min(box.left for box in boxes),
        top=min(box.top for box in boxes),
        right=max(box.right for box in boxes),
        bottom=max(box.bottom for box in boxes),
    )
