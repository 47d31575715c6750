"""Comma, semicolon, bar and tab separated values; rows are records, counted from 1 as a spreadsheet counts them."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ragcore.errors import ParseError
from ragcore.parsing.encoding import decode
from ragcore.parsing.grid import Row, grid_sections
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.types import ParsedDocument

DELIMITERS = ",;\t|"
_CELL_CHARACTERS = 10_000_000
_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
"""The first line with which Excel is told the delimiter."""
_PROBED_ROWS = 50


def parse_delimited(job: Job) -> ParsedDocument:
    """Parse a delimited file into tables, with lone title rows as text before them.

    Raises:
        ParseError: It has more cells than the options allow, or a quote that never ends.
    """
    text = decode(job.content, declared=job.declared_encoding).text
    named = _SEPARATOR.match(text)
    delimiter = named.group(1) if named else "\t" if job.media_type == Media.TSV else delimiter_of(text)
    media = Media.TSV if delimiter == "\t" else Media.CSV
    sections = grid_sections(_rows(text, delimiter, job))
    return ParsedDocument(title="", media_type=media, sections=tuple(sections))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFit:
    """How table-like the first rows are under a delimiter: rows of the commonest width, their share, that width."""

    delimiter: str
    even_rows: int = 0
    share: float = 0.0
    width: int = 1
    mean_cell: float = 0.0

    @property
    def score(self) -> float:
        """Evenness first, then the number of columns; 0 for one column."""
        return self.share + min(self.width, 50) / 100 if self.width > 1 else 0.0


def delimiter_of(text: str) -> str:
    """Return the delimiter that cuts the first rows most evenly into the most columns; a comma when none does."""
    return max((table_fit(text, delimiter) for delimiter in DELIMITERS), key=lambda fit: fit.score).delimiter


def table_fit(text: str, delimiter: str) -> TableFit:
    """Judge a delimiter by the first rows of a text."""
    try:
        rows = [row for row in islice(_records(text[:100_000], delimiter), _PROBED_ROWS) if any(row)]
    except csv.Error:
        return TableFit(delimiter=delimiter)
    widths = [len(row) for row in rows]
    width = max(set(widths), key=widths.count, default=1)
    even = widths.count(width)
    characters = sum(len(cell) for row in rows for cell in row)
    return TableFit(
        delimiter=delimiter,
        even_rows=even,
        share=even / max(1, len(rows)),
        width=width,
        mean_cell=characters / max(1, sum(widths)),
    )


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=delimiter == ",")


def _rows(text: str, delimiter: str, job: Job) -> Iterator[Row]:
    csv.field_size_limit(_CELL_CHARACTERS)
    cells = 0
    try:
        for number, record in enumerate(_records(text, delimiter), start=1):
            cells += len(record)
            if cells > job.options.max_cells:
                raise ParseError(
                    f"it has more than {job.options.max_cells:,} cells", mend="split it into smaller files"
                )
            if number > 1 or not _SEPARATOR.match(text):
                yield Row(number=number, cells=tuple(record))
    except csv.Error as error:
        raise ParseError(f"its rows cannot be told apart ({error})", mend="save it again as csv in UTF-8") from None
