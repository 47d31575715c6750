"""Excel workbooks: every sheet as the tables, titles and notes that a person sees in it.

The sheets are read as streams straight from the package: merged cells, shared strings and number formats in one pass.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lxml import etree

from ragcore.errors import ParseError
from ragcore.parsing.grid import Row, grid_sections
from ragcore.parsing.media import Media
from ragcore.parsing.office.number_format import BUILTIN, show_number
from ragcore.parsing.office.ooxml import Package, attribute, child, children, name_of, number, open_package, relation_id
from ragcore.parsing.options import Job
from ragcore.types import ParsedDocument, Section

_REFERENCE = re.compile(r"^\$?([A-Z]{1,3})\$?(\d{1,7})$")
_MAX_MERGED = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """What all sheets share. ``formats`` holds one format code a cell style."""

    strings: tuple[str, ...]
    formats: tuple[str, ...]
    from_1904: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    name: str
    part: str
    hidden: bool


def parse_xlsx(job: Job) -> ParsedDocument:
    """Parse a workbook; hidden sheets are left out and named in the warnings.

    Raises:
        ParseError: A part is damaged, or it has more cells than the options allow.
    """
    package = open_package(job, "xl/workbook.xml")
    workbook = package.parts.xml(package.main)
    book = _Book(
        strings=_strings(package),
        formats=_formats(package),
        from_1904=attribute(found, "date1904") in ("1", "true")
        if (found := child(workbook, "workbookPr")) is not None
        else False,
    )
    sheets = _sheets(package, workbook)
    shown = [sheet for sheet in sheets if not sheet.hidden]
    sections: list[Section] = []
    budget = _Budget(job.options.max_cells)
    for done, sheet in enumerate(shown):
        job.step(done, len(shown))
        rows = _merged_rows(package, sheet, book, budget)
        sections += grid_sections(rows, sheet.name, (sheet.name,))
    job.step(len(shown), len(shown))
    hidden = tuple(f"hidden sheet left out: {sheet.name}" for sheet in sheets if sheet.hidden)
    unknown = f"formulas without a stored value: {budget.formulas}; open the file in Excel and save it once"
    formulas = (unknown,) if budget.formulas else ()
    return ParsedDocument(
        title=package.title,
        media_type=Media.XLSX,
        sections=tuple(sections),
        warnings=hidden + formulas,
        author=package.author,
        updated_at=package.modified,
    )


class _Budget:
    """Counts cells against the limit, and formulas that carry no value."""

    def __init__(self, cells: int) -> None:
        self._limit = cells
        self._left = cells
        self.formulas = 0

    def spend(self, cells: int) -> None:
        """Take cells off the limit.

        Raises:
            ParseError: The limit is passed.
        """
        self._left -= cells
        if self._left < 0:
            raise ParseError(f"it has more than {self._limit:,} cells", mend="split it into smaller files")


def _sheets(package: Package, workbook: etree._Element) -> list[_Sheet]:
    targets = package.parts.relations(package.main)
    listed = child(workbook, "sheets")
    sheets: list[_Sheet] = []
    for element in children(listed, "sheet") if listed is not None else []:
        part = targets.get(relation_id(element), "")
        if part in package.parts.names and "/worksheets/" in f"/{part}":
            hidden = attribute(element, "state") in ("hidden", "veryHidden")
            sheets.append(_Sheet(name=attribute(element, "name"), part=part, hidden=hidden))
    return sheets


def _strings(package: Package) -> tuple[str, ...]:
    part = next(iter(package.parts.related(package.main, "sharedStrings")), "")
    if not part:
        return ()
    return tuple(_rich_text(item) for item in _stream(package, part, "si"))


def _rich_text(item: etree._Element) -> str:
    """Return the text of a string item; reading aids over East Asian characters (``rPh``) are left out."""
    parts = [text.text or "" for text in children(item, "t")]
    for run in children(item, "r"):
        parts += [text.text or "" for text in children(run, "t")]
    return "".join(parts)


def _formats(package: Package) -> tuple[str, ...]:
    part = next(iter(package.parts.related(package.main, "styles")), "")
    if not part:
        return ()
    styles = package.parts.xml(part)
    own = child(styles, "numFmts")
    codes = dict(BUILTIN)
    for element in children(own, "numFmt") if own is not None else []:
        codes[number(attribute(element, "numFmtId"))] = attribute(element, "formatCode")
    cells = child(styles, "cellXfs")
    styled = children(cells, "xf") if cells is not None else []
    return tuple(codes.get(number(attribute(xf, "numFmtId")), "General") for xf in styled)


def _stream(package: Package, part: str, *names: str) -> Iterator[etree._Element]:
    """Yield a part's elements with these names as they end, and forget them after.

    Raises:
        ParseError: The part is not well-formed.
    """
    content = io.BytesIO(package.parts.read(part))
    tags = [f"{{*}}{name}" for name in names]
    try:
        for _, element in etree.iterparse(
            content, events=("end",), tag=tags, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
        ):
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None and name_of(element) != "mergeCell":
                del parent[0]
    except (etree.LxmlError, ValueError):
        raise ParseError(f"its part {part} is damaged", mend="open and save it again") from None


def _merged_rows(package: Package, sheet: _Sheet, book: _Book, budget: _Budget) -> list[Row]:
    rows: list[Row] = []
    merges: list[str] = []
    for element in _stream(package, sheet.part, "row", "mergeCell"):
        if name_of(element) == "mergeCell":
            merges.append(attribute(element, "ref"))
            continue
        row = _row(element, rows[-1].number if rows else 0, book, budget)
        if row.cells:
            rows.append(row)
    return _with_merges(rows, merges, budget)


def _row(element: etree._Element, last: int, book: _Book, budget: _Budget) -> Row:
    """Read one row; a row or cell that does not say where it is follows the one before."""
    cells: list[str] = []
    at = number(attribute(element, "r"), last + 1)
    for cell in element:
        if name_of(cell) != "c":
            continue
        place = _REFERENCE.match(cell.get("r", ""))
        column = _column(place.group(1)) if place else len(cells)
        text = _show(cell, book, budget)
        if text.strip() and column >= len(cells):
            budget.spend(1 + column - len(cells))
            cells += [""] * (column - len(cells))
            cells.append(text)
        elif text.strip():
            cells[column] = text
    return Row(number=at, cells=tuple(cells))


def _column(letters: str) -> int:
    """Return the column from 0: A is 0, AA is 26."""
    position = 0
    for letter in letters:
        position = position * 26 + ord(letter) - ord("A") + 1
    return position - 1


def _show(cell: etree._Element, book: _Book, budget: _Budget) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = child(cell, "is")
        return _rich_text(inline) if inline is not None else ""
    stored = child(cell, "v")
    value = (stored.text or "") if stored is not None else ""
    if not value:
        budget.formulas += child(cell, "f") is not None
        return ""
    if kind == "s":
        at = number(value, -1)
        return book.strings[at] if 0 <= at < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind != "n":
        return value
    return _show_stored_number(value, number(cell.get("s", "0")), book)


def _show_stored_number(value: str, style: int, book: _Book) -> str:
    try:
        stored = float(value)
    except ValueError:
        return value
    if not abs(stored) < 1e300:
        return value
    code = book.formats[style] if 0 <= style < len(book.formats) else "General"
    return show_number(stored, code, from_1904=book.from_1904)


def _with_merges(rows: list[Row], merges: list[str], budget: _Budget) -> list[Row]:
    """Repeat the text of merged cells over all they cover, marked as spans, so that each row and column reads alone."""
    at = {row.number: place for place, row in enumerate(rows)}
    seen: set[tuple[int, int]] = set()
    for reference in merges:
        first, _, last = reference.partition(":")
        start, end = _REFERENCE.match(first), _REFERENCE.match(last)
        if not start or not end:
            continue
        left, right = _column(start.group(1)), _column(end.group(1))
        top, bottom = int(start.group(2)), int(end.group(2))
        if top not in at or left >= len(rows[at[top]].cells) or left in rows[at[top]].spans or (top, left) in seen:
            continue  # Excel refuses merges that overlap; a file that is full of them would take for ever
        seen.add((top, left))
        text = rows[at[top]].cells[left]
        right = min(right, max(len(row.cells) for row in rows[at[top] : at[top] + 50]) - 1)
        covered = [row_number for row_number in range(top, min(bottom, top + _MAX_MERGED) + 1) if row_number in at]
        for row_number in covered:
            budget.spend(max(0, right - left))
            rows[at[row_number]] = _span(rows[at[row_number]], text, left, right, row_number == top)
    return rows


def _span(row: Row, text: str, left: int, right: int, owns: bool) -> Row:
    cells = list(row.cells) + [""] * (right + 1 - len(row.cells))
    spans = set(row.spans)
    for column in range(left, right + 1):
        if not (owns and column == left) and not cells[column].strip():
            cells[column] = text
            spans.add(column)
    return replace(row, cells=tuple(cells), spans=frozenset(spans))
