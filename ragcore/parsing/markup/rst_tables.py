"""Tables of reStructuredText: drawn with lines (grid), ruled (simple), as nested lists and as CSV."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragcore.parsing.tables import markdown_table
from ragcore.parsing.titles import one_line
from ragcore.types import Section, SectionKind

_GRID = re.compile(r"^\s*\+(?:[-=]+\+)+\s*$")
_RULED = re.compile(r"^\s*=+(?:\s+=+)+\s*$")
_UNDERLINED = re.compile(r"^[\s-]+$")
_DIRECTIVE = re.compile(r"^(\s*)\.\. (list-table|csv-table|table)::\s*(.*)$")
_OPTION = re.compile(r"^\s+:([\w-]+):\s*(.*)$")
_ITEM = re.compile(r"^(\s*)([*+-])(?: +|$)(.*)$")
_FAR = 2_000
"""Lines that a ruled table may have."""

Rows = list[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RstTable:
    """A table in the lines ``start`` to ``end`` (exclusive): its title, header rows and body rows."""

    start: int
    end: int
    header: Rows
    body: Rows
    title: str = ""

    def sections(self) -> tuple[Section, ...]:
        """Return the title, where there is one, and the table as Markdown."""
        width = max(map(len, [*self.header, *self.body]), default=0)
        names = [one_line(" ".join(row[at] for row in self.header if at < len(row))) for at in range(width)]
        body = self.body
        if not any(names) and len(body) > 1:
            names, body = [*body[0], *[""] * (width - len(body[0]))], body[1:]
        header, text = markdown_table(names, [[*row, *[""] * (width - len(row))] for row in body])
        table = Section(
            text=text if body else header.rstrip("\n"), kind=SectionKind.TABLE, header=header if body else ""
        )
        return (Section(text=self.title), table) if self.title else (table,)


def rst_table(lines: Sequence[str], start: int) -> RstTable | None:
    """Return the table that begins at a line, None when none does or it can't be read."""
    found = _DIRECTIVE.match(lines[start])
    if found:
        return _of_directive(lines, start, found)
    if _GRID.match(lines[start]):
        return _grid(lines, start)
    return _ruled(lines, start) if _RULED.match(lines[start]) else None


def block_end(lines: Sequence[str], start: int, indent: int) -> int:
    """Return the line after a block that is indented deeper than ``indent``, empty lines at its end left out."""
    end = at = start
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > indent):
        at += 1
        end = at if lines[at - 1].strip() else end
    return end


def _of_directive(lines: Sequence[str], start: int, found: re.Match[str]) -> RstTable | None:
    end = block_end(lines, start + 1, len(found.group(1)))
    at, options = start + 1, dict[str, str]()
    while at < end and (option := _OPTION.match(lines[at])):
        options[option.group(1)] = option.group(2)
        at += 1
    at = next((number for number in range(at, end) if lines[number].strip()), end)
    if at == end:
        return None
    if found.group(2) == "table":
        inner = rst_table(lines, at)
        return inner and RstTable(start=start, end=end, header=inner.header, body=inner.body, title=found.group(3))
    rows = _listed(lines[at:end]) if found.group(2) == "list-table" else _csv(lines[at:end])
    count = options.get("header-rows", "")
    named = _csv([options["header"]]) if "header" in options else []
    heads = int(count) if count.isascii() and count.isdigit() and len(count) < 3 else 0
    header, body = [*named, *rows[:heads]], rows[heads:]
    return RstTable(start=start, end=end, header=header, body=body, title=found.group(3)) if rows else None


def _csv(lines: Sequence[str]) -> Rows:
    return [
        [one_line(cell) for cell in row]
        for row in csv.reader([line.strip() for line in lines], skipinitialspace=True)
        if row
    ]


def _listed(lines: Sequence[str]) -> Rows:
    """Read a list of lists: a row begins with the outer mark, a cell with the inner one."""
    rows: Rows = []
    first = _ITEM.match(lines[0])
    margin = len(first.group(1)) if first else -1
    for line in lines:
        item = _ITEM.match(line)
        cell = item
        if item and len(item.group(1)) == margin:
            rows.append([])
            cell = _ITEM.match(item.group(3))
        elif item and len(item.group(1)) != margin + 2:
            cell = None  # a list inside a cell
        if rows and cell:
            rows[-1].append(cell.group(3).strip())
        elif rows and rows[-1] and line.strip():
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    return rows


def _grid(lines: Sequence[str], start: int) -> RstTable | None:
    end = start
    while end < len(lines) and lines[end].lstrip()[:1] in ("+", "|") and lines[end].strip():
        end += 1
    indent = len(lines[start]) - len(lines[start].lstrip())
    drawn = [line.rstrip()[indent:] for line in lines[start:end]]
    edges = [at for at, char in enumerate(drawn[0]) if char == "+"]
    header: Rows = []
    rows: Rows = []
    block: list[str] = []
    for line in drawn[1:]:
        if not _GRID.match(line):
            block.append(line)
            continue
        rows += [_cells(block, edges)] if block else []
        block = []
        if "=" in line:
            header, rows = rows, []
    return RstTable(start=start, end=end, header=header, body=rows) if (rows or header) and not block else None


def _cells(block: Sequence[str], edges: Sequence[int]) -> list[str]:
    """Cut the lines of one row at the edges that all of them show; a cell over several columns is in the first."""
    cells: list[str] = []
    left = edges[0]
    for place, right in enumerate(edges[1:], start=1):
        if place + 1 < len(edges) and not all(line[right : right + 1] in ("|", "+") for line in block):
            continue
        parts = [line[left + 1 : right] for line in block]
        cells.append(one_line(" ".join(part for part in parts if not set(part) <= {"-", "+"})))
        cells += [""] * (place - len(cells))
        left = right
    return cells


def _ruled(lines: Sequence[str], start: int) -> RstTable | None:
    rules = [start]
    for at in range(start + 1, min(len(lines), start + _FAR)):
        if _RULED.match(lines[at]) and lines[at].split() and len(lines[at].split()) == len(lines[start].split()):
            rules.append(at)
            if at + 1 >= len(lines) or not lines[at + 1].strip():
                break
    if len(rules) < 2:
        return None
    edges = [found.span() for found in re.finditer("=+", lines[start])]
    parts = [_ruled_rows(lines[one + 1 : other], edges) for one, other in pairwise(rules)]
    header, body = (parts[0], [row for part in parts[1:] for row in part]) if len(parts) > 1 else ([], parts[0])
    return RstTable(start=start, end=rules[-1] + 1, header=header, body=body) if header or body else None


def _ruled_rows(lines: Sequence[str], edges: Sequence[tuple[int, int]]) -> Rows:
    """Read the lines between two rules; one without text in the first column goes on with the row before."""
    rows: Rows = []
    for line in lines:
        if not line.strip() or _UNDERLINED.match(line):
            continue
        ends = [edge[0] for edge in edges[1:]] + [len(line) + 1]
        cells = [line[edge[0] : end].strip() for edge, end in zip(edges, ends, strict=True)]
        if not cells[0] and rows:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows
