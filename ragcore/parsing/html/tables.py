"""HTML tables as grids: spans laid out, currency signs put back to their numbers, layout tables told apart."""

import re

from lxml import etree
from lxml.html import HtmlElement

from ragcore.parsing.grid import Row, is_number
from ragcore.parsing.tables import without_empty_columns

_SPACES = re.compile(r"[\s\u200b\ufeff\xad]+")
_BREAKING = frozenset(
    ("p", "div", "br", "li", "tr", "td", "th", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol")
)
_PREFIXES = frozenset(("$", "€", "£", "¥", "US$", "(", "($", "-"))
_SUFFIXES = frozenset((")", "%", ")%", "pts"))
_CELL_CHARACTERS = 1_500
_MAX_SPAN = 200
_MAX_CELLS = 200_000


def cell_text(element: HtmlElement) -> str:
    """Return an element's text on one line; blocks inside it are set apart by a space."""
    return _SPACES.sub(" ", broken_text(element, _BREAKING, " ")).strip()


def broken_text(element: HtmlElement, breaking: frozenset[str], mark: str) -> str:
    """Return an element's text with a mark where one of the breaking tags begins and ends."""
    parts: list[str] = []
    for event, child in etree.iterwalk(element, events=("start", "end")):
        if child.tag in breaking and child is not element and (event == "start" or child.tag != "br"):
            parts.append(mark)
        if event == "start":
            parts.append(child.text or "")
        elif child is not element:
            parts.append(child.tail or "")
    return "".join(parts)


def is_data_table(table: HtmlElement) -> bool:
    """Tell a table of data from one that only lays out the page."""
    if table.get("role") in ("presentation", "none") or table.xpath(".//table|.//h1|.//h2|.//h3|.//pre|.//form"):
        return False
    rows = table.xpath(".//tr")
    if len(rows) < 2 or sum(len(row.xpath("./td|./th")) > 1 for row in rows) < 2:
        return False
    cells = table.xpath(".//td|.//th")
    return bool(table.xpath(".//th")) or all(len(cell_text(cell)) < _CELL_CHARACTERS for cell in cells)


def table_rows(table: HtmlElement) -> list[Row]:
    """Lay a table out as a grid; rows without text are left out, numbers count the rows that stay from 1.

    A heading over several columns is repeated in each that holds something, and marked as a span; a cell over several
    rows is repeated in each, so that every row can be read alone.
    """
    grid = _Grid()
    for element in table.iter("tr"):
        grid.row(element)
    texts = [_joined_signs(row) for row in grid.texts]
    repeated = _spread_spanning(texts, grid.spans)
    kept = without_empty_columns(texts)
    columns = _kept_columns(texts)
    rows = []
    for number, cells in enumerate(kept):
        spans = frozenset(at for at, column in enumerate(columns) if (number, column) in repeated)
        rows.append((cells, spans))
    filled = [(cells, spans) for cells, spans in rows if any(cells)]
    return [Row(number=number, cells=cells, spans=spans) for number, (cells, spans) in enumerate(filled, start=1)]


class _Grid:
    """Cells by row and column, with what reaches into them from the left or from above."""

    def __init__(self) -> None:
        self.texts: list[list[str]] = []
        self.spans: list[tuple[int, int, int]] = []
        self._from_above: dict[int, tuple[int, str]] = {}
        self._cells = 0

    def row(self, element: HtmlElement) -> None:
        """Lay out one ``tr``."""
        cells: list[str] = []
        for cell in element.iterchildren("td", "th"):
            self._fill_from_above(cells)
            text = cell_text(cell)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            self._cells += across
            if self._cells > _MAX_CELLS:
                return
            if across > 1 and text:
                self.spans.append((len(self.texts), len(cells), across))
            for offset in range(across if down > 1 else 0):
                self._from_above[len(cells) + offset] = (down - 1, text if offset == 0 else "")
            cells += [text, *[""] * (across - 1)]
        self._fill_from_above(cells)
        self.texts.append(cells)

    def _fill_from_above(self, cells: list[str]) -> None:
        while len(cells) in self._from_above and self._cells < _MAX_CELLS:
            left, text = self._from_above.pop(len(cells))
            if left > 1:
                self._from_above[len(cells)] = (left - 1, text)
            cells.append(text)
            self._cells += 1
            if left <= 1 and len(cells) not in self._from_above:
                return


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(int(value), _MAX_SPAN) or 1 if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _joined_signs(cells: list[str]) -> list[str]:
    """Put signs that stand in cells of their own (``$``, ``)``, ``%``) back to the number beside them."""
    joined = list(cells)
    for column, text in enumerate(cells):
        if text in _PREFIXES:
            after = next((at for at in range(column + 1, min(column + 3, len(joined))) if joined[at]), None)
            if after is not None and joined[after][:1].isdigit():
                joined[after], joined[column] = text + joined[after], ""
        elif text in _SUFFIXES:
            before = next((at for at in range(column - 1, max(column - 3, -1), -1) if joined[at]), None)
            if before is not None and is_number(joined[before].lstrip("(")):
                joined[before], joined[column] = joined[before] + text, ""
    return joined


def _kept_columns(texts: list[list[str]]) -> list[int]:
    width = max(map(len, texts), default=0)
    return [column for column in range(width) if any(column < len(row) and row[column].strip() for row in texts)]


def _spread_spanning(texts: list[list[str]], spans: list[tuple[int, int, int]]) -> set[tuple[int, int]]:
    """Put a cell over several columns onto those that hold text in other rows; returns where it is repeated.

    It moves off a column that is empty elsewhere. Only in the rows on top is it repeated, as the heading of a group of
    columns; one over all of them is a title, and further down it is a row with little in it.
    """
    spanning = {(row, column) for row, column, _ in spans}
    held = {
        column
        for number, row in enumerate(texts)
        for column, text in enumerate(row)
        if text and (number, column) not in spanning
    }
    grouped = {row for row, _, _ in spans}
    top = next(number for number in range(len(texts) + 1) if number not in grouped)
    repeated: set[tuple[int, int]] = set()
    for row, column, across in spans:
        cells = texts[row]
        reach = [at for at in range(column, min(column + across, len(cells))) if at in held]
        if reach and column not in held and not cells[reach[0]]:
            cells[reach[0]], cells[column] = cells[column], ""
        if row < top and len(reach) > 1 and len(reach) < len(held):
            fresh = [at for at in reach[1:] if not cells[at]]
            repeated.update((row, at) for at in fresh)
            for at in fresh:
                cells[at] = cells[reach[0]]
    return repeated
