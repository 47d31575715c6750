"""Where a part of a section stands in the document."""

import dataclasses
import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

from ragcore.boxes import boxes_of, lines_within
from ragcore.types import Location, PrintedLine, Section

_LINE_BREAK = re.compile(r"\n")


class Places:
    """Narrows a section's rows and lines: line k of the text after its header is row and line ``first + k``.

    The header itself counts as the first line after it. Of the printed lines, and of the page, those of the part stay.
    """

    def __init__(self, section: Section) -> None:
        """Find the line breaks once."""
        self._section = section
        body = len(section.header) if section.text.startswith(section.header) else 0
        self._breaks = [match.start() for match in _LINE_BREAK.finditer(section.text, body)]
        self._starts = [line.start for line in section.lines]
        # The furthest that a line reaches, up to each: lines of one table row all stand for the row's whole text.
        self._reach = list(accumulate((line.end for line in section.lines), max))

    def within(self, start: int, end: int) -> Location:
        """Return the place of ``section.text[start:end]``, blank lines at its end left out."""
        place = self._section.location
        stripped = start + len(self._section.text[start:end].rstrip())
        first, last = bisect_left(self._breaks, start), bisect_left(self._breaks, stripped)
        printed = self.lines(start + _blank(self._section.text[start:stripped]), stripped)
        return dataclasses.replace(
            place,
            page=printed[0].box.page if printed else place.page,
            boxes=boxes_of(printed) if self._section.lines else place.boxes,
            first_row=_narrow(place.first_row, place.last_row, first),
            last_row=_narrow(place.first_row, place.last_row, last),
            first_line=_narrow(place.first_line, place.last_line, first),
            last_line=_narrow(place.first_line, place.last_line, last),
        )

    def lines(self, start: int, end: int, at: int = 0) -> tuple[PrintedLine, ...]:
        """Return the printed lines of ``section.text[start:end]``, their offsets counted from ``at`` on."""
        first, last = bisect_right(self._reach, start), bisect_left(self._starts, end)
        return lines_within(self._section.lines[first:last], start, end, at)

    def part(self, start: int, end: int) -> Section:
        """Return ``section.text[start:end]`` as a section of its own, without a header."""
        return dataclasses.replace(
            self._section,
            text=self._section.text[start:end],
            header="",
            location=self.within(start, end),
            lines=self.lines(start, end),
        )


def _blank(text: str) -> int:
    """Return how many blanks a text begins with."""
    return len(text) - len(text.lstrip())


def _narrow(first: int, last: int, line: int) -> int:
    return min(first + line, last) if first else last
