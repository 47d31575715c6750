"""reStructuredText: headings by their underlines, tables as tables, the rest line by line as a reader sees it."""

import re
from collections.abc import Iterator

from ragcore.parsing.encoding import decode
from ragcore.parsing.lines import Mark, sections_of_lines, split_lines
from ragcore.parsing.markup.rst_tables import RstTable, block_end, rst_table
from ragcore.parsing.markup.rst_text import readable_rst, starts_code
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.parsing.outline import Heading
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument

_RULE = re.compile(r"^([!-/:-@\[-`{-~])\1*\s*$")
_ROLE = re.compile(r":[\w:.+-]+:`([^`<]*?)(?:\s*<[^>]*>)?`")
_LITERAL = re.compile(r"``(.+?)``|`([^`<]+?)(?:\s*<[^>]*>)?`_{0,2}|\*{1,2}([^*]+)\*{1,2}")
_TARGET = re.compile(r"^\.\.\s+_([^:]+):\s*$")
_NOT_ID = re.compile(r"[^a-z0-9]+")


def parse_rst(job: Job) -> ParsedDocument:
    """Parse reStructuredText; the anchors are those that docutils and Sphinx give to sections."""
    lines = split_lines(decode(job.content, declared=job.declared_encoding).text)
    tables = [Mark(start=table.start, end=table.end, sections=table.sections()) for table in _tables(lines)]
    inside = {number for mark in tables for number in range(mark.start, mark.end)}
    headings = [mark for mark in _headings(lines) if mark.start not in inside]
    marks = sorted([*headings, *tables], key=lambda mark: mark.start)
    title = next((mark.heading.text for mark in marks if mark.heading is not None), "")
    return ParsedDocument(
        title=title, media_type=Media.RST, sections=sections_of_lines(readable_rst(lines), marks, title)
    )


def _tables(lines: list[str]) -> Iterator[RstTable]:
    """Yield the tables outside code."""
    at = 0
    while at < len(lines):
        table = rst_table(lines, at)
        if table is not None:
            yield table
            at = table.end
        elif lines[at].lstrip().startswith("+-"):  # a drawing that is no table: none begins further down in it
            while at < len(lines) and lines[at].lstrip()[:1] in ("+", "|"):
                at += 1
        elif starts_code(lines[at]):
            at = max(at + 1, block_end(lines, at + 1, len(lines[at]) - len(lines[at].lstrip())))
        else:
            at += 1


def _headings(lines: list[str]) -> Iterator[Mark]:
    """Yield the headings; the first adornment met is the outermost level, as docutils has it."""
    styles: list[str] = []
    number = 0
    while number < len(lines) - 1:
        over = _is_rule(lines[number]) and number + 2 < len(lines) and _is_rule(lines[number + 2])
        start, text_at = number, number + 1 if over else number
        under = text_at + 1
        if not _is_heading(lines, text_at, over):
            number += 1
            continue
        style = lines[under][0] * (2 if over else 1)
        if style not in styles:
            styles.append(style)
        text = _plain(lines[text_at])
        target = _target_before(lines, start)
        anchor = target or _NOT_ID.sub("-", text.lower()).strip("-")
        heading = Heading(level=styles.index(style) + 1, text=text, anchor=anchor)
        yield Mark(start=start, end=under + 1, heading=heading)
        number = under + 1


def _is_rule(line: str) -> bool:
    return len(line.rstrip()) > 1 and bool(_RULE.match(line))


def _is_heading(lines: list[str], text_at: int, over: bool) -> bool:
    """Tell a heading: a line of text at the margin (or between two equal rules), a rule as long under it."""
    text = lines[text_at]
    if text_at + 1 >= len(lines) or not text.strip() or _is_rule(text) or not _is_rule(lines[text_at + 1]):
        return False
    rule = lines[text_at + 1].rstrip()
    if over:
        return lines[text_at - 1].rstrip() == rule and len(rule) >= len(text.strip())
    before = lines[text_at - 1].strip() if text_at else ""
    return not before and text[0] not in " \t." and len(rule) >= min(len(text.rstrip()), 4)


def _target_before(lines: list[str], start: int) -> str:
    """Return the explicit target (``.. _name:``) right before a heading."""
    at = start - 1
    while at >= 0 and not lines[at].strip():
        at -= 1
    found = _TARGET.match(lines[at]) if at >= 0 else None
    return _NOT_ID.sub("-", found.group(1).lower()).strip("-") if found else ""


def _plain(text: str) -> str:
    """Return a heading's words without inline markup."""
    without_roles = _ROLE.sub(r"\1", text)
    return one_line(_LITERAL.sub(lambda found: found.group(1) or found.group(2) or found.group(3), without_roles))
