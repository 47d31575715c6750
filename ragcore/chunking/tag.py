"""Method ``tag``: a tag set, one chunk a row: a text and the tags that texts like it get.

A tag set is a table with a column of texts and a column of tags, parted by commas or semicolons (also ，、；): named as
such, or the two of a table of two columns. Its chunks carry the tags (``Chunk.tags``) and are found by their text.

- The first row is an entry, too, unless it names one of the columns.
- A row over the budget is cut by ``naive``, each part with the row's tags and embedded as it stands.
- Rows without text or tags, and all that is no such table, are cut by ``naive`` and carry no tags.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragcore.chunking import naive
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.rows import Grid, Row, RowCutter, read_grid
from ragcore.tokens import Tokenizer
from ragcore.types import Section

_TEXT_NAMES = (
    "text texts content description example passage sentence inhalt beschreibung 文本 内容 描述 说明 例句 正文"
)
TEXT_NAMES = frozenset(_TEXT_NAMES.split())
_TAG_NAMES = "tag tags label labels category categories schlagwort schlagwörter 标签 标记 分类 类别 標籤 タグ"
TAG_NAMES = frozenset(_TAG_NAMES.split())
MOST_CHARACTERS = 100
"""Of a tag; what is longer is a sentence, and the cell holds no tags."""

_BETWEEN = re.compile(r"[,，、;；]")


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all sections, in order; ``following`` is the section after them, if there is one."""
    return [
        piece
        for section, after in zip(sections, [*sections, following][1:], strict=True)
        for piece in list(_entries(section, options, tokenizer)) or naive.chunk([section], options, tokenizer, after)
    ]


def tags_of(cell: str) -> tuple[str, ...]:
    """Return the tags of a cell, each once, in order, blanks within as one; () where one is too long to be a tag."""
    tags = [" ".join(tag.split()) for tag in _BETWEEN.split(cell)]
    if any(len(tag) > MOST_CHARACTERS for tag in tags):
        return ()
    return tuple({tag.casefold(): tag for tag in reversed(tags) if tag}.values())[::-1]


def _entries(section: Section, options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    """Yield the pieces of a tag set; none for a section that holds none."""
    grid = read_grid(section)
    columns = _columns(grid) if grid else None
    if grid is None or columns is None:
        return
    text, tags, is_named = columns
    grid = grid if is_named or not grid.header.cell(tags) else grid.without_names()
    runs = _runs(grid.rows, text, tags)
    if not any(labels for labels, _ in runs):
        return
    cutter = RowCutter(grid, options, tokenizer)
    for labels, rows in runs:
        pieces = cutter.cut(rows)
        embedded = rows[0].cell(text) if labels and len(pieces) == 1 else ""
        for piece in pieces:
            yield replace(piece, tags=labels, embedded=embedded)


def _columns(grid: Grid) -> tuple[int, int, bool] | None:
    """Return the columns of text and tags, and whether the header names them; None when these are not to be told."""
    names = [name.casefold().strip("*_ :：") for name in grid.header.cells]
    texts = [column for column, name in enumerate(names) if name in TEXT_NAMES]
    tags = [column for column, name in enumerate(names) if name in TAG_NAMES]
    if grid.width == 2:
        tag = tags[0] if tags else 1 - texts[0] if texts else 1
        return 1 - tag, tag, bool(texts or tags)
    return (texts[0], tags[0], True) if texts and tags else None


def _runs(rows: Sequence[Row], text: int, tags: int) -> list[tuple[tuple[str, ...], list[Row]]]:
    """Return the rows with their tags one by one, those without in runs; empty ones go with the row above."""
    runs: list[tuple[tuple[str, ...], list[Row]]] = []
    for row in rows:
        labels = tags_of(row.cell(tags)) if row.cell(text) else ()
        if runs and (row.is_blank or not (labels or runs[-1][0])):
            runs[-1][1].append(row)
        else:
            runs.append((labels, [row]))
    return runs
