"""The blocks of pages as sections, with where each of their lines is printed."""

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.parsing.outline import Heading, SectionWriter
from ragcore.parsing.pdf.figures import Picture, is_caption, picture_of
from ragcore.parsing.pdf.frame import Frame, Sides
from ragcore.parsing.pdf.layout import Line
from ragcore.parsing.pdf.paragraphs import Block, Paragraph, Placed
from ragcore.parsing.pdf.shown import Figures
from ragcore.parsing.pdf.tables import PageTable
from ragcore.types import Box, Image, ImageType, Location, PrintedLine

_CONTINUED = re.compile(r"\W*(?:.{0,80}\W)?(?:cont(?:inued|'d|\.)|fortsetzung|续表?|續表?)\W*$", re.IGNORECASE)
"""What stands between two parts of a table that goes on."""
_SAME_EDGE = 8.0
"""Points by which the left edges of two parts of a table may differ."""
_MOST_PICTURES = 20
"""Pictures of a page that are figures; more are parts of drawings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A table at the end of a page, which may go on at the top of the next."""

    table: PageTable
    place: Location
    rows: tuple[tuple[str, ...], ...]
    printed: tuple[tuple[Box, ...], ...]


class PageWriter:
    """Writes pages one after the other; a table that goes on on the next page becomes one."""

    def __init__(self, writer: SectionWriter, figures: Figures) -> None:
        """Write to a writer of sections; ``figures`` draws those that have a caption."""
        self._writer = writer
        self._figures = figures
        self._waiting: _Waiting | None = None

    def write(self, blocks: Iterable[Block], page: int, frame: Frame, pictures: Sequence[Picture] = ()) -> None:
        """Write the blocks of a page (from 1); ``pictures`` are those that stand on it."""
        left = self._without_table_that_goes_on(list(blocks), page, frame)
        if left is None:
            return
        self.close()
        self._writer.at(Location(page=page))
        free, is_drawn = list(pictures), len(pictures) <= _MOST_PICTURES
        for at, block in enumerate(left):
            if not isinstance(block, PageTable):
                self._text(block, page, frame, free, is_drawn=is_drawn)
            elif at < len(left) - 1:
                self._table(_begun(block, page, frame))
            else:
                self._waiting = _begun(block, page, frame)

    def scan(self, page: int) -> bool:
        """Write a page without text as a section that shows it; tell whether it could be drawn."""
        image = _image(self._figures.page_jpeg(page), "image/jpeg")
        if image is None:
            return False
        self.close()
        self._writer.at(Location(page=page))
        self._writer.apart("", image=image)
        return True

    def close(self) -> None:
        """Write what waits: nothing follows it."""
        if self._waiting is not None:
            self._table(self._waiting)
            self._waiting = None

    def _without_table_that_goes_on(self, blocks: list[Block], page: int, frame: Frame) -> list[Block] | None:
        """Take the rest of the waiting table off a page's blocks; None when there is nothing else on the page."""
        told = blocks[:1] if blocks and isinstance(blocks[0], Paragraph) and _CONTINUED.match(blocks[0].text) else []
        first = blocks[len(told)] if len(blocks) > len(told) else None
        if self._waiting is None or not isinstance(first, PageTable) or not _goes_on(self._waiting.table, first):
            return blocks
        self._waiting = _with_rest(self._waiting, first, page, frame)
        rest = [*told, *blocks[len(told) + 1 :]]
        return rest or None

    def _table(self, waiting: _Waiting) -> None:
        self._writer.table(waiting.table.columns, waiting.rows, waiting.place, printed=waiting.printed)

    def _text(self, block: Paragraph, page: int, frame: Frame, pictures: list[Picture], *, is_drawn: bool) -> None:
        printed = _printed(block.placed, page, frame)
        if block.level:
            self._writer.heading(Heading(level=block.level, text=block.text), printed)
        elif is_caption(block.text):
            image = None
            picture = picture_of(_around([line for _, _, line in block.placed]), pictures)
            if picture is not None:
                pictures.remove(picture)
                box = frame.box(page, picture.sides)
                if box is not None:
                    printed = [PrintedLine(start=0, end=len(block.text), box=box, column=-1), *printed]
                    image = _image(self._figures.png(box)) if is_drawn else None
            self._writer.apart(block.text, printed, image)
        else:
            self._writer.text(block.text, printed)


def _begun(table: PageTable, page: int, frame: Frame) -> _Waiting:
    printed = tuple(_boxes(lines, page, frame) for lines in (table.header, *table.lines))
    return _Waiting(table=table, place=Location(page=page), rows=table.rows, printed=printed)


def _goes_on(table: PageTable, rest: PageTable) -> bool:
    """Tell whether a table at the top of a page is the rest of the one at the end of the page before.

    It has as many columns and begins at the same edge, and its first row is the same names again, or names nothing: it
    has no names, or is a row of a table with rules that doesn't stand out as its names do.
    """
    if len(table.columns) != len(rest.columns) or abs(table.left - rest.left) > _SAME_EDGE:
        return False
    if table.columns == rest.columns or not any(rest.columns):
        return True
    return table.is_ruled and rest.is_ruled and not rest.has_bold_names


def _with_rest(waiting: _Waiting, rest: PageTable, page: int, frame: Frame) -> _Waiting:
    printed = [_boxes(lines, page, frame) for lines in rest.lines]
    rows = rest.rows
    if any(rest.columns) and rest.columns != waiting.table.columns:
        rows, printed = (rest.columns, *rows), [_boxes(rest.header, page, frame), *printed]
    return _Waiting(
        table=waiting.table,
        place=waiting.place,
        rows=(*waiting.rows, *rows),
        printed=(*waiting.printed, *printed),
    )


def _boxes(lines: Sequence[Line], page: int, frame: Frame) -> tuple[Box, ...]:
    return tuple(box for line in lines if (box := _box(line, page, frame)) is not None)


def _printed(placed: Sequence[Placed], page: int, frame: Frame) -> list[PrintedLine]:
    return [
        PrintedLine(start=start, end=end, box=box, column=line.region)
        for start, end, line in placed
        if (box := _box(line, page, frame)) is not None
    ]


def _image(drawn: bytes, kind: ImageType = "image/png") -> Image | None:
    return Image(media_type=kind, data=base64.b64encode(drawn).decode("ascii")) if drawn else None


def _around(lines: Sequence[Line]) -> Sides:
    return (
        min(line.left for line in lines),
        min(line.top for line in lines),
        max(line.right for line in lines),
        max(line.bottom for line in lines),
    )


def _box(line: Line, page: int, frame: Frame) -> Box | None:
    return frame.box(page, (line.left, line.top, line.right, line.bottom))
