"""Tables of Confluence's storage format as Markdown. Pure."""

from collections.abc import Iterator

from connectors.atlassian import markup
from connectors.confluence.inline import AC, Element, Place, inline, tag_of

_MOST_COLUMNS = 200
_MOST_SPANNED = 1_000
_BREAKING = frozenset({"p", "li", "div", "tr", "h1", "h2", "h3", "h4", "h5", "h6", f"{AC}task"})


def table(element: Element, place: Place) -> Iterator[str]:
    """Yield the lines of a table: its first row is the head, and a cell over several rows stands in each of them."""
    yield from markup.table([row for row in _grid(element, place) if any(row)])


def _grid(element: Element, place: Place) -> Iterator[list[str]]:
    spans: dict[int, tuple[int, str]] = {}
    """Of a column how many rows a cell goes on for, and what stands in it."""
    for row in _rows(element):
        cells: list[str] = []
        for cell in row:
            if tag_of(cell) not in {"td", "th"}:
                continue
            _carry(cells, spans)
            if len(cells) >= _MOST_COLUMNS:
                break
            text = _cell(cell, place)
            rows, columns = _span(cell, "rowspan", _MOST_SPANNED), _span(cell, "colspan", _MOST_COLUMNS)
            for number in range(min(columns, _MOST_COLUMNS - len(cells))):
                if rows > 1:
                    spans[len(cells)] = (rows - 1, text if number == 0 else "")
                cells.append(text if number == 0 else "")
        _carry(cells, spans)
        yield cells


def _carry(cells: list[str], spans: dict[int, tuple[int, str]]) -> None:
    """Add the cells that begin in a row above."""
    while len(cells) in spans:
        left, text = spans.pop(len(cells))
        if left > 1:
            spans[len(cells)] = (left - 1, text)
            cells.append(text)
            continue
        cells.append(text)


def _rows(element: Element) -> Iterator[Element]:
    for child in element:
        if tag_of(child) == "tr":
            yield child
        elif tag_of(child) in {"thead", "tbody", "tfoot"}:
            yield from (row for row in child if tag_of(row) == "tr")


def _cell(cell: Element, place: Place) -> str:
    """Return a cell's text on one line."""
    return markup.cell([line for part in inline_of(cell, place) for line in markup.paragraph(part)])


def inline_of(cell: Element, place: Place) -> Iterator[str]:
    """Yield what stands in a cell, block by block."""
    if not any(tag_of(child) in _BREAKING or tag_of(child) in {"ul", "ol"} for child in cell):
        yield inline(cell, place)
        return
    yield cell.text or ""
    for child in cell:
        if tag_of(child) in {"ul", "ol", f"{AC}task-list"}:
            for item in child:
                text = inline(item, place).strip()
                yield f"• {text}" if text else ""
        elif tag_of(child) in _BREAKING:
            yield inline(child, place)
        else:
            holder = tag_of(child)
            yield inline(child, place) if holder else ""
        yield child.tail or ""


def _span(cell: Element, name: str, most: int) -> int:
    told = cell.get(name) or "1"
    return max(1, min(int(told), most)) if told.isascii() and told.isdigit() else 1
