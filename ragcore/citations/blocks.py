"""Cuts Markdown into blocks that no sentence crosses: a fence, a table row, a heading, a list item, a paragraph."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ragcore.citations.literals import LiteralKind, Literals


class BlockKind(StrEnum):
    """What a block is, as far as citing is concerned."""

    PROSE = "prose"
    ROW = "row"
    """A data row of a table."""
    HEADING = "heading"
    CODE = "code"
    LAYOUT = "layout"
    """A rule, a table's header, a line without words: says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """``text[start:end]``, whole lines up to and without the last line end; its words begin at ``body``."""

    start: int
    body: int
    end: int
    kind: BlockKind


_QUOTE = r"[ \t]*+(?:>[ \t]*+)*+"
_PREFIX = re.compile(
    _QUOTE
    + r"(?:(?:[-+*•‣◦·▪]|\(?\d{1,3}[.)、]|\(?[A-Za-z][.)]|[①-⑳])(?:[ \t]++|(?<=、)|(?<=[①-⑳])))?+(?:\[[ xX]\][ \t]++)?+"
)
_HEADING = re.compile(_QUOTE + r"#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r"[ \t]*+=++[ \t]*+$")
_DELIMITER_ROW = re.compile(_QUOTE + r"\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_COMMAS = ",，、;；"
_WRAPPED = 60
"""Characters: editors wrap at 72 to 120, and a line of verse, an address or a label ends earlier."""
_BOLD_LINE = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{1,120})\1[ \t]*[:：]?[ \t]*$")
_ENDS = re.compile(r"[.!?:;。！？：；…‥؟؛۔।॥։።][*_~\"'”’»)）\]】」』》]*[ \t]*$")
_STOP = re.compile(r"[.!?。！？]")
_WORD = re.compile(r"\w")


@dataclass(slots=True)
class _Line:
    start: int
    end: int
    text: str
    is_fence: bool = False

    @property
    def blank(self) -> bool:
        return not self.text.strip()


def split_blocks(text: str, literals: Literals) -> list[Block]:
    """Return the blocks of a text in order; between them stand line ends and blank lines only."""
    blocks: list[Block] = []
    lines = list(_lines(text, literals))
    in_table = False
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else None
        if line.blank:
            in_table = False
            continue
        kind = _kind(line, following, in_table)
        if "|" in line.text and (in_table or _is_delimiter(line)):
            in_table = True
        elif in_table:
            in_table = False
        if kind is BlockKind.PROSE and blocks and _continues(blocks[-1], line, text):
            blocks[-1] = Block(start=blocks[-1].start, body=blocks[-1].body, end=line.end, kind=kind)
            continue
        body = line.start + _prefix_length(line, kind)
        blocks.append(
            Block(start=line.start, body=body, end=line.end, kind=_bold_or(kind, line, lines[index + 1 : index + 4]))
        )
    return blocks


def _lines(text: str, literals: Literals) -> Iterator[_Line]:
    """Yield lines, a fence as one."""
    fences = [span for span in literals.spans if span.kind is LiteralKind.FENCE]
    position = 0
    for fence in fences:
        yield from _plain_lines(text, position, fence.start)
        yield _Line(fence.start, fence.end, text[fence.start : fence.end], is_fence=True)
        position = fence.end
    yield from _plain_lines(text, position, len(text))


def _plain_lines(text: str, start: int, end: int) -> Iterator[_Line]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield _Line(start, stop, text[start:stop])
        start = stop + 1


def _kind(line: _Line, following: _Line | None, in_table: bool) -> BlockKind:
    if line.is_fence:
        return BlockKind.CODE
    if _HEADING.match(line.text) or (following is not None and _UNDERLINE.match(following.text)):
        return BlockKind.HEADING
    if not _WORD.search(line.text):
        return BlockKind.LAYOUT
    if "|" in line.text:
        if following is not None and "|" in following.text and _is_delimiter(following):
            return BlockKind.LAYOUT
        if in_table or line.text.lstrip(" \t>").startswith("|"):
            return BlockKind.ROW
    return BlockKind.PROSE


def _is_delimiter(line: _Line) -> bool:
    return "-" in line.text and _DELIMITER_ROW.match(line.text) is not None


def _prefix_length(line: _Line, kind: BlockKind) -> int:
    if kind in (BlockKind.CODE, BlockKind.LAYOUT):
        return 0
    found = (_HEADING if kind is BlockKind.HEADING else _PREFIX).match(line.text)
    return found.end() if found and found.end() < len(line.text.rstrip()) else 0


def _bold_or(kind: BlockKind, line: _Line, later: list[_Line]) -> BlockKind:
    """A line that is all bold, ends no sentence and leads something in is a heading."""
    if kind is not BlockKind.PROSE:
        return kind
    bold = _BOLD_LINE.match(line.text.strip())
    leads = bold is not None and not _STOP.search(bold["text"]) and any(not other.blank for other in later)
    return BlockKind.HEADING if leads else kind


def _continues(before: Block, line: _Line, text: str) -> bool:
    """Whether a line goes on with the sentence of the line before: soft wrapping, which models rarely write.

    It does after a comma, with a small letter, and after a line so long that only its width can have ended it.
    """
    if before.kind is not BlockKind.PROSE or text[before.end : line.start].count("\n") != 1:
        return False
    first = line.text.lstrip()[0]
    prefix = _PREFIX.match(line.text)
    plain = prefix is None or not prefix[0].strip()
    wide = before.end - max(before.start, text.rfind("\n", before.start, before.end)) >= _WRAPPED
    goes_on = first.islower() or wide or text[before.start : before.end].rstrip()[-1:] in _COMMAS
    return plain and goes_on and not _ENDS.search(text, max(before.start, before.end - 80), before.end)
