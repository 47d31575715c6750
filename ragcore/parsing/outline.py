"""Headings and the sections between them, for every format that has headings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ragcore.boxes import boxes_of
from ragcore.parsing.tables import markdown_table
from ragcore.parsing.titles import same_title
from ragcore.types import Box, Image, Location, PrintedLine, Section, SectionKind

INLINE_CODE_LINES = 8
"""A longer code block is a section of its own; a shorter one stays fenced in the text that explains it."""

_BETWEEN = "\n\n"
_NOT_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One heading: its level (1 is the outermost), its plain text, and the fragment that links to it."""

    level: int
    text: str
    anchor: str = ""


class HeadingPath:
    """The headings that are open at one place of a document, outermost first."""

    def __init__(self) -> None:
        self._open: list[Heading] = []

    def enter(self, heading: Heading) -> None:
        """Close what the new heading ends, and open it."""
        while self._open and self._open[-1].level >= heading.level:
            self._open.pop()
        self._open.append(heading)

    @property
    def texts(self) -> tuple[str, ...]:
        """The path from the outermost heading inwards, empty headings left out."""
        return tuple(heading.text for heading in self._open if heading.text)

    @property
    def anchor(self) -> str:
        """The fragment of the nearest heading that has one."""
        return next((heading.anchor for heading in reversed(self._open) if heading.anchor), "")

    @property
    def level(self) -> int:
        """The level of the innermost open heading; 0 without one."""
        return self._open[-1].level if self._open else 0


class Slugs:
    """Heading anchors as GitHub makes them: lower case, no punctuation, spaces as hyphens, ``-1`` for the second."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, text: str) -> str:
        """Return the anchor of the next heading with this text."""
        base = _NOT_SLUG.sub("", text.strip().lower()).replace(" ", "-")
        count = self._seen.get(base, -1) + 1
        self._seen[base] = count
        return f"{base}-{count}" if count else base


@dataclass(slots=True)
class SectionWriter:
    """Gathers blocks into sections for formats without line numbers (html, docx, pptx, epub, mail, pdf).

    A heading, a table, a long code block or a new place ends the section before it. A heading with nothing but a
    deeper heading under it goes into the section of the deeper one: a lone heading is no section if text follows.
    ``lines`` are where a block is printed, their offsets those of the block.
    """

    place: Location = field(default_factory=Location)
    _path: HeadingPath = field(default_factory=HeadingPath)
    _blocks: list[str] = field(default_factory=list)
    _lines: list[PrintedLine] = field(default_factory=list)
    _bare: bool = True
    _listing: bool = False
    _done: list[Section] = field(default_factory=list)

    def at(self, place: Location) -> None:
        """Continue on another page, slide or chapter; headings stay open."""
        self._flush()
        self.place = place

    def heading(self, heading: Heading, lines: Sequence[PrintedLine] = ()) -> None:
        """Begin a section; its text starts with the heading as Markdown."""
        if not (self._bare and heading.level > self._path.level):
            self._flush()
        self._path.enter(heading)
        self._listing = False
        if heading.text:
            mark = f"{'#' * min(heading.level, 6)} "
            self._append(mark + heading.text, [_from_start(line, len(mark)) for line in lines])

    def silent_heading(self, heading: Heading) -> None:
        """Begin a section under a heading whose text stands elsewhere (a chapter's name in the table of contents)."""
        self._flush()
        self._path.enter(heading)

    def text(self, block: str, lines: Sequence[PrintedLine] = ()) -> None:
        """Add a paragraph or a list."""
        if block.strip():
            self._append(block, lines)
            self._bare = self._listing = False

    def apart(self, block: str, lines: Sequence[PrintedLine] = (), image: Image | None = None) -> None:
        """Add a paragraph as a section of its own: the caption of a figure ("" without one), with what this shows."""
        self._flush()
        self._append(block, lines)
        self._flush()
        self._done[-1] = replace(self._done[-1], image=image)

    def item(self, line: str) -> None:
        """Add one item of a list; items that follow each other form one list."""
        if self._listing and self._blocks:
            self._blocks[-1] += f"\n{line}"
            return
        self.text(line)
        self._listing = True

    def code(self, block: str, language: str = "") -> None:
        """Add a code block, its lines as they are."""
        if not block.strip():
            return
        block = block.strip("\n")
        if block.count("\n") < INLINE_CODE_LINES:
            self.text(f"```{language}\n{block}\n```")
            return
        self._flush()
        self._add(block, SectionKind.CODE)

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        place: Location | None = None,
        printed: Sequence[Sequence[Box]] = (),
    ) -> None:
        """Add a table as a section of its own; ``printed`` are the boxes of its header, and of each row."""
        self._flush()
        header, text = markdown_table(columns, rows)
        text = text if rows else header.rstrip("\n")
        self._lines = _lines_of_rows(text, printed)
        self._add(text, SectionKind.TABLE, header if rows else "", place)

    def markdown_table(self, lines: Sequence[str]) -> None:
        """Add a table that is Markdown already: two header lines, then the rows."""
        self._flush()
        header = "".join(f"{line}\n" for line in lines[:2])
        self._add("\n".join(lines), SectionKind.TABLE, header if len(lines) > 2 else "")

    def _add(self, text: str, kind: SectionKind, header: str = "", place: Location | None = None) -> None:
        place, lines, self._lines = place or self.place, tuple(self._lines), []
        section = Section(
            text=text,
            kind=kind,
            heading_path=self._path.texts,
            location=replace(place, anchor=self._path.anchor or self.place.anchor, boxes=boxes_of(lines)),
            header=header,
            lines=lines,
        )
        self._done.append(section)

    def _append(self, block: str, lines: Sequence[PrintedLine]) -> None:
        before = sum(len(one) + len(_BETWEEN) for one in self._blocks) if lines else 0
        self._lines += [replace(line, start=line.start + before, end=line.end + before) for line in lines]
        self._blocks.append(block)

    def _flush(self) -> None:
        if self._blocks:
            self._add(_BETWEEN.join(self._blocks), SectionKind.TEXT)
        self._blocks = []
        self._bare = True
        self._listing = False

    def sections(self, title: str = "") -> tuple[Section, ...]:
        """Return all sections; the title is left out of their heading paths."""
        self._flush()
        return without_title(self._done, title)


def _from_start(line: PrintedLine, mark: int) -> PrintedLine:
    """Return a heading's line behind its mark of Markdown, which belongs to the first line."""
    return replace(line, start=line.start + mark if line.start else 0, end=line.end + mark)


def _lines_of_rows(text: str, printed: Sequence[Sequence[Box]]) -> list[PrintedLine]:
    """Return where the rows of a Markdown table are printed; the rule goes with the names of the columns."""
    found: list[PrintedLine] = []
    if not printed:
        return found
    names, rule, *rows = text.split("\n")
    start = 0
    for row, boxes in zip([f"{names}\n{rule}", *rows], printed, strict=True):
        end = start + len(row)
        found += [PrintedLine(start=start, end=end, box=box) for box in boxes]
        start = end + 1
    return found


def without_title(sections: Sequence[Section], title: str) -> tuple[Section, ...]:
    """Drop the title where it opens a heading path: it is the document's own name and would only be said twice."""
    return tuple(
        replace(section, heading_path=section.heading_path[1:])
        if section.heading_path and same_title(section.heading_path[0], title)
        else section
        for section in sections
    )
