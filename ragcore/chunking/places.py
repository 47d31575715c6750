"""Where a part of a section stands in the document."""

import dataclasses
import re
from bisect import bisect_left

from ragcore.types import Location, Section

_LINE_BREAK = re.compile(r"\n")


class Places:
    """Narrows a section's rows and lines: line k of the text after its header is row and line ``first + k``.

    The header itself counts as the first line after it.
    """

    def __init__(self, section: Section) -> None:
        """Find the line breaks once."""
        self._section = section
        body = len(section.header) if section.text.startswith(section.header) else 0
        self._breaks = [match.start() for match in _LINE_BREAK.finditer(section.text, body)]

    def within(self, start: int, end: int) -> Location:
        """Return the place of ``section.text[start:end]``, blank lines at its end left out."""
        place = self._section.location
        stripped = start + len(self._section.text[start:end].rstrip())
        first, last = bisect_left(self._breaks, start), bisect_left(self._breaks, stripped)
        return dataclasses.replace(
            place,
            first_row=_narrow(place.first_row, place.last_row, first),
            last_row=_narrow(place.first_row, place.last_row, last),
            first_line=_narrow(place.first_line, place.last_line, first),
            last_line=_narrow(place.first_line, place.last_line, last),
        )

    def part(self, start: int, end: int) -> Section:
        """Return ``section.text[start:end]`` as a section of its own, without a header."""
        text = self._section.text[start:end]
        return dataclasses.replace(self._section, text=text, header="", location=self.within(start, end))


def _narrow(first: int, last: int, line: int) -> int:
    return min(first + line, last) if first else last
