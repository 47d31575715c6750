"""The blocks of a page as sections, with where each of their lines is printed."""

from collections.abc import Iterable, Sequence

from ragcore.parsing.outline import Heading, SectionWriter
from ragcore.parsing.pdf.frame import Frame
from ragcore.parsing.pdf.layout import Line
from ragcore.parsing.pdf.paragraphs import Block, Placed
from ragcore.parsing.pdf.tables import PageTable
from ragcore.types import Box, Location, PrintedLine


def write(blocks: Iterable[Block], page: int, frame: Frame, writer: SectionWriter) -> None:
    """Write the blocks of a page (from 1)."""
    writer.at(Location(page=page))
    for block in blocks:
        if isinstance(block, PageTable):
            printed = [_boxes(lines, page, frame) for lines in (block.header, *block.lines)]
            writer.table(block.columns, block.rows, printed=printed)
        elif block.level:
            heading = Heading(level=block.level, text=block.text)
            writer.heading(heading, _printed(block.placed, page, frame))
        else:
            writer.text(block.text, _printed(block.placed, page, frame))


def _boxes(lines: Sequence[Line], page: int, frame: Frame) -> list[Box]:
    return [box for line in lines if (box := _box(line, page, frame)) is not None]


def _printed(placed: Sequence[Placed], page: int, frame: Frame) -> list[PrintedLine]:
    return [
        PrintedLine(start=start, end=end, box=box, column=line.region)
        for start, end, line in placed
        if (box := _box(line, page, frame)) is not None
    ]


def _box(line: Line, page: int, frame: Frame) -> Box | None:
    return frame.box(page, (line.left, line.top, line.right, line.bottom))
