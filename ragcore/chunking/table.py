"""Method ``table``: rows of a table always stand with its header; as many rows a chunk as fit.

``naive`` does the cutting where its rules come to that. Where they don't (a header that takes most of the budget, a
row that has no room beside it), a row and its header stay together in a chunk of up to ``WHOLE`` times
``chunk_tokens``: a value without the name of its column says nothing. Only a row beyond that is split, by ``naive``.

What is no table is cut by ``naive``. Each chunk of a table carries the values of its rows, which filters compare.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ragcore.chunking import naive
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.row_values import with_rows
from ragcore.chunking.rows import Grid, Row, RowCutter, read_grid
from ragcore.tokens import Tokenizer
from ragcore.types import Section

WHOLE = 4
"""How many times ``chunk_tokens`` a row with its header may take: with the default 640 tokens, a long record."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all sections, in order; ``following`` is the section after them, if there is one."""
    pieces: list[Piece] = []
    for section, after in zip(sections, [*sections, following][1:], strict=True):
        found = naive.chunk([section], options, tokenizer, after)
        grid = read_grid(section)
        if grid is not None and grid.rows and not _rows_are_whole(section.text[: grid.header.end], found):
            found = list(_whole_rows(grid, options, tokenizer))
        pieces += found if grid is None else with_rows(grid, found)
    return pieces


def _rows_are_whole(header: str, pieces: Sequence[Piece]) -> bool:
    """Tell whether each piece holds the header and ends with a row."""
    return all(piece.text.startswith(header) for piece in pieces) and all(
        piece.text.endswith("\n") and len(piece.text) > len(header) for piece in pieces[:-1]
    )


def _whole_rows(grid: Grid, options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    cutter = RowCutter(grid, options, tokenizer)

    def is_long(row: Row) -> bool:
        return cutter.whole([row]).token_count > options.chunk_tokens

    for long, run in groupby(grid.rows, key=is_long):
        rows = list(run)
        together = [] if long else cutter.cut(rows)
        if together and _rows_are_whole(cutter.header, together):
            yield from together
            continue
        for row in rows:
            whole = cutter.whole([row])
            yield from [whole] if whole.token_count <= WHOLE * options.chunk_tokens else cutter.cut([row])
