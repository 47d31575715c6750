"""Sections of documents that are lines of text, each line keeping its number.

The contract with the chunker: line k (from 0) of ``section.text``, counted after ``section.header``, is line
``section.location.first_line + k`` of the source, so that a chunk's own range follows from its place in the section.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.parsing.outline import Heading, HeadingPath, without_title
from ragcore.types import Location, Section, SectionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Lines ``start`` (from 0) to ``end`` (exclusive) that are something other than running text.

    ``heading`` is set where a heading stands there. ``header_lines`` counts the lines of a table's header. ``sections``
    are what these lines say in another form (a table written as HTML): they have no line numbers, only the heading.
    """

    start: int
    end: int
    kind: SectionKind = SectionKind.TEXT
    heading: Heading | None = None
    header_lines: int = 0
    sections: tuple[Section, ...] = ()


def split_lines(text: str) -> list[str]:
    """Return the lines as an editor numbers them: ended by LF, CR LF or CR and nothing else."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def sections_of_lines(
    lines: Sequence[str], marks: Sequence[Mark], title: str = "", first: int = 0
) -> tuple[Section, ...]:
    """Cut lines into sections at the marks, which are in order and do not overlap.

    Args:
        lines: The source, one entry a line.
        marks: Headings, tables and long code blocks.
        title: The document's title, left out of the heading paths.
        first: The first line to read; those before it (front matter) are left out.
    """
    cutter = _Cutter(lines, first)
    for mark in marks:
        if mark.start >= first:
            cutter.take(mark)
    cutter.close(len(lines))
    return without_title(cutter.done, title)


class _Cutter:
    """Walks the marks, holding where the running text began."""

    def __init__(self, lines: Sequence[str], first: int) -> None:
        self._lines = lines
        self._from = first
        self._path = HeadingPath()
        self._body = first
        self.done: list[Section] = []

    def take(self, mark: Mark) -> None:
        """Cut at a mark: a heading starts a section, a table or code block is one."""
        if mark.sections:
            self.close(mark.start)
            place = Location(anchor=self._path.anchor)
            self.done += [replace(one, heading_path=self._path.texts, location=place) for one in mark.sections]
            self._from = self._body = mark.end
            return
        if mark.heading is None:
            self.close(mark.start)
            self._add(mark.start, mark.end, mark.kind, mark.header_lines)
            self._from = self._body = mark.end
            return
        bare = not any(line.strip() for line in self._lines[self._body : mark.start])
        if not (bare and self._body > self._from and mark.heading.level > self._path.level):
            self.close(mark.start)
        self._path.enter(mark.heading)
        self._body = mark.end

    def close(self, end: int) -> None:
        """End the running text before line ``end``."""
        self._add(self._from, end, SectionKind.TEXT, 0)
        self._from = self._body = end

    def _add(self, start: int, end: int, kind: SectionKind, header_lines: int) -> None:
        while start < end and not self._lines[start].strip():
            start += 1
        while end > start and not self._lines[end - 1].strip():
            end -= 1
        if start == end:
            return
        rows = min(start + header_lines, end - 1)
        header = "".join(f"{line}\n" for line in self._lines[start : start + header_lines])
        location = Location(first_line=rows + 1, last_line=end, anchor=self._path.anchor)
        text = "\n".join(self._lines[start:end])
        bare_header = end - start <= header_lines
        self.done.append(
            Section(
                text=text,
                kind=kind,
                heading_path=self._path.texts,
                location=location,
                header="" if bare_header else header,
            )
        )
