"""Tables where a platform has none: aligned code while that is narrow enough, else a card a row."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bots.rendering.plain import plain_inlines
from bots.rendering.tree import (
    Align,
    Block,
    Break,
    Cell,
    Document,
    Fence,
    Inline,
    ItemList,
    Link,
    ListItem,
    Paragraph,
    Quote,
    Styled,
    Table,
    Text,
)

_GAP = "  "
_SPACE = re.compile(r"\s+")


def without_table(table: Table, width: int) -> Block:
    """Return what stands for the table: code of at most ``width`` columns, or a list with one item a row.

    Code has no links, so a table with links other than citations (these have their line in the source list) is a list.
    """
    if not any(_has_link(cell) for row in (table.header, *table.rows) for cell in row):
        lines = _aligned(table)
        if max(map(columns, lines)) <= width:
            return Fence(text="\n".join(lines))
    if not table.rows:
        return Paragraph(children=between(table.header))
    return cards(table.header, table.rows)


def settled(document: Document, width: int) -> Document:
    """Return the document with a list for each table that can't be code of ``width`` columns.

    Done before a document is split, so that the parts of one table look alike.
    """
    return replace(document, blocks=tuple(_settled(block, width) for block in document.blocks))


def _settled(block: Block, width: int) -> Block:
    match block:
        case Table():
            shown = without_table(block, width)
            return block if isinstance(shown, Fence) else shown
        case Quote():
            return replace(block, blocks=tuple(_settled(inner, width) for inner in block.blocks))
        case ItemList():
            items = (
                replace(item, blocks=tuple(_settled(inner, width) for inner in item.blocks)) for item in block.items
            )
            return replace(block, items=tuple(items))
        case _:
            return block


def cards(header: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> ItemList:
    """Return a list: each row's first cell strong, the others under it behind the names of their columns."""
    return ItemList(items=tuple(_card(header, row) for row in rows))


def between(cells: Sequence[Cell]) -> Cell:
    """Return the cells in one line."""
    mark = Text(text=" · ")
    return tuple(child for index, cell in enumerate(cells) for child in ((mark, *cell) if index else cell))


def columns(text: str) -> int:
    """Return how many columns a text takes where every character has the same width, East Asian ones two."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _card(header: Sequence[Cell], row: Sequence[Cell]) -> ListItem:
    children: list[Inline] = []
    for index, (name, cell) in enumerate(zip(header, row, strict=True)):
        if not cell:
            continue
        if children:
            children.append(Break(hard=True))
        if index == 0:
            children.append(Styled(style="strong", children=cell))
        else:
            children += [*name, Text(text=": "), *cell] if name else cell
    return ListItem(blocks=(Paragraph(children=tuple(children)),) if children else ())


def _has_link(cell: Sequence[Inline]) -> bool:
    return any(isinstance(child, Link) or (isinstance(child, Styled) and _has_link(child.children)) for child in cell)


def _aligned(table: Table) -> list[str]:
    rows = [[_SPACE.sub(" ", plain_inlines(cell)) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(1, *(columns(row[index]) for row in rows)) for index in range(len(rows[0]))]
    lines = [_row(row, widths, table.aligns) for row in rows]
    return [lines[0], _GAP.join("─" * width for width in widths), *lines[1:]]


def _row(row: Sequence[str], widths: Sequence[int], aligns: Sequence[Align]) -> str:
    cells = [_padded(cell, width, align) for cell, width, align in zip(row, widths, aligns, strict=True)]
    return _GAP.join(cells).rstrip()


def _padded(cell: str, width: int, align: Align) -> str:
    space = width - columns(cell)
    left = space if align == "right" else space // 2 if align == "center" else 0
    return " " * left + cell + " " * (space - left)
